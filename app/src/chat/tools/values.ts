/** What tools were given and gave is data of any shape: these read it without trusting it. */
import type { Part } from '../../server/state';

export type ToolPart = Extract<Part, { type: 'tool' }>;
export type Fields = Readonly<Record<string, unknown>>;

export function textIn(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}

export function numberIn(fields: Fields, key: string): number | null {
  const value = fields[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function fieldsIn(fields: Fields, key: string): Fields {
  const value = fields[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function rowsIn(fields: Fields, key: string): Fields[] {
  const value = fields[key];
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is Fields => typeof one === 'object' && one !== null);
}

export function metadataOf({ state }: ToolPart): Fields {
  return 'metadata' in state ? (state.metadata ?? {}) : {};
}

/** What a tool gave so far. */
export function outputOf(part: ToolPart): string {
  const { state } = part;
  if (state.status === 'completed') return state.output;
  if (state.status === 'error') return state.error;
  return textIn(metadataOf(part), 'output');
}

/** A path as a person of this folder writes it. */
export function shortPath(path: string, directory: string): string {
  const base = directory.replace(/[/\\]+$/, '');
  if (base === '' || !path.startsWith(base)) return path;
  const rest = path.slice(base.length);
  if (rest === '') return '.';
  return /^[/\\]/.test(rest) ? rest.slice(1) : path;
}

// Colours and cursor moves of a terminal: `ESC [ … letter`.
const TERMINAL = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');

/** A command's output without what only a terminal understands. */
export function plainText(text: string): string {
  return text.replace(TERMINAL, '').replace(/\r\n/g, '\n').replace(/^[^\n]*\r(?!\n)/gm, '');
}
