/** What a user message is: words of a person, a prompt of the goal, the app's own, or a mark of condensing. */
import type { Part } from '../server/state';

export type TextPart = Extract<Part, { type: 'text' }>;
export type FilePart = Extract<Part, { type: 'file' }>;
export type SubtaskPart = Extract<Part, { type: 'subtask' }>;

/** Why the goal prompts the agent again. */
export const OCCASIONS = [
  'progress',
  'interrupted',
  'truncated',
  'compacted',
  'resumed',
  'objectiveEdited',
  'emptyReply',
  'unaudited',
] as const;
export type Occasion = (typeof OCCASIONS)[number];

/** How each occasion's sentence begins in the goal's continuation prompt. */
const SENTENCES: Readonly<Record<Occasion, string>> = {
  progress: 'An independent check of your last turn',
  interrupted: 'You were interrupted before',
  truncated: 'Your last reply was cut off',
  compacted: 'The conversation was compacted',
  resumed: 'The user has resumed it',
  objectiveEdited: 'The user has changed the objective',
  emptyReply: 'Your last reply was empty',
  unaudited: 'Your last turn could not be checked',
};

const OPENING = 'Keep working toward the active goal of this session. ';
const COUNT = /^This is automatic continuation (\d+) of at most (\d+)\.$/m;

export interface Continuation {
  occasion: Occasion | null;
  turn: number;
  turnsMax: number;
}

/** The goal's continuation that a text is, if it is one. */
export function continuationOf(text: string): Continuation | null {
  if (!text.startsWith(OPENING) || !text.includes('\n<objective>\n')) return null;
  // Behind the objective, which may say anything.
  const count = COUNT.exec(text.slice(text.lastIndexOf('\n</objective>')));
  if (count === null) return null;
  const sentence = text.slice(OPENING.length);
  const occasion = OCCASIONS.find((known) => sentence.startsWith(SENTENCES[known])) ?? null;
  return { occasion, turn: Number(count[1]), turnsMax: Number(count[2]) };
}

export type Prompt =
  | { kind: 'words'; text: string; files: FilePart[]; added: TextPart[]; subtasks: SubtaskPart[] }
  | { kind: 'continuation'; continuation: Continuation; text: string }
  | { kind: 'compaction'; auto: boolean }
  /** Nothing of it was written by a person. */
  | { kind: 'added'; added: TextPart[]; afterCompaction: boolean };

/** What the parts of a user message say. */
export function promptOf(parts: readonly Part[]): Prompt {
  const compaction = parts.find((part) => part.type === 'compaction');
  if (compaction !== undefined) return { kind: 'compaction', auto: compaction.auto };
  const texts = parts.filter((part) => part.type === 'text');
  const own = texts.filter(({ synthetic, ignored }) => synthetic !== true && ignored !== true);
  const added = texts.filter((part) => !own.includes(part));
  const files = parts.filter((part) => part.type === 'file');
  const subtasks = parts.filter((part) => part.type === 'subtask');
  const text = own.map((part) => part.text).join('\n\n').trim();
  const continuation = continuationOf(text);
  if (continuation !== null) return { kind: 'continuation', continuation, text };
  if (own.length === 0 && files.length === 0 && subtasks.length === 0 && added.length > 0) {
    const afterCompaction = added.some(({ metadata }) => metadata?.['compaction_continue'] === true);
    return { kind: 'added', added, afterCompaction };
  }
  return { kind: 'words', text, files, added, subtasks };
}

/** The words of a message, to be copied. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .filter((part) => part.type === 'text')
    .filter(({ synthetic, ignored }) => synthetic !== true && ignored !== true)
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}
