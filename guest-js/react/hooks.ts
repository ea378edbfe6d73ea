import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';

import { DISARMED, draftKey, sessionKey, type ArmEvent, type Arming } from '../arm.js';
import { settingsSet, why } from '../commands.js';
import { GoalError } from '../errors.js';
import { errorText } from '../presentation.js';
import type { GoalView, JournalLine, ServerStatus, SettingsView, SetSettings } from '../types.js';
import { useKit } from './kit.js';

/** What {@link useGoal} gives. */
export interface GoalState {
  /** The goal; `null`: the session has none; `undefined`: not known yet. */
  readonly goal: GoalView | null | undefined;
  /** Its objective; `null`: the text is not on this machine; `undefined`: not known yet. */
  readonly objective: string | null | undefined;
  /** Why the newest look failed; `null` while all is well. */
  readonly error: GoalError | null;
}

/**
 * A session's goal, live. One listener serves the whole page.
 *
 * @example
 * ```tsx
 * import { useGoal } from 'tauri-plugin-goal-api/react';
 *
 * function Status({ sessionId }: { sessionId: string }) {
 *   const { goal, objective } = useGoal(sessionId);
 *   return goal ? <p>{goal.status}: {objective}</p> : null;
 * }
 * ```
 * @param sessionId The session; `null` for a draft, which has no goal.
 */
export function useGoal(sessionId: string | null): GoalState {
  const { store } = useKit();
  const goal = useGoalView(sessionId);
  const newest = useObjective(sessionId);
  const error = useSyncExternalStore(useSubscription(sessionId), () => store.error());
  // Each write of a goal has its text read anew: until it is there, the one before stands.
  const goalId = goal?.goalId;
  const [known, setKnown] = useState({ goalId, text: newest });
  const changed = known.goalId !== goalId || known.text !== newest;
  if (changed && newest !== undefined) setKnown({ goalId, text: newest });
  const before = known.goalId === goalId ? known.text : undefined;
  return { goal, objective: newest === undefined ? before : newest, error };
}

/** The objective of a goal as it stands; `undefined` while its text is on its way. */
export function useObjective(sessionId: string | null): string | null | undefined {
  const { store } = useKit();
  const goal = useGoalView(sessionId);
  const subscribe = useSubscription(sessionId);
  const objective = useSyncExternalStore(subscribe, () => goal && store.objective(goal));
  useEffect(() => {
    if (goal) void store.loadObjective(goal);
  }, [store, goal]);
  return goal ? objective : null;
}

/** A session's goal alone: a list of a thousand rows asks for no objective. */
export function useGoalView(sessionId: string | null): GoalView | null | undefined {
  const { store } = useKit();
  return useSyncExternalStore(useSubscription(sessionId), () =>
    sessionId === null ? null : store.goal(sessionId),
  );
}

function useSubscription(sessionId: string | null): (reader: () => void) => () => void {
  const { store } = useKit();
  return useCallback(
    (reader: () => void) => (sessionId === null ? idle : store.subscribeTo(sessionId, reader)),
    [store, sessionId],
  );
}

/**
 * All goals, live, by their sessions' ids.
 *
 * @example
 * ```tsx
 * import { useGoals } from 'tauri-plugin-goal-api/react';
 *
 * function Running() {
 *   const active = useGoals().filter((goal) => goal.status === 'active');
 *   return <p>{active.length} running</p>;
 * }
 * ```
 */
export function useGoals(): readonly GoalView[] {
  const { store } = useKit();
  const subscribe = useCallback((reader: () => void) => store.subscribe(reader), [store]);
  return useSyncExternalStore(subscribe, () => store.goals());
}

/** How the server stands, live; `undefined`: not known yet. */
export function useServer(): ServerStatus | undefined {
  const { store } = useKit();
  const subscribe = useCallback((reader: () => void) => store.subscribe(reader), [store]);
  return useSyncExternalStore(subscribe, () => store.server());
}

/** What {@link useGoalSettings} gives. */
export interface GoalSettings {
  /** Settings, defaults and what is wrong with the file; `undefined`: not known yet. */
  readonly view: SettingsView | undefined;
  /** A change is under way. */
  readonly pending: boolean;
  /** Why the latest change failed, as a sentence; `null`: it did not. */
  readonly failure: string | null;
  /** Changes settings, all of them or none. @returns Whether they were changed. */
  readonly set: (changes: SetSettings['changes']) => Promise<boolean>;
}

