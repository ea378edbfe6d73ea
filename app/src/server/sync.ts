/**
 * Keeps the store true to the server: reads what is shown, hears what changes, and reads again after every gap. While a
 * transcript is read its events wait and are applied to what was read.
 */
import type { ServerEvent, StreamMessage } from '../host/contract';
import { serverEvents } from '../host/host';
import { apply, without } from './apply';
import { callError, client, data, page } from './client';
import { isAudit, type Message, type Part, type ServerState, type Session, type Transcript } from './state';
import { server } from './store';
import { hearWorktrees } from './worktrees';

/** Sessions that one page of the list holds. */
const LIST_PAGE = 200;

/** Messages that are read at once: more than a screen shows, few enough to be there at once. */
const MESSAGES_PAGE = 80;

/** Transcripts that stay loaded; the one that was opened longest ago goes. */
const TRANSCRIPTS_MAX = 8;

/** Events that wait for a read at most; more, and it is read again. */
const WAITING_MAX = 5_000;

/** What was heard while something was read, in order. */
interface Held {
  events: ServerEvent[];
  /** There was more than may wait. */
  over: boolean;
}

/** Transcripts in the order in which they were last opened. */
let opened: string[] = [];

/** Events of transcripts that are being read. */
const waiting = new Map<string, Held>();

/** Events that are not of transcripts, while the list and the folders are read. */
let surrounding: Held | null = null;

/** Milliseconds after a failed read of the list until the next; they double up to the second number. */
const AGAIN_AFTER = [2_000, 30_000] as const;

/** The next such pause. */
let pause: number = AGAIN_AFTER[0];

/** Counts the reads of everything; an older one that ends late is dropped. */
let reading = 0;

/** Begins to hear and keeps hearing; resolves when the stream is open. */
export async function start(): Promise<void> {
  await serverEvents(hear);
}

/** What one message of the stream does. */
export function hear(message: StreamMessage): void {
  switch (message.kind) {
    case 'events':
      hold(message.events);
      server.setState((state) => apply(state, message.events), true);
      hearWorktrees(message.events);
      break;
    case 'resync':
      server.setState({ connection: { kind: 'live' } });
      void readAll();
      break;
    case 'away':
      server.setState({ connection: message });
      break;
  }
}

function hold(events: readonly ServerEvent[]): void {
  for (const event of events) {
    if (surrounding !== null && !event.type.startsWith('message.')) keep(surrounding, event);
    const held = waiting.size === 0 ? undefined : waiting.get(sessionOf(event) ?? '');
    if (held !== undefined) keep(held, event);
  }
}

function keep(held: Held, event: ServerEvent): void {
  if (held.events.length < WAITING_MAX) held.events.push(event);
  else held.over = true;
}

/** The session whose transcript an event is about. */
function sessionOf(event: ServerEvent): string | null {
  const properties = event.properties as {
    sessionID?: string;
    info?: { sessionID?: string };
    part?: { sessionID?: string };
  } | null;
  return (
    properties?.sessionID ?? properties?.info?.sessionID ?? properties?.part?.sessionID ?? null
  );
}

/** Reads the list, what works, what waits for a person, and every transcript that is loaded. */
export async function readAll(): Promise<void> {
  reading += 1;
  const mine = reading;
  const held: Held = { events: [], over: false };
  surrounding = held;
  try {
    const sessions = await readSessions();
    if (mine !== reading) return;
    pause = AGAIN_AFTER[0];
    server.setState((state) =>
      apply({ ...state, sessions: { ...openedOf(state), ...sessions }, listing: 'ready' }, held.events),
    );
    await readFolders(mine, Object.values(sessions), held);
  } catch (thrown) {
    const failed = callError(thrown);
    // Without a line there is nothing to say: the stream tells when it is back.
    if (mine === reading && failed.code !== 'notConnected') {
      server.setState((state) => ({ listing: state.listing === 'ready' ? 'ready' : 'failed' }));
      readAgainLater(mine);
    }
  }
  if (mine !== reading) return;
  surrounding = null;
  await Promise.all(opened.map((id) => Promise.all([readTranscript(id), readSurroundings(id)])));
  if (held.over && mine === reading) await readAll();
}

/** A server that did not answer may be busy with its start. */
function readAgainLater(mine: number): void {
  setTimeout(() => {
    if (mine === reading) void readAll();
  }, pause);
  pause = Math.min(pause * 2, AGAIN_AFTER[1]);
}

