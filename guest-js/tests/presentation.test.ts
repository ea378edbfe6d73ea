import { expect, test } from 'vitest';

import {
  createWords,
  describe as describeGoal,
  errorText,
  GoalError,
  present,
  REASONS,
  reasonOf,
  activeMsOf,
  usageOf,
  type Control,
  type Glyph,
  type Tone,
} from '../index.js';
import fr from '../locales/fr.json' with { type: 'json' };
import type { GoalView } from '../types.js';
import { goalView, NOON } from './fixtures.js';

const words = createWords();
const settled = { phase: 'settled' } as const;
const waiting = { phase: 'waitingForYou', why: 'waitingForYou' } as const;

const TABLE: [Partial<GoalView>, Glyph, Tone, Control, string][] = [
  [{}, 'ring', 'active', 'pause', 'Working'],
  [{ why: 'providerRetries' }, 'ring', 'active', 'pause', 'The model’s provider fails; trying again'],
  [{ phase: 'quiet', next: NOON + 9_000 }, 'ring', 'active', 'pause', 'Evaluating… audit in 9 s'],
  [{ phase: 'quiet', next: NOON - 1 }, 'ring', 'active', 'pause', 'Evaluating…'],
  [{ phase: 'quiet', next: null }, 'ring', 'active', 'pause', 'Evaluating…'],
  [
    { phase: 'quiet', why: 'withinGrace', next: NOON + 60_000 },
    'ring',
    'active',
    'pause',
    'Unfinished reply; looking again in 1 min',
  ],
  [
    { phase: 'quiet', why: 'patience', next: NOON + 30_000 },
    'ring',
    'active',
    'pause',
    'Taking its time; going on in 30 s',
  ],
  [{ phase: 'checking' }, 'ring', 'active', 'pause', 'Evaluating…'],
  [{ phase: 'auditing' }, 'arc', 'active', 'pause', 'Evaluating… 4 s'],
  [{ phase: 'continuing', turnsUsed: 4 }, 'ring', 'active', 'pause', 'Continuing (4 of 20)'],
  [{ phase: 'waitingForSubagent' }, 'ring', 'active', 'pause', 'Waiting for a sub-agent'],
  [
    { ...waiting, detail: 'bash wants to run' },
    'hand',
    'waiting',
    'answer',
    'Waiting for you: bash wants to run',
  ],
  [waiting, 'hand', 'waiting', 'answer', 'Waiting for you'],
  [{ ...waiting, why: 'userPending' }, 'hand', 'waiting', 'resume', 'Your message was not answered'],
  [{ ...waiting, why: 'disabled' }, 'hand', 'waiting', 'pause', 'Session goals are switched off'],
  [{ ...waiting, why: 'firstMessageMissing' }, 'ring', 'active', 'pause', 'Waiting for the first message'],
  [{ ...waiting, why: 'noAssistantYet' }, 'ring', 'active', 'pause', 'Waiting for the first message'],
  [{ phase: 'rewound' }, 'hand', 'waiting', 'resume', 'Rewound: send a message or resume'],
  [
    { phase: 'retrying', next: NOON + 120_000 },
    'away',
    'paused',
    'retry',
    'Server not reachable, again at 14:02',
  ],
  [{ phase: 'retrying' }, 'away', 'paused', 'retry', 'Server not reachable, trying again'],
  [
    { phase: 'needsClick', updatedAt: NOON - 3 * 86_400_000 },
    'hand',
    'waiting',
    'continue',
    'Untouched since Friday. Continue?',
  ],
  [{ phase: 'objectiveMissing' }, 'hand', 'waiting', 'edit', 'The objective’s text is missing'],
  [{ phase: 'stalled' }, 'hand', 'waiting', 'resume', 'Prompts are not taken up'],
  [settled, 'ring', 'active', 'pause', 'Evaluating…'],
  [{ status: 'paused', ...settled }, 'pause', 'paused', 'resume', 'Paused by you'],
  [
    { status: 'paused', reason: 'paused after the turn was stopped', ...settled },
    'pause',
    'paused',
    'resume',
    'Paused · the turn was stopped',
  ],
  [{ status: 'blocked', reason: 'x', ...settled }, 'bar', 'blocked', 'resume', 'Blocked'],
  [
    { status: 'budgetLimited', tokensUsed: 203_412, ...settled },
    'coin',
    'blocked',
    'raise',
    '203K of 200K used',
  ],
  [
    { status: 'complete', reason: 'verified by audit', ...settled },
    'check',
    'complete',
    'remove',
    'Complete · verified 13:59',
  ],
  [
    { status: 'complete', reason: 'marked by user', ...settled },
    'check',
    'complete',
    'remove',
    'Complete · marked by you',
  ],
  [{ status: 'complete', ...settled }, 'check', 'complete', 'remove', 'Complete'],
];

