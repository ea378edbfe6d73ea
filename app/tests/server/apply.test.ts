import { describe, expect, it } from 'vitest';

import { apply, joined } from '../../src/server/apply';
import { family, isAudit, isBusy, pending, type ServerState } from '../../src/server/state';
import { assistant, delta, event, session, state, textPart, transcript, user } from './fixtures';

const PERMISSION = {
  id: 'per_1',
  sessionID: 'ses_a',
  permission: 'bash',
  patterns: ['ls'],
  metadata: {},
  always: [],
};
const QUESTION = { id: 'que_1', sessionID: 'ses_a', questions: [] };
const TODO = { content: 'Quote fields', status: 'pending', priority: 'high' };

/** Something of everything. */
const FULL = state({
  listing: 'ready',
  sessions: { ses_a: session('ses_a'), ses_b: session('ses_b') },
  status: { ses_b: { type: 'busy' } },
  errors: { ses_a: 'it failed' },
  transcripts: {
    ses_a: transcript({
      messages: [user('msg_1', 10), assistant('msg_2', 20)],
      parts: { msg_1: [textPart('prt_1', 'msg_1', 'Hello')], msg_2: [textPart('prt_2', 'msg_2', 'Hi')] },
    }),
    ses_b: transcript(),
  },
  permissions: { per_1: PERMISSION, per_b: { ...PERMISSION, id: 'per_b', sessionID: 'ses_b' } },
  questions: { que_1: QUESTION },
  todos: { ses_a: [TODO] },
});

const text = (all: ServerState, message: string): string[] =>
  (all.transcripts['ses_a']?.parts[message] ?? []).map((part) => (part.type === 'text' ? part.text : part.type));
const ids = (all: ServerState): string[] =>
  (all.transcripts['ses_a']?.messages ?? []).map(({ id }) => id);

interface Case {
  name: string;
  events: [type: string, properties: unknown][];
  read: (all: ServerState) => unknown;
  gives: unknown;
}

