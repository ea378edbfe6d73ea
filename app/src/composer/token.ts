/** What is being typed at the caret that can be completed. Pure. */

export interface Token {
  kind: 'command' | 'file';
  /** Where its `/` or `@` stands. */
  start: number;
  /** Where it ends: the caret. */
  end: number;
  /** What was typed behind the sign. */
  query: string;
}

/** The token before the caret, or `null`. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) return { kind: 'command', start: 0, end: caret, query: command[1] ?? '' };
  const file = /(?:^|[\s([{"'`])@([^\s@]*)$/.exec(before);
  if (file === null) return null;
  const query = file[1] ?? '';
  return { kind: 'file', start: caret - query.length - 1, end: caret, query };
}

/** The text with the token replaced, and where the caret goes: behind one space. */
export function completed(text: string, token: Token, value: string): { text: string; caret: number } {
  const rest = text.slice(token.end);
  const gap = rest.startsWith(' ') || rest.startsWith('\n') ? '' : ' ';
  const head = `${text.slice(0, token.start)}${value}`;
  return { text: `${head}${gap}${rest}`, caret: head.length + (rest.startsWith('\n') ? 0 : 1) };
}
