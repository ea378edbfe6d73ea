import { beforeEach, expect, test, vi } from 'vitest';

import { createGoalStore, GoalError, type GoalSource, type GoalStore } from '../index.js';
import type { Changed, GoalView, ServerStatus, SettingsView, Snapshot } from '../types.js';
import { goalView, server, settingsView } from './fixtures.js';

/** A source whose answers and listeners the test holds in its hand. */
class Hand {
  snapshot: Snapshot = { seq: 10, goals: [] };
  lists = 0;
  /** Lists that wait for {@link Hand.answer}; `null`: they are answered at once. */
  waiting: (() => void)[] | null = null;
  refusal: GoalError | null = null;
  settings = settingsView();
  readonly changed = new Set<(changed: Changed) => void>();
  readonly connection = new Set<(server: ServerStatus) => void>();
  readonly settingsHeard = new Set<(settings: SettingsView) => void>();
  objective = vi.fn<() => Promise<{ text: string | null }>>(() =>
    Promise.resolve({ text: 'the whole text' }),
  );
  listenersBegun = 0;
  /** Holds every `listen` back until it is called. */
  letListen: (() => void) | null = null;
  #held: Promise<void> = Promise.resolve();

  hold(): void {
    this.#held = new Promise((resolve) => (this.letListen = resolve));
  }

  answer(): void {
    const waiting = this.waiting ?? [];
    this.waiting = [];
    for (const answer of waiting) answer();
  }

  get listeners(): number {
    return this.changed.size + this.connection.size + this.settingsHeard.size;
  }

  readonly source: GoalSource = {
    list: async () => {
      this.lists += 1;
      // As it stands when it is asked for, not when the answer arrives.
      const snapshot = this.snapshot;
      if (this.waiting) await new Promise<void>((resolve) => this.waiting?.push(resolve));
      if (this.refusal !== null) throw this.refusal;
      return snapshot;
    },
    serverStatus: () => Promise.resolve(server()),
    settingsGet: () => Promise.resolve(this.settings),
    objective: () => this.objective(),
    onChanged: (handler) => this.#listen(this.changed, handler),
    onConnection: (handler) => this.#listen(this.connection, handler),
    onSettings: (handler) => this.#listen(this.settingsHeard, handler),
  };

  async #listen<T>(handlers: Set<(payload: T) => void>, handler: (payload: T) => void) {
    this.listenersBegun += 1;
    await this.#held;
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
    };
  }

  change(seq: number, change: Partial<GoalView> = {}): void {
    const goal = goalView({ seq, ...change });
    for (const handler of this.changed) handler({ seq, sessionId: goal.sessionId, goal });
  }

  remove(seq: number, sessionId = 'ses_a'): void {
    for (const handler of this.changed) handler({ seq, sessionId, goal: null });
  }
}

let hand: Hand;
let store: GoalStore;
let frames: (() => void)[];
let now: number;

beforeEach(() => {
  hand = new Hand();
  frames = [];
  now = 0;
  store = createGoalStore({
    source: hand.source,
    nextFrame: (run) => frames.push(run),
    now: () => now,
  });
});

const settled = () => new Promise((resolve) => setTimeout(resolve));
const frame = () => {
  for (const run of frames.splice(0)) run();
};
const read = () => store.subscribe(() => undefined);

test('nothing is known before the first answer, everything after it', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  read();
  expect(store.goal('ses_a')).toBeUndefined();
  await settled();
  expect(store.goal('ses_a')?.seq).toBe(4);
  expect(store.goal('ses_b')).toBeNull();
  expect(store.server()?.state).toBe('connected');
  expect(store.settings()).toBe(hand.settings);
});

test('many readers share one listener of each event', async () => {
  const leave = [read(), read(), store.subscribeTo('ses_a', () => undefined)];
  await settled();
  expect([hand.listenersBegun, hand.listeners, hand.lists]).toEqual([3, 3, 1]);
  for (const one of leave) one();
  await settled();
  expect(hand.listeners).toBe(0);
});

