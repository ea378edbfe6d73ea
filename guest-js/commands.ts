import { Channel, invoke, type InvokeArgs } from '@tauri-apps/api/core';

import { GoalError } from './errors.js';
import type {
  AuditorCheck,
  AuditorModel,
  AuditorTest,
  Cleared,
  Command,
  Completed,
  Edit,
  Edited,
  Explanation,
  GoalView,
  ListNotices,
  MarkedRead,
  MarkRead,
  Notice,
  ObjectiveText,
  OfSession,
  OnAll,
  OnSession,
  Paused,
  PausedOne,
  Resume,
  Resumed,
  ServerConnect,
  ServerStatus,
  SetSettings,
  SettingsView,
  Snapshot,
  Start,
  Started,
  TestAuditor,
  WatchMessage,
  Watching,
} from './types.js';

/**
 * The goal of a session as it is known, from memory. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { get } from 'tauri-plugin-goal-api';
 *
 * const goal = await get({ sessionId: 'ses_3f2a9c' });
 * console.log(goal === null ? 'no goal' : `${goal.status}, ${goal.phase}`);
 * ```
 * @param request The session.
 * @returns The goal; `null` if the session has none, or its goal belongs to another session (X11).
 * @throws {GoalError} `invalidSession`, `notConnected`.
 * @since 0.1.0
 */
export function get(request: OfSession): Promise<GoalView | null> {
  return call('plugin:goal|get', request);
}

/**
 * The goals of all sessions as they are known, from memory, with the number of the newest change.
 * Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { list } from 'tauri-plugin-goal-api';
 *
 * const { goals } = await list();
 * console.log(goals.filter((goal) => goal.status === 'active').length);
 * ```
 * @returns Every goal, in the order of the sessions' ids. A session that is not listed has none.
 * @since 0.1.0
 */
export function list(): Promise<Snapshot> {
  return call('plugin:goal|list', {});
}

/**
 * The whole objective for display. Needed only where `GoalView.objective` is `null`.
 * Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { objective } from 'tauri-plugin-goal-api';
 *
 * const { text } = await objective({ sessionId: 'ses_3f2a9c' });
 * console.log(text ?? 'its text is not on this machine');
 * ```
 * @throws {GoalError} `invalidSession`, `noGoal`, `notConnected`.
 * @since 0.1.0
 */
export function objective(request: OfSession): Promise<ObjectiveText> {
  return call('plugin:goal|objective', request);
}

/**
 * Why a goal does what it does: what a look right now says, and what was decided last, newest
 * first, at most 10 lines. Asks the server. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { why } from 'tauri-plugin-goal-api';
 *
 * const { look, recent } = await why({ sessionId: 'ses_3f2a9c' });
 * console.log(look.decision, look.why, recent.length);
 * ```
 * @throws {GoalError} `invalidSession`, `noGoal`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function why(request: OfSession): Promise<Explanation> {
  return call('plugin:goal|why', request);
}

/**
 * What the user was told, newest first. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { notices } from 'tauri-plugin-goal-api';
 *
 * const unread = (await notices({ limit: 20 })).filter((notice) => !notice.read);
 * console.log(unread.map((notice) => notice.code));
 * ```
 * @param request `limit`: how many, 1 to 200; 50 if left out.
 * @throws {GoalError} `invalidArguments`, `dataFolder`.
 * @since 0.1.0
 */
export function notices(request: ListNotices = {}): Promise<Notice[]> {
  return call('plugin:goal|notices', request);
}

/**
 * The settings of goals and notices with their defaults. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { settingsGet } from 'tauri-plugin-goal-api';
 *
 * const { settings, complaint } = await settingsGet();
 * console.log(settings.sessionGoalEnabled, complaint);
 * ```
 * @since 0.1.0
 */
export function settingsGet(): Promise<SettingsView> {
  return call('plugin:goal|settings_get', {});
}

/**
 * How the server stands, and who drives its goals. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { serverStatus } from 'tauri-plugin-goal-api';
 *
 * const { state, reason, retryInMs } = await serverStatus();
 * console.log(state, reason, retryInMs);
 * ```
 * @since 0.1.0
 */
export function serverStatus(): Promise<ServerStatus> {
  return call('plugin:goal|server_status', {});
}

