import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { isBusy, pending } from '../server/state';
import { server } from '../server/store';

type Said = 'nothing' | 'finished' | 'waiting';

/** Tells those who listen that a turn ended or waits for them; never the words as they come. */
export function Announcer({ id }: { id: string }): ReactNode {
  const { t } = useTranslation('chat');
  const [said, setSaid] = useState<Said>('nothing');
  useEffect(
    () =>
      server.subscribe((now, before) => {
        if (now.status === before.status && now.permissions === before.permissions && now.questions === before.questions) {
          return;
        }
        const waits = (state: typeof now): number => {
          const { permissions, questions } = pending(state, id);
          return permissions.length + questions.length;
        };
        if (waits(now) > waits(before)) setSaid('waiting');
        else if (isBusy(before, id) && !isBusy(now, id)) setSaid('finished');
        else if (!isBusy(before, id) && isBusy(now, id)) setSaid('nothing');
      }),
    [id],
  );
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {said === 'nothing' ? '' : t(`said.${said}`)}
    </p>
  );
}
