import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useShallow } from 'zustand/react/shallow';

import { pending } from '../../server/state';
import { useServer } from '../../server/store';
import { PermissionCard } from './PermissionCard';
import { QuestionCard } from './QuestionCard';

/** What waits for a person here or in a sub-agent: always in sight, whatever is scrolled. */
export function Requests({ id }: { id: string }): ReactNode {
  const { t } = useTranslation('chat');
  const waiting = useServer(
    useShallow((state) => {
      const { permissions, questions } = pending(state, id);
      return [...permissions, ...questions];
    }),
  );
  if (waiting.length === 0) return null;
  return (
    <section
      aria-label={t('request.all', { count: waiting.length })}
      className="max-h-[70%] shrink-0 overflow-y-auto border-t border-border bg-bg"
    >
      <div className="mx-auto flex w-full max-w-[808px] flex-col gap-2 px-4 py-3 frame:px-6">
        {waiting.map((request) =>
          'questions' in request ? (
            <QuestionCard key={request.id} request={request} of={id} />
          ) : (
            <PermissionCard key={request.id} request={request} of={id} />
          ),
        )}
      </div>
    </section>
  );
}
