import { describe, expect, it } from 'vitest';

import { blocksOf } from '../../src/chat/markdown/blocks';
import { colouredLength } from '../../src/chat/markdown/coloured';

const texts = (markdown: string): string[] =>
  blocksOf(markdown).map((block) => (block.kind === 'code' ? `[${block.language}] ${block.text}` : block.text));

describe('blocksOf', () => {
  it('parts paragraphs, headings and lists at blank lines', () => {
    expect(texts('# Title\n\nOne\nmore\n\n- a\n- b\n\nTwo')).toEqual(['# Title', 'One\nmore', '- a\n- b', 'Two']);
  });

  it('keeps a loose list whole, and what is indented under it', () => {
    const list = '1. a\n\n   more of a\n\n2. b\n\n    - c';
    expect(texts(`${list}\n\nafter`)).toEqual([list, 'after']);
  });

  it('keeps blank lines and fences within code', () => {
    expect(texts('a\n```ts\nx\n\ny\n```\nb')).toEqual(['a', '[ts] x\n\ny', 'b']);
    expect(texts('````md\n```\nx\n```\n````')).toEqual(['[md] ```\nx\n```']);
    expect(texts('~~~\n```\n~~~')).toEqual(['[] ```']);
  });

  it('keeps code of a list in its list, with the blank lines in it', () => {
    const list = '- a\n\n  ```ts\n  x\n\n  y\n  ```\n\n- b';
    expect(texts(list)).toEqual([list]);
    const tight = 'Do:\n1. a\n   ```sh\n   x\n   ```\n2. b';
    expect(texts(tight)).toEqual([tight]);
  });

  it('shows code whose end has not come as code', () => {
    expect(blocksOf('a\n\n```ts\nconst x')).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'code', language: 'ts', text: 'const x', open: true },
    ]);
  });

  it('does not take inline code for a fence', () => {
    expect(texts('```inline``` here')).toEqual(['```inline``` here']);
  });

  it('gives definitions to the blocks that may use them', () => {
    expect(texts('See [x].\n\nPlain\n\n[x]: https://example.com')).toEqual([
      'See [x].\n\n[x]: https://example.com',
      'Plain',
      '[x]: https://example.com\n\n[x]: https://example.com',
    ]);
  });

  it('leaves a text with footnotes whole', () => {
    const text = 'a[^1]\n\nb\n\n[^1]: note';
    expect(texts(text)).toEqual([text]);
  });

  it('while a text grows, changes nothing before its last block', () => {
    const whole =
      '# T\n\nText with `code`.\n\n- a\n- b\n\n  more\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n> quoted\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nEnd.';
    let before = blocksOf('');
    for (let end = 1; end <= whole.length; end += 1) {
      const now = blocksOf(whole.slice(0, end));
      expect(now.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
      before = now;
    }
  });
});

describe('colouredLength', () => {
  it('colours short code whole', () => {
    expect(colouredLength('const a = 1;\nconst')).toBe(18);
  });

  it('colours whole lines of long code, never less than before, in few steps', () => {
    const line = 'const value = compute("text");\n';
    const ends = new Set<number>();
    let before = 0;
    let code = line.repeat(100);
    while (code.length < 50_000) {
      const end = colouredLength(code);
      expect(end).toBeGreaterThanOrEqual(before);
      expect(end).toBeLessThanOrEqual(code.length);
      expect(code[end - 1]).toBe('\n');
      before = end;
      ends.add(end);
      code += line;
    }
    expect(ends.size).toBeLessThan(50);
  });
});
