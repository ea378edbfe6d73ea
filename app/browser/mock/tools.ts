/** One call of each tool, with what the real ones leave behind. */
import { done, EXPORTER, failed, tool, type Bare } from './make';

const DIFF = `Index: ${EXPORTER}/src/export.ts
===================================================================
--- ${EXPORTER}/src/export.ts
+++ ${EXPORTER}/src/export.ts
@@ -1,6 +1,8 @@
 import { quoted } from './quote';

-export const line = (fields: string[]): string => fields.join(',');
+const DELIMITER = ';';
+
+export const line = (fields: string[]): string => fields.map(quoted).join(DELIMITER);

 export const end = '\\r\\n';
`;

const BEFORE = "import { quoted } from './quote';\n\nexport const line = (fields: string[]): string => fields.join(',');\n";
const AFTER = "import { quoted } from './quote';\n\nconst DELIMITER = ';';\n\nexport const line = (fields: string[]): string => fields.map(quoted).join(DELIMITER);\n";

const TODOS = [
  { content: 'Quote fields', status: 'completed', priority: 'high' },
  { content: 'Choose the delimiter', status: 'in_progress', priority: 'medium' },
];

const QUESTION = {
  question: 'Which delimiter?',
  header: 'Delimiter',
  options: [{ label: 'Semicolon', description: 'What Excel expects' }],
};

export function toolParts(): Bare[] {
  return [...files(), ...searching(), ...beyond(), ...broken()];
}

function files(): Bare[] {
  const filePath = `${EXPORTER}/src/export.ts`;
  const filediff = { file: filePath, before: BEFORE, after: AFTER, additions: 3, deletions: 1 };
  return [
    done('bash', { command: 'npm test', description: 'Runs the tests' }, {
      title: 'Runs the tests',
      output: ' FAIL  tests/export.test.ts\n 12 passed, 2 failed\n',
      metadata: { exit: 1, output: ' FAIL  tests/export.test.ts\n 12 passed, 2 failed\n', description: 'Runs the tests' },
      took: 2_300,
    }),
    done('edit', { filePath, oldString: BEFORE, newString: AFTER }, {
      title: 'src/export.ts',
      output: 'Edit applied successfully.',
      metadata: { diff: DIFF, filediff, diagnostics: {} },
    }),
    done('read', { filePath, offset: 0, limit: 40 }, {
      title: 'src/export.ts',
      output: `<file>\n00001| ${BEFORE.replaceAll('\n', '\n00002| ')}</file>`,
      metadata: { preview: BEFORE, truncated: false },
      took: 12,
    }),
    done('glob', { pattern: 'src/**/*.ts' }, {
      title: 'src',
      output: `${EXPORTER}/src/export.ts\n${EXPORTER}/src/quote.ts\n${EXPORTER}/src/index.ts`,
      metadata: { count: 3, truncated: false },
      took: 24,
    }),
    done('write', { filePath: `${EXPORTER}/src/delimiter.ts`, content: "export const DELIMITER = ';';\n" }, {
      title: 'src/delimiter.ts',
      output: 'Wrote file successfully.',
      metadata: { filepath: `${EXPORTER}/src/delimiter.ts`, exists: false, diagnostics: {} },
    }),
    done('apply_patch', { patchText: '*** Begin Patch\n*** Update File: src/export.ts\n*** End Patch' }, {
      title: 'src/export.ts',
      output: 'Success. Updated the following files:\nM src/export.ts',
      metadata: {
        diff: DIFF,
        files: [{ filePath, relativePath: 'src/export.ts', type: 'update', patch: DIFF, additions: 3, deletions: 1 }],
      },
    }),
  ];
}

function searching(): Bare[] {
  return [
    done('grep', { pattern: 'quoted\\(', include: '*.ts' }, {
      title: 'quoted\\(',
      output: `Found 2 matches\n${EXPORTER}/src/export.ts:\n  Line 5: fields.map(quoted)`,
      metadata: { matches: 2, truncated: false },
      took: 31,
    }),
    done('list', { path: EXPORTER }, {
      title: '.',
      output: `${EXPORTER}/\n  src/\n    export.ts\n    quote.ts\n`,
      metadata: { count: 2, truncated: false },
    }),
    done('lsp', { operation: 'goToDefinition', filePath: 'src/export.ts', line: 5, character: 12 }, {
      title: 'goToDefinition src/export.ts:5:12',
      output: 'src/quote.ts:1:14',
      metadata: { result: [] },
    }),
    done('webfetch', { url: 'https://www.rfc-editor.org/rfc/rfc4180', format: 'markdown' }, {
      title: 'https://www.rfc-editor.org/rfc/rfc4180 (text/html)',
      output: '# Common Format and MIME Type for CSV Files\n\nFields with line breaks are quoted.',
      took: 1_240,
    }),
    done('websearch', { query: 'csv delimiter excel europe' }, {
      title: 'Web search: csv delimiter excel europe',
      output: '1. List separators in Excel',
      took: 900,
    }),
  ];
}

function beyond(): Bare[] {
  return [
    done('todowrite', { todos: TODOS }, {
      title: '1 todos',
      output: JSON.stringify(TODOS, null, 2),
      metadata: { todos: TODOS },
    }),
    done('task', { description: 'Find the quoting', prompt: 'Find it.', subagent_type: 'explore' }, {
      title: 'Find the quoting',
      output: '<task_result>It is in src/quote.ts.</task_result>',
      metadata: { sessionId: 'ses_000000000000child' },
      took: 14_000,
    }),
    done('skill', { name: 'changelog' }, { title: 'Loaded skill: changelog', output: '# changelog' }),
    done('question', { questions: [QUESTION] }, {
      title: 'Asked 1 question',
      output: 'User has answered your questions: "Which delimiter?"="Semicolon".',
      metadata: { answers: [['Semicolon']] },
    }),
    done('github_create_issue', { title: 'A byte order mark is missing', labels: ['bug'] }, {
      title: 'github_create_issue',
      output: '{"number": 12}',
      took: 640,
    }),
    { type: 'patch', hash: 'a1b2c3', files: [`${EXPORTER}/src/export.ts`] },
  ];
}

function broken(): Bare[] {
  return [
    failed('edit', { filePath: `${EXPORTER}/src/gone.ts`, oldString: 'a', newString: 'b' }, 'File not found: src/gone.ts'),
    failed(
      'bash',
      { command: 'rm -rf dist', description: 'Removes what was built' },
      'The user rejected permission to use this specific tool call.',
    ),
    done('invalid', { tool: 'edti', error: 'Model tried to call an unavailable tool' }, {
      title: 'Invalid Tool',
      output: 'The arguments provided to the tool are invalid',
    }),
    tool('bash', {
      status: 'completed',
      input: { command: 'sleep 600', description: 'Waits' },
      output: 'one\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>',
      title: 'Waits',
      metadata: { exit: null },
      time: { start: Date.now() - 60_000, end: Date.now() - 58_000 },
    }),
  ];
}
