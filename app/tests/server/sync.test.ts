import type { Message, Part, Session } from '@opencode-ai/sdk/v2/client';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { ServerEvent, ServerRequest } from '../../src/host/contract';
import type { Transcript } from '../../src/server/state';
import { assistant, deferred, delta, event, host, session, textPart, user, type Answer } from './fixtures';

interface Row {
  info: Message;
  parts: Part[];
}

/** What the server holds; tests change it. */
interface Holds {
  sessions: Session[];
  rows: Record<string, Row[]>;
  status: Record<string, Record<string, unknown>>;
  permissions: Record<string, unknown[]>;
}

let sync: typeof import('../../src/server/sync');
let server: typeof import('../../src/server/store').server;
let holds: Holds;
/** Answers that stand in for the usual one, by method and path. */
let instead: Record<string, (request: ServerRequest) => Answer | Promise<Answer>>;
let asked: ServerRequest[];

const PERMISSION = { id: 'per_1', sessionID: 'ses_a', permission: 'bash', patterns: [], metadata: {}, always: [] };

beforeEach(async () => {
  vi.resetModules();
  sync = await import('../../src/server/sync');
  ({ server } = await import('../../src/server/store'));
  const text = user('msg_1', 10);
  holds = {
    sessions: [session('ses_a')],
    rows: { ses_a: [{ info: text, parts: [textPart('prt_1', 'msg_1', 'Hello')] }] },
    status: {},
    permissions: {},
  };
  instead = {};
  asked = host(usual);
});

function usual(request: ServerRequest): Answer | Promise<Answer> {
  const other = instead[`${request.method} ${request.path}`];
  if (other !== undefined) return other(request);
  const query = Object.fromEntries(request.query);
  const directory = query['directory'] ?? '';
  const [, , id = '', of] = request.path.split('/');
  if (request.path === '/experimental/session') return { body: holds.sessions };
  if (request.path === '/session/status') return { body: holds.status[directory] ?? {} };
  if (request.path === '/permission') return { body: holds.permissions[directory] ?? [] };
  if (request.path === '/question') return { body: [] };
  if (of === 'message') return { body: holds.rows[id] ?? [] };
  if (of === 'children' || of === 'todo') return { body: [] };
  const one = holds.sessions.find((known) => known.id === id);
  if (one !== undefined) return { body: one };
  return { head: { status: 404 }, body: { name: 'NotFoundError', data: { message: 'not found' } } };
}

const hear = (...events: ServerEvent[]): void => {
  sync.hear({ kind: 'events', events });
};
const shown = (id = 'ses_a'): Transcript | undefined => server.getState().transcripts[id];
const words = (message: string): string[] =>
  (shown()?.parts[message] ?? []).map((part) => (part.type === 'text' ? part.text : part.type));

/** The message that is being written, as the server has it: its text is stored when it is complete. */
function writing(text = ''): Row[] {
  const info = assistant('msg_2', 20);
  const part = textPart('prt_2', 'msg_2', text, { time: { start: 1 } });
  return [...(holds.rows['ses_a'] ?? []), { info, parts: [part] }];
}

const WRITTEN = textPart('prt_2', 'msg_2', 'one two three', { time: { start: 1, end: 2 } });

/** Holds an answer back; `started` resolves when it was asked for. */
function hold(route: string, answer: () => Answer): { started: Promise<void>; go: () => void } {
  const started = deferred<undefined>();
  const gate = deferred<undefined>();
  instead[route] = async () => {
    const given = answer();
    started.resolve(undefined);
    await gate.promise;
    instead = Object.fromEntries(Object.entries(instead).filter(([key]) => key !== route));
    return given;
  };
  return {
    started: started.promise,
    go: () => {
      gate.resolve(undefined);
    },
  };
}

const MESSAGES = 'GET /session/ses_a/message';
const LIST = 'GET /experimental/session';

describe('the line', () => {
  it('is lost and comes back', async () => {
    sync.hear({ kind: 'away', since: 5, nextTryAt: 9 });
    expect(server.getState().connection).toEqual({ kind: 'away', since: 5, nextTryAt: 9 });
    sync.hear({ kind: 'resync' });
    expect(server.getState().connection).toEqual({ kind: 'live' });
    await vi.waitFor(() => {
      expect(server.getState().listing).toBe('ready');
    });
  });
});