test('a reader that takes the place of the last one keeps the listeners', async () => {
  const leave = read();
  await settled();
  leave();
  read();
  await settled();
  expect([hand.listenersBegun, hand.lists]).toEqual([3, 1]);
});

test('a reader that leaves before the listeners stand leaves none behind', async () => {
  hand.hold();
  read()();
  await settled();
  hand.letListen?.();
  await settled();
  expect([hand.listenersBegun, hand.listeners, hand.lists]).toEqual([3, 0, 0]);
});

test('a subscription that ends twice takes no other along', async () => {
  const reader = vi.fn();
  const leave = store.subscribe(reader);
  store.subscribe(reader);
  await settled();
  frame();
  reader.mockClear();
  leave();
  leave();
  hand.change(11);
  frame();
  expect(reader).toHaveBeenCalledTimes(1);
  expect(hand.listeners).toBe(3);
});

test('only what is newer counts', async () => {
  read();
  await settled();
  hand.change(12, { note: 'twelve' });
  hand.change(11, { note: 'eleven' });
  expect(store.goal('ses_a')?.note).toBe('twelve');
  hand.change(9, { sessionId: 'ses_b', note: 'older than the snapshot' });
  expect(store.goal('ses_b')).toBeNull();
  hand.remove(13);
  hand.change(12, { note: 'twelve' });
  expect(store.goal('ses_a')).toBeNull();
});

test('an event that is older than the list counts for no session, listed or not', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4, note: 'listed' })] };
  read();
  await settled();
  hand.change(7, { note: 'late' });
  hand.change(8, { sessionId: 'ses_b', note: 'late' });
  expect(store.goal('ses_a')?.note).toBe('listed');
  expect(store.goal('ses_b')).toBeNull();
});

test('what is heard while the list is under way stands against the older list', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 }), goalView({ sessionId: 'ses_b' })] };
  hand.waiting = [];
  read();
  await settled();
  hand.change(11, { note: 'newer' });
  hand.remove(12, 'ses_b');
  hand.answer();
  await settled();
  expect(store.goal('ses_a')?.note).toBe('newer');
  expect(store.goal('ses_b')).toBeNull();
});

test('a list takes away what it leaves out, unless that is newer', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 }), goalView({ sessionId: 'ses_b' })] };
  read();
  await settled();
  hand.change(30, { sessionId: 'ses_c' });
  hand.snapshot = { seq: 20, goals: [goalView({ sessionId: 'ses_b' })] };
  await store.refresh();
  expect(store.goals().map((goal) => goal.sessionId)).toEqual(['ses_b', 'ses_c']);
});

test('an older list that arrives late changes nothing', async () => {
  read();
  await settled();
  hand.snapshot = { seq: 5, goals: [goalView({ seq: 5 })] };
  await store.refresh();
  expect(store.goal('ses_a')).toBeNull();
});

test('what was missed while the line was down is caught up with', async () => {
  read();
  await settled();
  hand.snapshot = { seq: 40, goals: [goalView({ seq: 33, note: 'missed' })] };
  for (const handler of hand.connection) handler(server({ seq: 38, state: 'away' }));
  await settled();
  expect(hand.lists).toBe(1);
  for (const handler of hand.connection) handler(server({ seq: 39 }));
  await settled();
  expect(store.goal('ses_a')?.note).toBe('missed');
  expect(store.server()?.seq).toBe(39);
});

test('a storm of reconnections asks once more, not once each', async () => {
  hand.waiting = [];
  read();
  await settled();
  for (let seq = 2; seq < 100; seq += 1) {
    for (const handler of hand.connection) handler(server({ seq }));
  }
  hand.answer();
  await settled();
  hand.answer();
  await settled();
  expect(hand.lists).toBe(2);
});

test('a page that was hidden for long looks again', async () => {
  read();
  await settled();
  const turn = (state: DocumentVisibilityState, at: number) => {
    now = at;
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state);
    document.dispatchEvent(new Event('visibilitychange'));
  };
  turn('hidden', 1_000);
  turn('visible', 30_999);
  await settled();
  expect(hand.lists).toBe(1);
  turn('hidden', 40_000);
  turn('visible', 70_000);
  await settled();
  expect(hand.lists).toBe(2);
  vi.restoreAllMocks();
});

