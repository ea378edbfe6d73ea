import type { UnlistenFn } from '@tauri-apps/api/event';

import { list, objective, serverStatus, settingsGet } from './commands.js';
import { GoalError } from './errors.js';
import { onChanged, onConnection, onSettings } from './events.js';
import type {
  Changed,
  GoalView,
  ObjectiveText,
  OfSession,
  ServerStatus,
  SettingsView,
  Snapshot,
} from './types.js';

/** Where a store hears and asks: the plugin, or what a test puts in its place. */
export interface GoalSource {
  readonly list: () => Promise<Snapshot>;
  readonly serverStatus: () => Promise<ServerStatus>;
  readonly settingsGet: () => Promise<SettingsView>;
  readonly objective: (request: OfSession) => Promise<ObjectiveText>;
  readonly onChanged: (handler: (changed: Changed) => void) => Promise<UnlistenFn>;
  readonly onConnection: (handler: (server: ServerStatus) => void) => Promise<UnlistenFn>;
  readonly onSettings: (handler: (settings: SettingsView) => void) => Promise<UnlistenFn>;
}

/** What a store stands on; everything may be left out. */
export interface GoalStoreOptions {
  /** Where it hears and asks. Default: the plugin. */
  source?: GoalSource;
  /** Runs something once before the next picture. Default: `requestAnimationFrame`. */
  nextFrame?: (run: () => void) => void;
  /** The wall clock in milliseconds. Default: `Date.now`. */
  now?: () => number;
}

/**
 * What a page knows of all goals. The first subscriber makes it listen, the last one ends that; in
 * between there is one listener per event, however many readers there are.
 *
 * Its getters give the newest state at any time, the same object until it changes. Subscribers are
 * told at most once per frame.
 *
 * @example
 * ```ts
 * import { createGoalStore } from 'tauri-plugin-goal-api';
 *
 * const store = createGoalStore();
 * const leave = store.subscribe(() => {
 *   document.title = `${store.goals().length} goals`;
 * });
 * leave();
 * ```
 */
export interface GoalStore {
  /** Tells of any change. @returns What ends the subscription. */
  subscribe(reader: () => void): () => void;
  /** Tells of changes of one session's goal, and of errors. */
  subscribeTo(sessionId: string, reader: () => void): () => void;
  /** The session's goal; `null`: it has none; `undefined`: not known yet. */
  goal(sessionId: string): GoalView | null | undefined;
  /** All known goals, by their sessions' ids. */
  goals(): readonly GoalView[];
  /** How the server stands; `undefined`: not known yet. */
  server(): ServerStatus | undefined;
  /** The settings; `undefined`: not known yet. */
  settings(): SettingsView | undefined;
  /** Why the newest look failed; `null` while all is well. */
  error(): GoalError | null;
  /**
   * The goal's objective: its inline text, or what {@link GoalStore.loadObjective} brought.
   * `null`: there is no text on this machine; `undefined`: not loaded.
   */
  objective(goal: GoalView): string | null | undefined;
  /** Asks once for the text of an objective that is not inline. Never rejects. */
  loadObjective(goal: GoalView): Promise<void>;
  /** Asks for everything again; a call during a running one starts one more after it. Never rejects. */
  refresh(): Promise<void>;
  /** Takes the view in an acting command's answer, unless an event brought a newer one. */
  accept(goal: GoalView): void;
  /** Takes the answer of `clear`: the session has this goal no more. */
  acceptCleared(goal: Pick<GoalView, 'sessionId' | 'goalId'>): void;
  /** Takes the answer of `settings_set`. */
  acceptSettings(settings: SettingsView): void;
}

/** Removed goals whose number is remembered. Events come in order: an older one is not missed. */
const REMOVED_MAX = 1_000;
/** Long objectives that are kept. */
const OBJECTIVES_MAX = 100;
/** Hidden for so long, a page looks again when it is shown: it may have slept, in milliseconds. */
const HIDDEN_LONG = 30_000;