/**
 * Which model audits the goals of a session, or of an empty session of a folder (X4). Asks no
 * model. Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { auditorCheck } from 'tauri-plugin-goal-api';
 *
 * const { model, source } = await auditorCheck({ sessionId: 'ses_3f2a9c' });
 * console.log(model, source);
 * ```
 * @param request One of `sessionId` and `directory`; the session wins.
 * @throws {GoalError} `noAuditor`, `invalidArguments`, `invalidSession`, `unknownSession`,
 * `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function auditorCheck(request: AuditorCheck): Promise<AuditorModel> {
  return call('plugin:goal|auditor_check', request);
}

/**
 * Starts a goal. With `send` (the default) the objective is sent to the session as a prompt, and
 * the agent is told that it is a goal; without, the session's last turn is audited first (X21).
 * Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { start } from 'tauri-plugin-goal-api';
 *
 * const { goal, auditor } = await start({
 *   sessionId: 'ses_3f2a9c',
 *   objective: 'Add tests for the export module and make the whole suite pass.',
 *   tokenBudget: 200_000,
 * });
 * console.log(goal.goalId, auditor.model);
 * ```
 * @param request `tokenBudget`: a whole number of tokens from 1 to 2^53 - 1; `null`: no limit; left
 * out: the default budget, if that is on. `agent`, `model`, `variant`, `attachments`: for the prompt
 * that is sent; what is left out follows the session, and continuations follow the prompt's answer.
 * `prompt` and `instructions`: what is said to the agent in the objective's place, and what goes along hidden.
 * @throws {GoalError} `goalExists` (ask again with `replace`), `noAuditor`, `invalidObjective`,
 * `invalidBudget`, `invalidPrompt`, `unsuitableSession`, `unknownSession`, `notDelivered`, `unreachable`,
 * `notConnected`.
 * @since 0.1.0
 */
export function start(request: Start): Promise<Started> {
  return act('plugin:goal|start', request);
}

/**
 * Changes a goal's objective or budget. It stays the same goal, and is active again unless its
 * budget is spent (R85). Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { edit } from 'tauri-plugin-goal-api';
 *
 * const { goal } = await edit({ sessionId: 'ses_3f2a9c', tokenBudget: 400_000 });
 * console.log(goal.status);
 * ```
 * @throws {GoalError} `noGoal`, `wrongStatus` (a complete goal is not edited), `invalidObjective`,
 * `invalidBudget`, `conflict`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function edit(request: Edit): Promise<Edited> {
  return act('plugin:goal|edit', request);
}

/**
 * Pauses a goal and stops what runs in its session and its sub-agents (X8).
 * Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { pause } from 'tauri-plugin-goal-api';
 *
 * const { already, abortFailed } = await pause({ sessionId: 'ses_3f2a9c' });
 * if (abortFailed !== null) console.warn(`Paused, but still running: ${abortFailed}`, already);
 * ```
 * @throws {GoalError} `noGoal`, `wrongStatus`, `conflict`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function pause(request: OnSession): Promise<Paused> {
  return act('plugin:goal|pause', request);
}

/**
 * Resumes a goal with fresh continuations, streaks and audit tolerance (X16). One whose budget is
 * spent needs a larger one in the same request. Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { resume } from 'tauri-plugin-goal-api';
 *
 * const { goal } = await resume({ sessionId: 'ses_3f2a9c', tokenBudget: 500_000 });
 * console.log(goal.phase);
 * ```
 * @throws {GoalError} `budgetSpent`, `noGoal`, `wrongStatus`, `noAuditor`, `invalidBudget`,
 * `conflict`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function resume(request: Resume): Promise<Resumed> {
  return act('plugin:goal|resume', request);
}

/**
 * Marks a goal as complete by the user's word, without an audit. Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { complete } from 'tauri-plugin-goal-api';
 *
 * await complete({ sessionId: 'ses_3f2a9c' });
 * ```
 * @throws {GoalError} `noGoal`, `conflict`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function complete(request: OnSession): Promise<Completed> {
  return act('plugin:goal|complete', request);
}

/**
 * Removes a goal and stops what runs for it. Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { clear } from 'tauri-plugin-goal-api';
 *
 * const { goal, already } = await clear({ sessionId: 'ses_3f2a9c' });
 * console.log(already ? 'there was none' : goal?.goalId);
 * ```
 * @throws {GoalError} `conflict`, `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function clear(request: OnSession): Promise<Cleared> {
  return act('plugin:goal|clear', request);
}

/**
 * Pauses every active goal of the server. Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { pauseAll } from 'tauri-plugin-goal-api';
 *
 * const failed = (await pauseAll()).filter(({ error }) => error !== null);
 * console.log(failed.length);
 * ```
 * @returns One entry for each goal that was active, with its own error where it could not be paused.
 * @throws {GoalError} `unreachable`, `notConnected`.
 * @since 0.1.0
 */
export function pauseAll(request: OnAll = {}): Promise<PausedOne[]> {
  return act('plugin:goal|pause_all', request);
}

/**
 * Has the auditor judge something that is done. Costs one small model call.
 * Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { auditorTest } from 'tauri-plugin-goal-api';
 *
 * const { verdict, tookMs, auditor } = await auditorTest({ directory: '/home/ada/website' });
 * console.log(auditor.model, verdict === 'complete', tookMs);
 * ```
 * @throws {GoalError} `auditFailed`, `noAuditor`, `invalidArguments`, `unreachable`,
 * `notConnected`.
 * @since 0.1.0
 */
