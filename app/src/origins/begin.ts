/**
 * Beginning a session from something: worktree, session, then the message or the goal. What was made for a session that
 * did not begin is taken away again.
 */
import { armedSend, mayBeStarted } from '../goal/send';
import type { ModelChoice } from '../host/contract';
import { createSession, remove, send } from '../server/actions';
import { callError } from '../server/client';
import { makeWorktree, removeWorktree } from '../server/worktrees';
import type { Opening } from './words';

export interface Beginning extends Opening {
  directory: string;
  /** In a new worktree of the folder's project. */
  worktree: boolean;
  /** As a goal, with the usual budget. */
  goal: boolean;
  agent: string | null;
  model: ModelChoice | null;
}

/** The session may have begun: it stays, with its worktree. */
export class MayHaveBegun extends Error {
  override readonly name = 'MayHaveBegun';
  readonly sessionId: string;

  constructor(sessionId: string, cause: unknown) {
    super(String(cause), { cause });
    this.sessionId = sessionId;
  }
}

/** The worktree that was made could not be taken away again. */
export class Left extends Error {
  override readonly name = 'Left';
  readonly worktree: string;

  constructor(worktree: string, cause: unknown) {
    super(String(cause), { cause });
    this.worktree = worktree;
  }
}

/**
 * Begins, and gives the session. `signal` ends it as long as the session does not exist. Where it throws, nothing is left
 * but what {@link MayHaveBegun} and {@link Left} tell.
 */
export async function begin(beginning: Beginning, signal: AbortSignal): Promise<string> {
  const { directory } = beginning;
  const worktree = beginning.worktree ? await makeWorktree(directory, signal) : null;
  try {
    signal.throwIfAborted();
    return await beginIn(worktree ?? directory, beginning);
  } catch (thrown) {
    if (worktree !== null && !(thrown instanceof MayHaveBegun)) {
      await removeWorktree(directory, worktree).catch(() => {
        throw new Left(worktree, thrown);
      });
    }
    throw thrown;
  }
}

async function beginIn(directory: string, beginning: Beginning): Promise<string> {
  const { id } = await createSession(directory);
  try {
    await (beginning.goal ? asGoal(id, beginning) : plainly(id, beginning));
  } catch (thrown) {
    if (mayHaveArrived(thrown, beginning)) throw new MayHaveBegun(id, thrown);
    // Left behind, it is an empty session in the list, which does no harm.
    await remove(id).catch(() => undefined);
    throw thrown;
  }
  return id;
}

/** The flag of a draft has no say here: a goal begins if this says so, and only then. */
async function asGoal(sessionId: string, beginning: Beginning): Promise<void> {
  const { prompt, instructions, objective, agent, model } = beginning;
  await armedSend({
    ...{ sessionId, directory: null, agent, model, attachments: [] },
    text: objective ?? prompt,
    ...(objective === null ? {} : { said: { prompt, instructions } }),
  });
}

async function plainly(sessionId: string, beginning: Beginning): Promise<void> {
  const { prompt, instructions, agent, model } = beginning;
  const hidden = instructions === null ? {} : { hidden: instructions };
  await send(sessionId, { text: prompt, attachments: [], agent, model, ...hidden });
}

/** After these a call may have been carried out. */
const UNKNOWN: ReadonlySet<string> = new Set(['timedOut', 'unreachable', 'ended']);

function mayHaveArrived(thrown: unknown, { goal }: Beginning): boolean {
  return goal ? mayBeStarted(thrown) : UNKNOWN.has(callError(thrown).code);
}
