/** The most characters (UTF-16 units) of an objective that the auditor sees whole. */
export const OBJECTIVE_MAX = 5_000;

/** Whether the next message of a session or draft becomes a goal. */
export interface Arming {
  /** It does. */
  readonly armed: boolean;
  /** The goal's objective in place of the message's text. Only while armed. */
  readonly objective: string | null;
}

/** What a session or draft is to begin with. */
export const DISARMED: Arming = { armed: false, objective: null };

/** What can happen to an {@link Arming}. */
export type ArmEvent =
  | { readonly type: 'arm'; readonly objective?: string | null }
  | { readonly type: 'disarm' }
  | { readonly type: 'toggle' };

/** A message about to be sent. */
export interface Outgoing {
  readonly text: string;
  /** A shell line, or the start of crafting a goal, becomes no goal itself. Default: `message`. */
  readonly kind?: 'message' | 'shell' | 'craft';
}

/**
 * What becomes of `state`; disarming forgets the objective.
 *
 * @example
 * ```ts
 * import { arming, DISARMED } from 'tauri-plugin-goal-api';
 *
 * const armed = arming(DISARMED, { type: 'arm', objective: 'Implement the plan end to end.' });
 * console.log(arming(armed, { type: 'toggle' }) === DISARMED);
 * ```
 */
export function arming(state: Arming, event: ArmEvent): Arming {
  switch (event.type) {
    case 'arm':
      return { armed: true, objective: event.objective ?? null };
    case 'disarm':
      return DISARMED;
    case 'toggle':
      return state.armed ? DISARMED : { armed: true, objective: null };
  }
}

/** Whether `message` uses up an arming: shell lines, crafting and blank texts leave it as it is. */
export function consumes(message: Outgoing): boolean {
  return (message.kind ?? 'message') === 'message' && message.text.trim() !== '';
}

/** The objective of a goal that begins with `text`: the one it was armed with, else `text`. */
export function objectiveOf(state: Arming, text: string): string {
  return state.objective !== null && state.objective.trim() !== '' ? state.objective : text;
}

/** The key of a session's arming. With several servers in one page name the server, too. */
export function sessionKey(sessionId: string, server = ''): string {
  return `session ${server} ${sessionId}`;
}

/** The key of a draft's arming, for a session that does not exist yet. */
export function draftKey(draftId: string, server = ''): string {
  return `draft ${server} ${draftId}`;
}

/** Remembers, while the page lives, which sessions and drafts are armed. */
export interface ArmStore {
  get(key: string): Arming;
  /** Lets something happen. Flows that send by themselves disarm or arm right before. */
  send(key: string, event: ArmEvent): void;
  /**
   * Reads and clears in one step, right before a message is sent. `null`: the message becomes no
   * goal, and the arming stays as it was.
   */
  consume(key: string, message: Outgoing): Arming | null;
  /** Puts back what was consumed, for a goal that could not be started. */
  restore(key: string, consumed: Arming): void;
  /** Hands a draft's arming to the session it became. */
  move(from: string, to: string): void;
  /** Tells of any change. @returns What ends the subscription. */
  subscribe(reader: () => void): () => void;
}

/** What the React kit needs of armings: a page may keep them itself, in its drafts for example. */
export type Armings = Pick<ArmStore, 'get' | 'send' | 'subscribe'>;

/** Armings that are remembered; the oldest is forgotten beyond that. */
const ARMED_MAX = 500;

/**
 * Makes a store of armings.
 *
 * @example
 * ```ts
 * import { createArmStore, objectiveOf, sessionKey, start } from 'tauri-plugin-goal-api';
 *
 * const arm = createArmStore();
 *
 * async function send(sessionId: string, text: string) {
 *   const key = sessionKey(sessionId);
 *   const taken = arm.consume(key, { text });
 *   if (taken === null) return; // an ordinary message: send it as always
 *   try {
 *     await start({ sessionId, objective: objectiveOf(taken, text) });
 *   } catch (error) {
 *     arm.restore(key, taken);
 *     throw error;
 *   }
 * }
 *
 * arm.send(sessionKey('ses_3f2a9c'), { type: 'arm' });
 * await send('ses_3f2a9c', 'Make the tests pass.');
 * ```
 */
export function createArmStore(): ArmStore {
  const armed = new Map<string, Arming>();
  const readers = new Set<() => void>();
  const get = (key: string) => armed.get(key) ?? DISARMED;
  const put = (key: string, state: Arming) => {
    if (!state.armed && !armed.has(key)) return;
    armed.delete(key);
    if (state.armed) armed.set(key, state);
    const [oldest] = armed.keys();
    if (armed.size > ARMED_MAX && oldest !== undefined) armed.delete(oldest);
    for (const reader of [...readers]) reader();
  };
  return {
    get,
    send: (key, event) => {
      put(key, arming(get(key), event));
    },
    consume: (key, message) => {
      const state = get(key);
      if (!state.armed || !consumes(message)) return null;
      put(key, DISARMED);
      return state;
    },
    restore: put,
    move: (from, to) => {
      const state = get(from);
      put(from, DISARMED);
      if (state.armed) put(to, state);
    },
    subscribe: (reader) => {
      const own = () => {
        reader();
      };
      readers.add(own);
      return () => {
        readers.delete(own);
      };
    },
  };
}

let shared: ArmStore | undefined;

/** The page's one store of armings, made at the first call. */
export function armStore(): ArmStore {
  shared ??= createArmStore();
  return shared;
}
