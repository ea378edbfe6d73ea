/** The simulated server's memory, and its line to the page. */
import type {
  Part,
  PermissionRequest,
  QuestionRequest,
  Session,
  SessionStatus,
  Todo,
} from '@opencode-ai/sdk/v2/client';

import type { ServerEvent, StreamMessage } from '../../src/host/contract';
import { copy, type Row } from './make';

/** Milliseconds between two messages of the stream: a frame. */
const FRAME = 16;

/** A refused command, as the host refuses. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Where the stream's messages go. */
export interface Hearer {
  onmessage: (message: StreamMessage) => void;
}

export class World {
  readonly sessions = new Map<string, Session>();
  readonly rows = new Map<string, Row[]>();
  readonly status = new Map<string, SessionStatus>();
  readonly permissions = new Map<string, PermissionRequest>();
  readonly questions = new Map<string, QuestionRequest>();
  readonly todos = new Map<string, Todo[]>();
  /** The session that is shown first. */
  main: string | null = null;
  /** The list of sessions cannot be read. */
  listFails = false;
  /** A worktree cannot be filled. */
  treesFail = false;
  /** Worktrees that are there. */
  readonly trees = new Set<string>();
  /** Milliseconds between two words of an answer. */
  wordTime = 30;
  /** Hears of every change of a session's status. */
  onStatus: (sessionId: string, status: SessionStatus) => void = () => undefined;

  /** Hears of every transcript that is read. */
  onRead: () => void = () => undefined;

  #line: 'up' | 'down' = 'up';
  #hearer: Hearer | null = null;
  #waiting: ServerEvent[] = [];

  get up(): boolean {
    return this.#line === 'up';
  }

  /** The page's stream begins. */
  hear(hearer: Hearer): void {
    this.#hearer = hearer;
    this.#say(this.up ? { kind: 'resync' } : this.#away());
  }

  goDown(): void {
    this.#line = 'down';
    this.#say(this.#away());
  }

  comeBack(): void {
    this.#line = 'up';
    this.#say({ kind: 'resync' });
  }

  /** Lost for a while already: of a short break the page says nothing. */
  #away(): StreamMessage {
    return { kind: 'away', since: Date.now() - 15_000, nextTryAt: Date.now() + 8_000 };
  }

  #say(message: StreamMessage): void {
    setTimeout(() => {
      this.#hearer?.onmessage(message);
    });
  }

  /** An event of a session, told with the next frame's. */
  tell(sessionId: string, type: string, properties: Record<string, unknown>): void {
    this.tellOf(this.sessions.get(sessionId)?.directory ?? null, type, properties);
  }

  /** An event of a folder, told with the next frame's. */
  tellOf(directory: string | null, type: string, properties: Record<string, unknown>): void {
    if (this.#waiting.length === 0) {
      setTimeout(() => {
        this.#flush();
      }, FRAME);
    }
    this.#waiting.push({ directory, type, properties: copy(properties) });
  }

  #flush(): void {
    const events = this.#waiting;
    this.#waiting = [];
    // What happens while the line is lost is not told afterwards.
    if (this.up) this.#hearer?.onmessage({ kind: 'events', events });
  }

  session(id: string): Session {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Missing(`Session not found: ${id}`);
    return session;
  }

  rowsOf(id: string): Row[] {
    let rows = this.rows.get(id);
    if (rows === undefined) {
      rows = [];
      this.rows.set(id, rows);
    }
    return rows;
  }

  add(session: Session, rows: Row[] = []): Session {
    this.sessions.set(session.id, session);
    this.rows.set(session.id, rows);
    return session;
  }

  change(id: string, change: Partial<Session>, moves = true): Session {
    const before = this.session(id);
    const time = { ...before.time, ...(moves ? { updated: Date.now() } : {}), ...change.time };
    const info = { ...before, ...change, time };
    this.sessions.set(id, info);
    this.tell(id, 'session.updated', { sessionID: id, info });
    return info;
  }

  setStatus(id: string, status: SessionStatus): void {
    if (status.type === 'idle') this.status.delete(id);
    else this.status.set(id, status);
    this.tell(id, 'session.status', { sessionID: id, status });
    if (status.type === 'idle') this.tell(id, 'session.idle', { sessionID: id });
    this.onStatus(id, status);
  }

  /** Puts a message in, or in the place of its former self. */
  putMessage(row: Row): void {
    const rows = this.rowsOf(row.info.sessionID);
    const at = rows.findIndex(({ info }) => info.id === row.info.id);
    if (at < 0) rows.push(row);
    else rows[at] = row;
    this.tell(row.info.sessionID, 'message.updated', {
      sessionID: row.info.sessionID,
      info: row.info,
    });
  }

  putPart(row: Row, part: Part): void {
    const at = row.parts.findIndex(({ id }) => id === part.id);
    if (at < 0) row.parts.push(part);
    else row.parts[at] = part;
    const { sessionID } = part;
    this.tell(sessionID, 'message.part.updated', { sessionID, part, time: Date.now() });
  }
}

/** The server's answer 404. */
export class Missing extends Error {}
