import type { ReactNode } from 'react';

import { present } from '../presentation.js';
import { GoalGlyph } from './GoalGlyph.js';
import { useEnabled, useGoalView } from './hooks.js';
import { useKit } from './kit.js';

/** What a badge is about. */
export interface GoalBadgeProps {
  sessionId: string;
}

/**
 * The sign of a session's goal, for a row of a list; nothing where there is none or goals are
 * switched off.
 *
 * @example
 * ```tsx
 * import { GoalBadge } from 'tauri-plugin-goal-api/react';
 *
 * const row = <li>Refactor the exporter <GoalBadge sessionId="ses_3f2a9c" /></li>;
 * ```
 */
export function GoalBadge({ sessionId }: GoalBadgeProps): ReactNode {
  const { words } = useKit();
  const goal = useGoalView(sessionId);
  const enabled = useEnabled();
  if (!goal || !enabled) return null;
  const { glyph, tone, name } = present(goal);
  const label = words.say('badge.label', { status: words.say(name) });
  return (
    <span className="goal-badge" role="img" aria-label={label} title={label} data-tone={tone}>
      <GoalGlyph glyph={glyph} />
    </span>
  );
}
