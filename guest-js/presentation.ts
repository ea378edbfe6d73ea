import type { GoalError } from './errors.js';
import type { GoalView, Phase, Status } from './types.js';
import type { MessageKey, Words } from './words.js';

/** The sign of a state. State is never colour alone: each status has its own. */
export type Glyph =
  'target' | 'armed' | 'ring' | 'arc' | 'pause' | 'check' | 'bar' | 'coin' | 'hand' | 'away';

/** The colour of a state: `--goal-active`, `--goal-paused` and so on. */
export type Tone = 'active' | 'paused' | 'blocked' | 'complete' | 'waiting';

/** What a person can do about a state, in one click. */
export type Control =
  'pause' | 'resume' | 'continue' | 'answer' | 'retry' | 'raise' | 'edit' | 'remove';

/** What moves while a state lasts. */
export type Motion = 'none' | 'arc' | 'window' | 'settle';

/** How a state looks, everywhere: target button, strip, dialog, badge. */
export interface Presentation {
  readonly glyph: Glyph;
  readonly tone: Tone;
  /** Two words for it, for badges and screen readers. */
  readonly name: MessageKey;
  /** The strip's line; its values are those of {@link describe}. */
  readonly line: MessageKey;
  /** The one action beside the line. */
  readonly control: Control;
  readonly motion: Motion;
  /** It asks for something that only a person can do. */
  readonly needsYou: boolean;
}

const ACTIVE: Presentation = {
  glyph: 'ring',
  tone: 'active',
  name: 'status.active',
  line: 'strip.working',
  control: 'pause',
  motion: 'none',
  needsYou: false,
};

const WAITING: Presentation = {
  glyph: 'hand',
  tone: 'waiting',
  name: 'phase.waitingForYou',
  line: 'strip.waiting',
  control: 'resume',
  motion: 'none',
  needsYou: true,
};

/** Active goals by what they do. */
const PHASES: Record<Phase, Presentation> = {
  quiet: { ...ACTIVE, name: 'phase.quiet', line: 'strip.quiet', motion: 'window' },
  checking: { ...ACTIVE, name: 'phase.checking', line: 'strip.evaluating' },
  auditing: {
    ...ACTIVE,
    glyph: 'arc',
    name: 'phase.auditing',
    line: 'strip.auditing',
    motion: 'arc',
  },
  continuing: { ...ACTIVE, name: 'phase.continuing', line: 'strip.continuing' },
  working: { ...ACTIVE, name: 'phase.working', line: 'strip.working' },
  waitingForSubagent: { ...ACTIVE, name: 'phase.waitingForSubagent', line: 'strip.subagent' },
  waitingForYou: { ...WAITING, control: 'answer' },
  rewound: { ...WAITING, name: 'phase.rewound', line: 'strip.rewound' },
  retrying: {
    ...ACTIVE,
    glyph: 'away',
    tone: 'paused',
    name: 'phase.retrying',
    line: 'strip.retrying',
    control: 'retry',
  },
  needsClick: {
    ...WAITING,
    name: 'phase.needsClick',
    line: 'strip.needsClick',
    control: 'continue',
  },
  objectiveMissing: {
    ...WAITING,
    name: 'phase.objectiveMissing',
    line: 'strip.objectiveMissing',
    control: 'edit',
  },
  stalled: { ...WAITING, name: 'phase.stalled', line: 'strip.stalled' },
  // The moment between the last step and the write that ends the goal.
  settled: { ...ACTIVE, line: 'strip.evaluating' },
};

/** Rests that look otherwise than the rest of their phase. */
const RESTS: Record<string, Partial<Presentation>> = {
  providerRetries: { line: 'strip.providerRetries' },
  disabled: { line: 'strip.disabled', control: 'pause' },
  firstMessageMissing: { ...ACTIVE, line: 'strip.firstMessage' },
  noAssistantYet: { ...ACTIVE, line: 'strip.firstMessage' },
  userPending: { line: 'strip.unanswered', control: 'resume' },
  withinGrace: { line: 'strip.withinGrace' },
  patience: { line: 'strip.patience' },
};

