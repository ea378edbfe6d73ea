import { ArrowUpRight, Hand } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { openSession } from '../../navigation';
import { useServer } from '../../server/store';

export interface CardProps {
  title: string;
  /** The session that asks, and the one in which the card is shown. */
  sessionId: string;
  of: string;
  children: ReactNode;
}

/** Something that waits for a person. */
export function Card({ title, sessionId, of, children }: CardProps): ReactNode {
  const { t } = useTranslation('chat');
  const name = useId();
  const child = useServer((state) => state.sessions[sessionId]?.title ?? sessionId);
  return (
    <section
      aria-labelledby={name}
      className="flex flex-col gap-3 rounded-card border border-waiting bg-tint-waiting p-4"
    >
      <header className="flex items-start gap-2">
        <Hand size={16} aria-hidden className="mt-0.5 shrink-0 text-waiting" />
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3">
          <h2 id={name} className="text-ui font-semibold break-words">{title}</h2>
          {sessionId !== of && (
            <button
              type="button"
              onClick={() => { openSession(sessionId); }}
              className="flex max-w-full min-w-0 items-center gap-1 rounded-control text-label text-text-2 hover:text-text hover:underline"
            >
              <span className="truncate">{t('request.from', { title: child })}</span>
              <ArrowUpRight size={12} aria-hidden className="shrink-0" />
            </button>
          )}
        </div>
      </header>
      {children}
    </section>
  );
}
