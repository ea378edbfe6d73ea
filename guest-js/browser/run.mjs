// The kit in Chromium: pictures of every status and phase in both themes, each looked over by axe,
// then what only a real browser shows: focus, keys, bursts of events.
//
//   node browser/run.mjs [NAME]   only the checks whose name contains NAME
//
// CHROMIUM names the browser; else /usr/bin/chromium.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';

import { behaviours } from './behaviours.mjs';
import { pictures } from './pictures.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = at('../../target/pictures/guest-js');
const [wanted = ''] = process.argv.slice(2);

if (wanted === '') rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const server = await createServer({
  configFile: false,
  root: at('.'),
  plugins: [react()],
  logLevel: 'warn',
  server: { host: '127.0.0.1', port: 0 },
});
await server.listen();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  // Chromium refuses its sandbox to root, as whom continuous integration often runs.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const failed = [];
let passed = 0;
try {
  const { port } = server.httpServer.address();
  for (const { name, run } of [...pictures(folder), ...behaviours()]) {
    if (!name.includes(wanted)) continue;
    const problem = await attempt(`http://127.0.0.1:${port}/`, run);
    if (problem === null) passed += 1;
    else failed.push(name);
    console.log(problem === null ? `ok    ${name}` : `FAIL  ${name}\n${problem}`);
  }
} finally {
  await browser.close();
  await server.close();
}
console.log(`${passed} passed, ${failed.length} failed`);
assert.deepEqual(failed, []);

/** Runs one check in a fresh context. Gives what went wrong, or null. */
async function attempt(address, run) {
  const context = await browser.newContext();
  const errors = [];
  try {
    const open = async (query, options = {}) => {
      const page = await context.newPage();
      await page.setViewportSize({ width: options.width ?? 860, height: options.height ?? 700 });
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      // Pictures are taken at the fixtures' moment.
      if (options.clock !== 'real') await page.clock.setFixedTime(new Date(2026, 10, 30, 14, 0, 0));
      await page.emulateMedia({
        colorScheme: options.scheme ?? 'light',
        reducedMotion: options.reducedMotion ?? 'no-preference',
      });
      await page.goto(`${address}?${new URLSearchParams(query)}`);
      await page.locator('main').waitFor();
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      return page;
    };
    await run(open);
    assert.deepEqual(errors, [], 'the page reported errors');
    return null;
  } catch (error) {
    return [String(error.stack ?? error), ...errors].join('\n');
  } finally {
    await context.close();
  }
}
