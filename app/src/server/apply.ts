/**
 * Events → the next state. Pure: what an event does not touch keeps its identity, so that a part of the page that shows
 * something else is not drawn again. An event about something unknown or malformed changes nothing.
 */
import type { ServerEvent } from '../host/contract';
import {
  isAudit,
  type Message,
  type Part,
  type PermissionRequest,
  type QuestionRequest,
  type ServerState,
  type Session,
  type SessionStatus,
  type Todo,
  type Transcript,
} from './state';

type Change = (state: ServerState, properties: never, directory: string | null) => ServerState;

/** What each kind of event does; kinds that are not named do nothing. */
const CHANGES: Readonly<Record<string, Change>> = {
  'session.created': (state, { info }: { info: Session }) => withSession(state, info),
  'session.updated': (state, { info }: { info: Session }) => withSession(state, info),
  'session.deleted': (state, { info }: { info: Session }) => withoutSession(state, named(info.id)),
  'session.status': (state, told: { sessionID: string; status: SessionStatus }) =>
    withStatus(state, told.sessionID, told.status),
  'session.idle': (state, { sessionID }: { sessionID: string }) =>
    withStatus(state, sessionID, { type: 'idle' }),
  'session.error': (state, told: { sessionID?: string; error?: ErrorBody }) => withError(state, told),
  'message.updated': (state, { info }: { info: Message }) =>
    onTranscript(state, info.sessionID, (transcript) => withMessage(transcript, info)),
  'message.removed': (state, gone: { sessionID: string; messageID: string }) =>
    onTranscript(state, gone.sessionID, (transcript) => withoutMessage(transcript, gone.messageID)),
  'message.part.updated': (state, { part }: { part: Part }) =>
    onTranscript(state, part.sessionID, (transcript) => withPart(transcript, part)),
  'message.part.delta': (state, delta: Delta) =>
    onTranscript(state, delta.sessionID, (transcript) => withDelta(transcript, delta)),
  'message.part.removed': (state, gone: { sessionID: string; messageID: string; partID: string }) =>
    onTranscript(state, gone.sessionID, (transcript) => withoutPart(transcript, gone)),
  'permission.asked': (state, asked: PermissionRequest) => ({
    ...state,
    permissions: { ...state.permissions, [named(asked.id)]: asked },
  }),
  'permission.replied': (state, { requestID }: { requestID: string }) =>
    withoutPermission(state, requestID),
  'question.asked': (state, asked: QuestionRequest) => ({
    ...state,
    questions: { ...state.questions, [named(asked.id)]: { ...asked, questions: listed(asked.questions) } },
  }),
  'question.replied': (state, { requestID }: { requestID: string }) =>
    withoutQuestion(state, requestID),
  'question.rejected': (state, { requestID }: { requestID: string }) =>
    withoutQuestion(state, requestID),
  'todo.updated': (state, { sessionID, todos }: { sessionID: string; todos: Todo[] }) => ({
    ...state,
    todos: { ...state.todos, [named(sessionID)]: listed(todos) },
  }),
  'vcs.branch.updated': (state, { branch }: { branch?: string }, directory) =>
    directory === null || branch === undefined
      ? state
      : { ...state, branches: { ...state.branches, [directory]: branch } },
};

interface Delta {
  sessionID: string;
  messageID: string;
  partID: string;
  field: string;
  delta: string;
}

interface ErrorBody {
  name: string;
  data?: { message?: string };
}

/** The state after a batch of events. */
export function apply(state: ServerState, events: readonly ServerEvent[]): ServerState {
  return joined(events).reduce(one, state);
}

function one(state: ServerState, event: ServerEvent): ServerState {
  const change = CHANGES[event.type];
  if (change === undefined) return state;
  try {
    return change(state, event.properties as never, event.directory);
  } catch {
    // The server's shapes are not ours: an event that lacks what it should have is no event.
    return state;
  }
}

/** An id that is one. */
function named(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw new TypeError('an event without its id');
  return id;
}

function listed<T>(list: T[]): T[] {
  const told: unknown = list;
  if (!Array.isArray(told)) throw new TypeError('an event without its list');
  return list;
}

/** Deltas of one field that follow each other as one: a fast model sends hundreds in a frame. */
export function joined(events: readonly ServerEvent[]): ServerEvent[] {
  const out: ServerEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type === 'message.part.delta' && last?.type === event.type) {
      const before = last.properties as Delta;
      const now = event.properties as Delta;
      if (areJoined(before, now)) {
        out[out.length - 1] = { ...last, properties: { ...before, delta: before.delta + now.delta } };
        continue;
      }
    }
    out.push(event);
  }
  return out;
}

function areJoined(a: Partial<Delta> | null | undefined, b: Partial<Delta> | null | undefined): boolean {
  if (typeof a?.delta !== 'string' || typeof b?.delta !== 'string') return false;
  return a.partID === b.partID && a.messageID === b.messageID && a.field === b.field;
}

function withSession(state: ServerState, session: Session): ServerState {
  if (isAudit(session)) return state;
  // What the list is sorted and grouped by.
  named(session.directory);
  if (typeof session.time.updated !== 'number') throw new TypeError('a session without its time');
  return { ...state, sessions: { ...state.sessions, [named(session.id)]: session } };
}

function withoutPermission(state: ServerState, id: string): ServerState {
  const permissions = without(state.permissions, id);
  return permissions === state.permissions ? state : { ...state, permissions };
}

function withoutQuestion(state: ServerState, id: string): ServerState {
  const questions = without(state.questions, id);
  return questions === state.questions ? state : { ...state, questions };
}

