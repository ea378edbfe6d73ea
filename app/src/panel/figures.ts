/** The numbers of the work status, from what the page knows. Pure. */
import type { AssistantMessage } from '@opencode-ai/sdk/v2/client';

import type { Message, ServerState, Session, Todo } from '../server/state';

/** Tokens by what they were spent on. */
export interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
}

/** The newest answer that is complete and was counted: what it read is what the context holds. */
export function lastCounted(messages: readonly Message[] | undefined): AssistantMessage | null {
  if (messages === undefined) return null;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.role !== 'assistant' || message.time.completed === undefined) continue;
    if (contextOf(message) > 0) return message;
  }
  return null;
}

/** Tokens that an answer and all before it hold. */
export function contextOf({ tokens }: AssistantMessage): number {
  const { input, output, reasoning, cache } = tokens;
  return tokens.total ?? input + output + reasoning + cache.read + cache.write;
}

/** A part of a limit in whole percent; only what reaches it is 100. */
export function percentOf(used: number, limit: number): number {
  if (used >= limit) return 100;
  return Math.min(99, Math.round((used / limit) * 100));
}

export function costOf(sessions: readonly Session[]): number {
  return sessions.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
}

export function tokensOf(sessions: readonly Session[]): Tokens {
  const sum: Tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { tokens } of sessions) {
    if (tokens === undefined) continue;
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.reasoning += tokens.reasoning;
    sum.cacheRead += tokens.cache.read;
    sum.cacheWrite += tokens.cache.write;
  }
  return sum;
}

export function allOf({ input, output, reasoning, cacheRead, cacheWrite }: Tokens): number {
  return input + output + reasoning + cacheRead + cacheWrite;
}

/** Todos that are done, of those that were not given up. */
export function progressOf(todos: readonly Todo[]): { done: number; all: number } {
  const meant = todos.filter(({ status }) => status !== 'cancelled');
  return { done: meant.filter(({ status }) => status === 'completed').length, all: meant.length };
}

export type AgentState = 'waiting' | 'retrying' | 'working' | 'failed' | 'done';

/** What a sub-agent does. */
export function agentState(state: ServerState, sessionId: string): AgentState {
  const asks = (all: Readonly<Record<string, { sessionID: string }>>): boolean =>
    Object.values(all).some(({ sessionID }) => sessionID === sessionId);
  if (asks(state.permissions) || asks(state.questions)) return 'waiting';
  const status = state.status[sessionId];
  if (status?.type === 'retry') return 'retrying';
  if (status?.type === 'busy') return 'working';
  return state.errors[sessionId] === undefined ? 'done' : 'failed';
}
