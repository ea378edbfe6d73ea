// The whole page in Chromium with a simulated host: what a person does, pictures of every scene in both themes
// and three widths, each looked over by axe, and how fast it is.
//
//   node browser/run.mjs [NAME]   only the checks whose name contains NAME
//
// CHROMIUM names the browser; else /usr/bin/chromium.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { built } from './built.mjs';
import { flows } from './flows.mjs';
import { pictures } from './pictures.mjs';
import { serve } from './serve.mjs';
import { speed } from './speed.mjs';

const folder = fileURLToPath(new URL('../../target/pictures/app', import.meta.url));
const [wanted = ''] = process.argv.slice(2);

if (wanted === '') rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const server = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--disable-gpu',
    '--disable-background-networking',
    // Chromium refuses its sandbox to root, as whom continuous integration often runs.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
const failed = [];
let passed = 0;
try {
  for (const { name, run } of [...built(), ...flows(), ...speed(), ...pictures(folder)]) {
    if (!name.includes(wanted)) continue;
    const problem = await attempt(run);
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
async function attempt(run) {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  context.setDefaultTimeout(10_000);
  const errors = [];
  try {
    const open = async (query = {}, { width = 1280, height = 800 } = {}) => {
      const page = await context.newPage();
      await page.setViewportSize({ width, height });
      page.on('pageerror', (error) => errors.push(String(error)));
      // What the content policy refuses is told here, too.
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await page.goto(`${server.address}?${new URLSearchParams(query)}`);
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