describe('the list', () => {
  it('is read page by page, without audits', async () => {
    const audit = session('ses_x', { metadata: { openchamber: { goalAudit: {} } } });
    instead[LIST] = ({ query }) =>
      Object.fromEntries(query)['cursor'] === undefined
        ? { head: { nextCursor: '77' }, body: [session('ses_b'), audit] }
        : { body: [session('ses_c')] };
    await sync.readAll();
    expect(Object.keys(server.getState().sessions)).toEqual(['ses_b', 'ses_c']);
    const pages = asked.filter(({ path }) => path === '/experimental/session');
    expect(pages.map(({ query }) => query)).toEqual([[['limit', '200']], [['limit', '200'], ['cursor', '77']]]);
  });

  it('ends with its newest thousand', async () => {
    instead[LIST] = () => ({ head: { nextCursor: '1' }, body: [] });
    await sync.readAll();
    expect(asked.filter(({ path }) => path === '/experimental/session')).toHaveLength(5);
  });

  it('brings what works and what waits, folder by folder', async () => {
    holds.sessions.push(session('ses_b', { directory: '/b' }));
    holds.status['/b'] = { ses_b: { type: 'busy' } };
    holds.permissions['/home/me/demo'] = [PERMISSION];
    await sync.readAll();
    const { status, permissions } = server.getState();
    expect([status, Object.keys(permissions)]).toEqual([{ ses_b: { type: 'busy' } }, ['per_1']]);
  });

  it('of a folder that cannot be read holds what was known; others are read', async () => {
    holds.sessions.push(session('ses_b', { directory: '/b' }));
    holds.permissions['/home/me/demo'] = [PERMISSION];
    await sync.readAll();
    holds.status['/b'] = { ses_b: { type: 'busy' } };
    instead['GET /permission'] = ({ query }) =>
      Object.fromEntries(query)['directory'] === '/b'
        ? { body: [] }
        : { head: { status: 500 }, body: { name: 'UnknownError', data: { message: 'no' } } };
    await sync.readAll();
    const { status, permissions } = server.getState();
    expect([status, Object.keys(permissions)]).toEqual([{ ses_b: { type: 'busy' } }, ['per_1']]);
  });

  it('that cannot be read is told, but not where one was read before', async () => {
    instead[LIST] = () => ({ head: { status: 500 }, body: {} });
    await sync.readAll();
    expect(server.getState().listing).toBe('failed');
    instead = {};
    await sync.readAll();
    instead[LIST] = () => ({ head: { status: 500 }, body: {} });
    await sync.readAll();
    expect([server.getState().listing, Object.keys(server.getState().sessions)]).toEqual(['ready', ['ses_a']]);
  });

  it('is still expected while there is no line', async () => {
    instead[LIST] = () => {
      throw Object.assign(new Error('no line'), { code: 'notConnected' });
    };
    await sync.readAll();
    expect(server.getState().listing).toBe('loading');
  });

  it('loses nothing that is heard while it is read', async () => {
    holds.sessions.push(session('ses_gone'));
    const list = hold(LIST, () => ({ body: [...holds.sessions] }));
    const read = sync.readAll();
    await list.started;
    hear(
      event('session.created', { info: session('ses_new') }),
      event('session.updated', { info: session('ses_a', { title: 'Renamed' }) }),
      event('session.deleted', { info: session('ses_gone') }),
    );
    list.go();
    await read;
    const { sessions } = server.getState();
    expect([Object.keys(sessions).sort(), sessions['ses_a']?.title]).toEqual([['ses_a', 'ses_new'], 'Renamed']);
  });

  it('a turn that ended while the folders were read does not work any more', async () => {
    const status = hold('GET /session/status', () => ({ body: { ses_a: { type: 'busy' } } }));
    const read = sync.readAll();
    await status.started;
    hear(
      event('session.status', { sessionID: 'ses_a', status: { type: 'busy' } }),
      event('permission.asked', PERMISSION),
      event('session.idle', { sessionID: 'ses_a' }),
    );
    status.go();
    await read;
    expect([server.getState().status, Object.keys(server.getState().permissions)]).toEqual([{}, ['per_1']]);
  });

  it('that is answered late is dropped where a newer one was read', async () => {
    const late = hold(LIST, () => ({ body: [session('ses_old')] }));
    const first = sync.readAll();
    await late.started;
    instead = {};
    await sync.readAll();
    late.go();
    await first;
    expect(Object.keys(server.getState().sessions)).toEqual(['ses_a']);
  });

  it('without an archived session that is open keeps it', async () => {
    const archived = session('ses_old', { time: { created: 1, updated: 1, archived: 2 } });
    instead['GET /session/ses_old'] = () => ({ body: archived });
    await sync.open('ses_old');
    const seen = new Set<unknown>();
    const unsubscribe = server.subscribe(({ sessions }) => seen.add(sessions['ses_old']?.id));
    await sync.readAll();
    unsubscribe();
    // At no moment of it the session is gone.
    expect([...seen]).toEqual(['ses_old']);
    expect(server.getState().sessions['ses_old']).toEqual(archived);
  });

  it('forgets an open session that was deleted meanwhile', async () => {
    await sync.readAll();
    await sync.open('ses_a');
    holds.sessions = [];
    instead[MESSAGES] = () => ({ head: { status: 404 }, body: {} });
    await sync.readAll();
    expect([server.getState().sessions, shown()?.failure]).toEqual([{}, 'server']);
  });
});

