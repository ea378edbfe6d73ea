/** Rows that are no message: a turn's foot, what was undone, what goes on now. */
import { Hand, LoaderCircle, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { findModel } from '../models';
import { unrevert } from '../server/actions';
import { pending } from '../server/state';
import { useServer } from '../server/store';
import { Button } from '../ui/Button';
import { useSecond } from '../ui/clock';
import { Tip } from '../ui/Tip';
import { useAttempt } from '../ui/toasts';
import { useConversation } from './context';
import { cost, duration, number, timeOf, tokens } from './format';
import { Note } from './Note';
import type { TurnTotals } from './rows';

/** What a turn was made with and what it took. */
export function Foot({ totals }: { totals: TurnTotals }): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const { models } = useConversation();
  const { language } = i18n;
  const { agent, providerId, modelId, variant, input, output, reasoning, cached } = totals;
  const name = findModel(models, providerId, modelId)?.name ?? modelId;
  const all = input + output + reasoning + cached;
  const detail = t('foot.detail', {
    input: number(input, language),
    cached: number(cached, language),
    output: number(output, language),
    reasoning: number(reasoning, language),
  });
  return (
    <footer className="flex flex-wrap items-center gap-x-2 pt-1 pb-2 text-label text-text-3 tabular-nums">
      <time dateTime={new Date(totals.ended).toISOString()}>{timeOf(totals.ended, language)}</time>
      <Dot />
      <span>{agent}</span>
      <Dot />
      <span>{variant === null ? name : `${name} ${variant}`}</span>
      <Dot />
      <span>{duration(totals.milliseconds, language)}</span>
      {all > 0 && (
        <>
          <Dot />
          <Tip text={detail}>
            <button type="button" className="rounded-control">
              {t('foot.tokens', { count: all, tokens: tokens(all, language) })}
            </button>
          </Tip>
        </>
      )}
      {totals.cost > 0 && (
        <>
          <Dot />
          <span>{cost(totals.cost, language)}</span>
        </>
      )}
    </footer>
  );
}

function Dot(): ReactNode {
  return <span aria-hidden>·</span>;
}

/** From here on the conversation is undone, until a new prompt removes it for good. */
export function Undone({ count }: { count: number }): ReactNode {
  const { t } = useTranslation('chat');
  const { sessionId } = useConversation();
  const attempt = useAttempt();
  return (
    <div className="mt-6 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-card border border-border bg-surface px-4 py-2.5">
      <Undo2 size={14} aria-hidden className="shrink-0 text-text-3" />
      <p className="min-w-0 flex-1 basis-60">
        {t('undone.text', { count })} <span className="text-text-2">{t('undone.hint')}</span>
      </p>
      <Button onClick={() => { void attempt(() => unrevert(sessionId)); }}>{t('undone.restore')}</Button>
    </div>
  );
}

/** What the session does now, or what was wrong with its last turn. Nothing while it rests. */
export function Now(): ReactNode {
  const { t } = useTranslation('chat');
  const { sessionId } = useConversation();
  const status = useServer((state) => state.status[sessionId]);
  const waits = useServer((state) => {
    const { permissions, questions } = pending(state, sessionId);
    return permissions.length + questions.length > 0;
  });
  const error = useServer((state) => {
    const last = state.transcripts[sessionId]?.messages.at(-1);
    // The message says it itself.
    const told = last?.role === 'assistant' && last.error !== undefined;
    return told ? undefined : state.errors[sessionId];
  });
  if (status?.type === 'retry') return <Retrying message={status.message} next={status.next} attempt={status.attempt} />;
  if (status?.type === 'busy') {
    return (
      <p className="flex h-8 items-center gap-2 text-ui text-text-2">
        {waits ? (
          <Hand size={14} aria-hidden className="text-waiting" />
        ) : (
          <LoaderCircle size={14} aria-hidden className="animate-spin text-accent" />
        )}
        {t(waits ? 'now.waiting' : 'now.working')}
      </p>
    );
  }
  return error === undefined ? null : <Note tone="bad" title={t('ending.failed')}>{error}</Note>;
}

interface RetryingProps {
  message: string;
  next: number;
  attempt: number;
}

/** The provider failed, and the server tries again. */
export function Retrying({ message, next, attempt }: RetryingProps): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const seconds = Math.max(0, Math.ceil((next - useSecond()) / 1_000));
  const when =
    seconds === 0 ? t('retry.now') : t('retry.in', { time: duration(seconds * 1_000, i18n.language) });
  return (
    <Note tone="waiting" title={t('retry.name', { attempt, when })}>{message}</Note>
  );
}
