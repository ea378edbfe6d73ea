import { useCallback, useMemo, useState } from 'react';

import { clear, complete, edit, pause, resume, serverConnect, start } from '../commands.js';
import { GoalError } from '../errors.js';
import { errorText } from '../presentation.js';
import type { Edit, GoalView, Start } from '../types.js';
import { useKit } from './kit.js';

/** What {@link useGoalActions} gives. Every action tells whether it was carried out. */
export interface GoalActions {
  /** An action is under way: its buttons are off. */
  readonly pending: boolean;
  /** What went wrong, as a sentence; `null`: nothing, or the provider's `onError` showed it. */
  readonly failure: string | null;
  readonly dismiss: () => void;
  readonly start: (request: Omit<Start, 'sessionId'>) => Promise<boolean>;
  readonly edit: (request: Omit<Edit, 'sessionId'>) => Promise<boolean>;
  readonly pause: () => Promise<boolean>;
  readonly resume: () => Promise<boolean>;
  readonly complete: () => Promise<boolean>;
  readonly clear: () => Promise<boolean>;
  /** Tries the server again at once. */
  readonly retry: () => Promise<boolean>;
}

/** What an action leaves behind: the goal, and what could not be stopped. */
interface Outcome {
  goal?: GoalView | null;
  abortFailed?: string | null;
}

/**
 * What a person can do about a session's goal, with the state of the doing.
 *
 * @example
 * ```tsx
 * import { useGoalActions } from 'tauri-plugin-goal-api/react';
 *
 * function Pause({ sessionId }: { sessionId: string }) {
 *   const { pause, pending, failure } = useGoalActions(sessionId);
 *   return <button disabled={pending} onClick={() => void pause()}>{failure ?? 'Pause'}</button>;
 * }
 * ```
 */
export function useGoalActions(sessionId: string): GoalActions {
  const { store, words, onError } = useKit();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  const run = useCallback(
    async (request: () => Promise<Outcome>, take: (goal: GoalView) => void) => {
      setPending(true);
      setFailure(null);
      try {
        const { goal, abortFailed } = await request();
        if (goal) take(goal);
        if (abortFailed != null) {
          setFailure(words.say('dialog.abortFailed', { error: abortFailed }));
        }
        return true;
      } catch (reason) {
        const error = GoalError.from(reason);
        if (onError === undefined) setFailure(errorText(error, words));
        else onError(error, sessionId);
        return false;
      } finally {
        setPending(false);
      }
    },
    [words, onError, sessionId],
  );

  return useMemo<GoalActions>(() => {
    const accept = (goal: GoalView) => {
      store.accept(goal);
    };
    const retry = async () => {
      await serverConnect({ server: null });
      return {};
    };
    return {
      pending,
      failure,
      dismiss: () => {
        setFailure(null);
      },
      start: (request) => run(() => start({ ...request, sessionId }), accept),
      edit: (request) => run(() => edit({ ...request, sessionId }), accept),
      pause: () => run(() => pause({ sessionId }), accept),
      resume: () => run(() => resume({ sessionId }), accept),
      complete: () => run(() => complete({ sessionId }), accept),
      clear: () =>
        run(
          () => clear({ sessionId }),
          (goal) => {
            store.acceptCleared(goal);
          },
        ),
      retry: () => run(retry, accept),
    };
  }, [store, run, sessionId, pending, failure]);
}
