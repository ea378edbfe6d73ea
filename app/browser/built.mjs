// What is shipped holds nothing of the simulated host.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { make } from './serve.mjs';

/** Words that stand in the simulated host and nowhere else. */
const MARKS = ['/home/ada/exporter', '__flood'];

export function built() {
  return [
    {
      name: 'the shipped page holds no simulated host',
      run: async () => {
        const folder = mkdtempSync(join(tmpdir(), 'page-'));
        try {
          await make(folder, false);
          const files = readdirSync(folder, { recursive: true, withFileTypes: true });
          const scripts = files.filter((file) => file.isFile() && file.name.endsWith('.js'));
          assert.notEqual(scripts.length, 0);
          for (const { parentPath, name } of scripts) {
            const text = readFileSync(join(parentPath, name), 'utf8');
            for (const mark of MARKS) assert.ok(!text.includes(mark), `${name} holds ${mark}`);
          }
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    },
  ];
}