/** Goals that are not active. */
const SETTLED: Record<Exclude<Status, 'active'>, Presentation> = {
  paused: {
    ...ACTIVE,
    glyph: 'pause',
    tone: 'paused',
    name: 'status.paused',
    line: 'strip.paused',
    control: 'resume',
  },
  blocked: {
    ...ACTIVE,
    glyph: 'bar',
    tone: 'blocked',
    name: 'status.blocked',
    line: 'strip.blocked',
    control: 'resume',
    needsYou: true,
  },
  budgetLimited: {
    ...ACTIVE,
    glyph: 'coin',
    tone: 'blocked',
    name: 'status.budgetLimited',
    line: 'strip.budget',
    control: 'raise',
    needsYou: true,
  },
  complete: {
    ...ACTIVE,
    glyph: 'check',
    tone: 'complete',
    name: 'status.complete',
    line: 'strip.complete',
    control: 'remove',
    motion: 'settle',
  },
};

/**
 * How a goal looks: the one table that target button, strip, dialog and badge read.
 *
 * @example
 * ```ts
 * import { present } from 'tauri-plugin-goal-api';
 *
 * const { glyph, tone, control } = present({ status: 'paused', phase: 'settled', why: '' });
 * console.log(glyph, tone, control); // pause paused resume
 * ```
 */
export function present(goal: Pick<GoalView, 'status' | 'phase' | 'why'>): Presentation {
  if (goal.status !== 'active') return SETTLED[goal.status];
  const rest = Object.hasOwn(RESTS, goal.why) ? RESTS[goal.why] : undefined;
  return { ...PHASES[goal.phase], ...rest };
}

/**
 * The codes of the reasons that are stored in canonical English; any other reason is the text of
 * an auditor or a provider and is shown as it is.
 */
export const REASONS: Readonly<Record<string, string>> = {
  'paused after the turn was stopped': 'aborted',
  'paused after you declined a request': 'declined',
  'session archived': 'archived',
  'the first message of the goal never arrived': 'firstMessageMissing',
  'context too small': 'contextTooSmall',
  'no progress': 'noProgress',
  'assistant turn failed': 'turnFailed',
  'auto-continuation limit reached': 'cap',
  'repeated output truncation': 'repeatedTruncation',
  'the audit found the goal blocked': 'blockedByAudit',
  'progress audit unavailable': 'auditUnavailable',
  'empty replies': 'emptyReplies',
  'no model to continue with': 'noModel',
  'the server refused the prompt': 'promptRefused',
  'verified by audit': 'complete',
  'token budget reached': 'budgetLimited',
  resumed: 'resumed',
  'marked by user': 'markedByUser',
};

/** Why a goal stands where it stands, in the reader's language; empty where nothing is to be said. */
export function reasonOf(goal: Pick<GoalView, 'status' | 'reason'>, words: Words): string {
  const reason = goal.reason.trim();
  // Every pause of the loop has a reason; the user's own has none.
  if (reason === '') return goal.status === 'paused' ? words.say('reason.pausedByUser') : '';
  const code = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  return (code === undefined ? undefined : words.code('reason', code)) ?? reason;
}

/** What a strip says of a goal. */
export interface Description {
  /** What it does, with running seconds: "Evaluating… audit in 9 s". */
  readonly line: string;
  /** What it is about: the reason of a blocked goal, else the auditor's note; empty: neither. */
  readonly text: string;
  /** "34K / 200K tokens · 3 of 20 · 50 min"; empty while nothing was used. */
  readonly usage: string;
  /** Two words, for badges and for announcements that do not change every second. */
  readonly name: string;
}

/**
 * A goal in words at a moment.
 *
 * @example
 * ```ts
 * import { createWords, describe, get } from 'tauri-plugin-goal-api';
 *
 * const goal = await get({ sessionId: 'ses_3f2a9c' });
 * if (goal !== null) console.log(describe(goal, createWords(), Date.now()).line);
 * ```
 * @param now Epoch milliseconds of the same clock as the goal's times.
 * @param subagent The name of the sub-agent that is waited for, where the page knows it.
 */
