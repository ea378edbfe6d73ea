// Pictures of every scene in both themes and three widths; axe finds nothing serious in any of them, no key of a
// text is seen, and nothing is wider than the window.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';

import axe from 'axe-core';

/** 30 November 2026, 14:00 in Berlin. */
export const NOW = String(Date.UTC(2026, 10, 30, 13, 0, 0));

const WIDTHS = [
  [1280, 800],
  [360, 740],
  [2560, 1440],
];

const button = (name) => async (page) => {
  await page.getByRole('button', { name }).first().click();
};
const press = (key) => (page) => page.keyboard.press(key);
const text = (words) => (page) => page.getByText(words).first().waitFor();
const settings = (name) => async (page) => {
  await page.keyboard.press('Control+,');
  await page.getByRole('tab', { name }).click();
};

/** Chooses from the menu of the newest reply. */
const ofReply = (item, then) => async (page) => {
  const reply = page.getByRole('article', { name: /^(Reply of|Réponse de)/ }).last();
  await reply.hover();
  await reply.getByRole('button', { name: /^(More|Plus)$/ }).click();
  await page.getByRole('menuitem', { name: item }).click();
  await then?.(page);
};
const toggle = (name) => (page) => page.getByRole('switch', { name }).click();
const draftIn = (folder, then) => async (page) => {
  await page.getByRole('treeitem', { name: folder, exact: true }).hover();
  await page.getByRole('button', { name: new RegExp(` ${folder}$`) }).first().click();
  await then?.(page);
};
const planned = async (page) => {
  await button(/^Implement a plan/)(page);
  await text('One function in')(page);
};
const proposed = async (page) => {
  await page.getByRole('treeitem', { name: 'Landing page' }).click();
  await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor();
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('/craft-goal a byte order mark');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Arm as goal' }).waitFor();
};

/** Scenes with what is done before the picture, and in which language. */
const SCENES = [
  { name: 'tour', shown: text('And the delimiters?') },
  { name: 'tour-fr', scene: 'tour', lang: 'fr', shown: text('And the delimiters?') },
  { name: 'empty' },
  { name: 'empty-fr', scene: 'empty', lang: 'fr' },
  { name: 'first-run' },
  { name: 'first-run-fr', scene: 'first-run', lang: 'fr' },
  { name: 'long', shown: text('Case 1000 passes.') },
  { name: 'tools', shown: text('Once more, and watch the output.') },
  { name: 'tools-fr', scene: 'tools', lang: 'fr' },
  { name: 'permission', shown: button('Deny and say why…') },
  { name: 'permission-fr', scene: 'permission', lang: 'fr' },
  { name: 'question' },
  { name: 'question-fr', scene: 'question', lang: 'fr' },
  { name: 'subagents' },
  { name: 'compaction' },
  { name: 'revert' },
  { name: 'streaming', shown: text('The exporter now quotes every field') },
  { name: 'retrying' },
  { name: 'offline', shown: text('OpenCode is not reachable') },
  { name: 'failed-list' },
  { name: 'many-sessions' },
  { name: 'long-texts' },
  { name: 'goals' },
  { name: 'goals-fr', scene: 'goals', lang: 'fr' },
  { name: 'panel', scene: 'tour', panel: true },
  { name: 'panel-fr', scene: 'tour', panel: true, lang: 'fr' },
  { name: 'palette', scene: 'tour', shown: press('Control+k') },
  { name: 'shortcuts', scene: 'tour', shown: press('Control+/') },
  { name: 'notices', scene: 'tour', shown: button(/^Notices/) },
  { name: 'goal-dialog', scene: 'tour', shown: button('Quoting is done; the delimiter cases remain.') },
  { name: 'from-answer', scene: 'tour', shown: ofReply(/^Start a new session/) },
  { name: 'from-answer-goal', scene: 'tour', shown: ofReply(/^Start a new session/, toggle('Run as goal')) },
  { name: 'from-answer-fr', scene: 'tour', lang: 'fr', shown: ofReply(/nouvelle session/) },
  { name: 'start', scene: 'tour', shown: draftIn('exporter') },
  { name: 'from-plan', scene: 'tour', shown: draftIn('exporter', planned) },
  { name: 'craft', scene: 'tour', shown: proposed },
  { name: 'settings-general', scene: 'tour', shown: settings('General') },
  { name: 'settings-server', scene: 'tour', shown: settings('Server') },
  { name: 'settings-goal', scene: 'tour', shown: settings('Goal') },
  { name: 'settings-notifications', scene: 'tour', shown: settings('Notifications') },
  { name: 'settings-language', scene: 'tour', shown: settings('Language') },
  { name: 'settings-goal-fr', scene: 'tour', lang: 'fr', shown: settings('Objectif') },
];

/** The pictures to take, each as a check with a name. */
export function pictures(folder) {
  return SCENES.flatMap((scene) =>
    ['light', 'dark'].map((theme) => ({
      name: `picture ${scene.name} ${theme}`,
      run: (open) => picture(open, folder, scene, theme),
    })),
  );
}

async function picture(open, folder, { name, scene = name, lang = 'en', shown, panel }, theme) {
  const page = await open({ scene, theme, lang, now: NOW });
  if (panel === true) await page.keyboard.press('Control+j');
  await shown?.(page);
  for (const [width, height] of WIDTHS) {
    await page.setViewportSize({ width, height });
    // What appears has appeared, and lists that measure themselves have.
    await page.waitForTimeout(350);
    await page.screenshot({ path: `${folder}/${name}-${theme}-${width}.png` });
    await wide(page, width);
    if (width < 2000) await clean(page, width);
    await translated(page);
  }
}

/** The page never scrolls sideways. */
async function wide(page, width) {
  const found = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(found <= width, `at ${width} px the page is ${found} px wide`);
}

/** Throws what axe finds serious. */
export async function clean(page, width) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({
      id,
      where: nodes.slice(0, 5).map(({ html, failureSummary }) => `${html.slice(0, 300)}\n${failureSummary}`),
    }));
  assert.deepEqual(found, [], `at ${width} px`);
}

const FILES = /\.(css|csv|json|js|md|mjs|png|rs|ts|tsx)$/;

/** Every key with a dot, of all the files of texts. */
const KEYS = new Set(
  readdirSync(new URL('../src/locales/en', import.meta.url))
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const file = new URL(`../src/locales/en/${name}`, import.meta.url);
      return keysOf(JSON.parse(readFileSync(file, 'utf8')), '');
    }),
);

function keysOf(tree, path) {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${key}.`) : path === '' ? [] : [path + key],
  );
}

/** No key stands where its text should. */
async function translated(page) {
  const words = await page.evaluate(() => {
    const named = [...document.querySelectorAll('[aria-label], [title], [placeholder]')];
    const names = ['aria-label', 'title', 'placeholder'];
    const told = named.flatMap((one) => names.map((name) => one.getAttribute(name) ?? ''));
    return [...document.body.innerText.split('\n'), ...told];
  });
  const keys = words
    .map((word) => word.trim())
    .filter((word) => KEYS.has(word) || (/^[a-z]\w*(\.[a-z]\w*)+$/i.test(word) && !FILES.test(word)));
  assert.deepEqual(keys, []);
}
