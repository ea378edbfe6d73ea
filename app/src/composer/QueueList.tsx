import { ListEnd, Pencil, Send, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { returnDraft } from '../drafts';
import { useServer } from '../server/store';
import { Button, IconButton } from '../ui/Button';
import { useFailureText } from '../ui/toasts';
import { focusComposer } from './focus';
import { dequeue, resume, sendNow, useQueue, type Queue, type Queued } from './queue';

/** The messages that wait for the turn's end, above the composer. */
export function QueueList({ sessionId }: { sessionId: string }): ReactNode {
  const { t } = useTranslation('composer');
  const queue = useQueue(sessionId);
  if (queue.entries.length === 0) return null;
  return (
    <section
      aria-label={t('queue.label', { count: queue.entries.length })}
      className="mb-2 rounded-card border border-border bg-surface"
    >
      {queue.held !== null && <Holding sessionId={sessionId} queue={queue} />}
      <ol className="max-h-36 overflow-y-auto p-1">
        {queue.entries.map((entry) => (
          <Entry key={entry.id} sessionId={sessionId} entry={entry} />
        ))}
      </ol>
    </section>
  );
}

/** Why nothing is sent, and how it goes on. */
function Holding({ sessionId, queue: { held, failure } }: { sessionId: string; queue: Queue }): ReactNode {
  const { t } = useTranslation('composer');
  const failed = useFailureText();
  const live = useServer((state) => state.connection.kind === 'live');
  if (held === null) return null;
  return (
    <div role="status" className="flex items-center gap-2 border-b border-border bg-tint-waiting px-3 py-1.5">
      <span className="min-w-0 flex-1 text-ui text-waiting">
        {t(`queue.held.${held}`, { reason: failure === null ? '' : failed(failure) })}
      </span>
      <Button className="h-7" disabled={!live} onClick={() => { resume(sessionId); }}>
        {t('queue.resume')}
      </Button>
    </div>
  );
}

function Entry({ sessionId, entry }: { sessionId: string; entry: Queued }): ReactNode {
  const { t } = useTranslation('composer');
  const live = useServer((state) => state.connection.kind === 'live');
  const edit = (): void => {
    const taken = dequeue(sessionId, entry.id);
    if (taken === null) return;
    returnDraft(sessionId, { text: taken.text, attachments: [...taken.attachments], armed: false, budget: null });
    // The text stands in the composer with the next drawing.
    requestAnimationFrame(focusComposer);
  };
  return (
    <li className="flex items-center gap-2 py-0.5 pr-1 pl-2">
      <ListEnd size={14} aria-hidden className="shrink-0 text-text-3" />
      <span className="min-w-0 flex-1 truncate text-ui">
        <span className="text-text-2">{t('queue.queued')}</span> {entry.text === '' ? entry.attachments[0]?.name : entry.text}
      </span>
      <IconButton label={t('queue.sendNow')} disabled={!live} onClick={() => { void sendNow(sessionId, entry.id); }}>
        <Send size={14} aria-hidden />
      </IconButton>
      <IconButton label={t('queue.edit')} onClick={edit}>
        <Pencil size={14} aria-hidden />
      </IconButton>
      <IconButton label={t('queue.remove')} onClick={() => { dequeue(sessionId, entry.id); }}>
        <X size={14} aria-hidden />
      </IconButton>
    </li>
  );
}
