import { Dialog } from 'radix-ui';
import { useEffect, useState, type ReactNode } from 'react';

import { auditorCheck } from '../../commands.js';
import { GoalError } from '../../errors.js';
import { describe, errorText, present, reasonOf, sentence, usageOf } from '../../presentation.js';
import type { GoalView } from '../../types.js';
import type { Words } from '../../words.js';
import { GoalGlyph } from '../GoalGlyph.js';
import { pulseOf, useNow } from '../hooks.js';
import { useKit } from '../kit.js';

interface HeadProps {
  goal: GoalView | null;
  sessionId: string;
  facts: string | undefined;
}

/** Title and state of the goal, or what a goal to be set is about. */
export function Head({ goal, sessionId, facts }: HeadProps): ReactNode {
  const { words } = useKit();
  return (
    <div className="goal-head">
      <Dialog.Title className="goal-title">
        {words.say(goal ? 'dialog.manage' : 'dialog.create')}
      </Dialog.Title>
      <Dialog.Close asChild>
        <button type="button" className="goal-close" aria-label={words.say('control.close')}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="m4 4 8 8M12 4l-8 8" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
          </svg>
        </button>
      </Dialog.Close>
      {goal ? <State goal={goal} words={words} facts={facts} /> : <Auditor sessionId={sessionId} />}
    </div>
  );
}

interface StateProps {
  goal: GoalView;
  words: Words;
  facts: string | undefined;
}

function State({ goal, words, facts }: StateProps): ReactNode {
  const now = useNow(pulseOf(goal));
  const { glyph, tone } = present(goal);
  const { line } = describe(goal, words, now);
  // The lines of the others say theirs.
  const reason = goal.status === 'blocked' ? sentence(reasonOf(goal, words)) : '';
  return (
    <>
      <p className="goal-state" data-tone={tone}>
        <GoalGlyph glyph={glyph} />
        <strong>{line}</strong>
      </p>
      <Dialog.Description className="goal-facts">
        {[usageOf(goal, words, 'long', now), facts].filter(Boolean).join(' · ')}
      </Dialog.Description>
      {goal.auditedBy !== null && (
        <p className="goal-auditor">{words.say('dialog.auditedBy', { model: goal.auditedBy })}</p>
      )}
      {reason !== '' && <p className="goal-reason">{reason}</p>}
      {goal.note !== '' && goal.note !== goal.reason && <p className="goal-note">{goal.note}</p>}
    </>
  );
}

/** Who will judge the goal to be set; told before it costs anything. */
function Auditor({ sessionId }: { sessionId: string }): ReactNode {
  const { words } = useKit();
  const [found, setFound] = useState<string | GoalError | null>(null);
  useEffect(() => {
    let wanted = true;
    auditorCheck({ sessionId }).then(
      ({ model }) => {
        if (wanted) setFound(model);
      },
      (reason: unknown) => {
        if (wanted) setFound(GoalError.from(reason));
      },
    );
    return () => {
      wanted = false;
    };
  }, [sessionId]);
  return (
    <>
      <Dialog.Description className="goal-facts">
        {words.say('dialog.about')}
        {typeof found === 'string' && ` ${words.say('dialog.willAudit', { model: found })}.`}
      </Dialog.Description>
      {found instanceof GoalError && (
        <p className="goal-reason" role="alert">
          {errorText(found, words)}
        </p>
      )}
    </>
  );
}
