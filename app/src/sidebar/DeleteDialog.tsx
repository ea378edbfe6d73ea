import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { goalStore } from 'tauri-plugin-goal-api';

import { remove } from '../server/actions';
import { family, type Session } from '../server/state';
import { useServer } from '../server/store';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { useAttempt } from '../ui/toasts';
import { askDelete, markGone, useActing } from './acting';
import { shortName } from './groups';

/** Asks before a session is deleted, and names what goes with it. */
export function DeleteDialog(): ReactNode {
  const session = useActing((state) => state.deleting);
  return session === null ? null : <Question session={session} />;
}

function Question({ session }: { session: Session }): ReactNode {
  const { id, title, directory } = session;
  const { t } = useTranslation(['sidebar', 'common']);
  const attempt = useAttempt();
  const below = useServer((state) => Math.max(0, family(state, id).length - 1));
  const goal = goalStore().goal(id);
  const close = (): void => { askDelete(null); };
  const confirm = (): void => {
    close();
    void attempt(async () => {
      await remove(id);
      markGone(id);
    });
  };
  const goes = [
    t('deletion.messages'),
    ...(below > 0 ? [t('deletion.below', { count: below })] : []),
    ...(goal == null ? [] : [t('deletion.goal')]),
  ];
  return (
    <Dialog open onClose={close} title={t('deletion.named', { title })} description={t('deletion.forGood')} width={440}>
      <div className="flex flex-col gap-3 px-4 pb-4 text-ui">
        <ul className="list-disc pl-5">
          {goes.map((line) => <li key={line}>{line}</li>)}
        </ul>
        <p className="text-text-2">{t('deletion.stays', { folder: shortName(directory) })}</p>
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={close} autoFocus>{t('common:cancel')}</Button>
          <Button kind="danger" onClick={confirm}>{t('common:delete')}</Button>
        </div>
      </div>
    </Dialog>
  );
}
