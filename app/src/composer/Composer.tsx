import { useEffect, useEffectEvent, useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useDraft } from '../drafts';
import { ArmedHint, SessionStrip, useArmed } from '../goal';
import { useModels } from '../models';
import type { Place } from '../navigation';
import { stop } from '../server/actions';
import { isBusy } from '../server/state';
import { useServer } from '../server/store';
import { classes } from '../ui/classes';
import { useAttempt } from '../ui/toasts';
import { Attachments } from './Attachments';
import { useChoice } from './choice';
import { Editor } from './Editor';
import { focusComposer } from './focus';
import { FolderPicker } from './FolderPicker';
import { Foot } from './Foot';
import { useHint, type Hint } from './hint';
import { isStop } from './keys';
import { hold, startQueues } from './queue';
import { QueueList } from './QueueList';
import { useAttach, useDrop } from './useAttach';
import { useSubmit } from './useSubmit';
import { useWhere } from './where';

/** Where a message is written, to a session or to begin one. */
export function Composer({ place }: { place: Place }): ReactNode {
  const { t } = useTranslation('composer');
  const where = useWhere(place);
  const { sessionId } = where;
  useEffect(startQueues, []);
  // A new session begins with its first message; in a session the list may have the focus.
  useEffect(() => {
    if (sessionId === null) focusComposer();
  }, [sessionId, where.key]);
  return (
    <section aria-label={t('label')} className="mx-auto w-full max-w-[792px] shrink-0 px-4 pb-2">
      {sessionId !== null && <QueueList sessionId={sessionId} />}
      {sessionId !== null && (
        <div className="mb-1.5 empty:hidden">
          <SessionStrip sessionId={sessionId} />
        </div>
      )}
      <Box key={where.key} where={where} />
    </section>
  );
}

function useStop(sessionId: string | null, busy: boolean): () => void {
  const attempt = useAttempt();
  const run = (): void => {
    if (sessionId === null || !busy) return;
    // First: the turn's end is told before this call is answered.
    hold(sessionId);
    void attempt(() => stop(sessionId));
  };
  const key = useEffectEvent((event: KeyboardEvent) => {
    if (!isStop(event) || !busy) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => { key(event); };
    window.addEventListener('keydown', pressed);
    return () => { window.removeEventListener('keydown', pressed); };
  }, []);
  return run;
}

function Box({ where }: { where: ReturnType<typeof useWhere> }): ReactNode {
  const { t } = useTranslation('composer');
  const { sessionId, key, directory } = where;
  const hintId = useId();
  const draft = useDraft(key);
  const models = useModels(directory);
  const choice = useChoice(key, sessionId, models);
  const busy = useServer((state) => sessionId !== null && isBusy(state, sessionId));
  const armed = useArmed(sessionId, key);
  const hint = useHint({ where, models, choice, draft, busy });
  const { sending, submit } = useSubmit(where, choice, armed);
  const attach = useAttach(key);
  const onFiles = (files: File[]): void => { void attach(files); };
  const over = useDrop(onFiles);
  const onStop = useStop(sessionId, busy);
  const nothing = draft.text.trim() === '' && draft.attachments.length === 0;
  const blocked = nothing || sending || hint.blocks;
  const onSubmit = (): void => {
    if (!blocked) void submit();
  };
  return (
    <>
      <div
        className={classes(
          '@container relative rounded-card border bg-surface transition-colors',
          over || armed ? 'border-accent' : 'border-border-strong focus-within:border-control',
        )}
      >
        {sessionId === null && <FolderPicker where={where} />}
        <ArmedHint sessionId={sessionId} draft={key} directory={directory} />
        <Attachments draftKey={key} draft={draft} />
        <Editor
          where={where}
          draft={draft}
          readOnly={armed && sending}
          hintId={hintId}
          placeholder={over ? t('placeholder.drop') : t(armed ? 'placeholder.armed' : 'placeholder.message')}
          onSubmit={onSubmit}
          onFiles={onFiles}
        />
        <Foot
          {...{ where, models, choice, busy, blocked, hintId, onFiles, onStop, onSubmit }}
          draftKey={key}
          starting={armed && sending}
        />
      </div>
      <HintLine id={hintId} hint={hint} />
    </>
  );
}

/** Its line is always there: nothing moves when there is something to say. */
function HintLine({ id, hint: { text, tone } }: { id: string; hint: Hint }): ReactNode {
  return (
    <p
      id={id}
      role="status"
      className={classes('min-h-4 px-3 pt-1 text-label', tone === 'waiting' ? 'text-waiting' : 'text-text-3')}
    >
      {text}
    </p>
  );
}
