/** Ids, sessions, messages and parts as the OpenCode server makes them. The same order of calls gives the same ids. */
import type {
  AssistantMessage,
  Message,
  Part,
  Session,
  ToolPart,
  ToolState,
  UserMessage,
} from '@opencode-ai/sdk/v2/client';

/** A message with its parts. */
export interface Row {
  info: Message;
  parts: Part[];
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const EXPORTER = '/home/ada/exporter';
export const WEBSITE = '/home/ada/website';
export const NOTES = '/home/ada/notes';

const MODEL = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' } as const;

let made = 0;

/** A new id; later ones sort behind earlier ones. */
export function newId(prefix: string): string {
  made += 1;
  return `${prefix}_${made.toString(16).padStart(12, '0')}abcdefghijklmn`;
}

/** Every kind of thing needs its own new value: what the page was given is never changed. */
export function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function makeSession(title: string, change: Partial<Session> = {}): Session {
  const now = Date.now();
  return {
    id: newId('ses'),
    slug: 'quiet-canyon',
    version: '1.18.33',
    projectID: `project${change.directory ?? EXPORTER}`,
    directory: EXPORTER,
    path: '',
    title,
    agent: 'build',
    model: { id: MODEL.modelID, providerID: MODEL.providerID },
    cost: 0.42,
    tokens: { input: 18_400, output: 6_200, reasoning: 0, cache: { read: 410_000, write: 22_000 } },
    summary: { additions: 128, deletions: 17, files: 4 },
    time: { created: now - HOUR, updated: now - 5 * MINUTE },
    ...change,
  };
}

export function makeUser(session: Session, created: number, change: Partial<UserMessage> = {}): UserMessage {
  return {
    id: newId('msg'),
    sessionID: session.id,
    role: 'user',
    time: { created },
    summary: { diffs: [] },
    agent: 'build',
    model: { ...MODEL },
    ...change,
  };
}

/** An assistant's message as it begins. */
export function makeAssistant(
  session: Session,
  parentID: string,
  created: number,
  change: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    id: newId('msg'),
    sessionID: session.id,
    role: 'assistant',
    time: { created },
    parentID,
    ...MODEL,
    mode: 'build',
    agent: 'build',
    path: { cwd: session.directory, root: session.directory },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    ...change,
  };
}

/** What a step comes to. */
export const USED = {
  cost: 0.0112,
  tokens: {
    total: 82_000,
    input: 1_400,
    output: 620,
    reasoning: 0,
    cache: { read: 79_980, write: 0 },
  },
} as const;

/** What of a part is its own; the rest is the same for all of a message. */
export type Bare = Part extends infer P
  ? P extends Part
    ? Omit<P, 'id' | 'sessionID' | 'messageID'>
    : never
  : never;

export function makePart(message: Message, bare: Bare): Part {
  return { ...bare, id: newId('prt'), sessionID: message.sessionID, messageID: message.id };
}

export function text(words: string, at = Date.now()): Bare {
  return { type: 'text', text: words, time: { start: at, end: at + SECOND } };
}

export function reasoning(words: string, took = 6 * SECOND): Bare {
  const end = Date.now() - MINUTE;
  return { type: 'reasoning', text: words, time: { start: end - took, end } };
}

export function tool(name: string, state: ToolState): Omit<ToolPart, 'id' | 'sessionID' | 'messageID'> {
  return { type: 'tool', callID: newId('call'), tool: name, state };
}

/** A call that went well. */
export function done(
  name: string,
  input: Record<string, unknown>,
  result: { title: string; output: string; metadata?: Record<string, unknown>; took?: number },
): Bare {
  const end = Date.now() - MINUTE;
  return tool(name, {
    status: 'completed',
    input,
    output: result.output,
    title: result.title,
    metadata: result.metadata ?? {},
    time: { start: end - (result.took ?? 300), end },
  });
}

/** A call that failed. */
export function failed(name: string, input: Record<string, unknown>, error: string): Bare {
  const end = Date.now() - MINUTE;
  return tool(name, { status: 'error', input, error, time: { start: end - 40, end } });
}

/** A person's message. */
export function asks(session: Session, created: number, words: string, more: Bare[] = []): Row {
  const info = makeUser(session, created);
  const parts = [{ type: 'text', text: words } as Bare, ...more].map((bare) => makePart(info, bare));
  return { info, parts };
}

/** The agent's message to it, a step with what stands in it; finished, unless `change` names another time. */
export function answers(
  session: Session,
  asked: Row,
  parts: Bare[],
  change: Partial<AssistantMessage> = {},
): Row {
  const created = asked.info.time.created + 2 * SECOND;
  const finished =
    change.time === undefined && change.error === undefined ? { ...USED, finish: 'stop' } : {};
  const time = { created, completed: created + 20 * SECOND };
  const info = makeAssistant(session, asked.info.id, created, { time, ...finished, ...change });
  const all: Bare[] = [{ type: 'step-start', snapshot: 'a1b2c3' }, ...parts];
  if (info.finish !== undefined) {
    all.push({ type: 'step-finish', reason: info.finish, cost: info.cost, tokens: info.tokens });
  }
  return { info, parts: all.map((bare) => makePart(info, bare)) };
}

/** The prompt by which a goal continues, in the engine's words. */
export function continuation(objective: string, note: string, turn: number): Bare {
  const words = [
    'Keep working toward the active goal of this session. An independent check of your last turn says:',
    note,
    '',
    '<objective>',
    objective,
    '</objective>',
    '',
    `This is automatic continuation ${turn} of at most 20.`,
  ].join('\n');
  return { type: 'text', text: words };
}
