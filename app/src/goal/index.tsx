/** What of goals the rest of the page places; the components themselves stand in this folder. */
export { useArmed } from './arming';
export { ArmedHint, Auditing } from './Hint';
export { NoticesButton } from './Notices';
export { Goals } from './provider';
export { GoalRow } from './Row';
export { GoalSettings } from './Settings';
export { GoalSign } from './Sign';
export { SessionStrip } from './Strip';
export { ComposerTarget } from './Target';
