/** Messages → the rows of the conversation. Pure, and blind to parts: a delta changes no row. */
import type { Message } from '../server/state';

export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type UserMessage = Extract<Message, { role: 'user' }>;

/** What a turn took, over all its steps. */
export interface TurnTotals {
  agent: string;
  providerId: string;
  modelId: string;
  variant: string | null;
  /** Epoch milliseconds of its last step's end. */
  ended: number;
  milliseconds: number;
  /** US dollars. */
  cost: number;
  input: number;
  output: number;
  reasoning: number;
  cached: number;
  steps: number;
}

export type Row =
  | { kind: 'user'; key: string; message: UserMessage; undone: boolean }
  | {
      kind: 'assistant';
      key: string;
      message: AssistantMessage;
      undone: boolean;
      /** No other reply follows it. */
      last: boolean;
      /** The message that a copy of the conversation up to this one ends before. */
      next: string | null;
    }
  | { kind: 'foot'; key: string; totals: TurnTotals; undone: boolean }
  | { kind: 'undone'; key: string; count: number }
  /** What the session does right now. */
  | { kind: 'now'; key: string };

/** The rows of a conversation, of which everything from `revertedFrom` on is undone. */
export function rowsOf(messages: readonly Message[], revertedFrom: string | null, busy: boolean): Row[] {
  const rows: Row[] = [];
  const cut = revertedFrom === null ? -1 : messages.findIndex(({ id }) => id === revertedFrom);
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  let turn: AssistantMessage[] = [];
  let asked: number | null = null;
  messages.forEach((message, at) => {
    const undone = cut >= 0 && at >= cut;
    if (at === cut) rows.push({ kind: 'undone', key: 'undone', count: messages.length - cut });
    if (message.role === 'user') {
      asked = message.time.created;
      turn = [];
      rows.push({ kind: 'user', key: message.id, message, undone });
      return;
    }
    turn.push(message);
    const following = messages[at + 1];
    rows.push({
      kind: 'assistant',
      key: message.id,
      message,
      undone,
      last: at === newest,
      next: following?.id ?? null,
    });
    const over = following === undefined ? !busy : following.role === 'user';
    if (!over) return;
    const totals = totalsOf(turn, asked);
    if (totals !== null) rows.push({ kind: 'foot', key: `foot:${message.id}`, totals, undone });
  });
  rows.push({ kind: 'now', key: 'now' });
  return rows;
}

/** What a turn took; `null` where nothing of it came to its end. */
export function totalsOf(steps: readonly AssistantMessage[], asked: number | null): TurnTotals | null {
  const last = steps.findLast(({ time }) => time.completed !== undefined);
  const first = steps[0];
  if (last?.time.completed === undefined || first === undefined) return null;
  // The work of condensing is told by its mark.
  if (steps.every(({ summary }) => summary === true)) return null;
  const sum = (of: (step: AssistantMessage) => number): number =>
    steps.reduce((total, step) => total + of(step), 0);
  return {
    agent: last.agent,
    providerId: last.providerID,
    modelId: last.modelID,
    variant: last.variant ?? null,
    ended: last.time.completed,
    milliseconds: Math.max(0, last.time.completed - (asked ?? first.time.created)),
    cost: sum(({ cost }) => cost),
    input: sum(({ tokens }) => tokens.input + tokens.cache.write),
    output: sum(({ tokens }) => tokens.output),
    reasoning: sum(({ tokens }) => tokens.reasoning),
    cached: sum(({ tokens }) => tokens.cache.read),
    steps: steps.length,
  };
}

/** How an assistant message ended, where that is worth a word. */
export type Ending =
  | { kind: 'fine' }
  | { kind: 'stopped' }
  | { kind: 'cutOff' }
  | { kind: 'interrupted' }
  | { kind: 'failed'; name: string; text: string };

/** How a message ended. `last`: no other reply follows it; `busy`: its session works. */
export function endingOf(
  message: AssistantMessage,
  { last, busy, tools }: { last: boolean; busy: boolean; tools: boolean },
): Ending {
  const { error } = message;
  if (error?.name === 'MessageAbortedError') return { kind: 'stopped' };
  if (error !== undefined) {
    const said: unknown = error.data['message' as keyof typeof error.data];
    return { kind: 'failed', name: error.name, text: typeof said === 'string' && said !== '' ? said : error.name };
  }
  if (message.finish === 'length') return { kind: 'cutOff' };
  // A server that died finalises nothing, and what goes on after it is another reply.
  if (message.time.completed === undefined) return { kind: last && busy ? 'fine' : 'interrupted' };
  if (!last || busy) return { kind: 'fine' };
  // A stop while the provider was being retried leaves neither an error nor a reason.
  return message.finish === undefined && !tools ? { kind: 'stopped' } : { kind: 'fine' };
}
