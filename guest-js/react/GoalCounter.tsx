import type { ReactNode } from 'react';

import { OBJECTIVE_MAX } from '../arm.js';
import { useArming, useEnabled, type Target } from './hooks.js';
import { useKit } from './kit.js';

/** What a counter counts. */
export interface GoalCounterProps extends Target {
  /** The message as it stands in the composer. */
  text: string;
}

/**
 * The length of the message that becomes the goal, while its session or draft is armed and it is
 * not empty. A longer one is still sent: the auditor gets a shortened copy.
 *
 * @example
 * ```tsx
 * import { GoalCounter } from 'tauri-plugin-goal-api/react';
 *
 * const counter = <GoalCounter draftId="draft-1" text="Make the tests pass." />;
 * ```
 */
export function GoalCounter({ text, ...target }: GoalCounterProps): ReactNode {
  const [{ armed }] = useArming(target);
  const enabled = useEnabled();
  if (!armed || !enabled || text === '') return null;
  return <Count length={text.length} />;
}

/** How long an objective is, of how much. */
export function Count({ length }: { length: number }): ReactNode {
  const { words } = useKit();
  const over = length > OBJECTIVE_MAX;
  const key = over ? 'counter.over' : 'counter.label';
  const label = words.say(key, { n: length, max: OBJECTIVE_MAX });
  return (
    <span className="goal-counter" data-over={over} title={label}>
      <span aria-hidden="true">
        {length}/{OBJECTIVE_MAX}
      </span>
      {/* Only the moment it gets too long is worth an interruption. */}
      <span className="goal-hidden" role="status">
        {over ? label : ''}
      </span>
    </span>
  );
}