/**
 * The settings, live, whoever changes them.
 *
 * @example
 * ```tsx
 * import { useGoalSettings } from 'tauri-plugin-goal-api/react';
 *
 * function Enabled() {
 *   const { view, set } = useGoalSettings();
 *   return (
 *     <input
 *       type="checkbox"
 *       checked={view?.settings.sessionGoalEnabled ?? true}
 *       onChange={(event) => void set({ sessionGoalEnabled: event.target.checked })}
 *     />
 *   );
 * }
 * ```
 */
export function useGoalSettings(): GoalSettings {
  const { store, words, onError } = useKit();
  const view = useSettings();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const set = useCallback(
    async (changes: SetSettings['changes']) => {
      setPending(true);
      try {
        store.acceptSettings(await settingsSet({ changes }));
        setFailure(null);
        return true;
      } catch (reason) {
        const error = GoalError.from(reason);
        setFailure(errorText(error, words));
        onError?.(error, null);
        return false;
      } finally {
        setPending(false);
      }
    },
    [store, words, onError],
  );
  return { view, pending, failure, set };
}

/** Whether session goals are switched on; so taken until the settings are known. */
export function useEnabled(): boolean {
  return useSettings()?.settings.sessionGoalEnabled ?? true;
}

/** The settings alone; `undefined`: not known yet. */
export function useSettings(): SettingsView | undefined {
  const { store } = useKit();
  const subscribe = useCallback((reader: () => void) => store.subscribe(reader), [store]);
  return useSyncExternalStore(subscribe, () => store.settings());
}

/** A session, or a draft that is to become one. */
export interface Target {
  /** The session; `null` or left out: a draft. */
  sessionId?: string | null | undefined;
  /** The draft, where there is no session yet. */
  draftId?: string | undefined;
}

/**
 * Whether the next message of a session or draft becomes a goal, and how to change that.
 *
 * @example
 * ```tsx
 * import { useArming } from 'tauri-plugin-goal-api/react';
 *
 * function Composer({ sessionId }: { sessionId: string }) {
 *   const [{ armed }] = useArming({ sessionId });
 *   return <textarea placeholder={armed ? 'This message becomes the goal' : 'Message'} />;
 * }
 * ```
 */
export function useArming(target: Target): readonly [Arming, (event: ArmEvent) => void] {
  const { arm } = useKit();
  const key = keyOf(target);
  const subscribe = useCallback((reader: () => void) => arm.subscribe(reader), [arm]);
  const state = useSyncExternalStore(subscribe, () => (key === null ? DISARMED : arm.get(key)));
  const send = useCallback(
    (event: ArmEvent) => {
      if (key !== null) arm.send(key, event);
    },
    [arm, key],
  );
  return [state, send];
}

/** The key of a target's arming; `null`: it is neither session nor draft. */
export function keyOf({ sessionId, draftId }: Target): string | null {
  if (sessionId != null) return sessionKey(sessionId);
  return draftId === undefined ? null : draftKey(draftId);
}

/** The moment, told anew every `period` milliseconds. Epoch milliseconds. */
export function useNow(period: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = () => {
      setNow(Date.now());
    };
    const timer = setInterval(tick, period);
    // What is shown may be as old as the last period.
    queueMicrotask(tick);
    return () => {
      clearInterval(timer);
    };
  }, [period]);
  return now;
}

/** How often a goal's line changes by itself: by the second while it counts, else by the clock. */
export function pulseOf({ status, phase, next }: GoalView): number {
  const counts = status === 'active' && (next !== null || phase === 'auditing');
  return counts ? 1_000 : 60_000;
}

/** What the loop decided of a goal last, newest first; asked for again when the goal changes. */
export function useDecisions(goal: GoalView | null | undefined): readonly JournalLine[] {
  const [lines, setLines] = useState<readonly JournalLine[]>([]);
  const sessionId = goal?.sessionId;
  const change = goal?.updatedAt;
  useEffect(() => {
    if (sessionId === undefined) return;
    let wanted = true;
    why({ sessionId }).then(
      ({ recent }) => {
        if (wanted) setLines(recent);
      },
      // The rest of the dialog works without them.
      () => {
        if (wanted) setLines([]);
      },
    );
    return () => {
      wanted = false;
    };
  }, [sessionId, change]);
  return lines;
}

const idle = () => undefined;