const CASES: Case[] = [
  {
    name: 'session.created adds a session',
    events: [['session.created', { info: session('ses_c') }]],
    read: ({ sessions }) => Object.keys(sessions),
    gives: ['ses_a', 'ses_b', 'ses_c'],
  },
  {
    name: 'session.updated replaces a session',
    events: [['session.updated', { info: session('ses_a', { title: 'New' }) }]],
    read: ({ sessions }) => sessions['ses_a']?.title,
    gives: 'New',
  },
  {
    name: 'an audit is nobody’s session',
    events: [
      ['session.created', { info: session('ses_x', { metadata: { openchamber: { goalAudit: 1 } } }) }],
    ],
    read: ({ sessions }) => sessions['ses_x'],
    gives: undefined,
  },
  {
    name: 'session.deleted removes all of a session and nothing of others',
    events: [['session.deleted', { sessionID: 'ses_a', info: session('ses_a') }]],
    read: (all) => [
      Object.keys(all.sessions),
      Object.keys(all.transcripts),
      Object.keys(all.permissions),
      Object.keys(all.questions),
      Object.keys(all.todos),
      Object.keys(all.errors),
    ],
    gives: [['ses_b'], ['ses_b'], ['per_b'], [], [], []],
  },
  {
    name: 'session.status busy begins a turn and ends the last error',
    events: [['session.status', { sessionID: 'ses_a', status: { type: 'busy' } }]],
    read: ({ status, errors }) => [status['ses_a'], errors['ses_a']],
    gives: [{ type: 'busy' }, undefined],
  },
  {
    name: 'session.status retry keeps what is told of it',
    events: [['session.status', { sessionID: 'ses_b', status: { type: 'retry', attempt: 2, message: 'm', next: 9 } }]],
    read: ({ status }) => status['ses_b'],
    gives: { type: 'retry', attempt: 2, message: 'm', next: 9 },
  },
  {
    name: 'session.idle ends a turn',
    events: [['session.idle', { sessionID: 'ses_b' }]],
    read: (all) => isBusy(all, 'ses_b'),
    gives: false,
  },
  {
    name: 'session.error keeps the server’s words',
    events: [['session.error', { sessionID: 'ses_b', error: { name: 'UnknownError', data: { message: 'no model' } } }]],
    read: ({ errors }) => errors['ses_b'],
    gives: 'no model',
  },
  {
    name: 'session.error without words keeps its name',
    events: [['session.error', { sessionID: 'ses_b', error: { name: 'UnknownError' } }]],
    read: ({ errors }) => errors['ses_b'],
    gives: 'UnknownError',
  },
  {
    name: 'a stop is no error',
    events: [['session.error', { sessionID: 'ses_b', error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } }]],
    read: ({ errors }) => errors['ses_b'],
    gives: undefined,
  },
  {
    name: 'a stop is told of the reply that it stopped before the server finishes that one',
    events: [['session.error', { sessionID: 'ses_a', error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } }]],
    read: ({ transcripts }) => transcripts['ses_a']?.messages.map((message) => 'error' in message && message.error.name),
    gives: [false, 'MessageAbortedError'],
  },
  {
    name: 'message.updated puts a message where its time is',
    events: [['message.updated', { info: user('msg_0', 15) }]],
    read: ids,
    gives: ['msg_1', 'msg_0', 'msg_2'],
  },
  {
    name: 'of two messages of the same moment the id decides',
    events: [['message.updated', { info: user('msg_11', 10) }]],
    read: ids,
    gives: ['msg_1', 'msg_11', 'msg_2'],
  },
  {
    name: 'message.removed removes a message and its parts',
    events: [['message.removed', { sessionID: 'ses_a', messageID: 'msg_1' }]],
    read: (all) => [ids(all), text(all, 'msg_1')],
    gives: [['msg_2'], []],
  },
  {
    name: 'message.part.updated replaces a part',
    events: [['message.part.updated', { part: textPart('prt_2', 'msg_2', 'Hi there') }]],
    read: (all) => text(all, 'msg_2'),
    gives: ['Hi there'],
  },
  {
    name: 'message.part.updated puts a part where its id is',
    events: [
      ['message.part.updated', { part: textPart('prt_3', 'msg_2', 'last') }],
      ['message.part.updated', { part: textPart('prt_0', 'msg_2', 'first') }],
    ],
    read: (all) => text(all, 'msg_2'),
    gives: ['first', 'Hi', 'last'],
  },
  {
    name: 'message.part.delta appends',
    events: [
      ['message.part.delta', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2', field: 'text', delta: ',' }],
      ['message.part.delta', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2', field: 'text', delta: ' you' }],
    ],
    read: (all) => text(all, 'msg_2'),
    gives: ['Hi, you'],
  },
  {
    name: 'a delta of another field than the text is left alone',
    events: [['message.part.delta', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2', field: 'raw', delta: '!' }]],
    read: (all) => text(all, 'msg_2'),
    gives: ['Hi'],
  },
  {
    name: 'a text that is complete takes no late delta',
    events: [
      ['message.part.updated', { part: textPart('prt_2', 'msg_2', 'Hi, you', { time: { start: 1, end: 2 } }) }],
      ['message.part.delta', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2', field: 'text', delta: ' you' }],
    ],
    read: (all) => text(all, 'msg_2'),
    gives: ['Hi, you'],
  },
  {
    name: 'message.part.removed removes a part',
    events: [['message.part.removed', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2' }]],
    read: (all) => text(all, 'msg_2'),
    gives: [],
  },
  {
    name: 'permission.asked adds a request',
    events: [['permission.asked', { ...PERMISSION, id: 'per_2' }]],
    read: ({ permissions }) => Object.keys(permissions),
    gives: ['per_1', 'per_b', 'per_2'],
  },
  {
    name: 'permission.replied removes it',
    events: [['permission.replied', { sessionID: 'ses_a', requestID: 'per_1', reply: 'once' }]],
    read: ({ permissions }) => Object.keys(permissions),
    gives: ['per_b'],
  },
  {
    name: 'question.asked adds a question',
    events: [['question.asked', { ...QUESTION, id: 'que_2' }]],
    read: ({ questions }) => Object.keys(questions),
    gives: ['que_1', 'que_2'],
  },
  {
    name: 'question.replied removes it',
    events: [['question.replied', { sessionID: 'ses_a', requestID: 'que_1', answers: [] }]],
    read: ({ questions }) => questions,
    gives: {},
  },
  {
    name: 'question.rejected removes it',
    events: [['question.rejected', { sessionID: 'ses_a', requestID: 'que_1' }]],
    read: ({ questions }) => questions,
    gives: {},
  },
  {
    name: 'todo.updated replaces a session’s todos',
    events: [['todo.updated', { sessionID: 'ses_a', todos: [] }]],
    read: ({ todos }) => todos['ses_a'],
    gives: [],
  },
  {
    name: 'vcs.branch.updated names a folder’s branch',
    events: [['vcs.branch.updated', { branch: 'main' }]],
    read: ({ branches }) => branches,
    gives: { '/home/me/demo': 'main' },
  },
];

describe('what an event does', () => {
  it.each(CASES)('$name', ({ events, read, gives }) => {
    const after = apply(FULL, events.map(([type, properties]) => event(type, properties)));
    expect(read(after)).toEqual(gives);
  });

  it('a message older than what is loaded waits for its page, and so do its parts', () => {
    const loaded = state({
      transcripts: { ses_a: transcript({ messages: [user('msg_5', 50)], older: 'cursor' }) },
    });
    const after = apply(loaded, [
      event('message.updated', { info: user('msg_4', 40) }),
      event('message.part.updated', { part: textPart('prt_4', 'msg_4', 'old') }),
    ]);
    expect(after).toBe(loaded);
  });

  it('a transcript that is not loaded stays so', () => {
    const after = apply(EMPTY_OF_TRANSCRIPTS, [
      event('message.updated', { info: user('msg_1', 1) }),
      event('message.part.updated', { part: textPart('prt_1', 'msg_1', 'x') }),
      delta('msg_1', 'prt_1', 'y'),
    ]);
    expect(after).toBe(EMPTY_OF_TRANSCRIPTS);
  });
});

const EMPTY_OF_TRANSCRIPTS = state({ sessions: { ses_a: session('ses_a') } });

describe('what an event does not touch keeps its identity', () => {
  it('one part changes, everything beside it stays', () => {
    const after = apply(FULL, [delta('msg_2', 'prt_2', '!')]);
    const was = FULL.transcripts['ses_a'];
    const is = after.transcripts['ses_a'];
    expect(is).not.toBe(was);
    expect(is?.messages).toBe(was?.messages);
    expect(is?.parts['msg_1']).toBe(was?.parts['msg_1']);
    expect(after.transcripts['ses_b']).toBe(FULL.transcripts['ses_b']);
    expect(after.sessions).toBe(FULL.sessions);
    expect(after.status).toBe(FULL.status);
    expect(after.permissions).toBe(FULL.permissions);
  });

  it.each([
    ['session.status', { sessionID: 'ses_b', status: { type: 'busy' } }],
    ['session.idle', { sessionID: 'ses_a' }],
    ['permission.replied', { sessionID: 'ses_a', requestID: 'per_9' }],
    ['question.replied', { sessionID: 'ses_a', requestID: 'que_9' }],
    ['message.removed', { sessionID: 'ses_a', messageID: 'msg_9' }],
    ['message.part.removed', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_9' }],
    ['a.kind.that.nobody.knows', { sessionID: 'ses_a' }],
  ])('%s that says nothing new changes nothing', (type, properties) => {
    expect(apply(FULL, [event(type, properties)])).toBe(FULL);
  });
});

describe('a malformed event changes nothing', () => {
  const kinds = [...new Set(CASES.flatMap(({ events }) => events.map(([type]) => type)))];
  const bodies: unknown[] = [null, undefined, 7, 'text', [], {}, { info: null }, { info: {} }, { part: {} }];
  it.each(kinds.flatMap((type) => bodies.map((body) => [type, body] as const)))('%s with %j', (type, body) => {
    const after = apply(FULL, [event(type, body, null), event(type, body, null)]);
    expect(after).toBe(FULL);
  });

  it.each<[string, unknown]>([
    ['message.updated', { info: { ...user('msg_3', 30), time: {} } }],
    ['message.updated', { info: { ...user('msg_3', 30), id: undefined } }],
    ['message.part.updated', { part: { ...textPart('prt_3', 'msg_2', 'x'), type: undefined } }],
    ['message.part.delta', { sessionID: 'ses_a', messageID: 'msg_2', partID: 'prt_2', field: 'text' }],
    ['session.updated', { info: { ...session('ses_a'), directory: undefined } }],
    ['session.updated', { info: { ...session('ses_a'), time: {} } }],
    ['question.asked', { id: 'que_2', sessionID: 'ses_a' }],
    ['todo.updated', { sessionID: 'ses_a', todos: 'none' }],
    ['session.error', { sessionID: 'ses_b', error: {} }],
  ])('%s without what the page reads of it', (type, properties) => {
    expect(apply(FULL, [event(type, properties)])).toBe(FULL);
  });

  it('those around it hold', () => {
    const after = apply(FULL, [
      delta('msg_2', 'prt_2', '!'),
      event('message.part.delta', null),
      event('message.part.delta', {}),
      delta('msg_2', 'prt_2', '?'),
    ]);
    expect(text(after, 'msg_2')).toEqual(['Hi!?']);
  });
});

describe('joined', () => {
  it('makes one delta of those of the same text that follow each other', () => {
    const made = joined([
      delta('msg_2', 'prt_2', 'a'),
      delta('msg_2', 'prt_2', 'b'),
      delta('msg_2', 'prt_3', 'c'),
      event('session.idle', { sessionID: 'ses_a' }),
      delta('msg_2', 'prt_3', 'd'),
    ]);
    expect(made.map(({ properties }) => (properties as { delta?: string }).delta)).toEqual([
      'ab',
      'c',
      undefined,
      'd',
    ]);
  });

  it.each([
    { field: 'raw' },
    { messageID: 'msg_3' },
    { partID: 'prt_3' },
  ])('leaves those apart that differ in %j', (other) => {
    const first = delta('msg_2', 'prt_2', 'a');
    const second = { ...first, properties: { ...(first.properties as object), ...other } };
    expect(joined([first, second])).toEqual([first, second]);
  });

  it('keeps the events that it was given as they are', () => {
    const first = delta('msg_2', 'prt_2', 'a');
    joined([first, delta('msg_2', 'prt_2', 'b')]);
    expect(first).toEqual(delta('msg_2', 'prt_2', 'a'));
  });
});

describe('families', () => {
  const all = state({
    sessions: {
      ses_a: session('ses_a'),
      ses_c: session('ses_c', { parentID: 'ses_b' }),
      ses_b: session('ses_b', { parentID: 'ses_a' }),
      ses_z: session('ses_z'),
    },
    permissions: {
      per_2: { ...PERMISSION, id: 'per_2', sessionID: 'ses_c' },
      per_1: PERMISSION,
      per_z: { ...PERMISSION, id: 'per_z', sessionID: 'ses_z' },
    },
    questions: { que_1: { ...QUESTION, sessionID: 'ses_b' } },
  });

  it('a session and all below it', () => {
    expect(family(all, 'ses_a').map(({ id }) => id)).toEqual(['ses_a', 'ses_b', 'ses_c']);
  });

  it('what waits in a session and below it, oldest first', () => {
    const { permissions, questions } = pending(all, 'ses_a');
    expect(permissions.map(({ id }) => id)).toEqual(['per_1', 'per_2']);
    expect(questions.map(({ id }) => id)).toEqual(['que_1']);
  });

  it('a session that is not known can have what waits', () => {
    const { permissions } = pending(state({ permissions: { per_1: PERMISSION } }), 'ses_a');
    expect(permissions).toEqual([PERMISSION]);
  });

  it('tells audits from sessions', () => {
    const marked = (openchamber: unknown): boolean => isAudit(session('ses_a', { metadata: { openchamber } }));
    expect([marked({ goalAudit: {} }), marked({ goal: {} }), marked(null), isAudit(session('ses_a'))]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
