/** Messages and parts as OpenCode sends them. */
import type { AssistantMessage, UserMessage } from '../../src/chat/rows';
import type { TextPart } from '../../src/chat/prompts';
import type { ToolPart } from '../../src/chat/tools/values';
import type { PermissionRequest, QuestionRequest, Session } from '../../src/server/state';

export const SESSION = 'ses_1';

export function user(id: string, created: number): UserMessage {
  return {
    id,
    sessionID: SESSION,
    role: 'user',
    time: { created },
    agent: 'build',
    model: { providerID: 'fake', modelID: 'big' },
  };
}

type Changed = { [K in keyof AssistantMessage]?: AssistantMessage[K] | undefined };

export function reply(id: string, created: number, changed: Changed = {}): AssistantMessage {
  const usual: AssistantMessage = {
    id,
    sessionID: SESSION,
    role: 'assistant',
    parentID: 'u',
    time: { created, completed: created + 500 },
    modelID: 'big',
    providerID: 'fake',
    mode: 'build',
    agent: 'build',
    path: { cwd: '/demo', root: '/demo' },
    cost: 0,
    tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
    finish: 'stop',
  };
  return { ...usual, ...changed } as AssistantMessage;
}

export function text(messageID: string, words: string, more: Partial<TextPart> = {}): TextPart {
  return { id: `prt_${messageID}`, sessionID: SESSION, messageID, type: 'text', text: words, ...more };
}

export function tool(name: string, state: Readonly<Record<string, unknown>>): ToolPart {
  const usual = {
    status: 'completed',
    input: {},
    output: '',
    title: '',
    metadata: {},
    time: { start: 1_000, end: 3_300 },
  };
  return {
    id: `prt_${name}`,
    sessionID: SESSION,
    messageID: 'a1',
    type: 'tool',
    callID: 'call_1',
    tool: name,
    state: { ...usual, ...state } as ToolPart['state'],
  };
}

export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    slug: id,
    projectID: 'p',
    directory: '/demo',
    title: id,
    version: '1.18.33',
    time: { created: 0, updated: 0 },
    ...more,
  };
}

export function permission(more: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    id: 'per_1',
    sessionID: SESSION,
    permission: 'bash',
    patterns: ['npm publish'],
    metadata: { command: 'npm publish' },
    always: ['npm publish *'],
    ...more,
  };
}

export function question(more: Partial<QuestionRequest['questions'][number]> = {}): QuestionRequest {
  const options = ['A', 'B', 'C'].map((label) => ({ label, description: `about ${label}` }));
  return {
    id: 'que_1',
    sessionID: SESSION,
    questions: [{ question: 'Which?', header: 'Pick', options, ...more }],
  };
}
