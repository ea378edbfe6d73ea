/** Sessions, messages and parts of tests, and a host that answers them. */
import type { AssistantMessage, Session, TextPart, UserMessage } from '@opencode-ai/sdk/v2/client';
import { clearMocks, mockIPC } from '@tauri-apps/api/mocks';

import type { ServerAnswerHead, ServerEvent, ServerRequest } from '../../src/host/contract';
import { EMPTY, type ServerState, type Transcript } from '../../src/server/state';

export const DIRECTORY = '/home/me/demo';

export function session(id: string, change: Partial<Session> = {}): Session {
  return {
    id,
    slug: 'a-slug',
    version: '1.18.33',
    projectID: 'p',
    directory: DIRECTORY,
    title: id,
    time: { created: 1, updated: 1 },
    ...change,
  };
}

export function user(id: string, created: number, sessionID = 'ses_a'): UserMessage {
  return {
    id,
    sessionID,
    role: 'user',
    time: { created },
    agent: 'build',
    model: { providerID: 'fake', modelID: 'big' },
  };
}

export function assistant(id: string, created: number, sessionID = 'ses_a'): AssistantMessage {
  return {
    id,
    sessionID,
    role: 'assistant',
    time: { created },
    parentID: 'msg_1',
    modelID: 'big',
    providerID: 'fake',
    mode: 'build',
    agent: 'build',
    path: { cwd: DIRECTORY, root: DIRECTORY },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
  };
}

export function textPart(id: string, messageID: string, text: string, change: Partial<TextPart> = {}): TextPart {
  return { id, sessionID: 'ses_a', messageID, type: 'text', text, ...change };
}

export function transcript(change: Partial<Transcript> = {}): Transcript {
  return { phase: 'ready', failure: null, messages: [], parts: {}, older: null, ...change };
}

export function state(change: Partial<ServerState> = {}): ServerState {
  return { ...EMPTY, ...change };
}

export function event(type: string, properties: unknown, directory: string | null = DIRECTORY): ServerEvent {
  return { directory, type, properties };
}

export function delta(messageID: string, partID: string, text: string): ServerEvent {
  return event('message.part.delta', { sessionID: 'ses_a', messageID, partID, field: 'text', delta: text });
}

/** An answer of the server: a body with status 200, or all of it. */
export interface Answer {
  head?: Partial<ServerAnswerHead>;
  body: unknown;
}

/** What a test answers; a promise may be resolved when the test wants. */
export type Answering = (request: ServerRequest) => Answer | Promise<Answer>;

/** A host whose `server_call` is answered by `answer`. Gives the list of what was asked. */
export function host(answer: Answering): ServerRequest[] {
  const asked: ServerRequest[] = [];
  clearMocks();
  mockIPC(async (command, args) => {
    if (command !== 'server_call') throw new Error(`unexpected: ${command}`);
    const { request } = args as unknown as { request: ServerRequest };
    asked.push(request);
    const { head, body } = await answer(request);
    return wire({ status: 200, contentType: 'application/json', ...head }, body);
  });
  return asked;
}

export function wire(head: ServerAnswerHead, body: unknown): ArrayBuffer {
  const rest = body === undefined ? '' : JSON.stringify(body);
  return new TextEncoder().encode(`${JSON.stringify(head)}\n${rest}`).buffer;
}

/** A promise and what settles it. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
