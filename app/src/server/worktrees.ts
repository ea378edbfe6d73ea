/**
 * Git worktrees of a project. The server makes one at once and fills it with files afterwards; that it is full, or could
 * not be filled, is told by an event from the new folder.
 */
import type { ServerEvent } from '../host/contract';
import { CallError, client, data } from './client';

/** Milliseconds within which a worktree is filled. */
const FILLED_WITHIN = 60_000;

/** Whoever waits for a worktree. */
const waiting = new Set<(event: ServerEvent) => void>();

/** Hears what the server tells of worktrees. */
export function hearWorktrees(events: readonly ServerEvent[]): void {
  if (waiting.size === 0) return;
  for (const event of events) {
    if (event.type !== 'worktree.ready' && event.type !== 'worktree.failed') continue;
    for (const hear of waiting) hear(event);
  }
}

/**
 * A new worktree of the project that a folder belongs to, on a branch of its own, with all its files. One that cannot be
 * filled, or is no longer wanted, is taken away again.
 */
export async function makeWorktree(directory: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // Of other folders, too: it may be told before the answer names the folder.
  const told = new Map<string, ServerEvent>();
  const seen: { wake: () => void } = { wake: () => undefined };
  const hear = (event: ServerEvent): void => {
    if (event.directory !== null) told.set(event.directory, event);
    seen.wake();
  };
  waiting.add(hear);
  try {
    const made = await data(client.worktree.create({ directory }));
    try {
      await filled(() => told.get(made.directory), seen, signal);
    } catch (thrown) {
      await removeWorktree(directory, made.directory).catch(() => undefined);
      throw thrown;
    }
    return made.directory;
  } finally {
    waiting.delete(hear);
  }
}

/** Takes a worktree of this run and its branch away. */
export async function removeWorktree(directory: string, worktree: string): Promise<void> {
  await data(client.worktree.remove({ directory, worktreeRemoveInput: { directory: worktree } }));
}

function filled(
  told: () => ServerEvent | undefined,
  seen: { wake: () => void },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (failure: Error | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', look);
      if (failure === null) resolve();
      else reject(failure);
    };
    const look = (): void => {
      const event = told();
      if (signal.aborted) end(signal.reason as DOMException);
      else if (event !== undefined) end(event.type === 'worktree.ready' ? null : failed(event));
    };
    const timer = setTimeout(() => {
      end(new CallError('timedOut', 'the worktree was not filled in time', null));
    }, FILLED_WITHIN);
    signal.addEventListener('abort', look);
    seen.wake = look;
    look();
  });
}

function failed({ properties }: ServerEvent): CallError {
  const { message } = (properties ?? {}) as { message?: unknown };
  return new CallError('server', typeof message === 'string' ? message : 'the worktree was not filled', null);
}
