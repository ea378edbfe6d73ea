import { ERROR_CODES, type ErrorCode } from './types.js';

/**
 * Every code that a {@link GoalError} can bear: those of the Rust side, and two that only a page
 * meets.
 *
 * - `notAllowed`: the window's capability does not grant the command or the event.
 * - `unavailable`: nobody answers: the page runs outside of Tauri, or the plugin is not registered.
 */
export type GoalErrorCode = ErrorCode | 'notAllowed' | 'unavailable';

/**
 * A refused or failed request. Match `code`, never `message`.
 *
 * `internal` alone leaves open whether the request was carried out; with every other code nothing
 * was changed.
 *
 * @example
 * ```ts
 * import { GoalError, resume } from 'tauri-plugin-goal-api';
 *
 * try {
 *   await resume({ sessionId: 'ses_3f2a9c' });
 * } catch (error) {
 *   if (error instanceof GoalError && error.code === 'budgetSpent') {
 *     await resume({ sessionId: 'ses_3f2a9c', tokenBudget: 500_000 });
 *   } else throw error;
 * }
 * ```
 */
export class GoalError extends Error {
  override readonly name = 'GoalError';
  /** Which failure it is. */
  readonly code: GoalErrorCode;

  constructor(code: GoalErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whatever a call was rejected with, as a `GoalError`. */
  static from(reason: unknown): GoalError {
    if (reason instanceof GoalError) return reason;
    const options = { cause: reason };
    if (isBody(reason)) {
      const code = isErrorCode(reason.code) ? reason.code : 'internal';
      return new GoalError(code, reason.message, options);
    }
    const text = reason instanceof Error ? reason.message : String(reason);
    return new GoalError(codeOfText(text), text, options);
  }
}

/** Tauri's own refusals are plain texts, worded otherwise in debug and release builds. */
function codeOfText(text: string): GoalErrorCode {
  if (/not allowed|explicitly denied/.test(text)) return 'notAllowed';
  const nobody = /plugin \S+ not found|command \S+ not found|__TAURI_INTERNALS__|reading 'invoke'/i;
  return nobody.test(text) ? 'unavailable' : 'internal';
}

function isBody(reason: unknown): reason is { code: string; message: string } {
  if (typeof reason !== 'object' || reason === null) return false;
  const { code, message } = reason as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string';
}

function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}