export function describe(
  goal: GoalView,
  words: Words,
  now: number,
  subagent?: string,
): Description {
  return {
    line: words.say(lineOf(goal, now, subagent), {
      left: words.span((goal.next ?? now) - now),
      elapsed: words.span(Math.max(0, now - goal.since)),
      time: words.clock(goal.next ?? now, now),
      settled: words.clock(goal.updatedAt, now),
      day: words.day(goal.updatedAt, now),
      n: goal.turnsUsed,
      of: goal.turnsMax,
      used: words.tokens(goal.tokensUsed),
      budget: words.tokens(goal.tokenBudget ?? goal.tokensUsed),
      detail: goal.detail,
      name: subagent ?? '',
      reason: reasonOf(goal, words),
    }),
    text: goal.status === 'blocked' ? sentence(reasonOf(goal, words)) : goal.note,
    usage: usageOf(goal, words, 'short', now),
    name: words.say(present(goal).name),
  };
}

/**
 * How long a goal has been active, in milliseconds: it runs on while the goal is active, and stands
 * still while it is not.
 *
 * @param now Epoch milliseconds of the same clock as the goal's times.
 */
export function activeMsOf(goal: GoalView, now: number): number {
  return goal.activeMs + (goal.status === 'active' ? Math.max(0, now - goal.at) : 0);
}

/**
 * Tokens, continuations and active time; empty while nothing was used.
 *
 * @param style `long` says what the numbers count. Default: `short`.
 * @param now Up to when the active time runs. Default: when the view was made.
 */
export function usageOf(
  goal: GoalView,
  words: Words,
  style: 'short' | 'long' = 'short',
  now: number = goal.at,
): string {
  const used = words.tokens(goal.tokensUsed);
  const parts: string[] = [];
  if (goal.tokenBudget !== null) {
    parts.push(words.say('usage.budget', { used, budget: words.tokens(goal.tokenBudget) }));
  } else if (goal.tokensUsed > 0) parts.push(words.say('usage.tokens', { used }));
  if (goal.turnsUsed > 0) {
    const key = style === 'long' ? 'usage.turnsLong' : 'usage.turns';
    parts.push(words.say(key, { n: goal.turnsUsed, of: goal.turnsMax }));
  }
  const time = words.spent(activeMsOf(goal, now));
  if (time !== '') parts.push(style === 'long' ? words.say('usage.active', { time }) : time);
  return parts.join(' · ');
}

/**
 * A failed request as a sentence. English readers get the Rust side's own, which says what still
 * holds and what to do; others its kind in their language.
 */
export function errorText(error: GoalError, words: Words): string {
  const ours = error.code === 'notAllowed' || error.code === 'unavailable';
  const english = words.locale === 'en' || words.locale.startsWith('en-');
  if (english && !ours && error.message !== '') return error.message;
  return `${sentence(words.say(`error.${error.code}`))}.`;
}

/** A text that begins with a capital letter. */
export function sentence(text: string): string {
  const [first = ''] = text;
  return first.toLocaleUpperCase() + text.slice(first.length);
}

/** The line's key, without the values that are missing at the moment. */
function lineOf(goal: GoalView, now: number, subagent: string | undefined): MessageKey {
  const { line } = present(goal);
  const ahead = goal.next !== null && goal.next > now;
  switch (line) {
    case 'strip.quiet':
      return ahead ? line : 'strip.evaluating';
    case 'strip.retrying':
      return ahead ? line : 'strip.retryingNow';
    case 'strip.withinGrace':
    case 'strip.patience':
      return ahead ? line : 'strip.evaluating';
    case 'strip.subagent':
      return subagent === undefined ? line : 'strip.subagentNamed';
    case 'strip.waiting':
      return goal.detail === '' ? 'strip.waitingPlain' : line;
    case 'strip.paused':
      return goal.reason.trim() === '' ? 'strip.pausedByYou' : line;
    case 'strip.complete':
      if (goal.reason === 'verified by audit') return 'strip.verified';
      return goal.reason.trim() === '' ? line : 'strip.completeBy';
    default:
      return line;
  }
}
