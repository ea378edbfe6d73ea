/** A tool's change of files → lines with their numbers. */
import { parsePatch, structuredPatch, type StructuredPatchHunk } from 'diff';

import { fieldsIn, metadataOf, rowsIn, textIn, type Fields, type ToolPart } from './values';

export type DiffLine =
  | { kind: 'same' | 'added' | 'removed'; before: number | null; after: number | null; text: string }
  /** Lines between two places were left out. */
  | { kind: 'gap' };

export interface FileDiff {
  path: string;
  lines: DiffLine[];
}

/** Two texts that differ more are not compared: it would take too long to be seen. */
const EDITS_MAX = 4_000;

/** The files that a call changes, as far as it can be told. */
export function diffsOf(part: ToolPart): FileDiff[] {
  const metadata = metadataOf(part);
  const { input } = part.state;
  const path = textIn(input, 'filePath');
  const files = rowsIn(metadata, 'files').flatMap(ofFile);
  if (files.length > 0) return files;
  const given = textIn(metadata, 'diff') || textIn(fieldsIn(metadata, 'filediff'), 'patch');
  if (given !== '') return ofPatch(given, path);
  if (part.tool === 'edit') return compared(path, textIn(input, 'oldString'), textIn(input, 'newString'));
  if (part.tool === 'write') return compared(path, '', textIn(input, 'content'));
  return [];
}

function ofFile(file: Fields): FileDiff[] {
  const path = textIn(file, 'relativePath') || textIn(file, 'filePath');
  const patch = textIn(file, 'patch') || textIn(file, 'diff');
  if (patch !== '') return ofPatch(patch, path);
  return compared(path, textIn(file, 'before'), textIn(file, 'after'));
}

/** The files of a unified diff; none where it is malformed. */
export function ofPatch(patch: string, path: string): FileDiff[] {
  try {
    return parsePatch(patch)
      .filter(({ hunks }) => hunks.length > 0)
      .map((file) => ({ path: path || nameOf(file.newFileName, file.oldFileName), lines: linesOf(file.hunks) }));
  } catch {
    return [];
  }
}

function nameOf(after: string | undefined, before: string | undefined): string {
  const name = after === undefined || after === '/dev/null' ? before : after;
  return (name ?? '').replace(/^[ab]\//, '');
}

function compared(path: string, before: string, after: string): FileDiff[] {
  if (before === after) return [];
  const patch = structuredPatch(path, path, before, after, '', '', {
    context: 3,
    maxEditLength: EDITS_MAX,
  });
  // Too different to be compared: all of it went, all of it came.
  if (patch === undefined) return [{ path, lines: [...whole('removed', before), ...whole('added', after)] }];
  return [{ path, lines: linesOf(patch.hunks) }];
}

function whole(kind: 'added' | 'removed', text: string): DiffLine[] {
  return text.replace(/\n$/, '').split('\n').map((line, at) => ({
    kind,
    before: kind === 'removed' ? at + 1 : null,
    after: kind === 'added' ? at + 1 : null,
    text: line,
  }));
}

function linesOf(hunks: readonly StructuredPatchHunk[]): DiffLine[] {
  const out: DiffLine[] = [];
  for (const hunk of hunks) {
    if (out.length > 0) out.push({ kind: 'gap' });
    let before = hunk.oldStart;
    let after = hunk.newStart;
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line.startsWith('+')) out.push({ kind: 'added', before: null, after: after++, text });
      else if (line.startsWith('-')) out.push({ kind: 'removed', before: before++, after: null, text });
      // "\ No newline at end of file" is no line of it.
      else if (!line.startsWith('\\')) out.push({ kind: 'same', before: before++, after: after++, text });
    }
  }
  return out;
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** The files that a call of `apply_patch` names. */
export function patchedFiles(part: ToolPart): string[] {
  const told = rowsIn(metadataOf(part), 'files').map(
    (file) => textIn(file, 'relativePath') || textIn(file, 'filePath'),
  );
  if (told.length > 0) return told;
  return [...textIn(part.state.input, 'patchText').matchAll(PATCHED)].map(([, path]) => path ?? '');
}
