/**
 * Markdown → its blocks, so that while a text grows only its last block is parsed again. Fenced code is a block of its own,
 * also while its end has not come: no half-read fence is ever shown as something else.
 */
export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'code'; language: string; text: string; open: boolean };

interface Fence {
  mark: string;
  language: string;
  indent: number;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const ANY_FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const DEFINITION = /^ {0,3}\[[^\]^][^\]]*\]:\s*\S+.*$/;
const FOOTNOTE = /^ {0,3}\[\^[^\]]+\]:/m;

/** Splits a text. Joined again, its blocks say what the whole says. */
export function blocksOf(text: string): Block[] {
  // A footnote stands anywhere and is numbered over all: such a text is one block.
  if (FOOTNOTE.test(text)) return [{ kind: 'text', text }];
  const splitter = new Splitter();
  for (const line of text.split('\n')) splitter.take(line);
  const blocks = splitter.end();
  const definitions = splitter.definitions.join('\n');
  if (definitions === '') return blocks;
  return blocks.map((block) =>
    block.kind === 'text' && block.text.includes('[')
      ? { kind: 'text', text: `${block.text}\n\n${definitions}` }
      : block,
  );
}

class Splitter {
  readonly definitions: string[] = [];
  readonly #blocks: Block[] = [];
  #lines: string[] = [];
  #fence: Fence | null = null;
  /** The mark of a fence within a list, which stays with its list. */
  #inner: string | null = null;
  #list = false;
  #blank = false;

  take(line: string): void {
    if (this.#fence !== null) {
      this.#code(line, this.#fence);
      return;
    }
    if (this.#inner !== null) {
      this.#lines.push(line);
      if (closes(line, this.#inner)) this.#inner = null;
      return;
    }
    const fence = this.#opening(line);
    if (fence !== null) {
      this.#flush();
      this.#fence = fence;
      return;
    }
    this.#text(line);
  }

  end(): Block[] {
    if (this.#fence === null) this.#flush();
    else this.#closeFence(this.#fence, true);
    return this.#blocks;
  }

  #opening(line: string): Fence | null {
    const found = FENCE.exec(line);
    const [, indent = '', mark = '', language = ''] = found ?? [];
    const inList = this.#list && indent !== '';
    if (found !== null && !inList) return { mark, language, indent: indent.length };
    const inner = ANY_FENCE.exec(line)?.[1];
    if (this.#list && inner !== undefined) this.#inner = inner;
    return null;
  }

  #code(line: string, fence: Fence): void {
    if (closes(line, fence.mark)) {
      this.#closeFence(fence, false);
      return;
    }
    this.#lines.push(fence.indent === 0 ? line : line.replace(new RegExp(`^ {0,${fence.indent}}`), ''));
  }

  #closeFence(fence: Fence, open: boolean): void {
    const { language } = fence;
    this.#blocks.push({ kind: 'code', language, text: this.#lines.join('\n'), open });
    this.#lines = [];
    this.#fence = null;
    this.#blank = false;
  }

  #text(line: string): void {
    const blank = line.trim() === '';
    if (!blank && this.#blank && this.#begins(line)) this.#flush();
    if (ITEM.test(line)) this.#list = true;
    if (DEFINITION.test(line)) this.definitions.push(line);
    if (!blank || this.#lines.length > 0) this.#lines.push(line);
    this.#blank = blank;
  }

  /** Whether a line after a blank one begins another block. */
  #begins(line: string): boolean {
    if (/^\s/.test(line)) return false;
    return !(this.#list && ITEM.test(line));
  }

  #flush(): void {
    const text = this.#lines.join('\n').trimEnd();
    if (text !== '') this.#blocks.push({ kind: 'text', text });
    this.#lines = [];
    this.#list = false;
    this.#blank = false;
  }
}

function closes(line: string, mark: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= mark.length && trimmed === (mark[0] ?? '`').repeat(trimmed.length);
}
