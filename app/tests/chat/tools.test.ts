import { describe, expect, it } from 'vitest';

import { diffsOf, ofPatch } from '../../src/chat/tools/diff';
import { excerpt } from '../../src/chat/tools/Output';
import { statusOf, summaryOf } from '../../src/chat/tools/summary';
import { plainText, shortPath } from '../../src/chat/tools/values';
import { tool } from './make';

const PATCH = `--- a/src/x.ts
+++ b/src/x.ts
@@ -8,4 +8,5 @@
 same
-old
+new
+newer
 same
 last
@@ -40,1 +41,1 @@
-a
+b
\\ No newline at end of file
`;

describe('summaryOf', () => {
  it('tells a command by its first line, its exit code and its time', () => {
    const part = tool('bash', { input: { command: 'npm test\necho done' }, metadata: { exit: 1 } });
    expect(summaryOf(part, '/demo')).toMatchObject({
      status: 'failed',
      title: 'npm test',
      exit: 1,
      started: 1_000,
      ended: 3_300,
    });
  });

  it('writes paths as a person of the folder does', () => {
    const input = { filePath: '/demo/src/a.ts', offset: 10, limit: 50 };
    expect(summaryOf(tool('read', { input }), '/demo').title).toBe('src/a.ts:10–59');
    expect(summaryOf(tool('grep', { input: { pattern: 'x', path: '/demo/src' } }), '/demo').title).toBe('x · src');
  });

  it('counts lines by what the tool told, else by its diff, else by what was written', () => {
    const told = { filediff: { additions: 7, deletions: 2 }, diff: PATCH };
    expect(summaryOf(tool('edit', { metadata: told }), '/demo')).toMatchObject({ added: 7, removed: 2 });
    expect(summaryOf(tool('edit', { metadata: { diff: PATCH } }), '/demo')).toMatchObject({ added: 3, removed: 2 });
    expect(summaryOf(tool('write', { input: { content: 'a\nb\n' } }), '/demo')).toMatchObject({ added: 2, removed: 0 });
    expect(summaryOf(tool('read', {}), '/demo')).toMatchObject({ added: null, removed: null });
  });

  it('names the files of a patch, and says what of an unknown tool can be said', () => {
    const patchText = '*** Begin Patch\n*** Update File: src/a.ts\n*** Add File: b.ts\n*** End Patch';
    expect(summaryOf(tool('apply_patch', { input: { patchText } }), '/demo').title).toBe('src/a.ts, b.ts');
    expect(summaryOf(tool('jira_search', { input: { limit: 3, query: 'CSV' } }), '/demo').title).toBe('CSV');
  });

  it('takes any shape of input', () => {
    const input = { filePath: 7, todos: 'x', questions: [null] };
    for (const name of ['read', 'todowrite', 'question', 'bash', 'task', 'edit']) {
      expect(summaryOf(tool(name, { input, metadata: { exit: 'x', files: [1] } }), '/demo').exit).toBeNull();
    }
  });
});

describe('statusOf', () => {
  const failed = (error: string, metadata = {}): ReturnType<typeof statusOf> =>
    statusOf(tool('bash', { status: 'error', error, metadata }));

  it('tells a refusal and a stop from a failure', () => {
    expect(failed('boom')).toBe('failed');
    expect(failed('The user rejected permission to use this specific tool call.')).toBe('denied');
    expect(failed('The user dismissed this question')).toBe('denied');
    expect(failed('Tool execution aborted')).toBe('stopped');
    expect(failed('x', { interrupted: true })).toBe('stopped');
  });

  it('tells a command that was stopped, which OpenCode calls complete', () => {
    const output = 'x\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>';
    expect(statusOf(tool('bash', { output, metadata: { exit: null } }))).toBe('stopped');
  });
});

describe('diffsOf', () => {
  it('numbers the lines of both sides', () => {
    expect(diffsOf(tool('edit', { input: { filePath: '/demo/src/x.ts' }, metadata: { diff: PATCH } }))).toEqual([
      {
        path: '/demo/src/x.ts',
        lines: [
          { kind: 'same', before: 8, after: 8, text: 'same' },
          { kind: 'removed', before: 9, after: null, text: 'old' },
          { kind: 'added', before: null, after: 9, text: 'new' },
          { kind: 'added', before: null, after: 10, text: 'newer' },
          { kind: 'same', before: 10, after: 11, text: 'same' },
          { kind: 'same', before: 11, after: 12, text: 'last' },
          { kind: 'gap' },
          { kind: 'removed', before: 40, after: null, text: 'a' },
          { kind: 'added', before: null, after: 41, text: 'b' },
        ],
      },
    ]);
  });

  it('compares the texts of a call that did not come to its end', () => {
    const input = { filePath: 'a', oldString: 'one\ntwo', newString: 'one\n2' };
    const [file] = diffsOf(tool('edit', { status: 'running', input, metadata: undefined }));
    expect(file?.lines.map((line) => line.kind)).toEqual(['same', 'removed', 'added']);
  });

  it('shows each file of a patch', () => {
    const files = [
      { relativePath: 'a.ts', before: 'a\n', after: 'b\n' },
      { relativePath: 'b.ts', patch: PATCH },
    ];
    expect(diffsOf(tool('apply_patch', { metadata: { files } })).map(({ path }) => path)).toEqual(['a.ts', 'b.ts']);
  });

  it('gives nothing for what is no diff', () => {
    expect(ofPatch('@@ -1,9 +1 @@\n-a', 'x')).toEqual([]);
    expect(ofPatch('hello', 'x')).toEqual([]);
  });
});

describe('excerpt', () => {
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`);

  it('keeps the end that matters', () => {
    expect(excerpt(lines, 'head').split('\n').at(0)).toBe('line 1');
    expect(excerpt(lines, 'head').split('\n')).toHaveLength(16);
    expect(excerpt(lines, 'tail').split('\n').at(-1)).toBe('line 100');
  });

  it('bounds one endless line, too', () => {
    expect(excerpt(['x'.repeat(100_000)], 'tail')).toHaveLength(6_000);
  });
});

describe('values', () => {
  it('takes from an output what only a terminal understands', () => {
    expect(plainText('\u001b[31mred\u001b[0m\r\n10 %\r100 %\nend')).toBe('red\n100 %\nend');
  });

  it('shortens only paths within the folder', () => {
    expect(shortPath('/demo/a.ts', '/demo')).toBe('a.ts');
    expect(shortPath('/demo', '/demo/')).toBe('.');
    expect(shortPath('/demonstration/a.ts', '/demo')).toBe('/demonstration/a.ts');
    expect(shortPath('/etc/hosts', '')).toBe('/etc/hosts');
  });
});
