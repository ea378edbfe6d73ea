import { expect, test } from 'vitest';

import { agentState, allOf, contextOf, costOf, lastCounted, percentOf, progressOf, tokensOf } from '../../src/panel/figures';
import { EMPTY, type ServerState } from '../../src/server/state';
import { assistant, session, todo, user } from './make';

test('the context is that of the newest complete answer that was counted', () => {
  const counted = assistant('msg_2', { tokens: { input: 100, output: 20, reasoning: 5, cache: { read: 600, write: 0 } } });
  const running = assistant('msg_3', { time: { created: 3 }, tokens: counted.tokens });
  const aborted = assistant('msg_4');
  expect(lastCounted([user('msg_1'), counted, running, aborted])).toBe(counted);
  expect(lastCounted([user('msg_1')])).toBeNull();
  expect(lastCounted(undefined)).toBeNull();
  expect(contextOf(counted)).toBe(725);
  expect(contextOf({ ...counted, tokens: { ...counted.tokens, total: 9 } })).toBe(9);
});

test('only what is full is 100 percent', () => {
  expect(percentOf(0, 200)).toBe(0);
  expect(percentOf(1999, 2000)).toBe(99);
  expect(percentOf(2000, 2000)).toBe(100);
  expect(percentOf(3000, 2000)).toBe(100);
});

test('cost and tokens are summed over a session and those below it', () => {
  const tokens = { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } };
  const all = [session('ses_1', { cost: 0.5, tokens }), session('ses_2', { cost: 0.25, tokens }), session('ses_3')];
  expect(costOf(all)).toBe(0.75);
  expect(tokensOf(all)).toEqual({ input: 2, output: 4, reasoning: 6, cacheRead: 8, cacheWrite: 10 });
  expect(allOf(tokensOf(all))).toBe(30);
});

test('what was given up is not counted among the todos', () => {
  const todos = [todo('a', 'completed'), todo('b', 'pending'), todo('c', 'cancelled')];
  expect(progressOf(todos)).toEqual({ done: 1, all: 2 });
});

test('a sub-agent that waits for a person says so before that it works', () => {
  const asked = { id: 'per_1', sessionID: 'ses_1' } as ServerState['permissions'][string];
  const busy: ServerState = { ...EMPTY, status: { ses_1: { type: 'busy' } } };
  expect(agentState({ ...busy, permissions: { per_1: asked } }, 'ses_1')).toBe('waiting');
  expect(agentState(busy, 'ses_1')).toBe('working');
  const retry = { type: 'retry', attempt: 1, message: '', next: 0 } as const;
  expect(agentState({ ...EMPTY, status: { ses_1: retry } }, 'ses_1')).toBe('retrying');
  expect(agentState({ ...EMPTY, errors: { ses_1: 'no' } }, 'ses_1')).toBe('failed');
  expect(agentState(EMPTY, 'ses_1')).toBe('done');
});