test.each(TABLE)('%o', (change, glyph, tone, control, line) => {
  const goal = goalView(change);
  expect(present(goal)).toMatchObject({ glyph, tone, control });
  expect(describeGoal(goal, words, NOON).line).toBe(line);
});

test('a settled goal looks the same whatever its last phase was', () => {
  const left = goalView({ status: 'paused', phase: 'auditing', why: 'userPending' });
  expect(present(left)).toEqual(present(goalView({ status: 'paused', ...settled })));
});

test('a code that a later version makes, or that every object has, is no fault', () => {
  for (const why of ['ofATimeToCome', 'constructor', 'toString']) {
    expect(present(goalView({ why }))).toEqual(present(goalView()));
  }
  expect(reasonOf({ status: 'blocked', reason: 'constructor' }, words)).toBe('constructor');
});

test('a sub-agent is named where the page knows its name', () => {
  const goal = goalView({ phase: 'waitingForSubagent', detail: 'ses_child' });
  expect(describeGoal(goal, words, NOON, 'explore').line).toBe('Waiting for explore');
});

test('a blocked goal says its reason, every other one its note', () => {
  const reason = 'empty replies';
  expect(describeGoal(goalView({ status: 'blocked', reason }), words, NOON).text).toBe(
    'The agent answers with nothing',
  );
  expect(describeGoal(goalView({ note: 'Half done.' }), words, NOON).text).toBe('Half done.');
});

test('an auditor’s or provider’s own reason is shown as it is, braces and all', () => {
  const reason = 'APIError: {code} is wrong';
  expect(reasonOf({ status: 'blocked', reason }, words)).toBe(reason);
  const detail = 'run {left} and {reason}';
  const goal = goalView({ phase: 'waitingForYou', why: 'waitingForYou', detail });
  expect(describeGoal(goal, words, NOON).line).toBe(`Waiting for you: ${detail}`);
});

test('every canonical reason has words in both languages', () => {
  const mots = createWords({ messages: fr, locale: 'fr' });
  for (const [reason, code] of Object.entries(REASONS)) {
    const said = [words, mots].map((language) => language.code('reason', code));
    expect(said, reason).not.toContain(undefined);
    expect(new Set(said).size, reason).toBe(2);
  }
});

test('usage says what there is to say', () => {
  expect(usageOf(goalView(), words)).toBe('34K / 200K tokens · 3 of 20 · 50 min');
  expect(usageOf(goalView(), words, 'long')).toBe(
    '34K / 200K tokens · 3 of 20 continuations · 50 min active',
  );
  expect(usageOf(goalView({ tokenBudget: null }), words)).toBe('34K tokens · 3 of 20 · 50 min');
  const fresh = { tokensUsed: 0, turnsUsed: 0, activeMs: 59_999 };
  expect(usageOf(goalView({ ...fresh, tokenBudget: null }), words)).toBe('');
  expect(usageOf(goalView(fresh), words)).toBe('0 / 200K tokens');
});

test('active time runs on from the view while the goal is active, and stands still while not', () => {
  const later = NOON + 600_000;
  expect(activeMsOf(goalView(), later)).toBe(3_600_000);
  // Right after a reload nothing has to be heard first: the view says it.
  expect(activeMsOf(goalView(), NOON)).toBe(3_000_000);
  // The clock was set back.
  expect(activeMsOf(goalView(), NOON - 1)).toBe(3_000_000);
  for (const status of ['paused', 'blocked', 'budgetLimited', 'complete'] as const) {
    expect(activeMsOf(goalView({ status }), later), status).toBe(3_000_000);
  }
  expect(usageOf(goalView(), words, 'short', later)).toBe('34K / 200K tokens · 3 of 20 · 1 h');
});

test('errors speak the reader’s language', () => {
  const error = new GoalError('unreachable', 'OpenCode did not answer for 45 s.');
  const mots = createWords({ messages: fr, locale: 'fr' });
  expect(errorText(error, words)).toBe('OpenCode did not answer for 45 s.');
  expect(errorText(error, mots)).toMatch(/^Le serveur/);
  expect(errorText(new GoalError('notAllowed', 'goal.pause not allowed'), words)).toBe(
    'This window is not allowed to do that.',
  );
});