/** Makes a store of its own. A page usually wants the shared {@link goalStore}. */
export function createGoalStore(options: GoalStoreOptions = {}): GoalStore {
  return new Store(options);
}

let shared: GoalStore | undefined;

/**
 * The page's one store, made at the first call.
 *
 * @example
 * ```ts
 * import { goalStore } from 'tauri-plugin-goal-api';
 *
 * const store = goalStore();
 * store.subscribeTo('ses_3f2a9c', () => console.log(store.goal('ses_3f2a9c')?.phase));
 * ```
 */
export function goalStore(): GoalStore {
  shared ??= createGoalStore();
  return shared;
}

/** A session's goal, and the number of the newest change it was told in. */
interface Known {
  readonly seq: number;
  readonly goal: GoalView | null;
}

/** The time between the first subscriber and the leaving of the last. */
interface Listening {
  ended: boolean;
  hiddenSince: number | null;
  readonly unlisten: UnlistenFn[];
}

class Store implements GoalStore {
  readonly #source: GoalSource;
  readonly #nextFrame: (run: () => void) => void;
  readonly #now: () => number;

  readonly #known = new Map<string, Known>();
  /** Sessions without an entry stand as the snapshot of this number said; -1: there was none. */
  #floor = -1;
  #sorted: readonly GoalView[] | undefined;
  #server: ServerStatus | undefined;
  #settings: SettingsView | undefined;
  #settingsHeard = 0;
  #error: GoalError | null = null;
  readonly #objectives = new Map<string, string | null | undefined>();

  readonly #readers = new Set<() => void>();
  readonly #readersOf = new Map<string, Set<() => void>>();
  /** Sessions with news for the next frame; `null`: news for everybody. */
  #news: Set<string> | null = new Set();
  #frameAsked = false;

  #listening: Listening | undefined;
  #refreshing: Promise<void> | undefined;
  #again = false;

  constructor({ source = PLUGIN, nextFrame = animationFrame, now = Date.now }: GoalStoreOptions) {
    this.#source = source;
    this.#nextFrame = nextFrame;
    this.#now = now;
  }

  subscribe(reader: () => void): () => void {
    return this.#join(this.#readers, reader);
  }

  subscribeTo(sessionId: string, reader: () => void): () => void {
    let readers = this.#readersOf.get(sessionId);
    if (readers === undefined) this.#readersOf.set(sessionId, (readers = new Set()));
    const own = readers;
    const leave = this.#join(own, reader);
    return () => {
      leave();
      if (own.size === 0 && this.#readersOf.get(sessionId) === own) {
        this.#readersOf.delete(sessionId);
      }
    };
  }

  goal(sessionId: string): GoalView | null | undefined {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known.goal;
    return this.#floor < 0 ? undefined : null;
  }

  goals(): readonly GoalView[] {
    this.#sorted ??= [...this.#known.values()]
      .flatMap(({ goal }) => goal ?? [])
      .sort((one, other) => (one.sessionId < other.sessionId ? -1 : 1));
    return this.#sorted;
  }

  server(): ServerStatus | undefined {
    return this.#server;
  }

  settings(): SettingsView | undefined {
    return this.#settings;
  }

  error(): GoalError | null {
    return this.#error;
  }

  objective(goal: GoalView): string | null | undefined {
    return goal.objective ?? this.#objectives.get(objectiveKey(goal));
  }

