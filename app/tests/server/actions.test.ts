import { beforeEach, describe, expect, it } from 'vitest';

import * as actions from '../../src/server/actions';
import { CallError } from '../../src/server/client';
import { server } from '../../src/server/store';
import { host, session, state } from './fixtures';

const MODEL = { providerId: 'fake', modelId: 'big', variant: 'high' };
const IMAGE = { name: 'a.png', mime: 'image/png', url: 'data:image/png;base64,AA==' };
const PERMISSION = { id: 'per_1', sessionID: 'ses_a', permission: 'bash', patterns: [], metadata: {}, always: [] };

beforeEach(() => {
  server.setState(
    state({
      sessions: { ses_a: session('ses_a') },
      permissions: { per_1: PERMISSION },
      questions: { que_1: { id: 'que_1', sessionID: 'ses_a', questions: [] } },
    }),
    true,
  );
});

const NONE = { agent: null, model: null, attachments: [] };
const IN = [['directory', '/home/me/demo']];

interface Case {
  name: string;
  run: () => Promise<unknown>;
  /** Method and path. */
  route: string;
  query?: string[][];
  body: unknown;
  answer?: unknown;
}

const CASES: Case[] = [
  {
    name: 'a message goes with its files, agent, model and variant',
    run: () => actions.send('ses_a', { text: 'Hi', attachments: [IMAGE], agent: 'plan', model: MODEL }),
    route: 'POST /session/ses_a/prompt_async',
    body: {
      parts: [
        { type: 'text', text: 'Hi' },
        { type: 'file', mime: 'image/png', filename: 'a.png', url: IMAGE.url },
      ],
      agent: 'plan',
      model: { providerID: 'fake', modelID: 'big' },
      variant: 'high',
    },
  },
  {
    name: 'a message without words has its files only',
    run: () => actions.send('ses_a', { ...NONE, text: '', attachments: [IMAGE] }),
    route: 'POST /session/ses_a/prompt_async',
    body: { parts: [{ type: 'file', mime: 'image/png', filename: 'a.png', url: IMAGE.url }] },
  },
  {
    name: 'a command goes with its model in one word',
    run: () =>
      actions.runCommand('ses_a', { name: 'review', arguments: 'main' }, { ...NONE, agent: 'plan', model: MODEL }),
    route: 'POST /session/ses_a/command',
    body: { command: 'review', arguments: 'main', agent: 'plan', model: 'fake/big', variant: 'high', parts: [] },
  },
  { name: 'stop', run: () => actions.stop('ses_a'), route: 'POST /session/ses_a/abort', body: null },
  {
    name: 'condensing names the model',
    run: () => actions.compact('ses_a', MODEL),
    route: 'POST /session/ses_a/summarize',
    body: { providerID: 'fake', modelID: 'big' },
  },
  {
    name: 'a permission is answered in its session’s folder',
    run: () => actions.replyPermission(PERMISSION, 'reject', 'not now'),
    route: 'POST /permission/per_1/reply',
    query: IN,
    body: { reply: 'reject', message: 'not now' },
  },
  {
    name: 'a question is answered in its session’s folder',
    run: () => actions.replyQuestion({ id: 'que_1', sessionID: 'ses_a' }, [['A']]),
    route: 'POST /question/que_1/reply',
    query: IN,
    body: { answers: [['A']] },
  },
  {
    name: 'a question is declined in its session’s folder',
    run: () => actions.rejectQuestion({ id: 'que_1', sessionID: 'ses_a' }),
    route: 'POST /question/que_1/reject',
    query: IN,
    body: null,
  },
  {
    name: 'a session is renamed',
    run: () => actions.rename('ses_a', 'New'),
    route: 'PATCH /session/ses_a',
    body: { title: 'New' },
    answer: session('ses_a', { title: 'New' }),
  },
  {
    name: 'a session is archived',
    run: () => actions.archive('ses_a', 5),
    route: 'PATCH /session/ses_a',
    body: { time: { archived: 5 } },
    answer: session('ses_a', { time: { created: 1, updated: 1, archived: 5 } }),
  },
  { name: 'a session is deleted', run: () => actions.remove('ses_a'), route: 'DELETE /session/ses_a', body: null },
  {
    name: 'messages are undone from one on',
    run: () => actions.revert('ses_a', 'msg_1'),
    route: 'POST /session/ses_a/revert',
    body: { messageID: 'msg_1' },
    answer: session('ses_a', { revert: { messageID: 'msg_1' } }),
  },
  {
    name: 'messages are brought back',
    run: () => actions.unrevert('ses_a'),
    route: 'POST /session/ses_a/unrevert',
    body: null,
    answer: session('ses_a'),
  },
  {
    name: 'a session is copied up to a message',
    run: () => actions.fork('ses_a', 'msg_1'),
    route: 'POST /session/ses_a/fork',
    body: { messageID: 'msg_1' },
    answer: session('ses_f'),
  },
  {
    name: 'a session begins in its folder',
    run: () => actions.createSession('/home/me/demo'),
    route: 'POST /session',
    query: IN,
    body: null,
    answer: session('ses_n'),
  },
];

describe('an action', () => {
  it.each(CASES)('$name', async ({ run, route, query, body, answer }) => {
    const asked = host(() => ({ body: answer ?? true }));
    await run();
    const [request, ...more] = asked;
    expect(more).toEqual([]);
    expect(`${request?.method ?? ''} ${request?.path ?? ''}`).toBe(route);
    expect(request?.query).toEqual(query ?? []);
    const sent = JSON.parse(request?.body ?? 'null') as unknown;
    // The SDK sends an empty object where there is nothing to say.
    expect(sent ?? {}).toEqual(body ?? {});
  });

  it.each(CASES)('$name: refused, it changes nothing', async ({ run }) => {
    const before = server.getState();
    host(() => ({ head: { status: 500 }, body: { name: 'UnknownError', data: { message: 'no' } } }));
    await expect(run()).rejects.toBeInstanceOf(CallError);
    expect(server.getState()).toBe(before);
  });
});

describe('what an action gives is in the store at once', () => {
  it.each<[string, () => Promise<unknown>, unknown, () => unknown, unknown]>([
    ['a new session', () => actions.createSession('/w'), session('ses_n'), () => server.getState().sessions['ses_n']?.id, 'ses_n'],
    ['a copy', () => actions.fork('ses_a'), session('ses_f'), () => server.getState().sessions['ses_f']?.id, 'ses_f'],
    ['a title', () => actions.rename('ses_a', 'New'), session('ses_a', { title: 'New' }), () => server.getState().sessions['ses_a']?.title, 'New'],
    ['a deletion', () => actions.remove('ses_a'), true, () => Object.keys(server.getState().sessions), []],
    ['an answered permission', () => actions.replyPermission(PERMISSION, 'once'), true, () => server.getState().permissions, {}],
    ['an answered question', () => actions.replyQuestion({ id: 'que_1', sessionID: 'ses_a' }, []), true, () => server.getState().questions, {}],
    ['a declined question', () => actions.rejectQuestion({ id: 'que_1', sessionID: 'ses_a' }), true, () => server.getState().questions, {}],
  ])('%s', async (_, run, answer, read, gives) => {
    host(() => ({ body: answer }));
    await run();
    expect(read()).toEqual(gives);
  });

  it('a request of a session that is not known is answered without a folder', async () => {
    const asked = host(() => ({ body: true }));
    await actions.replyPermission({ id: 'per_9', sessionID: 'ses_unknown' }, 'once');
    expect(asked[0]?.query).toEqual([]);
  });
});
