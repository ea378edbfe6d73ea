/** Slash commands: the page's own and how one stands in a text. */
import type { Draft } from '../host/contract';

/** The page's own commands. */
export const OWN = ['new', 'compact', 'undo', 'redo'] as const;
export type OwnCommand = (typeof OWN)[number];

export interface Slash {
  name: string;
  /** Everything behind the name, as it was typed. */
  arguments: string;
}

/** The command that a text begins with, if it looks like one. Whether the server has it is another question. */
export function parseSlash(text: string): Slash | null {
  const found = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = found?.[1];
  return name === undefined ? null : { name, arguments: found?.[2] ?? '' };
}

/** One of the page's own, which take neither arguments nor files. */
export function ownCommand({ text, attachments }: Pick<Draft, 'text' | 'attachments'>): OwnCommand | null {
  const slash = parseSlash(text);
  if (slash?.arguments !== '' || attachments.length > 0) return null;
  return OWN.find((own) => own === slash.name) ?? null;
}
