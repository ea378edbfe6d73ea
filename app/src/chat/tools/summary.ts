/** One line about a tool call: what it did and how it ended. */
import { patchedFiles } from './diff';
import { fieldsIn, metadataOf, numberIn, rowsIn, shortPath, textIn, type Fields, type ToolPart } from './values';

export type ToolStatus = 'pending' | 'running' | 'done' | 'failed' | 'denied' | 'stopped';

export interface ToolSummary {
  status: ToolStatus;
  title: string;
  /** Exit code of a command. */
  exit: number | null;
  /** Lines of a change. */
  added: number | null;
  removed: number | null;
  /** What a search found. */
  found: number | null;
  /** Epoch milliseconds. */
  started: number | null;
  ended: number | null;
}

export function summaryOf(part: ToolPart, directory: string): ToolSummary {
  const { state } = part;
  const metadata = metadataOf(part);
  const changes = changesOf(part);
  return {
    status: statusOf(part),
    title: titleOf(part, directory),
    exit: numberIn(metadata, 'exit'),
    added: changes?.added ?? null,
    removed: changes?.removed ?? null,
    found: numberIn(metadata, 'matches') ?? numberIn(metadata, 'count'),
    started: 'time' in state ? state.time.start : null,
    ended: 'time' in state && 'end' in state.time ? state.time.end : null,
  };
}

const DENIED = /rejected permission|dismissed this question|rule which prevents/i;

export function statusOf({ state }: ToolPart): ToolStatus {
  switch (state.status) {
    case 'pending':
    case 'running':
      return state.status;
    case 'completed': {
      // OpenCode calls a command that was stopped complete.
      const cut = /<shell_metadata>\s*User aborted the command\s*<\/shell_metadata>\s*$/;
      if (cut.test(state.output)) return 'stopped';
      const exit = state.metadata['exit'];
      return typeof exit === 'number' && exit !== 0 ? 'failed' : 'done';
    }
    case 'error':
      if (state.metadata?.['interrupted'] === true) return 'stopped';
      if (state.error === 'Tool execution aborted') return 'stopped';
      return DENIED.test(state.error) ? 'denied' : 'failed';
  }
}

type Title = (input: Fields, directory: string, part: ToolPart) => string;

function pathTitle(input: Fields, directory: string): string {
  return shortPath(textIn(input, 'filePath'), directory);
}

const TITLES: Readonly<Record<string, Title>> = {
  bash: (input) => textIn(input, 'command'),
  read: (input, directory) => {
    const path = pathTitle(input, directory);
    const from = numberIn(input, 'offset');
    const count = numberIn(input, 'limit');
    if (from === null) return path;
    return count === null ? `${path}:${from}` : `${path}:${from}–${from + count - 1}`;
  },
  edit: pathTitle,
  multiedit: pathTitle,
  write: pathTitle,
  apply_patch: (_, directory, part) =>
    patchedFiles(part)
      .map((path) => shortPath(path, directory))
      .join(', '),
  grep: (input, directory) => inFolder(textIn(input, 'pattern'), input, directory),
  glob: (input, directory) => inFolder(textIn(input, 'pattern'), input, directory),
  list: (input, directory) => shortPath(textIn(input, 'path'), directory),
  webfetch: (input) => textIn(input, 'url'),
  websearch: (input) => textIn(input, 'query'),
  task: (input) => textIn(input, 'description'),
  todowrite: (input) => {
    const todos = rowsIn(input, 'todos');
    const done = todos.filter(({ status }) => status === 'completed').length;
    return todos.length === 0 ? '' : `${done}/${todos.length}`;
  },
  question: (input) => rowsIn(input, 'questions').map((one) => textIn(one, 'question')).join(' · '),
  skill: (input) => textIn(input, 'name'),
};

function inFolder(pattern: string, input: Fields, directory: string): string {
  const folder = shortPath(textIn(input, 'path'), directory);
  return folder === '' || folder === '.' ? pattern : `${pattern} · ${folder}`;
}

function titleOf(part: ToolPart, directory: string): string {
  const { state } = part;
  const own = TITLES[part.tool]?.(state.input, directory, part) ?? '';
  const said = own !== '' || !('title' in state) ? own : (state.title ?? '');
  const title = said === '' ? firstText(state.input) : said;
  return title.trim().split('\n', 1)[0] ?? '';
}

function firstText(input: Fields): string {
  const text = Object.values(input).find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : '';
}

function changesOf(part: ToolPart): { added: number; removed: number } | null {
  const metadata = metadataOf(part);
  const file = fieldsIn(metadata, 'filediff');
  const added = numberIn(file, 'additions');
  if (added !== null) return { added, removed: numberIn(file, 'deletions') ?? 0 };
  const files = rowsIn(metadata, 'files').filter((one) => numberIn(one, 'additions') !== null);
  if (files.length > 0) {
    return {
      added: files.reduce((sum, one) => sum + (numberIn(one, 'additions') ?? 0), 0),
      removed: files.reduce((sum, one) => sum + (numberIn(one, 'deletions') ?? 0), 0),
    };
  }
  const diff = textIn(metadata, 'diff');
  if (diff !== '') return countLines(diff);
  const content = part.tool === 'write' ? textIn(part.state.input, 'content') : '';
  return content === '' ? null : { added: content.replace(/\n$/, '').split('\n').length, removed: 0 };
}

function countLines(diff: string): { added: number; removed: number } {
  const lines = diff.split('\n');
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('--- ')).length,
  };
}
