import { goalView, NOON } from '../tests/fixtures.js';
import type { GoalView } from '../types.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const settled = { phase: 'settled', since: NOON - 5 * MINUTE } as const;

/** Every status and phase, by the name of its picture. */
export const STATES: Readonly<Record<string, Partial<GoalView>>> = {
  working: {},
  'provider-retries': { why: 'providerRetries' },
  quiet: { phase: 'quiet', since: NOON - 6_000, next: NOON + 9_000 },
  'within-grace': { phase: 'quiet', why: 'withinGrace', since: NOON - 6_000, next: NOON + 40_000 },
  patience: { phase: 'quiet', why: 'patience', since: NOON - 6_000, next: NOON + 2 * MINUTE },
  checking: { phase: 'checking' },
  auditing: { phase: 'auditing' },
  continuing: { phase: 'continuing', turnsUsed: 4 },
  subagent: { phase: 'waitingForSubagent', detail: 'ses_child' },
  waiting: { phase: 'waitingForYou', why: 'waitingForYou', detail: 'bash wants to run' },
  'first-message': { phase: 'waitingForYou', why: 'firstMessageMissing', note: '', turnsUsed: 0, tokensUsed: 0, tokenBudget: null },
  unanswered: { phase: 'waitingForYou', why: 'userPending' },
  rewound: { phase: 'rewound' },
  retrying: { phase: 'retrying', why: 'statusUnknown', next: NOON + 2 * MINUTE },
  'needs-click': { phase: 'needsClick', updatedAt: NOON - 3 * DAY },
  'objective-missing': { phase: 'objectiveMissing', objective: null, note: '' },
  stalled: { phase: 'stalled' },
  settling: { phase: 'settled' },
  paused: { status: 'paused', ...settled },
  'paused-after-stop': { status: 'paused', reason: 'paused after the turn was stopped', ...settled },
  'paused-no-progress': { status: 'paused', reason: 'no progress', ...settled },
  blocked: {
    status: 'blocked',
    reason:
      'The export tests need the fixture database, and its password is in none of the files that I can read. Tell me where it is, or allow me to start a database of my own in a container; both would do.',
    ...settled,
  },
  'blocked-cap': { status: 'blocked', reason: 'auto-continuation limit reached', turnsUsed: 20, ...settled },
  'budget-limited': { status: 'budgetLimited', reason: 'token budget reached', tokensUsed: 203_412, ...settled },
  complete: { status: 'complete', reason: 'verified by audit', updatedAt: NOON + 31 * MINUTE - 30 * MINUTE, ...settled },
  'marked-complete': { status: 'complete', reason: 'marked by user', ...settled },
  'no-budget': { tokenBudget: null, tokensUsed: 1_240_000 },
  long: {
    note: 'The quoting tests pass, the delimiter tests pass, and what remains are the three cases with a byte order mark, of which the second fails on Windows line endings only.',
  },
};

/** The state as a goal of a session of its own. */
export function stateOf(name: string): GoalView {
  return goalView({ sessionId: `ses_${name}`, goalId: `goal_${name}`, ...STATES[name] });
}
