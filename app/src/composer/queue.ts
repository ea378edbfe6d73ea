/**
 * Messages that wait until a session's turn has ended. The server has a queue of its own, but what is in it cannot be
 * taken back; these can be, as long as this page holds them. They are sent one at a time, each when the turn before it
 * ended well. After a stop, a failure or a reload they are held until somebody says so.
 */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { changeDraft, drafts, fitsHost, NO_DRAFT } from '../drafts';
import type { Attachment, Draft, ModelChoice } from '../host/contract';
import type { Outgoing } from '../server/actions';
import { callError, client, data, type CallError } from '../server/client';
import { isBusy, type Message, type ServerState } from '../server/state';
import { server } from '../server/store';
import { deliver } from './send';

/** Why nothing is sent although the session is idle. */
export type Held = 'stopped' | 'failed' | 'restored';

export interface Queued extends Outgoing {
  id: number;
}

export interface Queue {
  entries: readonly Queued[];
  held: Held | null;
  failure: CallError | null;
}

/** More are refused. */
export const QUEUE_MAX = 20;

/** Milliseconds from idle until the end of a turn is complete: a stopped one is told first and marked later. */
const SETTLED_AFTER = 1_000;

/** Milliseconds within which a turn begins. */
const BEGUN_WITHIN = 10_000;

const PREFIX = 'queue:';

const EMPTY: Queue = { entries: [], held: null, failure: null };

export const queues = createStore<Record<string, Queue>>(() => ({}));

const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** Sessions one message of which is on its way. */
const sending = new Set<string>();

let nextId = 1;

export function useQueue(sessionId: string | null): Queue {
  return useStore(queues, (all) => all[sessionId ?? ''] ?? EMPTY);
}

export function queueOf(sessionId: string): Queue {
  return queues.getState()[sessionId] ?? EMPTY;
}

function set(sessionId: string, patch: Partial<Queue>): void {
  const before = queueOf(sessionId);
  const after = { ...before, ...patch };
  const queue = after.entries.length === 0 ? EMPTY : after;
  queues.setState({ [sessionId]: queue });
  if (queue.entries !== before.entries) changeDraft(PREFIX + sessionId, encode(queue.entries));
}

/** Puts a message at the end; `false` where the queue is full, or fuller than the host could keep it. */
export function enqueue(sessionId: string, message: Outgoing): boolean {
  const entries = [...queueOf(sessionId).entries, { ...message, id: nextId }];
  if (entries.length > QUEUE_MAX || !fitsHost(encode(entries))) return false;
  nextId += 1;
  set(sessionId, { entries });
  consider(sessionId, server.getState());
  return true;
}

/** Takes a message out, to change it or to drop it. */
export function dequeue(sessionId: string, id: number): Queued | null {
  const { entries } = queueOf(sessionId);
  const entry = entries.find((one) => one.id === id) ?? null;
  if (entry !== null) set(sessionId, { entries: entries.filter((one) => one !== entry) });
  return entry;
}

/** The user stops the turn: what waits must not go on for it. */
export function hold(sessionId: string): void {
  clear(sessionId);
  if (queueOf(sessionId).entries.length > 0) set(sessionId, { held: 'stopped', failure: null });
}

/** Sends what was held: the first at once, the others after it. */
export function resume(sessionId: string): void {
  set(sessionId, { held: null, failure: null });
  const first = queueOf(sessionId).entries[0];
  if (first === undefined || isBusy(server.getState(), sessionId)) return;
  void sendNow(sessionId, first.id);
}

/** Gives one to the server: while a turn runs it is answered within that. */
export async function sendNow(sessionId: string, id: number): Promise<void> {
  if (sending.has(sessionId)) return;
  const at = queueOf(sessionId).entries.findIndex((one) => one.id === id);
  // Gone from the list while it is under way: nobody can change it any more.
  const entry = dequeue(sessionId, id);
  if (entry === null) return;
  clear(sessionId);
  sending.add(sessionId);
  const lost = (thrown: unknown, began: boolean): void => {
    const { entries } = queueOf(sessionId);
    clear(sessionId);
    set(sessionId, {
      entries: began ? entries : entries.toSpliced(at, 0, entry),
      held: 'failed',
      failure: callError(thrown),
    });
  };
  try {
    await deliver(sessionId, entry, lost);
    // A turn that ends within one frame is never seen working.
    if (!isBusy(server.getState(), sessionId)) schedule(sessionId, BEGUN_WITHIN);
  } catch (thrown) {
    lost(thrown, false);
  } finally {
    sending.delete(sessionId);
  }
}

