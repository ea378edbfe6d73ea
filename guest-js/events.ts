import { listen, type UnlistenFn } from '@tauri-apps/api/event';

import { GoalError } from './errors.js';
import type { Changed, EventName, Notice, Open, ServerStatus, Settled, SettingsView } from './types.js';

/**
 * Calls `handler` when a session's goal changed; at most once per session and 16 ms, with the
 * newest view. Ignore a `seq` that is not higher than the one you have of that session; after a
 * time without events ask `list`. The {@link createGoalStore | store} does both.
 *
 * @example
 * ```ts
 * import { onChanged } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onChanged(({ sessionId, goal }) => {
 *   console.log(sessionId, goal?.status ?? 'has no goal any more');
 * });
 * unlisten();
 * ```
 * @param handler Is given every change, in order.
 * @returns What ends the listening.
 * @throws {GoalError} `notAllowed` without `core:event:default`.
 * @since 0.1.0
 */
export function onChanged(handler: (changed: Changed) => void): Promise<UnlistenFn> {
  return on('goal://changed', handler);
}

/**
 * Calls `handler` when a goal ended or was paused, once for each such write.
 *
 * @example
 * ```ts
 * import { onSettled } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onSettled(({ goal }) => console.log(goal.title, goal.status, goal.reason));
 * unlisten();
 * ```
 * @since 0.1.0
 */
export function onSettled(handler: (settled: Settled) => void): Promise<UnlistenFn> {
  return on('goal://settled', handler);
}

/**
 * Calls `handler` when the line to the server, its address or who drives the goals changed.
 *
 * @example
 * ```ts
 * import { onConnection } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onConnection(({ state, reason }) => console.log(state, reason));
 * unlisten();
 * ```
 * @since 0.1.0
 */
export function onConnection(handler: (server: ServerStatus) => void): Promise<UnlistenFn> {
  return on('goal://connection', handler);
}

/**
 * Calls `handler` when a line was added to the in-app list of notices. Its `state` is mostly still
 * `planned` then; `notices` tells later what became of it.
 *
 * @example
 * ```ts
 * import { onNotice } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onNotice((notice) => console.log(notice.code, notice.title));
 * unlisten();
 * ```
 * @since 0.1.0
 */
export function onNotice(handler: (notice: Notice) => void): Promise<UnlistenFn> {
  return on('goal://notice', handler);
}

/**
 * Calls `handler` when the settings changed, whoever changed them: this page, another window, the
 * command line.
 *
 * @example
 * ```ts
 * import { onSettings } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onSettings(({ settings }) => console.log(settings.sessionGoalEnabled));
 * unlisten();
 * ```
 * @since 0.1.0
 */
export function onSettings(handler: (settings: SettingsView) => void): Promise<UnlistenFn> {
  return on('goal://settings', handler);
}

/**
 * Calls `handler` when a native notification was clicked; the window is shown and focused by then.
 * Listen before the page's first `list` (or the store's first reader): for a window that the click
 * opened, the event follows that.
 *
 * @example
 * ```ts
 * import { onOpen } from 'tauri-plugin-goal-api';
 *
 * const unlisten = await onOpen(({ sessionId }) => location.assign(`#/session/${sessionId}`));
 * unlisten();
 * ```
 * @since 0.1.0
 */
export function onOpen(handler: (open: Open) => void): Promise<UnlistenFn> {
  return on('goal://open', handler);
}

/** What each event bears. */
interface Payloads extends Record<EventName, unknown> {
  'goal://changed': Changed;
  'goal://settled': Settled;
  'goal://connection': ServerStatus;
  'goal://notice': Notice;
  'goal://settings': SettingsView;
  'goal://open': Open;
}

async function on<E extends EventName>(
  event: E,
  handler: (payload: Payloads[E]) => void,
): Promise<UnlistenFn> {
  try {
    return await listen<Payloads[E]>(event, ({ payload }) => {
      handler(payload);
    });
  } catch (reason) {
    throw GoalError.from(reason);
  }
}
