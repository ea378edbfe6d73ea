/** Sessions, messages and todos as the server sends them. */
import type { AssistantMessage, UserMessage } from '@opencode-ai/sdk/v2/client';

import type { Session, Todo } from '../../src/server/state';

export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    slug: id,
    projectID: 'prj_1',
    directory: '/home/me/exporter',
    title: id,
    version: '1.18.33',
    time: { created: 1, updated: 1 },
    ...more,
  };
}

/** A complete answer that was not counted. */
export function assistant(id: string, more: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    id,
    sessionID: 'ses_1',
    role: 'assistant',
    time: { created: 1, completed: 2 },
    parentID: 'msg_0',
    modelID: 'big',
    providerID: 'fake',
    mode: 'build',
    agent: 'build',
    path: { cwd: '/', root: '/' },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    ...more,
  };
}

export function user(id: string): UserMessage {
  return {
    id,
    sessionID: 'ses_1',
    role: 'user',
    time: { created: 1 },
    agent: 'build',
    model: { providerID: 'fake', modelID: 'big' },
  };
}

export function todo(content: string, status: string): Todo {
  return { content, status, priority: 'medium' };
}
