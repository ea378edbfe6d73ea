// @vitest-environment node
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';

interface Manifest {
  version: string;
  exports: Record<string, string | { types: string; default: string }>;
  dependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** The paths in the package that would be published. The build stands in `dist`. */
function packed(): string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [found] = JSON.parse(output) as { files: { path: string }[] }[];
  return found?.files.map(({ path }) => path) ?? [];
}

test('the package carries what is built, its readme and its licences, and no more', { timeout: 60_000 }, () => {
  const paths = packed();
  const strays = paths.filter((path) => !/^dist\/.+\.(js|d\.ts|json|css)$/.test(path));
  expect(strays.sort()).toEqual(['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'package.json']);
  const named = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : [entry.types, entry.default],
  );
  for (const path of named.filter((path) => !path.includes('*'))) {
    expect(paths).toContain(path.replace('./', ''));
  }
  expect(paths).toContain('dist/locales/fr.json');
});

test('React is asked of nobody who does not use the kit', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['@tauri-apps/api']);
  expect(manifest.peerDependenciesMeta).toEqual({
    'radix-ui': { optional: true },
    react: { optional: true },
    'react-dom': { optional: true },
  });
});

test('the licences are the project’s', () => {
  for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
    expect(readFileSync(name, 'utf8')).toBe(readFileSync(`../${name}`, 'utf8'));
  }
});

test('a page pays for what it uses', async () => {
  const one = await bundle(`export { pause } from './dist/index.js'`);
  expect(one.modules).toContain('/dist/commands.js');
  expect(one.modules.filter((path) => /store|react|locales|presentation/.test(path))).toEqual([]);

  const all = await bundle(`export * from './dist/index.js'`);
  expect(all.modules.some((path) => /node_modules\/(react|radix)/.test(path))).toBe(false);
  // With the English catalogue, without @tauri-apps/api.
  expect(gzipSync(all.code).length).toBeLessThan(10_000);
}, 60_000);

test('importing does nothing', async () => {
  const { code } = await bundle(`import './dist/index.js'; import './dist/react/index.js'`);
  expect(code.trim()).toBe('');
}, 60_000);

/** What a bundler makes of a page that is `source`. */
async function bundle(source: string): Promise<{ modules: string[]; code: string }> {
  const entry = `${process.cwd()}/entry.js`;
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        enforce: 'pre',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
    build: {
      write: false,
      lib: { entry, formats: ['es'], fileName: 'page' },
      rolldownOptions: { external: [/^@tauri-apps\//], output: { minify: true } },
    },
  });
  const [output] = [result].flat() as Rolldown.RolldownOutput[];
  const [chunk] = output?.output ?? [];
  const modules = Object.entries(chunk?.modules ?? {})
    .filter(([, { code }]) => code !== null && code !== '')
    .map(([id]) => id.replace(process.cwd(), ''));
  return { modules, code: chunk?.code ?? '' };
}