test('a page that is being hidden tells its readers first: it gets no more frames', async () => {
  const reader = vi.fn();
  store.subscribe(reader);
  await settled();
  frame();
  reader.mockClear();
  hand.change(11);
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  expect(reader).toHaveBeenCalledTimes(1);
  frame();
  expect(reader).toHaveBeenCalledTimes(1);
  vi.restoreAllMocks();
});

test('readers are told once per frame, and only of their own session', async () => {
  const [of_a, of_b, all] = [vi.fn(), vi.fn(), vi.fn()];
  store.subscribeTo('ses_a', of_a);
  store.subscribeTo('ses_b', of_b);
  store.subscribe(all);
  await settled();
  frame();
  for (const reader of [of_a, of_b, all]) reader.mockClear();
  for (let seq = 11; seq < 1_011; seq += 1) hand.change(seq);
  expect([of_a, of_b, all].map((reader) => reader.mock.calls.length)).toEqual([0, 0, 0]);
  expect(frames).toHaveLength(1);
  frame();
  expect([of_a, of_b, all].map((reader) => reader.mock.calls.length)).toEqual([1, 0, 1]);
  expect(store.goal('ses_a')?.seq).toBe(1_010);
});

test('the list of goals is the same object until something changes', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ sessionId: 'ses_b' }), goalView()] };
  read();
  await settled();
  const goals = store.goals();
  expect(goals.map((goal) => goal.sessionId)).toEqual(['ses_a', 'ses_b']);
  expect(store.goals()).toBe(goals);
  hand.change(11);
  expect(store.goals()).not.toBe(goals);
});

test('a reader that throws keeps no other from being told', async () => {
  const thrown: unknown[] = [];
  vi.stubGlobal('queueMicrotask', (run: () => void) => {
    try {
      run();
    } catch (error) {
      thrown.push(error);
    }
  });
  const reader = vi.fn();
  store.subscribe(() => {
    throw new Error('mine');
  });
  store.subscribe(reader);
  await settled();
  frame();
  vi.unstubAllGlobals();
  expect(reader).toHaveBeenCalled();
  expect(String(thrown[0])).toBe('Error: mine');
});

test('the answer of a command is shown, and the event that follows wins', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  read();
  await settled();
  store.accept(goalView({ seq: 4, status: 'paused', at: goalView().at + 1 }));
  expect(store.goal('ses_a')?.status).toBe('paused');
  hand.change(11, { note: 'after the pause' });
  store.accept(goalView({ seq: 4, status: 'paused' }));
  expect(store.goal('ses_a')?.note).toBe('after the pause');
});

test('an answer that comes after the goal was removed brings it back in no way', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  read();
  await settled();
  hand.change(11);
  hand.remove(12);
  hand.snapshot = { seq: 20, goals: [] };
  await store.refresh();
  store.accept(goalView({ seq: 11, status: 'paused' }));
  expect(store.goal('ses_a')).toBeNull();

  hand.change(21);
  hand.snapshot = { seq: 30, goals: [] };
  await store.refresh();
  store.accept(goalView({ seq: 21, status: 'paused' }));
  expect(store.goal('ses_a')).toBeNull();
});

test('a list that was made before an answer does not take it back', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  read();
  await settled();
  store.accept(goalView({ seq: 4, status: 'paused', at: goalView().at + 1 }));
  await store.refresh();
  expect(store.goal('ses_a')?.status).toBe('paused');
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4, status: 'blocked', at: goalView().at + 2 })] };
  await store.refresh();
  expect(store.goal('ses_a')?.status).toBe('blocked');
});

test('of two answers without an event between the later one is shown', async () => {
  read();
  await settled();
  store.accept(goalView({ seq: 0, at: 200, note: 'later' }));
  store.accept(goalView({ seq: 0, at: 100, note: 'earlier' }));
  expect(store.goal('ses_a')?.note).toBe('later');
});

