import { readFileSync, readdirSync } from 'node:fs';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';

import * as api from '../index.js';
import fr from '../locales/fr.json' with { type: 'json' };
import { Backend } from './backend.js';
import { goalView } from './fixtures.js';

// Examples tell what they find.
vi.spyOn(console, 'log').mockImplementation(() => undefined);

interface Example {
  readonly place: string;
  readonly language: 'ts' | 'tsx';
  readonly code: string;
}

const sources = ['.', 'react'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts') && name !== 'types.ts')
    .map((name) => (folder === '.' ? name : `${folder}/${name}`)),
);

const readme = examplesOf('README.md', readFileSync('README.md', 'utf8'));
const examples = [
  ...sources.flatMap((path) => examplesOf(path, uncommented(readFileSync(path, 'utf8')))),
  ...readme,
];

function examplesOf(path: string, text: string): Example[] {
  return [...text.matchAll(/```(tsx?)\n([\s\S]*?)```/g)].map(([, language, code = ''], n) => ({
    place: `${path} ${String(n + 1)}`,
    language: language === 'tsx' ? 'tsx' : 'ts',
    code,
  }));
}

/** The text of the documentation comments. */
function uncommented(text: string): string {
  return text.replace(/^ *\* ?/gm, '');
}

/** As a page of a bundler is compiled. The package's own name leads to what is built. */
const PAGE: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.ReactJSX,
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
};

test('every example is sound TypeScript against the package', () => {
  const folder = `${process.cwd()}/examples-of-the-docs`;
  const files = new Map(
    examples.map(({ language, code }, n) => [
      `${folder}/${String(n)}.${language}`,
      // Of its own scope, with `await` at its top.
      `${code}\nexport {};`,
    ]),
  );
  files.set(`${folder}/bundler.d.ts`, "declare module '*.css';");
  const host = ts.createCompilerHost(PAGE);
  const onDisk = ts.createCompilerHost(PAGE);
  host.fileExists = (path) => files.has(path) || onDisk.fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    const code = files.get(path);
    return code === undefined
      ? onDisk.getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, code, target);
  };
  const program = ts.createProgram([...files.keys()], PAGE, host);
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const n = Number(/(\d+)\.tsx?$/.exec(file?.fileName ?? '')?.[1]);
    return `${examples[n]?.place ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
}, 60_000);

test.each(examples.filter(({ language, place }) => language === 'ts' && !place.startsWith('README')))(
  'the example of $place runs',
  async ({ code }) => {
    const backend = new Backend().install();
    backend.goals = [goalView({ sessionId: 'ses_3f2a9c' })];
    await expect(run(code)).resolves.toBeUndefined();
  },
);

test('every function that can be called has an example that imports it', () => {
  const helpers = [
    'consumes',
    'objectiveOf',
    'sessionKey',
    'draftKey',
    'armStore',
    'span',
    'clock',
    'day',
    'reasonOf',
    'activeMsOf',
    'spent',
    'usageOf',
    'errorText',
    'sentence',
  ];
  const functions = Object.entries(api).filter(([, value]) => typeof value === 'function');
  const shown = new Set(examples.flatMap(({ code }) => [...code.matchAll(/\b\w+\b/g)].map(String)));
  const bare = functions.map(([name]) => name).filter((name) => !shown.has(name));
  expect(bare.filter((name) => !helpers.includes(name))).toEqual([]);
});

/** Runs an example, with the package's exports in place of its imports. */
async function run(code: string): Promise<void> {
  const plain = ts.transpile(code, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext });
  const body = plain
    .replace(/import fr from .*;/, '')
    .replace(/import \{([^}]*)\} from 'tauri-plugin-goal-api';/g, 'const {$1} = api;')
    .replace(/export \{\};/, '');
  expect(body).not.toMatch(/\bimport\b/);
  const AsyncFunction = (async () => {
    /* only its constructor is wanted */
  }).constructor as new (...parts: string[]) => (...values: unknown[]) => Promise<void>;
  await new AsyncFunction('api', 'fr', body)(api, fr);
}
