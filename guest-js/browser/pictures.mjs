// One picture of each scene, theme and width; axe finds nothing in any of them.
import assert from 'node:assert/strict';

import axe from 'axe-core';

const DIALOGS = ['none', 'working', 'waiting', 'blocked', 'budget-limited', 'paused', 'complete'];

/** The pictures to take, each as a check with a name. */
export function pictures(folder) {
  const scenes = [
    { name: 'strips', query: { scene: 'strips' } },
    { name: 'strips-narrow', query: { scene: 'strips' }, width: 420 },
    { name: 'strips-fr', query: { scene: 'strips', lang: 'fr' } },
    { name: 'signs', query: { scene: 'signs' } },
    ...DIALOGS.map((state) => ({ name: `dialog-${state}`, query: { scene: 'dialog', state } })),
    { name: 'dialog-fr', query: { scene: 'dialog', state: 'waiting', lang: 'fr' } },
    { name: 'sheet', query: { scene: 'dialog', state: 'waiting' }, width: 420 },
    { name: 'dialog-remove', query: { scene: 'dialog', state: 'working' }, press: 'Remove' },
  ];
  return scenes.flatMap((scene) =>
    ['light', 'dark'].map((theme) => ({
      name: `${scene.name}-${theme}`,
      run: (open) => picture(open, folder, scene, theme),
    })),
  );
}

async function picture(open, folder, scene, theme) {
  const { name, query, width, press } = scene;
  // Half of the pictures follow the system, half the attribute: both ways lead to the same look.
  const asked = name.startsWith('dialog') ? { scheme: theme } : { scheme: 'light' };
  const attribute = name.startsWith('dialog') ? {} : { theme };
  const page = await open({ ...query, ...attribute }, { width, ...asked });
  await shown(page, query);
  if (press !== undefined) await page.getByRole('button', { name: press }).click();
  // What appears has appeared.
  await page.waitForTimeout(200);
  const dialog = query.scene === 'dialog';
  await page.screenshot({ path: `${folder}/${name}-${theme}.png`, fullPage: !dialog });
  await clean(page);
}

async function shown(page, { scene, state }) {
  if (scene !== 'dialog') return page.locator('[data-tone]').nth(20).waitFor();
  await page.getByRole('dialog').waitFor();
  const settled = { none: 'will audit', complete: 'Close' };
  return page.getByText(settled[state] ?? /decisions|décisions/).first().waitFor();
}

/** Throws what axe finds, but for the rules that are left out. */
export async function clean(page, leftOut = []) {
  await page.evaluate(axe.source);
  const rules = Object.fromEntries(leftOut.map((id) => [id, { enabled: false }]));
  const { violations } = await page.evaluate((options) => window.axe.run(options), { rules });
  const found = violations.map(({ id, nodes }) => ({
    id,
    where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }));
  assert.deepEqual(found, []);
}
