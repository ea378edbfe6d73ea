/** What the simulated agent does with a message: a few words in it choose. */
import type { PermissionRequest, QuestionInfo } from '@opencode-ai/sdk/v2/client';

export type Beat =
  | { kind: 'text' | 'reasoning'; words: string }
  | {
      kind: 'tool';
      tool: string;
      input: Record<string, unknown>;
      title: string;
      output: string;
      metadata: Record<string, unknown>;
    }
  | {
      kind: 'permission';
      title: string;
      input: Record<string, unknown>;
      request: Omit<PermissionRequest, 'id' | 'sessionID' | 'tool'>;
    }
  | { kind: 'question'; title: string; input: Record<string, unknown>; questions: QuestionInfo[] }
  | { kind: 'fail'; message: string };

const ANSWER =
  'The exporter now quotes every field that holds the delimiter, a quote or a line break.\n\n' +
  '- `src/export.ts` decides by one function\n- 14 cases in `tests/export.test.ts`\n\n' +
  '```ts\nexport const quoted = (field: string): string => `"${field.replaceAll(\'"\', \'""\')}"`;\n```\n\n' +
  'The suite passes. What remains are files with a byte order mark.';

export const QUESTIONS: QuestionInfo[] = [
  {
    question: 'Which delimiter shall files have that were exported for Excel?',
    header: 'Delimiter',
    options: [
      { label: 'Semicolon', description: 'What Excel expects in most of Europe' },
      { label: 'Comma', description: 'What the standard says' },
    ],
  },
];

export const PERMISSION: Omit<PermissionRequest, 'id' | 'sessionID' | 'tool'> = {
  permission: 'bash',
  patterns: ['npm publish --dry-run'],
  metadata: { command: 'npm publish --dry-run', description: 'Shows what a release would hold' },
  always: ['npm publish *'],
};

const TESTS: Beat = {
  kind: 'tool',
  tool: 'bash',
  input: { command: 'npm test', description: 'Runs the tests' },
  title: 'Runs the tests',
  output: ' 14 passed (14)\n',
  metadata: { exit: 0, output: ' 14 passed (14)\n', description: 'Runs the tests' },
};

const PROPOSAL =
  '## Proposed goal\n\n```goal\nThe exporter writes a byte order mark where the option `bom` is set, and none where it ' +
  'is not.\n`npm test` passes, with a case for each.\nNothing outside of `src/` and `tests/` changes.\n```\n\n' +
  '## Why it can be verified\n\nThe suite is one command and says it.\n\n## Assumptions\n\n- UTF-8 alone.';

export function scriptFor(words: string): Beat[] {
  if (/craft a goal/i.test(words)) {
    if (/from this idea/i.test(words)) return [{ kind: 'text', words: PROPOSAL }];
    return [{ kind: 'text', words: 'What shall be true when it is done? I propose to begin with the byte order mark.' }];
  }
  if (/\bfail\b/i.test(words)) return [{ kind: 'fail', message: 'Invalid API key' }];
  if (/\bslow\b/i.test(words)) {
    return [{ kind: 'text', words: Array.from({ length: 40 }, () => ANSWER).join('\n\n') }];
  }
  if (/\bpermission\b/i.test(words)) {
    const input = { command: 'npm publish --dry-run', description: 'Shows what a release would hold' };
    return [
      { kind: 'permission', title: input.description, input, request: PERMISSION },
      { kind: 'text', words: 'The release would hold nine files. Nothing was published.' },
    ];
  }
  if (/\bquestion\b/i.test(words)) {
    const input = { questions: QUESTIONS };
    return [
      { kind: 'question', title: 'Asked 1 question', input, questions: QUESTIONS },
      { kind: 'text', words: 'Understood: that is the delimiter I use from now on.' },
    ];
  }
  if (/\btests?\b/i.test(words)) {
    return [
      { kind: 'reasoning', words: 'The tests say whether the quoting holds. I run them first.' },
      TESTS,
      { kind: 'text', words: ANSWER },
    ];
  }
  return [{ kind: 'text', words: ANSWER }];
}