test('the answer of a removal takes away that goal and no other', async () => {
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  read();
  await settled();
  store.acceptCleared({ sessionId: 'ses_a', goalId: 'goal_0' });
  expect(store.goal('ses_a')?.goalId).toBe('goal_1');
  store.acceptCleared({ sessionId: 'ses_a', goalId: 'goal_1' });
  expect(store.goal('ses_a')).toBeNull();
});

test('a failed look is told, and forgotten when one succeeds', async () => {
  hand.refusal = new GoalError('notConnected', 'No server.');
  const told = vi.fn();
  store.subscribe(told);
  await settled();
  frame();
  expect(store.error()?.code).toBe('notConnected');
  expect(store.server()?.state).toBe('connected');
  hand.refusal = null;
  await store.refresh();
  frame();
  expect(store.error()).toBeNull();
  expect(told).toHaveBeenCalledTimes(2);
});

test('a refused listener is told, and the list is asked for all the same', async () => {
  const refused = new GoalError('notAllowed', 'event.listen not allowed');
  hand.snapshot = { seq: 10, goals: [goalView({ seq: 4 })] };
  store = createGoalStore({
    source: { ...hand.source, onChanged: () => Promise.reject(refused) },
    nextFrame: (run) => frames.push(run),
  });
  const leave = read();
  await settled();
  expect(store.error()).toBe(refused);
  expect(store.goal('ses_a')?.goalId).toBe('goal_1');
  leave();
  await settled();
  expect(hand.listeners).toBe(0);
});

test('settings that are heard while they are asked for are newer than the answer', async () => {
  hand.waiting = [];
  let answer: (view: SettingsView) => void = () => undefined;
  const slow = new Promise<SettingsView>((resolve) => (answer = resolve));
  store = createGoalStore({ source: { ...hand.source, settingsGet: () => slow } });
  read();
  await settled();
  const heard = settingsView({ sessionGoalEnabled: false });
  for (const handler of hand.settingsHeard) handler(heard);
  answer(settingsView());
  await settled();
  expect(store.settings()).toBe(heard);
});

test('a long objective is asked for once, and again after the goal was written', async () => {
  const goal = goalView({ objective: null });
  expect(store.objective(goal)).toBeUndefined();
  await Promise.all([store.loadObjective(goal), store.loadObjective(goal)]);
  expect(store.objective(goal)).toBe('the whole text');
  expect(hand.objective).toHaveBeenCalledTimes(1);
  await store.loadObjective(goalView({ objective: null, updatedAt: 1 }));
  expect(hand.objective).toHaveBeenCalledTimes(2);
  await store.loadObjective(goalView());
  expect(hand.objective).toHaveBeenCalledTimes(2);
});

test('an objective that is on another machine is not asked for again, a failed one is', async () => {
  const goal = goalView({ objective: null });
  hand.objective.mockRejectedValueOnce(new Error('away'));
  await store.loadObjective(goal);
  expect(store.objective(goal)).toBeUndefined();
  hand.objective.mockResolvedValueOnce({ text: null });
  await store.loadObjective(goal);
  await store.loadObjective(goal);
  expect(store.objective(goal)).toBeNull();
  expect(hand.objective).toHaveBeenCalledTimes(2);
});

test('removed goals are not remembered without end: the oldest removal goes first', async () => {
  read();
  await settled();
  // Known for the longest time, and removed last.
  hand.change(11, { sessionId: 'ses_x' });
  for (let n = 0; n < 1_100; n += 1) hand.remove(12 + n, `ses_${String(n)}`);
  hand.remove(2_000, 'ses_x');
  // What would be too old for a removal that is remembered is taken for one that is not.
  for (const sessionId of ['ses_0', 'ses_1099', 'ses_x']) hand.change(12, { sessionId });
  expect(store.goals().map((goal) => goal.sessionId)).toEqual(['ses_0']);
});
