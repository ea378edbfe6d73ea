/**
 * Turns of the simulated agent, in the order of events of a real server: steps, streamed words, tools, what waits for a
 * person, what is stopped.
 */
import type { AssistantMessage, Part, ToolPart } from '@opencode-ai/sdk/v2/client';

import { scriptFor, type Beat } from './scripts';
import {
  asks,
  copy,
  makeAssistant,
  makePart,
  makeUser,
  newId,
  tool,
  USED,
  type Bare,
  type Row,
} from './make';
import type { World } from './world';

/** The turn was stopped. */
class Stopped extends Error {}

/** The turn ended because a person said no. */
class Declined extends Error {}

export interface Prompt {
  parts: (Bare & { text?: string })[];
  agent?: string;
  model?: { providerID: string; modelID: string };
  variant?: string;
}

type Reply = { reply: string; message?: string } | { answers: string[][] } | null;

const REJECTED = 'The user rejected permission to use this specific tool call.';
const DISMISSED = 'The user dismissed this question';

export class Turns {
  readonly #world: World;
  readonly #running = new Map<string, AbortController>();
  readonly #queued = new Map<string, Row[]>();
  readonly #waiting = new Map<string, (reply: Reply) => void>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A message arrives; where the session works, it waits for the end of the step. */
  prompt(sessionId: string, prompt: Prompt): Row {
    const row = this.#store(sessionId, prompt);
    const queue = this.#queued.get(sessionId) ?? [];
    this.#queued.set(sessionId, [...queue, row]);
    if (!this.#running.has(sessionId)) void this.#run(sessionId);
    return row;
  }

  #store(sessionId: string, prompt: Prompt): Row {
    const world = this.#world;
    const before = world.session(sessionId);
    // Messages that were undone are gone for good.
    this.#dropReverted(sessionId);
    const info = makeUser(before, Date.now(), {
      agent: prompt.agent ?? 'build',
      ...(prompt.model === undefined ? {} : { model: prompt.model }),
    });
    world.change(sessionId, { agent: info.agent });
    const row: Row = { info, parts: [] };
    world.putMessage(row);
    for (const bare of prompt.parts) world.putPart(row, makePart(info, bare));
    world.change(sessionId, {});
    return row;
  }

