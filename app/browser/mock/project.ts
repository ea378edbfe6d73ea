/** What stands in the simulated folders: files, commands, agents, models. */
import type { Agent, Command, FileContent, FileNode, SnapshotFileDiff } from '@opencode-ai/sdk/v2/client';

import type { Models } from '../../src/host/contract';
import { EXPORTER } from './make';

export const FILES = [
  'README.md',
  'package.json',
  'src/delimiter.ts',
  'src/export.ts',
  'src/index.ts',
  'src/quote.ts',
  'tests/delimiter.test.ts',
  'tests/export.test.ts',
  'tests/fixtures/with byte order mark.csv',
];

/** What a session changed; as many lines as its summary says. */
export const CHANGED: SnapshotFileDiff[] = [
  { file: 'src/export.ts', status: 'modified', additions: 22, deletions: 14 },
  { file: 'src/quote.ts', status: 'added', additions: 31, deletions: 0 },
  { file: 'tests/export.test.ts', status: 'added', additions: 75, deletions: 0 },
  { file: 'src/old-quote.ts', status: 'deleted', additions: 0, deletions: 3 },
];

/** What the plan agent wrote down. */
const PLAN_FILES: Readonly<Record<string, string>> = {
  '.opencode/plans/1764498000000-quiet-canyon.md':
    '# Quote every field that needs it\n\n1. One function in `src/quote.ts` decides.\n' +
    '2. `src/export.ts` calls it for each field.\n3. `npm test` passes with the cases of RFC 4180.\n',
  '.opencode/plans/1764411600000-brave-meadow.md':
    '# Files with a byte order mark\n\n1. An option `bom` of the exporter.\n2. Tests for both.\n',
};

export function nodesIn(folder: string): FileNode[] {
  const inside = folder === '' || folder === '.' ? '' : `${folder.replace(/\/$/, '')}/`;
  const names = [...FILES, ...Object.keys(PLAN_FILES)].filter((path) => path.startsWith(inside)).map(
    (path) => path.slice(inside.length).split('/').slice(0, 2) as [string, string?],
  );
  const kinds = new Map(names.map(([name, below]) => [name, below === undefined ? 'file' : 'directory']));
  return [...kinds].map(([name, type]) => ({
    name,
    path: `${inside}${name}`,
    absolute: `${EXPORTER}/${inside}${name}`,
    type: type as FileNode['type'],
    ignored: false,
  }));
}

export function contentOf(path: string): FileContent {
  const plan = PLAN_FILES[path];
  if (plan !== undefined) return { type: 'text', content: plan };
  return { type: 'text', content: `// ${path}\nexport const delimiter = ',';\n` };
}

export const COMMANDS: Command[] = [
  { name: 'init', description: 'Writes AGENTS.md', source: 'command', template: 'Look around.', hints: [] },
  {
    name: 'review',
    description: 'Reviews the changes of a branch',
    source: 'command',
    template: 'Review $ARGUMENTS',
    hints: ['$ARGUMENTS'],
    subtask: true,
  },
  { name: 'changelog', description: 'Adds what is new', source: 'skill', template: 'Add it.', hints: [] },
];

export const AGENTS: Agent[] = [
  { name: 'build', mode: 'primary', native: true, permission: [], options: {} },
  { name: 'plan', mode: 'primary', native: true, permission: [], options: {} },
  { name: 'explore', mode: 'subagent', native: true, permission: [], options: {} },
];

const agent = { hidden: false, model: null, color: null };
const model = { attachments: true, images: true, pdf: true, reasoning: true, outputLimit: 64_000 };

export const MODELS: Models = {
  providers: [
    {
      id: 'anthropic',
      name: 'Anthropic',
      models: [
        {
          ...model,
          id: 'claude-sonnet-4-5',
          name: 'Claude Sonnet 4.5',
          contextLimit: 200_000,
          cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
          variants: ['high', 'max'],
        },
        {
          ...model,
          id: 'claude-haiku-4-5',
          name: 'Claude Haiku 4.5',
          contextLimit: 200_000,
          cost: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
          variants: [],
        },
      ],
    },
    {
      id: 'local',
      name: 'Local models',
      models: [
        {
          ...model,
          id: 'qwen3-coder-30b',
          name: 'Qwen3 Coder 30B',
          contextLimit: null,
          images: false,
          pdf: false,
          attachments: false,
          cost: null,
          variants: [],
        },
      ],
    },
  ],
  configured: { providerId: 'anthropic', modelId: 'claude-sonnet-4-5' },
  agents: [
    { ...agent, name: 'build', description: 'Changes files and runs commands', mode: 'primary' },
    { ...agent, name: 'plan', description: 'Reads and plans, changes nothing', mode: 'primary' },
    { ...agent, name: 'explore', description: 'Looks around', mode: 'subagent' },
    { ...agent, name: 'auditor', description: null, mode: 'primary', hidden: true },
  ],
};
