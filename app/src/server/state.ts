/** What the page knows of the server, as one immutable value. `apply.ts` makes the next one from events. */
import type {
  Message,
  Part,
  PermissionRequest,
  QuestionRequest,
  Session,
  SessionStatus,
  Todo,
} from '@opencode-ai/sdk/v2/client';

export type { Message, Part, PermissionRequest, QuestionRequest, Session, SessionStatus, Todo };

/** The line to the server as the page hears it. */
export type Connection =
  /** Nothing was heard yet. */
  | { kind: 'starting' }
  | { kind: 'live' }
  | { kind: 'away'; since: number; nextTryAt: number | null };

/** How far a list has come. */
export type Phase = 'loading' | 'ready' | 'failed';

/** The messages of one session, as far as they are loaded: always the newest ones, without gaps. */
export interface Transcript {
  phase: Phase;
  /** The code of a failed load. */
  failure: string | null;
  /** In order of time. */
  messages: readonly Message[];
  /** Message → its parts in order. */
  parts: Readonly<Record<string, readonly Part[]>>;
  /** Cursor of the next older page; `null` when the beginning is loaded. */
  older: string | null;
}

export interface ServerState {
  connection: Connection;
  /** How far the list of sessions has come; it stays `ready` while it is read anew. */
  listing: Phase;
  /** All sessions that are known, those of sub-agents too, audits' not. */
  sessions: Readonly<Record<string, Session>>;
  /** Sessions that work; one that is absent is idle. */
  status: Readonly<Record<string, SessionStatus>>;
  /** The last error of a session's turn that has no message of its own. */
  errors: Readonly<Record<string, string>>;
  transcripts: Readonly<Record<string, Transcript>>;
  /** By id. */
  permissions: Readonly<Record<string, PermissionRequest>>;
  questions: Readonly<Record<string, QuestionRequest>>;
  todos: Readonly<Record<string, readonly Todo[]>>;
  /** Folder → its branch. */
  branches: Readonly<Record<string, string>>;
}

export const EMPTY: ServerState = {
  connection: { kind: 'starting' },
  listing: 'loading',
  sessions: {},
  status: {},
  errors: {},
  transcripts: {},
  permissions: {},
  questions: {},
  todos: {},
  branches: {},
};

/** A session of the auditor: nobody's conversation. */
export function isAudit(session: Session): boolean {
  const ours = session.metadata?.['openchamber'];
  return typeof ours === 'object' && ours !== null && 'goalAudit' in ours;
}

/** Whether a session works or waits for a retry. */
export function isBusy(state: ServerState, sessionId: string): boolean {
  const status = state.status[sessionId];
  return status !== undefined && status.type !== 'idle';
}

/** A session and all below it, itself first. */
export function family(
  state: Pick<ServerState, 'sessions'>,
  sessionId: string,
): Session[] {
  const found: Session[] = [];
  const root = state.sessions[sessionId];
  if (root !== undefined) found.push(root);
  const all = Object.values(state.sessions);
  // The list grows while it is walked: children of children follow.
  for (const parent of found) {
    for (const child of all) {
      if (child.parentID === parent.id && !found.includes(child)) found.push(child);
    }
  }
  return found;
}

/** What waits for a person in a session or below it, oldest first. */
export function pending(
  state: ServerState,
  sessionId: string,
): { permissions: PermissionRequest[]; questions: QuestionRequest[] } {
  const ids = new Set(family(state, sessionId).map(({ id }) => id));
  ids.add(sessionId);
  const of = <T extends { id: string; sessionID: string }>(all: Readonly<Record<string, T>>): T[] =>
    Object.values(all)
      .filter((one) => ids.has(one.sessionID))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { permissions: of(state.permissions), questions: of(state.questions) };
}