function withoutSession(state: ServerState, id: string): ServerState {
  const ofOthers = <T extends { sessionID: string }>(
    all: Readonly<Record<string, T>>,
  ): Record<string, T> =>
    Object.fromEntries(Object.entries(all).filter(([, { sessionID }]) => sessionID !== id));
  return {
    ...state,
    sessions: without(state.sessions, id),
    status: without(state.status, id),
    errors: without(state.errors, id),
    transcripts: without(state.transcripts, id),
    todos: without(state.todos, id),
    permissions: ofOthers(state.permissions),
    questions: ofOthers(state.questions),
  };
}

function withStatus(state: ServerState, id: string, status: SessionStatus): ServerState {
  const was = state.status[id];
  if (status.type === 'idle') {
    return was === undefined ? state : { ...state, status: without(state.status, id) };
  }
  if (status.type === 'busy' && was?.type === 'busy') return state;
  // A turn begins: what was wrong with the last one is over.
  const errors = was === undefined ? without(state.errors, id) : state.errors;
  return { ...state, errors, status: { ...state.status, [named(id)]: status } };
}

function withError(
  state: ServerState,
  { sessionID, error }: { sessionID?: string; error?: ErrorBody },
): ServerState {
  if (sessionID === undefined || error === undefined) return state;
  // A stop is told by the message it stopped, which the server writes only after the turn's end.
  if (error.name === 'MessageAbortedError') return onTranscript(state, sessionID, stopped);
  const text = error.data?.message ?? error.name;
  if (typeof text !== 'string') return state;
  return { ...state, errors: { ...state.errors, [sessionID]: text } };
}

function onTranscript(
  state: ServerState,
  sessionId: string,
  change: (transcript: Transcript) => Transcript,
): ServerState {
  const before = state.transcripts[sessionId];
  if (before === undefined) return state;
  const after = change(before);
  if (after === before) return state;
  return { ...state, transcripts: { ...state.transcripts, [sessionId]: after } };
}

/** Messages in order of time; ids break ties. */
function comesBefore(a: Message, b: Message): boolean {
  return a.time.created === b.time.created ? a.id < b.id : a.time.created < b.time.created;
}

function withMessage(transcript: Transcript, message: Message): Transcript {
  named(message.id);
  if (typeof message.time.created !== 'number') throw new TypeError('a message without its time');
  const at = transcript.messages.findLastIndex(({ id }) => id === message.id);
  if (at >= 0) {
    return { ...transcript, messages: transcript.messages.with(at, message) };
  }
  const before = transcript.messages.findLastIndex((known) => comesBefore(known, message));
  // It belongs to a page that is not loaded.
  if (before < 0 && transcript.older !== null) return transcript;
  return { ...transcript, messages: transcript.messages.toSpliced(before + 1, 0, message) };
}

/** The reply that is unfinished, as the server will tell of it. */
function stopped(transcript: Transcript): Transcript {
  const at = transcript.messages.findLastIndex(({ role }) => role === 'assistant');
  const message = transcript.messages[at];
  if (message?.role !== 'assistant' || message.time.completed !== undefined) return transcript;
  const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } } as const;
  return { ...transcript, messages: transcript.messages.with(at, { ...message, error }) };
}

function has({ messages }: Transcript, id: string): boolean {
  return messages.some((message) => message.id === id);
}

function withoutMessage(transcript: Transcript, id: string): Transcript {
  if (!has(transcript, id)) return transcript;
  return {
    ...transcript,
    messages: transcript.messages.filter((message) => message.id !== id),
    parts: without(transcript.parts, id),
  };
}

function withPart(transcript: Transcript, part: Part): Transcript {
  named(part.id);
  named(part.type);
  const known = transcript.parts[named(part.messageID)];
  // Of a page that is not loaded; a message comes before its parts.
  if (known === undefined && transcript.older !== null && !has(transcript, part.messageID)) {
    return transcript;
  }
  const parts = known ?? [];
  const at = parts.findLastIndex(({ id }) => id === part.id);
  const after = parts.findLastIndex(({ id }) => id < part.id) + 1;
  const next = at >= 0 ? parts.with(at, part) : parts.toSpliced(after, 0, part);
  return { ...transcript, parts: { ...transcript.parts, [part.messageID]: next } };
}

function withDelta(transcript: Transcript, { messageID, partID, field, delta }: Delta): Transcript {
  if (field !== 'text' || typeof delta !== 'string') return transcript;
  const parts = transcript.parts[messageID];
  const at = parts?.findLastIndex(({ id }) => id === partID) ?? -1;
  const part = parts?.[at];
  if (parts === undefined || part === undefined) return transcript;
  if (part.type !== 'text' && part.type !== 'reasoning') return transcript;
  // A text that was read when it was complete holds what is told of it late.
  if (part.time?.end !== undefined) return transcript;
  const next = parts.with(at, { ...part, text: part.text + delta });
  return { ...transcript, parts: { ...transcript.parts, [messageID]: next } };
}

function withoutPart(
  transcript: Transcript,
  { messageID, partID }: { messageID: string; partID: string },
): Transcript {
  const before = transcript.parts[messageID];
  const parts = before?.filter(({ id }) => id !== partID);
  if (before === undefined || parts === undefined || parts.length === before.length) return transcript;
  return { ...transcript, parts: { ...transcript.parts, [messageID]: parts } };
}

/** A record without one key; the same record where it had none. */
export function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  if (!(key in record)) return record;
  const rest = { ...record };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a copy of our own
  delete rest[key];
  return rest;
}
