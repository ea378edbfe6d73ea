import { useState, type ReactNode } from 'react';

import { present, type Glyph, type Tone } from '../presentation.js';
import type { GoalView } from '../types.js';
import type { Words } from '../words.js';
import { GoalDialog } from './GoalDialog.js';
import { GoalGlyph } from './GoalGlyph.js';
import { useArming, useEnabled, useGoalView, keyOf, type Target } from './hooks.js';
import { useKit } from './kit.js';
import { Tip } from './Tip.js';

/** What a target button is about. */
export interface GoalButtonProps extends Target {
  /** Opens the page's own dialog. Left out: the button opens a {@link GoalDialog}. */
  onManage?: (() => void) | undefined;
}

/**
 * The composer's target: arms and disarms the next message, or opens the goal that is there.
 * Nothing where there is neither session nor draft, or goals are switched off. Pressing it with a
 * pointer leaves the focus in the editor.
 *
 * @example
 * ```tsx
 * import { GoalButton } from 'tauri-plugin-goal-api/react';
 *
 * const button = <GoalButton sessionId="ses_3f2a9c" />;
 * ```
 */
export function GoalButton({ onManage, ...target }: GoalButtonProps): ReactNode {
  const { words } = useKit();
  const sessionId = target.sessionId ?? null;
  const goal = useGoalView(sessionId);
  const [{ armed }, send] = useArming(target);
  const enabled = useEnabled();
  const [open, setOpen] = useState(false);
  if (keyOf(target) === null || !enabled) return null;

  const face = faceOf(goal, armed, words);
  const press = () => {
    if (!goal) send({ type: 'toggle' });
    else if (onManage) onManage();
    else setOpen(true);
  };
  return (
    <>
      <Tip text={face.label}>
        <button
          type="button"
          className="goal-button"
          data-tone={face.tone}
          aria-label={face.label}
          aria-pressed={face.pressed}
          aria-haspopup={goal ? 'dialog' : undefined}
          onMouseDown={(event) => {
            // Keeps the editor's focus, and with it a soft keyboard.
            event.preventDefault();
          }}
          onClick={press}
        >
          <GoalGlyph glyph={face.glyph} />
        </button>
      </Tip>
      {sessionId !== null && !onManage && (
        <GoalDialog sessionId={sessionId} open={open} onOpenChange={setOpen} />
      )}
    </>
  );
}

interface Face {
  readonly glyph: Glyph;
  readonly tone: Tone | 'none';
  readonly label: string;
  readonly pressed: boolean;
}

function faceOf(goal: GoalView | null | undefined, armed: boolean, words: Words): Face {
  if (goal) {
    const { glyph, tone, name } = present(goal);
    const label = words.say('button.manage', { status: words.say(name) });
    return { glyph, tone, label, pressed: goal.status !== 'complete' };
  }
  return armed
    ? { glyph: 'armed', tone: 'active', label: words.say('button.disarm'), pressed: true }
    : { glyph: 'target', tone: 'none', label: words.say('button.arm'), pressed: false };
}
