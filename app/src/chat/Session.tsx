import { CornerLeftUp } from 'lucide-react';
import { useEffect, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useModels } from '../models';
import { openSession } from '../navigation';
import { useServer } from '../server/store';
import { open, readAll } from '../server/sync';
import { Button } from '../ui/Button';
import { useAttempt, useFailureText } from '../ui/toasts';
import { Announcer } from './Announcer';
import { Requests } from './cards/Requests';
import { ConversationContext } from './context';
import { Skeleton } from './Skeleton';
import { Transcript } from './Transcript';

/** One session's conversation, and what of it waits for a person. */
export function Session({ id }: { id: string }): ReactNode {
  const attempt = useAttempt();
  const directory = useServer((state) => state.sessions[id]?.directory ?? null);
  const models = useModels(directory);
  useEffect(() => {
    void attempt(() => open(id));
    // When another session is shown; not when only the words for a failure change.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);
  const conversation = useMemo(
    () => ({ sessionId: id, directory: directory ?? '', models }),
    [id, directory, models],
  );
  return (
    <ConversationContext value={conversation}>
      <section className="flex min-h-0 flex-1 flex-col">
        <ParentBar id={id} />
        <Content id={id} />
        <Requests id={id} />
        <Announcer id={id} />
      </section>
    </ConversationContext>
  );
}

function Content({ id }: { id: string }): ReactNode {
  const phase = useServer((state) => state.transcripts[id]?.phase ?? 'loading');
  const messages = useServer((state) => state.transcripts[id]?.messages);
  const { t } = useTranslation('chat');
  if (phase === 'failed') return <Failed id={id} />;
  if (phase === 'loading' || messages === undefined) return <Skeleton />;
  if (messages.length > 0) return <Transcript messages={messages} />;
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="text-heading font-semibold">{t('empty.title')}</p>
      <p className="text-text-2">{t('empty.text')}</p>
    </div>
  );
}

function Failed({ id }: { id: string }): ReactNode {
  const { t } = useTranslation(['chat', 'common']);
  const code = useServer((state) => state.transcripts[id]?.failure ?? 'internal');
  const text = useFailureText();
  return (
    <div role="alert" className="flex min-h-0 flex-1 flex-col items-center justify-center gap-3 p-6 text-center">
      <p className="text-heading font-semibold">{t('failed.title')}</p>
      <p className="max-w-105 text-text-2">{text({ code, message: code })}</p>
      <Button onClick={() => { void readAll(); }}>{t('common:retry')}</Button>
    </div>
  );
}

const BAR = 'flex min-h-9 shrink-0 items-center gap-2 border-b border-border px-4 py-1 text-ui';

/** In a sub-agent's session: the way back. */
function ParentBar({ id }: { id: string }): ReactNode {
  const { t } = useTranslation('chat');
  const parent = useServer((state) => state.sessions[id]?.parentID);
  const title = useServer((state) => (parent === undefined ? undefined : state.sessions[parent]?.title));
  if (parent === undefined) return null;
  return (
    <nav aria-label={t('parent.name')} className={`${BAR} bg-surface`}>
      <CornerLeftUp size={14} aria-hidden className="shrink-0 text-text-3" />
      <button
        type="button"
        onClick={() => { openSession(parent); }}
        className="min-w-0 truncate rounded-control text-text-2 hover:text-text hover:underline"
      >
        {title === undefined ? t('parent.unknown') : t('parent.title', { title })}
      </button>
    </nav>
  );
}
