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

/** Sessions that one page of the list holds. */
const LIST_PAGE = 200;

/** Messages that are read at once: more than a screen shows, few enough to be there at once. */
const MESSAGES_PAGE = 80;

/** Transcripts that stay loaded; the one that was opened longest ago goes. */
const TRANSCRIPTS_MAX = 8;

/** Events that wait for a transcript at most; more, and it is read again. */
const WAITING_MAX = 5_000;

/** Transcripts in the order in which they were last opened. */
let opened: string[] = [];

/** Events of transcripts that are being read. */
const waiting = new Map<string, ServerEvent[]>();

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
  if (waiting.size === 0) return;
  for (const event of events) {
    const held = waiting.get(sessionOf(event) ?? '');
    if (held !== undefined && held.length < WAITING_MAX) held.push(event);
  }
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
  try {
    const sessions = await readSessions();
    if (mine !== reading) return;
    server.setState({ sessions, listing: 'ready' });
    await readFolders(mine, Object.values(sessions));
  } catch (thrown) {
    const failed = callError(thrown);
    if (mine === reading && failed.code !== 'notConnected') {
      server.setState((state) => ({ listing: state.listing === 'ready' ? 'ready' : 'failed' }));
    }
  }
  if (mine === reading) await Promise.all(opened.map((id) => readTranscript(id)));
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
async function readFolders(mine: number, sessions: Session[]): Promise<void> {
  const newest = sessions.toSorted((a, b) => b.time.updated - a.time.updated);
  const folders = [...new Set(newest.map(({ directory }) => directory))].slice(0, 30);
  const told = await Promise.all(folders.map((directory) => readFolder(directory)));
  if (mine !== reading) return;
  server.setState({
    status: Object.assign({}, ...told.map(({ status }) => status)) as ServerState['status'],
    permissions: byId(told.flatMap(({ permissions }) => permissions)),
    questions: byId(told.flatMap(({ questions }) => questions)),
  });
}

async function readFolder(
  directory: string,
): Promise<Pick<ServerState, 'status'> & { permissions: Permissions; questions: Questions }> {
  const [status, permissions, questions] = await Promise.all([
    data(client.session.status({ directory })),
    data(client.permission.list({ directory })),
    data(client.question.list({ directory })),
  ]);
  return { status, permissions, questions };
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
  const held: ServerEvent[] = [];
  waiting.set(sessionId, held);
  setTranscript(sessionId, (known) => ({ ...known, failure: null }));
  try {
    const { data: rows, next } = await page(
      client.session.messages({ sessionID: sessionId, limit: MESSAGES_PAGE }),
    );
    if (waiting.get(sessionId) !== held) return;
    setTranscript(sessionId, (known) => readOver(known, rows, next));
    server.setState((state) => apply(state, held), true);
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
}

interface Row {
  info: Message;
  parts: Part[];
}

function readOver(known: Transcript, rows: Row[], next: string | null): Transcript {
  return {
    phase: 'ready',
    failure: null,
    messages: rows.map(({ info }) => info),
    parts: Object.fromEntries(rows.map(({ info, parts }) => [info.id, heardOf(known, info, parts)])),
    older: next,
  };
}

/** The server stores a text when it is complete: until then, what was heard of it is all there is. */
function heardOf(known: Transcript, info: Message, parts: Part[]): Part[] {
  const heard = known.parts[info.id];
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
  setTranscript(sessionId, (known) => {
    // Read anew meanwhile: this page no longer joins.
    if (known.older !== before) return known;
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
  const [session, children, todos] = await Promise.allSettled([
    data(client.session.get({ sessionID })),
    data(client.session.children({ sessionID })),
    data(client.session.todo({ sessionID })),
  ]);
  server.setState((state) => {
    const found = [
      ...(session.status === 'fulfilled' ? [session.value] : []),
      ...(children.status === 'fulfilled' ? children.value : []),
    ].filter((one) => !isAudit(one));
    return {
      sessions: { ...state.sessions, ...byId(found) },
      todos:
        todos.status === 'fulfilled' ? { ...state.todos, [sessionID]: todos.value } : state.todos,
    };
  });
}
