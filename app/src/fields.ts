/**
 * What the texts hold that the page sends, each limit once. The plugin checks a goal's once more, by the same numbers; a
 * test compares them.
 */

/** Bytes of a prompt, and of what goes along with it: far more than any model reads. */
export const PROMPT_BYTES_MAX = 4_000_000;

/** Which rule a text breaks. */
export type Rule = 'empty' | 'long';

/** The rule that a prompt breaks, if it breaks one. */
export function promptBreaks(text: string): Rule | null {
  if (text.trim() === '') return 'empty';
  // No character has more than three bytes per UTF-16 unit: a short text need not be counted.
  if (text.length * 3 <= PROMPT_BYTES_MAX) return null;
  return new TextEncoder().encode(text).length > PROMPT_BYTES_MAX ? 'long' : null;
}
