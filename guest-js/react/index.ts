/**
 * The React kit: hooks, and the five places where a goal shows. Style it with
 * `tauri-plugin-goal-api/react/styles.css` and the `--goal-*` variables.
 *
 * @module
 */
export { useGoalActions, type GoalActions } from './actions.js';
export { GoalBadge, type GoalBadgeProps } from './GoalBadge.js';
export { GoalButton, type GoalButtonProps } from './GoalButton.js';
export { GoalCounter, type GoalCounterProps } from './GoalCounter.js';
export { GoalDialog, type GoalDialogProps } from './GoalDialog.js';
export { GoalGlyph } from './GoalGlyph.js';
export { GoalStrip, type GoalStripProps } from './GoalStrip.js';
export {
  useArming,
  useEnabled,
  useGoal,
  useGoals,
  useGoalSettings,
  useGoalView,
  useNow,
  useServer,
  type GoalSettings,
  type GoalState,
  type Target,
} from './hooks.js';
export { GoalProvider, useKit, type GoalProviderProps, type Kit } from './kit.js';
