import { expect, test } from 'vitest';

import * as goal from '../index.js';
import type { WatchMessage } from '../types.js';
import { Backend } from './backend.js';
import { server } from './fixtures.js';

const session = { sessionId: 'ses_a' };
const READING: [() => Promise<unknown>, string, object][] = [
  [() => goal.get(session), 'get', session],
  [() => goal.list(), 'list', {}],
  [() => goal.objective(session), 'objective', session],
  [() => goal.why(session), 'why', session],
  [() => goal.notices(), 'notices', {}],
  [() => goal.notices({ limit: 20 }), 'notices', { limit: 20 }],
  [() => goal.settingsGet(), 'settings_get', {}],
  [() => goal.serverStatus(), 'server_status', {}],
  [() => goal.auditorCheck({ directory: '/a' }), 'auditor_check', { directory: '/a' }],
];

const start = { ...session, objective: 'Fix CI.', tokenBudget: null, send: false, replace: true };
const attached = { kind: 'attached', url: 'http://127.0.0.1:4096', password: 'secret' } as const;
const ACTING: [(requestId?: { requestId: string }) => Promise<unknown>, string, object][] = [
  [(id) => goal.start({ ...start, ...id }), 'start', start],
  [(id) => goal.edit({ ...session, objective: 'B', ...id }), 'edit', { ...session, objective: 'B' }],
  [(id) => goal.pause({ ...session, ...id }), 'pause', session],
  [(id) => goal.resume({ ...session, tokenBudget: 9, ...id }), 'resume', { ...session, tokenBudget: 9 }],
  [(id) => goal.complete({ ...session, ...id }), 'complete', session],
  [(id) => goal.clear({ ...session, ...id }), 'clear', session],
  [(id) => goal.pauseAll(id), 'pause_all', {}],
  [(id) => goal.auditorTest({ ...session, ...id }), 'auditor_test', session],
  [(id) => goal.noticesMarkRead({ ids: [1, 2], ...id }), 'notices_mark_read', { ids: [1, 2] }],
  [
    (id) => goal.settingsSet({ changes: { notifyOnError: null }, ...id }),
    'settings_set',
    { changes: { notifyOnError: null } },
  ],
  [(id) => goal.serverConnect({ server: attached, ...id }), 'server_connect', { server: attached }],
];

test.each(READING)('%s asks its command with exactly its keys', async (call, command, request) => {
  const backend = new Backend().install();
  await call();
  expect(backend.asked(command)).toEqual([request]);
});

test.each(ACTING)('%s bears a fresh request id', async (call, command, request) => {
  const backend = new Backend().install();
  await call();
  await call();
  const asked = backend.asked(command);
  const ids = asked.map(({ requestId }) => String(requestId));
  expect(asked).toEqual(ids.map((requestId) => ({ ...request, requestId })));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test.each(ACTING)('%s leaves the caller its own request id', async (call, command) => {
  const backend = new Backend().install();
  await call({ requestId: 'mine' });
  expect(backend.asked(command).map(({ requestId }) => requestId)).toEqual(['mine']);
});

test('there is a function for every command', () => {
  const tried = [...READING, ...ACTING].map(([, command]) => command);
  expect(new Set([...tried, 'watch', 'unwatch'])).toEqual(new Set(goal.COMMANDS));
});

test('answers come as they are', async () => {
  const backend = new Backend().install();
  expect(await goal.get(session)).toBeNull();
  expect(await goal.list()).toEqual({ seq: 1, goals: [] });
  backend.server = server({ state: 'away', retryInMs: 500 });
  expect(await goal.serverStatus()).toEqual(backend.server);
});

test('a watch gives its messages in order, and nothing once it was stopped', async () => {
  const backend = new Backend().install();
  const heard: WatchMessage['type'][] = [];
  const stop = await goal.watch(session, ({ type }) => heard.push(type));
  const [request] = backend.asked('watch');
  const { id } = request?.['channel'] as { id: number };
  let index = 0;
  const push = (message: object) => {
    run(id, { index: index++, message });
  };

  push({ type: 'snapshot', snapshot: { seq: 1, goals: [] }, server: server() });
  push({ type: 'connection', server: server() });
  expect(heard).toEqual(['snapshot', 'connection']);
  expect(request?.['sessionId']).toBe('ses_a');

  await stop();
  await stop();
  push({ type: 'connection', server: server() });
  expect(heard).toEqual(['snapshot', 'connection']);
  expect(backend.asked('unwatch')).toEqual([{ id: 7 }]);
});

function run(id: number, message: object): void {
  const { __TAURI_INTERNALS__: internals } = window as unknown as {
    __TAURI_INTERNALS__: { runCallback: (id: number, message: object) => void };
  };
  internals.runCallback(id, message);
}