/** The list has neither what is archived nor what is older than its newest thousand: what is open stays. */
function openedOf({ sessions }: ServerState): Record<string, Session> {
  return byId(opened.flatMap((id) => sessions[id] ?? []));
}

async function readSessions(): Promise<Record<string, Session>> {
  const all: Record<string, Session> = {};
  let cursor: number | undefined;
  // The newest thousand; what is older is found by search.
  for (let pages = 0; pages < 5; pages += 1) {
    const { data: rows, next } = await page(
      client.experimental.session.list({
        limit: LIST_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    for (const session of rows) if (!isAudit(session)) all[session.id] = session;
    if (next === null) break;
    cursor = Number(next);
  }
  return all;
}

/** Asks each folder that has sessions what works and what waits; at most the thirty used last. */
async function readFolders(mine: number, sessions: Session[], held: Held): Promise<void> {
  const newest = sessions.toSorted((a, b) => b.time.updated - a.time.updated);
  const folders = [...new Set(newest.map(({ directory }) => directory))].slice(0, 30);
  const told = await Promise.all(folders.map((directory) => readFolder(directory)));
  if (mine !== reading) return;
  server.setState((state) => {
    const status = Object.assign({}, ...told.map((folder) => folder.status)) as ServerState['status'];
    const permissions = byId(told.flatMap((folder) => folder.permissions));
    const questions = byId(told.flatMap((folder) => folder.questions));
    return apply({ ...state, status, permissions, questions }, held.events);
  });
}

interface Folder {
  status: ServerState['status'];
  permissions: Permissions;
  questions: Questions;
}

async function readFolder(directory: string): Promise<Folder> {
  try {
    const [status, permissions, questions] = await Promise.all([
      data(client.session.status({ directory })),
      data(client.permission.list({ directory })),
      data(client.question.list({ directory })),
    ]);
    return { status, permissions, questions };
  } catch {
    // One folder that fails hides no other: what was known of it holds.
    return knownOf(directory);
  }
}

function knownOf(directory: string): Folder {
  const { sessions, status, permissions, questions } = server.getState();
  const inside = (id: string): boolean => sessions[id]?.directory === directory;
  return {
    status: Object.fromEntries(Object.entries(status).filter(([id]) => inside(id))),
    permissions: Object.values(permissions).filter(({ sessionID }) => inside(sessionID)),
    questions: Object.values(questions).filter(({ sessionID }) => inside(sessionID)),
  };
}

type Permissions = ServerState['permissions'][string][];
type Questions = ServerState['questions'][string][];

function byId<T extends { id: string }>(rows: readonly T[]): Record<string, T> {
  return Object.fromEntries(rows.map((row) => [row.id, row]));
}

/** Loads a session's newest messages, its sub-agents and its todos, and keeps them true from now on. */
export async function open(sessionId: string): Promise<void> {
  opened = [sessionId, ...opened.filter((id) => id !== sessionId)];
  for (const gone of opened.slice(TRANSCRIPTS_MAX)) forget(gone);
  opened = opened.slice(0, TRANSCRIPTS_MAX);
  if (server.getState().transcripts[sessionId]?.phase === 'ready') return;
  await Promise.all([readTranscript(sessionId), readSurroundings(sessionId)]);
}

function forget(sessionId: string): void {
  // An answer that comes later is no longer asked for.
  waiting.delete(sessionId);
  server.setState((state) => ({ transcripts: without(state.transcripts, sessionId) }));
}

const LOADING: Transcript = {
  phase: 'loading',
  failure: null,
  messages: [],
  parts: {},
  older: null,
};

function setTranscript(id: string, change: (transcript: Transcript) => Transcript): void {
  server.setState((state) => ({
    transcripts: { ...state.transcripts, [id]: change(state.transcripts[id] ?? LOADING) },
  }));
}

/** Reads the newest page anew. Older pages that were loaded go: they may have changed, too. */
async function readTranscript(sessionId: string): Promise<void> {
  const held: Held = { events: [], over: false };
  waiting.set(sessionId, held);
  setTranscript(sessionId, (known) => ({ ...known, failure: null }));
  // What is heard from now on is held and applied to what was heard before.
  const heard = server.getState().transcripts[sessionId]?.parts ?? {};
  try {
    const { data: rows, next } = await page(
      client.session.messages({ sessionID: sessionId, limit: MESSAGES_PAGE }),
    );
    if (waiting.get(sessionId) !== held) return;
    setTranscript(sessionId, () => readOver(heard, rows, next));
    server.setState((state) => apply(state, held.events), true);
  } catch (thrown) {
    if (waiting.get(sessionId) !== held) return;
    const { code } = callError(thrown);
    setTranscript(sessionId, (known) => ({
      ...known,
      phase: known.phase === 'ready' ? 'ready' : 'failed',
      failure: code,
    }));
  } finally {
    if (waiting.get(sessionId) === held) waiting.delete(sessionId);
  }
  if (held.over) await readTranscript(sessionId);
}

interface Row {
  info: Message;
  parts: Part[];
}

function readOver(heard: Transcript['parts'], rows: Row[], next: string | null): Transcript {
  return {
    phase: 'ready',
    failure: null,
    messages: rows.map(({ info }) => info),
    parts: Object.fromEntries(rows.map(({ info, parts }) => [info.id, withHeard(parts, heard[info.id])])),
    older: next,
  };
}

/** The server stores a text when it is complete: until then, what was heard of it is all there is. */
function withHeard(parts: Part[], heard: readonly Part[] | undefined): Part[] {
  if (heard === undefined) return parts;
  return parts.map((part) => {
    if (part.type !== 'text' && part.type !== 'reasoning') return part;
    const before = heard.find(({ id }) => id === part.id);
    if (before?.type !== part.type || part.time?.end !== undefined) return part;
    return before.text.length > part.text.length ? { ...part, text: before.text } : part;
  });
}

/** Loads the next older page of a session; nothing where there is none. */
export async function loadOlder(sessionId: string): Promise<void> {
  const before = server.getState().transcripts[sessionId]?.older;
  if (before === null || before === undefined) return;
  const { data: rows, next } = await page(
    client.session.messages({ sessionID: sessionId, limit: MESSAGES_PAGE, before }),
  );
  // Forgotten or read anew meanwhile: this page no longer joins.
  if (server.getState().transcripts[sessionId]?.older !== before) return;
  setTranscript(sessionId, (known) => {
    const parts = Object.fromEntries(rows.map((row) => [row.info.id, row.parts]));
    return {
      ...known,
      messages: [...rows.map(({ info }) => info), ...known.messages],
      parts: { ...parts, ...known.parts },
      older: next,
    };
  });
}

/** The session itself, its sub-agents and its todos. What cannot be read is shown as not known. */
async function readSurroundings(sessionID: string): Promise<void> {
  const before = server.getState();
  const [session, children, todos] = await Promise.allSettled([
    data(client.session.get({ sessionID })),
    data(client.session.children({ sessionID })),
    data(client.session.todo({ sessionID })),
  ]);
  const found = [
    ...(session.status === 'fulfilled' ? [session.value] : []),
    ...(children.status === 'fulfilled' ? children.value : []),
  ].filter((one) => !isAudit(one));
  server.setState((state) => {
    // What was heard meanwhile is newer than what was read.
    const news = found.filter(({ id }) => state.sessions[id] === before.sessions[id]);
    const told = todos.status === 'fulfilled' && state.todos[sessionID] === before.todos[sessionID];
    return {
      sessions: { ...state.sessions, ...byId(news) },
      todos: told ? { ...state.todos, [sessionID]: todos.value } : state.todos,
    };
  });
  if (session.status === 'rejected' && callError(session.reason).status === 404) gone(sessionID);
}

/** A session that was deleted while nobody listened; its transcript tells why it could not be read. */
function gone(id: string): void {
  const event = { directory: null, type: 'session.deleted', properties: { info: { id } } };
  server.setState((state) => ({ ...apply(state, [event]), transcripts: state.transcripts }), true);
}

/** The branch of a folder; events keep it true from then on. Where it cannot be read, it stays unknown. */
export async function readBranch(directory: string): Promise<void> {
  try {
    const { branch } = await data(client.vcs.get({ directory }));
    // Without version control it is `null`, or missing.
    if (branch == null) return;
    server.setState((state) => ({ branches: { ...state.branches, [directory]: branch } }));
  } catch {
    // A folder without version control has none to show either.
  }
}
