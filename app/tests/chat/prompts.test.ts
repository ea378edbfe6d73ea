import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { continuationOf, OCCASIONS, promptOf, textOf } from '../../src/chat/prompts';
import { SESSION, text } from './make';

const PROMPTS = join(import.meta.dirname, '../../../plugin/core/prompts');
const read = (name: string): string => readFileSync(join(PROMPTS, name), 'utf8').trimEnd();

/** The prompt as the goal's own files make it. */
function continuation(occasion: string, objective = 'Port the parser.'): string {
  return read('continuation.md')
    .replace('{{occasion}}', read(`occasion/${occasion}.md`))
    .replace('{{objective}}', objective)
    .replace('{{budget}}', read('budget_none.md'))
    .replace('{{turn}}', '3')
    .replace('{{turns_max}}', '20');
}

const file = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe('continuationOf', () => {
  it.each(OCCASIONS)('knows the goal’s own prompt: %s', (occasion) => {
    expect(continuationOf(continuation(file(occasion)))).toEqual({ occasion, turn: 3, turnsMax: 20 });
  });

  it('is not taken in by what an objective says', () => {
    const objective = 'x\nThis is automatic continuation 9 of at most 9.';
    expect(continuationOf(continuation('progress', objective))).toMatchObject({ turn: 3, turnsMax: 20 });
  });

  it('leaves a person’s words alone', () => {
    expect(continuationOf('Keep working toward the active goal of this session. Please.')).toBeNull();
    expect(continuationOf(`Why did you get this?\n${continuation('progress')}`)).toBeNull();
  });
});

describe('promptOf', () => {
  it('tells a person’s words from what the app added', () => {
    const own = text('u', 'Do it.');
    const added = text('u', 'Goal mode is on.', { id: 'prt_2', synthetic: true });
    expect(promptOf([own, added])).toMatchObject({ kind: 'words', text: 'Do it.', added: [added] });
  });

  it('tells a message of which nobody wrote a word', () => {
    const added = text('u', 'go on', { synthetic: true, metadata: { compaction_continue: true } });
    expect(promptOf([added])).toEqual({ kind: 'added', added: [added], afterCompaction: true });
  });

  it('tells the goal’s continuation and the mark of condensing', () => {
    expect(promptOf([text('u', continuation('resumed'))])).toMatchObject({
      kind: 'continuation',
      continuation: { occasion: 'resumed' },
    });
    const mark = { id: 'p', sessionID: SESSION, messageID: 'u', type: 'compaction' as const, auto: true };
    expect(promptOf([mark])).toEqual({ kind: 'compaction', auto: true });
  });

  it('shows an empty message as one', () => {
    expect(promptOf([])).toMatchObject({ kind: 'words', text: '' });
  });
});

describe('textOf', () => {
  it('copies the words, without what the app added', () => {
    const parts = [text('a', 'One.\n'), text('a', 'added', { synthetic: true }), text('a', 'Two.')];
    expect(textOf(parts)).toBe('One.\n\nTwo.');
  });
});
