import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { PROMPT_BYTES_MAX, promptBreaks } from '../../src/fields';
import { BUDGET_MAX, BUDGET_MIN } from '../../src/goal/Budget';
import { crafting, ideaOf } from '../../src/origins/craft';
import { openingOfAnswer, openingOfPlan } from '../../src/origins/words';
import { nameOf, titleOf } from '../../src/server/plans';

describe('the limits of fields', () => {
  const theirs = readFileSync(join(import.meta.dirname, '../../../plugin/core/src/fields.rs'), 'utf8');
  const number = (text = ''): number => Number(text.replaceAll('_', ''));

  it('are those of the plugin', () => {
    const prompt = /PROMPT_MAX: usize = ([\d_]+)/.exec(theirs);
    expect(number(prompt?.[1])).toBe(PROMPT_BYTES_MAX);
    const budget = /BUDGET_OFFERED: .* = ([\d_]+)\.\.=([\d_]+)/.exec(theirs);
    expect([number(budget?.[1]), number(budget?.[2])]).toEqual([BUDGET_MIN, BUDGET_MAX]);
  });

  it('are counted in bytes', () => {
    expect(promptBreaks(' \n')).toBe('empty');
    expect(promptBreaks('a'.repeat(PROMPT_BYTES_MAX))).toBeNull();
    expect(promptBreaks('a'.repeat(PROMPT_BYTES_MAX + 1))).toBe('long');
    expect(promptBreaks('é'.repeat(PROMPT_BYTES_MAX / 2))).toBeNull();
    expect(promptBreaks('é'.repeat(PROMPT_BYTES_MAX / 2 + 1))).toBe('long');
  });
});

describe('from an answer', () => {
  it('the message is instructions, connective and answer, and so is the objective', () => {
    expect(openingOfAnswer(' Do it. ', 'Quote fields.\n')).toEqual({
      prompt: 'Do it.\n\nThe answer from the other session:\n\nQuote fields.',
      instructions: null,
      objective: null,
    });
  });
});

describe('from a plan', () => {
  const content = '# Quoting\n\n1. Quote.\n';

  it('the message is short, and the objective holds title, path, the duty to read again, and the plan', () => {
    const { prompt, instructions, objective } = openingOfPlan({ title: 'Quoting', path: '.opencode/plans/1-a.md', content });
    expect(prompt).toBe('Implement the plan “Quoting”.');
    expect(objective).toBe(
      'Implement the plan “Quoting” end to end.\n' +
        'Plan file: .opencode/plans/1-a.md\n' +
        'Re-read that file: it is the source of truth. Where it cannot be read, the copy below counts.\n\n' +
        '# Quoting\n\n1. Quote.',
    );
    expect(instructions).toContain('Plan file: .opencode/plans/1-a.md');
    expect(instructions?.endsWith('The plan:\n\n# Quoting\n\n1. Quote.')).toBe(true);
  });

  it('one that was said names no file', () => {
    const { instructions, objective } = openingOfPlan({ title: 'Quoting', path: null, content });
    expect(objective).toBe('Implement the plan “Quoting” end to end.\n\n# Quoting\n\n1. Quote.');
    expect(instructions).not.toMatch(/plan file|re-read/i);
  });

  it.each([
    ['Hello\n\n## **Quote** `fields` ##\n\nx', null, 'Quote fields'],
    ['no heading\nsecond', null, 'no heading'],
    ['no heading', '.opencode/plans/1764498000000-quiet-canyon.md', 'quiet-canyon'],
    [`# ${'a'.repeat(200)}`, null, `${'a'.repeat(79)}…`],
  ])('%j is called %j %j', (text, path, title) => {
    expect(titleOf(text, path)).toBe(title);
  });

  it('a file keeps its name where nothing else tells it apart', () => {
    expect(nameOf('.opencode/plans/1764498000000-.md')).toBe('1764498000000-');
    expect(nameOf('.opencode/plans/2026-plan.md')).toBe('2026-plan');
  });
});

describe('crafting a goal', () => {
  it.each([
    ['/craft-goal', ''],
    [' /craft-goal  a faster page\nand smaller ', 'a faster page\nand smaller'],
    ['/craft-goals x', null],
    ['craft-goal', null],
    ['see /craft-goal', null],
  ])('%j has the idea %j', (text, idea) => {
    expect(ideaOf(text)).toBe(idea);
  });

  it('asks with the idea or without, and sends the rules along hidden', () => {
    expect(crafting('').text).toBe('Help me craft a goal for this session.');
    const { text, hidden } = crafting('Use {{name}} and $t(send) here.');
    expect(text).toBe('Help me craft a goal from this idea:\n\nUse {{name}} and $t(send) here.');
    for (const rule of [/not one reply/, /ask what they want/, /at most three questions/, /Invent no precision/, /Do not implement/, /```goal/, /Do not activate/, /user's language/]) {
      expect(hidden).toMatch(rule);
    }
  });
});