  async loadObjective(goal: GoalView): Promise<void> {
    const key = objectiveKey(goal);
    if (goal.objective !== null || this.#objectives.has(key)) return;
    // The entry without text keeps a second reader from asking, too.
    this.#objectives.set(key, undefined);
    dropOldest(this.#objectives, OBJECTIVES_MAX);
    try {
      const { text } = await this.#source.objective({ sessionId: goal.sessionId });
      if (this.#objectives.has(key)) this.#objectives.set(key, text);
    } catch {
      // The note is shown in its place, and the next reader asks again.
      this.#objectives.delete(key);
    }
    this.#tell(goal.sessionId);
  }

  refresh(): Promise<void> {
    if (this.#refreshing !== undefined) {
      this.#again = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#refreshUntilQuiet().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  accept(goal: GoalView): void {
    const known = this.#known.get(goal.sessionId);
    const told = known?.goal?.seq ?? known?.seq ?? 0;
    if (goal.seq < told) return;
    if (isOlder(goal, known?.goal)) return;
    this.#put(goal.sessionId, { seq: Math.max(known?.seq ?? 0, goal.seq), goal });
  }

  acceptCleared({ sessionId, goalId }: Pick<GoalView, 'sessionId' | 'goalId'>): void {
    const known = this.#known.get(sessionId);
    // Another goal may have taken its place since.
    if (known?.goal?.goalId === goalId) this.#put(sessionId, { seq: known.seq, goal: null });
  }

  acceptSettings(settings: SettingsView): void {
    this.#settingsHeard += 1;
    this.#settings = settings;
    this.#tell(null);
  }

  #changed({ seq, sessionId, goal }: Changed): void {
    const known = this.#known.get(sessionId)?.seq ?? this.#floor;
    if (seq > Math.max(known, this.#floor)) this.#put(sessionId, { seq, goal });
  }

  #snapshot({ seq, goals }: Snapshot): void {
    if (seq < this.#floor) return;
    const listed = new Map(goals.map((goal) => [goal.sessionId, goal]));
    for (const [sessionId, known] of [...this.#known]) {
      if (known.goal !== null && known.seq <= seq && !listed.has(sessionId)) {
        this.#put(sessionId, { seq, goal: null });
      }
    }
    for (const [sessionId, goal] of listed) {
      const known = this.#known.get(sessionId);
      if (known === undefined || (known.seq <= seq && !isOlder(goal, known.goal))) {
        this.#put(sessionId, { seq: goal.seq, goal });
      }
    }
    const first = this.#floor < 0;
    this.#floor = seq;
    // Before the first snapshot nothing was known of any session, after it everything is.
    if (first) this.#tell(null);
  }

  #put(sessionId: string, known: Known): void {
    // A removed goal goes to the end, so that the oldest of them is dropped first.
    if (known.goal === null) this.#known.delete(sessionId);
    this.#known.set(sessionId, known);
    if (known.goal === null) this.#dropRemoved();
    this.#tell(sessionId);
  }

  #dropRemoved(): void {
    if (this.#known.size <= REMOVED_MAX) return;
    const removed = [...this.#known].filter(([, { goal }]) => goal === null);
    for (const [sessionId] of removed.slice(0, -REMOVED_MAX)) this.#known.delete(sessionId);
  }

  #connection(server: ServerStatus): void {
    if (!this.#takeServer(server)) return;
    // What happened while the line was down came as no event.
    if (server.state === 'connected') void this.refresh();
  }

  #takeServer(server: ServerStatus): boolean {
    if (this.#server !== undefined && server.seq < this.#server.seq) return false;
    this.#server = server;
    this.#tell(null);
    return true;
  }

  async #refreshUntilQuiet(): Promise<void> {
    await this.#refreshOnce();
    while (this.#takeAgain()) await this.#refreshOnce();
  }

  #takeAgain(): boolean {
    const again = this.#again;
    this.#again = false;
    return again;
  }

  async #refreshOnce(): Promise<void> {
    const heard = this.#settingsHeard;
    const answers = await Promise.allSettled([
      this.#source.list().then((snapshot) => {
        this.#snapshot(snapshot);
      }),
      this.#source.serverStatus().then((server) => {
        this.#takeServer(server);
      }),
      this.#source.settingsGet().then((settings) => {
        // An event that came after the question is newer than the answer.
        if (heard === this.#settingsHeard) this.acceptSettings(settings);
      }),
    ]);
    const failed = answers.find((answer) => answer.status === 'rejected');
    this.#setError(failed === undefined ? null : GoalError.from(failed.reason));
  }

  #setError(error: GoalError | null): void {
    if (error === null && this.#error === null) return;
    this.#error = error;
    this.#tell(null);
  }

  #join(readers: Set<() => void>, reader: () => void): () => void {
    // Of its own, so that a reader that subscribes twice leaves twice.
    const own = () => {
      reader();
    };
    readers.add(own);
    if (this.#listening === undefined) this.#listen();
    return () => {
      readers.delete(own);
      // A page that swaps one reader for another in one go goes on listening.
      queueMicrotask(() => {
        if (this.#readers.size === 0 && this.#readersOf.size === 0) this.#leave();
      });
    };
  }

  #listen(): void {
    const listening: Listening = { ended: false, hiddenSince: null, unlisten: [] };
    this.#listening = listening;
    this.#watchPage(listening);
    void this.#listenAndAsk(listening);
  }

  /** Listens first, asks then: what changes between is heard. */
  async #listenAndAsk(listening: Listening): Promise<void> {
    const { onChanged, onConnection, onSettings } = this.#source;
    const asked = [
      onChanged((changed) => {
        if (!listening.ended) this.#changed(changed);
      }),
      onConnection((server) => {
        if (!listening.ended) this.#connection(server);
      }),
      onSettings((settings) => {
        if (!listening.ended) this.acceptSettings(settings);
      }),
    ];
    const answers = await Promise.allSettled(
      asked.map(async (promise) => {
        const unlisten = await promise;
        // The last reader may have left before the listener stood.
        if (listening.ended) unlisten();
        else listening.unlisten.push(unlisten);
      }),
    );
    if (listening.ended) return;
    await this.refresh();
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (refused !== undefined) this.#setError(GoalError.from(refused.reason));
  }

  #watchPage(listening: Listening): void {
    if (typeof document === 'undefined') return;
    const onVisibility = () => {
      if (document.visibilityState === 'hidden') {
        listening.hiddenSince = this.#now();
        // No frame comes while the page is hidden.
        this.#flush();
      } else if (listening.hiddenSince !== null) {
        const hiddenFor = this.#now() - listening.hiddenSince;
        listening.hiddenSince = null;
        if (hiddenFor >= HIDDEN_LONG) void this.refresh();
      }
    };
    document.addEventListener('visibilitychange', onVisibility);
    listening.unlisten.push(() => {
      document.removeEventListener('visibilitychange', onVisibility);
    });
  }

  #leave(): void {
    const listening = this.#listening;
    if (listening === undefined) return;
    this.#listening = undefined;
    listening.ended = true;
    for (const unlisten of listening.unlisten) unlisten();
  }

  #tell(sessionId: string | null): void {
    if (sessionId === null) this.#news = null;
    else {
      this.#sorted = undefined;
      this.#news?.add(sessionId);
    }
    if (this.#frameAsked) return;
    this.#frameAsked = true;
    this.#nextFrame(() => {
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#frameAsked) return;
    this.#frameAsked = false;
    const news = this.#news;
    this.#news = new Set();
    const readers = [...this.#readers];
    for (const [sessionId, own] of this.#readersOf) {
      if (news === null || news.has(sessionId)) readers.push(...own);
    }
    for (const reader of readers) runGuarded(reader);
  }
}

const PLUGIN: GoalSource = {
  list,
  serverStatus,
  settingsGet,
  objective,
  onChanged,
  onConnection,
  onSettings,
};

/** A hidden page gets no frames; its readers are told all the same. */
function animationFrame(run: () => void): void {
  const hidden = typeof document === 'undefined' || document.visibilityState === 'hidden';
  if (hidden) setTimeout(run, 16);
  else requestAnimationFrame(run);
}

/** One reader's fault is reported and keeps no other from being told. */
function runGuarded(reader: () => void): void {
  try {
    reader();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Without an event between, the later of two views is the newer one. */
function isOlder(goal: GoalView, known: GoalView | null | undefined): boolean {
  return goal.seq === known?.seq && goal.at < known.at;
}

function objectiveKey({ sessionId, goalId, updatedAt }: GoalView): string {
  return [sessionId, goalId, updatedAt].join(' ');
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
