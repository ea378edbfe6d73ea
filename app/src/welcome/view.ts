/** What the first sight of the app says, from the state of the line. Pure. */
import type { ServerStatus } from 'tauri-plugin-goal-api';

import type { ServerChoice } from '../host/contract';

export type View =
  /** OpenCode is being looked for, or started. */
  | 'looking'
  | 'found'
  /** There is no program, or it did not start. */
  | 'missing'
  /** The server wants a user name and a password. */
  | 'password'
  /** Our own server is too old. */
  | 'tooOld'
  /** What answers at the address is no OpenCode, or one that is too old. */
  | 'unusable'
  | 'unreachable'
  /** Neither the server nor the person is at fault: it is said and tried again. */
  | 'broken';

/** `undefined`: not known yet. `failed`: whether asking for the state failed. */
export function viewOf(
  status: ServerStatus | undefined,
  failed: boolean,
  choice: ServerChoice | null | undefined,
): View {
  if (status === undefined) return failed ? 'broken' : 'looking';
  if (choice?.kind === 'attached' && choice.needsPassword && status.state !== 'connected') {
    return 'password';
  }
  switch (status.state) {
    case 'connected':
      return 'found';
    case 'starting':
      return 'looking';
    case 'none':
      return choice === undefined ? 'looking' : 'missing';
    case 'ended':
      return 'broken';
    case 'away':
    case 'failed':
      return ofFailure(status, choice);
  }
}

function ofFailure({ code }: ServerStatus, choice: ServerChoice | null | undefined): View {
  // Whose fault it is depends on whose server it is.
  if (choice === undefined && (code === 'unauthorized' || code === 'notOpenCode')) return 'looking';
  switch (code) {
    case 'openCodeMissing':
      return 'missing';
    case 'unauthorized':
      return choice?.kind === 'attached' ? 'password' : 'broken';
    case 'notOpenCode':
      return choice?.kind === 'attached' ? 'unusable' : 'tooOld';
    case 'unreachable':
    case null:
      return 'unreachable';
    default:
      return 'broken';
  }
}
