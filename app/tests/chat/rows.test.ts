import { describe, expect, it } from 'vitest';

import { endingOf, rowsOf, totalsOf } from '../../src/chat/rows';
import { reply, user } from './make';

const kinds = (rows: ReturnType<typeof rowsOf>): string[] => rows.map(({ kind }) => kind);

describe('rowsOf', () => {
  it('ends each turn with a foot, however many steps it had', () => {
    const rows = rowsOf([user('u1', 0), reply('a1', 1), reply('a2', 2), user('u2', 9), reply('a3', 10)], null, false);
    expect(kinds(rows)).toEqual(['user', 'assistant', 'assistant', 'foot', 'user', 'assistant', 'foot', 'now']);
    expect(rows.find(({ key }) => key === 'foot:a2')).toMatchObject({ totals: { steps: 2 } });
  });

  it('gives a turn that goes on no foot', () => {
    expect(kinds(rowsOf([user('u1', 0), reply('a1', 1)], null, true))).toEqual(['user', 'assistant', 'now']);
  });

  it('knows the last message and what follows each', () => {
    const rows = rowsOf([user('u1', 0), reply('a1', 1), user('u2', 2), reply('a2', 3)], null, true);
    expect(rows.filter(({ kind }) => kind === 'assistant')).toMatchObject([
      { key: 'a1', last: false, next: 'u2' },
      { key: 'a2', last: true, next: null },
    ]);
  });

  it('greys what is undone and says how much it is', () => {
    const rows = rowsOf([user('u1', 0), reply('a1', 1), user('u2', 2), reply('a2', 3)], 'u2', false);
    expect(kinds(rows)).toEqual(['user', 'assistant', 'foot', 'undone', 'user', 'assistant', 'foot', 'now']);
    expect(rows[3]).toMatchObject({ count: 2 });
    expect(rows.map((row) => 'undone' in row && row.undone)).toEqual([
      false, false, false, false, true, true, true, false,
    ]);
  });

  it('marks nothing where the undone message is not loaded', () => {
    expect(kinds(rowsOf([user('u1', 0)], 'gone', false))).toEqual(['user', 'now']);
  });

  it('gives every row a key of its own', () => {
    const rows = rowsOf([user('u1', 0), reply('a1', 1), user('u2', 2), reply('a2', 3)], 'u2', false);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  });
});

describe('totalsOf', () => {
  it('adds up the steps and counts from the prompt', () => {
    const steps = [
      reply('a1', 2_000, { cost: 0.25, tokens: { input: 10, output: 5, reasoning: 1, cache: { read: 100, write: 2 } } }),
      reply('a2', 9_000, { cost: 0.5, tokens: { input: 20, output: 6, reasoning: 0, cache: { read: 200, write: 0 } } }),
    ];
    expect(totalsOf(steps, 1_000)).toMatchObject({
      cost: 0.75,
      input: 32,
      output: 11,
      reasoning: 1,
      cached: 300,
      milliseconds: 8_500,
    });
  });

  it('tells nothing of a turn that never ended, nor of condensing', () => {
    expect(totalsOf([reply('a1', 0, { time: { created: 0 } })], 0)).toBeNull();
    expect(totalsOf([reply('a1', 0, { summary: true })], 0)).toBeNull();
  });
});

describe('endingOf', () => {
  const rest = { last: true, busy: false, tools: false };

  it('tells a stop by its error, and by what an abort while retrying leaves', () => {
    const aborted = { name: 'MessageAbortedError' as const, data: { message: 'Aborted' } };
    expect(endingOf(reply('a', 0, { error: aborted }), rest)).toEqual({ kind: 'stopped' });
    expect(endingOf(reply('a', 0, { finish: undefined }), rest)).toEqual({ kind: 'stopped' });
    // A command of the user's own shell has no reason to end with, either.
    expect(endingOf(reply('a', 0, { finish: undefined }), { ...rest, tools: true })).toEqual({ kind: 'fine' });
  });

  it('tells a crash: nothing was finalised and nothing works', () => {
    const open = reply('a', 0, { time: { created: 0 }, finish: undefined });
    expect(endingOf(open, rest)).toEqual({ kind: 'interrupted' });
    expect(endingOf(open, { ...rest, busy: true })).toEqual({ kind: 'fine' });
    expect(endingOf(open, { ...rest, last: false, busy: true })).toEqual({ kind: 'interrupted' });
  });

  it('gives an error its words, or its name where it has none', () => {
    const said = { name: 'UnknownError' as const, data: { message: 'no credit' } };
    const mute = { name: 'MessageOutputLengthError' as const, data: {} };
    expect(endingOf(reply('a', 0, { error: said }), rest)).toMatchObject({ kind: 'failed', text: 'no credit' });
    expect(endingOf(reply('a', 0, { error: mute }), rest)).toMatchObject({ text: 'MessageOutputLengthError' });
  });

  it('tells an answer that was cut off, also in the middle of a conversation', () => {
    expect(endingOf(reply('a', 0, { finish: 'length' }), { ...rest, last: false })).toEqual({ kind: 'cutOff' });
  });
});