/** Restores what was kept and sends as turns end. Returns what ends it. */
export function startQueues(): () => void {
  for (const [key, draft] of Object.entries(drafts.getState())) {
    const sessionId = key.slice(PREFIX.length);
    if (!key.startsWith(PREFIX) || queues.getState()[sessionId] !== undefined) continue;
    const entries = decode(draft);
    if (entries.length > 0) queues.setState({ [sessionId]: { entries, held: 'restored', failure: null } });
  }
  const unsubscribe = server.subscribe((state, before) => {
    for (const sessionId of Object.keys(queues.getState())) {
      const worked = isBusy(before, sessionId);
      if (isBusy(state, sessionId)) clear(sessionId);
      else if (worked || state.connection !== before.connection) {
        clear(sessionId);
        consider(sessionId, state);
      }
    }
  });
  return () => {
    unsubscribe();
    for (const sessionId of [...timers.keys()]) clear(sessionId);
  };
}

function consider(sessionId: string, state: ServerState): void {
  const { entries, held } = queueOf(sessionId);
  if (entries.length === 0 || held !== null || timers.has(sessionId)) return;
  if (state.connection.kind !== 'live' || isBusy(state, sessionId)) return;
  schedule(sessionId, SETTLED_AFTER);
}

function schedule(sessionId: string, after: number): void {
  clear(sessionId);
  timers.set(sessionId, setTimeout(() => { void settle(sessionId); }, after));
}

function clear(sessionId: string): void {
  clearTimeout(timers.get(sessionId));
  timers.delete(sessionId);
}

/** The session is idle: sends the first that waits, or holds all where the turn did not end well. */
async function settle(sessionId: string): Promise<void> {
  timers.delete(sessionId);
  const { entries, held } = queueOf(sessionId);
  const [first] = entries;
  if (first === undefined || held !== null) return;
  try {
    const rows = await data(client.session.messages({ sessionID: sessionId, limit: 1 }));
    // Meanwhile somebody may have stopped, changed or sent.
    if (queueOf(sessionId).held !== null || isBusy(server.getState(), sessionId)) return;
    const last = rows.at(-1)?.info;
    if (last === undefined || endedWell(last)) await sendNow(sessionId, queueOf(sessionId).entries[0]?.id ?? 0);
    else set(sessionId, { held: 'stopped', failure: null });
  } catch (thrown) {
    const failure = callError(thrown);
    // Without a line nothing is decided: it is considered again when the line is back.
    if (server.getState().connection.kind === 'live') set(sessionId, { held: 'failed', failure });
  }
}

/** A turn that was stopped has an error or no `finish`; after a refused permission it ends with its tool calls. */
export function endedWell(last: Message): boolean {
  if (last.role === 'user' || last.error !== undefined || last.time.completed === undefined) return false;
  return last.finish !== undefined && last.finish !== 'tool-calls';
}

interface Row {
  text: string;
  /** How many of the draft's attachments are this one's. */
  files: number;
  agent: string | null;
  model: ModelChoice | null;
}

/** The queue as the host keeps it: a draft whose text is the list. */
export function encode(entries: readonly Queued[]): Draft {
  if (entries.length === 0) return NO_DRAFT;
  const rows = entries.map(({ text, attachments, agent, model }): Row => ({
    text,
    files: attachments.length,
    agent,
    model,
  }));
  return { ...NO_DRAFT, text: JSON.stringify(rows), attachments: entries.flatMap((one) => one.attachments) };
}

/** What {@link encode} wrote; nothing of what it did not write. */
export function decode({ text, attachments }: Draft): Queued[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(rows)) return [];
  let at = 0;
  return rows.filter(isRow).map((row) => {
    const files: Attachment[] = attachments.slice(at, at + row.files);
    at += row.files;
    nextId += 1;
    return { id: nextId - 1, text: row.text, attachments: files, agent: row.agent, model: row.model };
  });
}

function isRow(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null) return false;
  return 'text' in value && typeof value.text === 'string' && 'files' in value && typeof value.files === 'number';
}