  #dropReverted(sessionId: string): void {
    const world = this.#world;
    const { revert, ...rest } = world.session(sessionId);
    if (revert === undefined) return;
    const rows = world.rowsOf(sessionId);
    const at = rows.findIndex(({ info }) => info.id === revert.messageID);
    for (const { info } of at < 0 ? [] : rows.splice(at)) {
      world.tell(sessionId, 'message.removed', { sessionID: sessionId, messageID: info.id });
    }
    world.sessions.set(sessionId, rest);
  }

  async #run(sessionId: string): Promise<void> {
    const world = this.#world;
    const stop = new AbortController();
    this.#running.set(sessionId, stop);
    try {
      await this.#pause(40, stop.signal);
      for (let asked = this.#next(sessionId); asked !== null; asked = this.#next(sessionId)) {
        await this.#answer(sessionId, asked, stop.signal);
      }
      this.#end(sessionId);
    } catch (thrown) {
      this.#end(sessionId);
      if (thrown instanceof Stopped) await this.#stopped(sessionId);
      else if (!(thrown instanceof Declined)) throw thrown;
    }
    world.change(sessionId, {});
    world.tell(sessionId, 'session.diff', { sessionID: sessionId, diff: [] });
  }

  /** All queued messages are answered by one step: to the last of them. */
  #next(sessionId: string): Row | null {
    const queue = this.#queued.get(sessionId) ?? [];
    this.#queued.delete(sessionId);
    return queue.at(-1) ?? null;
  }

  #end(sessionId: string): void {
    this.#running.delete(sessionId);
    this.#world.setStatus(sessionId, { type: 'idle' });
  }

  async #answer(sessionId: string, asked: Row, signal: AbortSignal): Promise<void> {
    const words = asked.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
    const beats = scriptFor(words);
    // A step ends with its tools; what the agent says of them is the next one.
    let step: Beat[] = [];
    for (const beat of beats) {
      step.push(beat);
      if (beat.kind !== 'tool' && beat.kind !== 'permission' && beat.kind !== 'question') continue;
      await this.#step(sessionId, asked, { beats: step, finish: 'tool-calls' }, signal);
      step = [];
    }
    if (step.length > 0) await this.#step(sessionId, asked, { beats: step, finish: 'stop' }, signal);
    this.#name(sessionId, words);
  }

  /** The first turn gives the session its title. */
  #name(sessionId: string, words: string): void {
    const { title } = this.#world.session(sessionId);
    if (!title.startsWith('New session')) return;
    this.#world.change(sessionId, { title: words.split(/\s+/).slice(0, 6).join(' ') });
  }

  async #step(
    sessionId: string,
    asked: Row,
    { beats, finish }: { beats: Beat[]; finish: string },
    signal: AbortSignal,
  ): Promise<void> {
    const world = this.#world;
    world.setStatus(sessionId, { type: 'busy' });
    const row = this.#begin(sessionId, asked);
    try {
      await this.#pause(120, signal);
      world.putPart(row, makePart(row.info, { type: 'step-start', snapshot: 'a1b2c3' }));
      for (const beat of beats) await this.#beat(row, beat, signal);
    } catch (thrown) {
      if (thrown instanceof Declined) this.#close(row, { finish: 'tool-calls' });
      throw thrown;
    }
    world.putPart(row, makePart(row.info, { type: 'step-finish', reason: finish, ...USED }));
    this.#replace(row, { ...USED, finish });
    this.#close(row, {});
    world.setStatus(sessionId, { type: 'busy' });
  }

  #begin(sessionId: string, asked: Row): Row {
    const session = this.#world.session(sessionId);
    const { agent, model } = asked.info as Extract<Row['info'], { role: 'user' }>;
    const info = makeAssistant(session, asked.info.id, Date.now(), {
      agent,
      mode: agent,
      providerID: model.providerID,
      modelID: model.modelID,
    });
    const row: Row = { info, parts: [] };
    this.#world.putMessage(row);
    return row;
  }

  #replace(row: Row, change: Partial<AssistantMessage>): void {
    row.info = { ...row.info, ...change } as AssistantMessage;
    this.#world.putMessage(row);
  }

  #close(row: Row, change: Partial<AssistantMessage>): void {
    this.#replace(row, { ...change, time: { ...row.info.time, completed: Date.now() } });
  }

  async #beat(row: Row, beat: Beat, signal: AbortSignal): Promise<void> {
    switch (beat.kind) {
      case 'text':
      case 'reasoning':
        return this.#stream(row, beat, signal);
      case 'tool':
        return this.#tool(row, beat, signal);
      case 'permission':
      case 'question':
        return this.#wait(row, beat, signal);
      case 'fail':
        return this.#fail(row, beat.message);
    }
  }

  async #stream(
    row: Row,
    { kind, words }: { kind: 'text' | 'reasoning'; words: string },
    signal: AbortSignal,
  ): Promise<void> {
    const start = Date.now();
    const part = makePart(row.info, { type: kind, text: '', time: { start } });
    if (part.type !== 'text' && part.type !== 'reasoning') return;
    this.#world.putPart(row, part);
    let said = '';
    for (const word of words.match(/\S+\s*/g) ?? []) {
      try {
        await this.#pause(this.#world.wordTime, signal);
      } catch (stopped) {
        // What was said before the stop is kept.
        this.#world.putPart(row, { ...part, text: said, time: { start, end: Date.now() } });
        throw stopped;
      }
      said += word;
      this.#delta(part, word);
    }
    this.#world.putPart(row, { ...part, text: said, time: { start, end: Date.now() } });
  }

  #delta({ sessionID, messageID, id }: Part, delta: string): void {
    const told = { sessionID, messageID, partID: id, field: 'text', delta };
    this.#world.tell(sessionID, 'message.part.delta', told);
  }

  async #tool(row: Row, beat: Extract<Beat, { kind: 'tool' }>, signal: AbortSignal): Promise<void> {
    const world = this.#world;
    const part = makePart(
      row.info,
      tool(beat.tool, { status: 'pending', input: {}, raw: '' }),
    ) as ToolPart;
    world.putPart(row, part);
    const start = Date.now();
    const time = { start };
    world.putPart(row, { ...part, state: { status: 'running', input: beat.input, time } });
    await this.#pause(400, signal);
    const { title, output, metadata } = beat;
    const ended = { start, end: Date.now() };
    const state = { status: 'completed', input: beat.input, title, output, metadata, time: ended } as const;
    world.putPart(row, { ...part, state });
  }

  async #wait(
    row: Row,
    beat: Extract<Beat, { kind: 'permission' | 'question' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const world = this.#world;
    const name = beat.kind === 'permission' ? 'bash' : 'question';
    const start = Date.now();
    const running = { status: 'running', input: beat.input, time: { start } } as const;
    const part = makePart(row.info, tool(name, running)) as ToolPart;
    world.putPart(row, part);
    const end = (): { start: number; end: number } => ({ start, end: Date.now() });
    const give = (state: ToolPart['state']): void => {
      world.putPart(row, { ...part, state });
    };
    const reply = await this.#ask(part, beat, signal).catch((stopped: unknown) => {
      const error = 'Tool execution aborted';
      const metadata = { interrupted: true };
      give({ status: 'error', input: beat.input, error, metadata, time: end() });
      throw stopped;
    });
    const refused = reply === null || ('reply' in reply && reply.reply === 'reject');
    if (refused) {
      const message = reply !== null && 'message' in reply ? reply.message : undefined;
      const usual = beat.kind === 'permission' ? REJECTED : DISMISSED;
      give({ status: 'error', input: beat.input, error: message ?? usual, time: end() });
      if (message === undefined) throw new Declined();
      return;
    }
    const metadata = 'answers' in reply ? { answers: reply.answers } : { exit: 0 };
    const output = 'answers' in reply ? `Answered: ${reply.answers.flat().join(', ')}` : 'done\n';
    give({ status: 'completed', input: beat.input, title: beat.title, output, metadata, time: end() });
  }

  #ask(
    part: ToolPart,
    beat: Extract<Beat, { kind: 'permission' | 'question' }>,
    signal: AbortSignal,
  ): Promise<Reply> {
    const world = this.#world;
    const common = {
      sessionID: part.sessionID,
      tool: { messageID: part.messageID, callID: part.callID },
    };
    if (beat.kind === 'permission') {
      const request = { ...copy(beat.request), ...common, id: newId('per') };
      world.permissions.set(request.id, request);
      world.tell(part.sessionID, 'permission.asked', request);
      return this.#reply(request.id, signal);
    }
    const request = { questions: copy(beat.questions), ...common, id: newId('que') };
    world.questions.set(request.id, request);
    world.tell(part.sessionID, 'question.asked', request);
    return this.#reply(request.id, signal);
  }

  #reply(id: string, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      // After a stop the request stays listed, as on the real server.
      signal.addEventListener('abort', () => {
        this.#waiting.delete(id);
        reject(new Stopped());
      });
    });
  }

  /** A person answered a request. False: there is none of that id. */
  reply(kind: 'permission' | 'question', id: string, reply: Reply): boolean {
    const world = this.#world;
    const known = kind === 'permission' ? world.permissions.get(id) : world.questions.get(id);
    if (known === undefined) return false;
    if (kind === 'permission') world.permissions.delete(id);
    else world.questions.delete(id);
    const verb = kind === 'question' && reply === null ? 'rejected' : 'replied';
    const { sessionID } = known;
    world.tell(sessionID, `${kind}.${verb}`, { sessionID, requestID: id, ...reply });
    this.#waiting.get(id)?.(reply);
    this.#waiting.delete(id);
    return true;
  }

  async #fail(row: Row, message: string): Promise<void> {
    const { sessionID } = row.info;
    const data = { message, statusCode: 401, isRetryable: false };
    const error = { name: 'APIError', data } as const;
    this.#world.tell(sessionID, 'session.error', { sessionID, error });
    this.#close(row, { error });
    await Promise.resolve();
    throw new Declined();
  }

  /** Stops a turn: `true` always, also where nothing runs. */
  abort(sessionId: string): void {
    const stop = this.#running.get(sessionId);
    if (stop === undefined) {
      this.#world.setStatus(sessionId, { type: 'idle' });
      return;
    }
    this.#queued.delete(sessionId);
    const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
    this.#world.tell(sessionId, 'session.error', { sessionID: sessionId, error });
    stop.abort();
  }

  /** After the first idle the message is finished, then comes a second one. */
  async #stopped(sessionId: string): Promise<void> {
    await this.#pause(60, null);
    const row = this.#world.rowsOf(sessionId).at(-1);
    if (row?.info.role === 'assistant' && row.info.time.completed === undefined) {
      const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } } as const;
      this.#close(row, { error });
    }
    this.#world.setStatus(sessionId, { type: 'idle' });
  }

  #pause(ms: number, signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new Stopped());
        return;
      }
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(new Stopped());
      });
    });
  }

  /** Summarizes a session, as a person asked for. */
  async compact(sessionId: string): Promise<void> {
    const world = this.#world;
    const session = world.session(sessionId);
    world.setStatus(sessionId, { type: 'busy' });
    const asked = asks(session, Date.now(), '');
    asked.parts = [makePart(asked.info, { type: 'compaction', auto: false })];
    world.putMessage(asked);
    for (const part of asked.parts) world.putPart(asked, part);
    const row = this.#begin(sessionId, asked);
    this.#replace(row, { mode: 'compaction', agent: 'compaction', summary: true });
    const words = 'The exporter writes CSV with quoting; delimiters remain. Next: the cases with a byte order mark.';
    await this.#stream(row, { kind: 'text', words }, new AbortController().signal);
    this.#close(row, { finish: 'stop' });
    world.tell(sessionId, 'session.compacted', { sessionID: sessionId });
    world.setStatus(sessionId, { type: 'idle' });
  }
}