describe('a transcript', () => {
  it('is read when it is opened, and not again', async () => {
    await sync.open('ses_a');
    await sync.open('ses_a');
    expect([shown()?.phase, words('msg_1')]).toEqual(['ready', ['Hello']]);
    expect(asked.filter(({ path }) => path.endsWith('/message'))).toHaveLength(1);
  });

  it('that cannot be read says why, and is read when it is opened again', async () => {
    instead[MESSAGES] = () => {
      throw Object.assign(new Error('late'), { code: 'timedOut' });
    };
    await sync.open('ses_a');
    expect([shown()?.phase, shown()?.failure]).toEqual(['failed', 'timedOut']);
    instead = {};
    await sync.open('ses_a');
    expect([shown()?.phase, shown()?.failure]).toEqual(['ready', null]);
  });

  it('takes what is heard while it is read', async () => {
    const rows = hold(MESSAGES, () => ({ body: writing() }));
    const opened = sync.open('ses_a');
    await rows.started;
    hear(delta('msg_2', 'prt_2', 'one '), delta('msg_2', 'prt_2', 'two'));
    rows.go();
    await opened;
    expect(words('msg_2')).toEqual(['one two']);
  });

  it('that is read again says no word twice', async () => {
    holds.rows['ses_a'] = writing();
    await sync.open('ses_a');
    hear(delta('msg_2', 'prt_2', 'one '));
    const rows = hold(MESSAGES, () => ({ body: holds.rows['ses_a'] }));
    const read = sync.readAll();
    await rows.started;
    hear(delta('msg_2', 'prt_2', 'two '));
    rows.go();
    await read;
    hear(delta('msg_2', 'prt_2', 'three'));
    expect(words('msg_2')).toEqual(['one two three']);
  });

  it('whose text was complete when it was read takes no word of it again', async () => {
    const [first, second] = writing();
    const rows = hold(MESSAGES, () => ({ body: [first, { info: second?.info, parts: [WRITTEN] }] }));
    const opened = sync.open('ses_a');
    await rows.started;
    hear(delta('msg_2', 'prt_2', 'two '), delta('msg_2', 'prt_2', 'three'));
    rows.go();
    await opened;
    expect(words('msg_2')).toEqual(['one two three']);
  });

  it('keeps what was heard of a text that the server has not stored', async () => {
    holds.rows['ses_a'] = writing();
    await sync.open('ses_a');
    hear(delta('msg_2', 'prt_2', 'one two'));
    sync.hear({ kind: 'away', since: 1, nextTryAt: null });
    await sync.readAll();
    expect(words('msg_2')).toEqual(['one two']);
    hear(event('message.part.updated', { part: WRITTEN }));
    expect(words('msg_2')).toEqual(['one two three']);
  });

  it('takes the server’s text where it is complete', async () => {
    const [first, second] = writing();
    holds.rows['ses_a'] = writing();
    await sync.open('ses_a');
    hear(delta('msg_2', 'prt_2', 'one two three, and a word that was taken back'));
    holds.rows['ses_a'] = [first, { info: second?.info, parts: [WRITTEN] }] as Row[];
    await sync.readAll();
    expect(words('msg_2')).toEqual(['one two three']);
  });

  it('that is answered late is dropped where a newer one was read', async () => {
    const late = hold(MESSAGES, () => ({ body: [] }));
    const first = sync.open('ses_a');
    await late.started;
    instead = {};
    await sync.open('ses_a');
    late.go();
    await first;
    expect(words('msg_1')).toEqual(['Hello']);
  });

  it('is read again where more was heard meanwhile than may wait', async () => {
    const rows = hold(MESSAGES, () => ({ body: writing() }));
    const opened = sync.open('ses_a');
    await rows.started;
    holds.rows['ses_a'] = [...writing(), { info: user('msg_3', 30), parts: [] }];
    const todos = Array.from({ length: 5_001 }, () => event('session.diff', { sessionID: 'ses_a' }));
    hear(...todos, event('message.updated', { info: user('msg_3', 30) }));
    rows.go();
    await opened;
    expect(shown()?.messages.map(({ id }) => id)).toEqual(['msg_1', 'msg_2', 'msg_3']);
  });

  it('of what was heard of its session meanwhile nothing is taken back', async () => {
    await sync.readAll();
    const info = hold('GET /session/ses_a', () => ({ body: session('ses_a') }));
    const todo = hold('GET /session/ses_a/todo', () => ({ body: [] }));
    const opened = sync.open('ses_a');
    await Promise.all([info.started, todo.started]);
    const now = [{ content: 'Quote', status: 'pending', priority: 'high' }];
    hear(
      event('session.updated', { info: session('ses_a', { title: 'Renamed' }) }),
      event('todo.updated', { sessionID: 'ses_a', todos: now }),
    );
    info.go();
    todo.go();
    await opened;
    const { sessions, todos } = server.getState();
    expect([sessions['ses_a']?.title, todos['ses_a']]).toEqual(['Renamed', now]);
  });
});