export function auditorTest(request: TestAuditor): Promise<AuditorTest> {
  return act('plugin:goal|auditor_test', request);
}

/**
 * Marks lines of the in-app list as read. Permission: `goal:control`.
 *
 * @example
 * ```ts
 * import { notices, noticesMarkRead } from 'tauri-plugin-goal-api';
 *
 * const ids = (await notices()).flatMap(({ id }) => (id === null ? [] : [id]));
 * await noticesMarkRead({ ids });
 * ```
 * @param request At most 200 numbers.
 * @throws {GoalError} `invalidArguments`, `dataFolder`.
 * @since 0.1.0
 */
export function noticesMarkRead(request: MarkRead): Promise<MarkedRead> {
  return act('plugin:goal|notices_mark_read', request);
}

/**
 * Changes settings, all of them or none; `null` takes a key back to its default.
 * Permission: `goal:settings`.
 *
 * @example
 * ```ts
 * import { settingsSet } from 'tauri-plugin-goal-api';
 *
 * await settingsSet({ changes: { sessionGoalDefaultBudgetEnabled: true } });
 * ```
 * @throws {GoalError} `unknownSetting`, `invalidSetting`, `settingsUnwritable`.
 * @since 0.1.0
 */
export function settingsSet(request: SetSettings): Promise<SettingsView> {
  return act('plugin:goal|settings_set', request);
}

/**
 * Connects to a server: one that runs, one that the app starts, none, or (`null`) the latest one
 * again, at once. A password goes in and never comes back. Permission: `goal:settings`.
 *
 * @example
 * ```ts
 * import { serverConnect } from 'tauri-plugin-goal-api';
 *
 * await serverConnect({ server: { kind: 'attached', url: 'http://127.0.0.1:4096' } });
 * ```
 * @throws {GoalError} `invalidArguments`, `unauthorized`, `notOpenCode`, `unreachable`,
 * `openCodeMissing`.
 * @since 0.1.0
 */
export function serverConnect(request: ServerConnect): Promise<ServerStatus> {
  return act('plugin:goal|server_connect', request);
}

/**
 * Streams what happens, in order; the first message is a `snapshot`, and so is the one that takes
 * the place of what a slow page missed. Ends with the page at the latest. At most 32 per window.
 * Permission: `goal:default`.
 *
 * @example
 * ```ts
 * import { watch } from 'tauri-plugin-goal-api';
 *
 * const stop = await watch({ sessionId: 'ses_3f2a9c' }, (message) => {
 *   if (message.type === 'verdict') console.log(message.verdict.verdict, message.verdict.note);
 * });
 * await stop();
 * ```
 * @param request `sessionId`: that session only; left out: all.
 * @returns What ends it; nothing arrives from then on. Ending twice is harmless.
 * @throws {GoalError} `invalidArguments` beyond 32, `invalidSession`.
 * @since 0.1.0
 */
export async function watch(
  request: Partial<OfSession>,
  onMessage: (message: WatchMessage) => void,
): Promise<() => Promise<void>> {
  const channel = new Channel<WatchMessage>(onMessage);
  const { id } = await call<Watching>('plugin:goal|watch', { ...request, channel });
  let ended: Promise<void> | undefined;
  return () => {
    channel.onmessage = () => undefined;
    ended ??= call<null>('plugin:goal|unwatch', { id }).then(() => undefined);
    return ended;
  };
}

/**
 * A fresh request id: 32 hexadecimal digits. An acting command that was carried out, and is asked
 * again with the same id and arguments, does nothing a second time and gives the first answer. The
 * newest 1,024 ids are remembered, until the app ends.
 *
 * @example
 * ```ts
 * import { newRequestId, start } from 'tauri-plugin-goal-api';
 *
 * const request = { sessionId: 'ses_3f2a9c', objective: 'Fix CI.', requestId: newRequestId() };
 * await start(request).catch(() => start(request));
 * ```
 * @since 0.1.0
 */
export function newRequestId(): string {
  // Not `randomUUID`: a page from a plain-http development server does not have it.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

type Call = `plugin:goal|${Command}`;

/** Every acting call bears an id: Tauri itself sends one again if its first way to Rust fails. */
function act<T>(command: Call, request: { requestId?: string }): Promise<T> {
  return call(command, { ...request, requestId: request.requestId ?? newRequestId() });
}

async function call<T>(command: Call, request: InvokeArgs): Promise<T> {
  try {
    return await invoke<T>(command, request);
  } catch (reason) {
    throw GoalError.from(reason);
  }
}