describe('older messages', () => {
  const page = (next: string | null, ...rows: Row[]): Answer => ({
    head: next === null ? {} : { nextCursor: next },
    body: rows,
  });
  const row = (n: number): Row => ({
    info: user(`msg_${n}`, n),
    parts: [textPart(`prt_${n}`, `msg_${n}`, `words ${n}`)],
  });

  beforeEach(() => {
    instead[MESSAGES] = ({ query }) =>
      Object.fromEntries(query)['before'] === 'older' ? page(null, row(1), row(2)) : page('older', row(3));
  });

  const ids = (): string[] | undefined => shown()?.messages.map(({ id }) => id);

  it('come page by page until there are none', async () => {
    await sync.open('ses_a');
    await sync.loadOlder('ses_a');
    expect([ids(), shown()?.older]).toEqual([['msg_1', 'msg_2', 'msg_3'], null]);
    const before = asked.length;
    await sync.loadOlder('ses_a');
    expect(asked).toHaveLength(before);
  });

  it('asked for twice come once', async () => {
    await sync.open('ses_a');
    await Promise.all([sync.loadOlder('ses_a'), sync.loadOlder('ses_a')]);
    expect(ids()).toEqual(['msg_1', 'msg_2', 'msg_3']);
  });

  it('come whole, though a part of one was heard of before', async () => {
    await sync.open('ses_a');
    hear(event('message.part.updated', { part: textPart('prt_0', 'msg_1', 'pruned') }));
    await sync.loadOlder('ses_a');
    expect(words('msg_1')).toEqual(['words 1']);
  });

  it('that come after the transcript was forgotten are dropped', async () => {
    await sync.open('ses_a');
    const gate = deferred<Answer>();
    instead[MESSAGES] = () => gate.promise;
    const older = sync.loadOlder('ses_a');
    for (let n = 0; n < 8; n += 1) await sync.open(`ses_${n}`);
    gate.resolve(page(null, row(1)));
    await older;
    expect(shown()).toBeUndefined();
  });
});

describe('the transcripts that stay loaded', () => {
  it('are the eight that were opened last', async () => {
    for (let n = 0; n < 9; n += 1) await sync.open(`ses_${n}`);
    await sync.open('ses_1');
    await sync.open('ses_9');
    expect(Object.keys(server.getState().transcripts).sort()).toEqual(
      [1, 3, 4, 5, 6, 7, 8, 9].map((n) => `ses_${n}`),
    );
  });

  it('one that is answered after it was forgotten does not come back', async () => {
    const late = hold(MESSAGES, () => ({ body: [] }));
    const opened = sync.open('ses_a');
    await late.started;
    for (let n = 0; n < 8; n += 1) await sync.open(`ses_${n}`);
    late.go();
    await opened;
    expect(shown()).toBeUndefined();
  });
});
