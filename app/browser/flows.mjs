// What a person does, from beginning to end.
import assert from 'node:assert/strict';

/** Words come fast where nothing depends on seeing them come. */
const FAST = { scene: 'tour', word: '2' };

const box = (page) => page.getByRole('textbox', { name: 'Message to the agent' });
const row = (page, name) => page.getByRole('treeitem', { name });
const button = (page, name) => page.getByRole('button', { name }).first();
const ANSWERED = 'What remains are files with a byte order mark.';

async function at(open, name, query = FAST, size = undefined) {
  const page = await open(query, size);
  await row(page, name).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return page;
}

async function say(page, words) {
  await box(page).fill(words);
  await box(page).press('Enter');
}

async function act(page, title, item) {
  await row(page, title).hover();
  await button(page, `Actions for “${title}”`).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Chooses from the menu of the newest reply. */
async function ofReply(page, item) {
  const reply = page.getByRole('article', { name: /^Reply of/ }).last();
  await reply.hover();
  await reply.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

const FLOWS = {
  'a message is sent and its answer streams': async (open) => {
    const page = await at(open, 'Landing page', { scene: 'tour', word: '60' });
    await say(page, 'Go on.');
    await page.getByRole('article', { name: /^You/ }).getByText('Go on.').waitFor();
    assert.equal(await box(page).inputValue(), '');
    await page.getByText('The exporter now', { exact: false }).waitFor();
    // It comes word by word: its end is not there yet.
    assert.equal(await page.getByText(ANSWERED).count(), 0);
    await page.getByText(ANSWERED).waitFor();
    await button(page, 'Send').waitFor();
  },

  'a new session begins with its first message': async (open) => {
    const page = await open(FAST);
    await row(page, 'website').hover();
    await button(page, 'New session in website').click();
    await say(page, 'Make the landing page faster');
    await page.getByText(ANSWERED).waitFor();
    await page.getByRole('heading', { name: 'Make the landing page faster', level: 1 }).waitFor();
    await row(page, /^Make the landing page faster/).waitFor();
  },

  'a tool is shown, folds out and in': async (open) => {
    const page = await at(open, 'Landing page');
    await say(page, 'Run the tests.');
    const tool = page.getByRole('button', { name: /bash.*npm test/ });
    await tool.click();
    await page.getByText('14 passed (14)').first().waitFor();
    await tool.click();
    await page.getByText('14 passed (14)').first().waitFor({ state: 'detached' });
  },

  'a permission is given': async (open) => {
    const page = await at(open, 'Landing page');
    await say(page, 'Ask for permission.');
    await button(page, 'Allow once').click();
    await page.getByText('Nothing was published.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Allow once' }).count(), 0);
  },

  'a permission is denied': async (open) => {
    const page = await at(open, 'Landing page');
    await say(page, 'Ask for permission.');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await button(page, 'Send').waitFor();
    await page.getByRole('button', { name: /^Denied bash/ }).waitFor();
  },

  'a question is answered': async (open) => {
    const page = await at(open, 'Landing page');
    await say(page, 'Ask a question.');
    await page.getByRole('radio', { name: /^Semicolon/ }).click();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('that is the delimiter I use from now on', { exact: false }).waitFor();
  },

  'a turn is stopped and what was said stays': async (open) => {
    const page = await at(open, 'Landing page', { scene: 'tour', word: '30' });
    await say(page, 'Tell it slow.');
    await page.getByText('The exporter now quotes every field', { exact: false }).first().waitFor();
    await button(page, /^Stop/).click();
    await page.getByText('Stopped').first().waitFor();
    await page.getByText('The exporter now quotes every field', { exact: false }).first().waitFor();
    await button(page, 'Send').waitFor();
  },

  'a failed turn says why': async (open) => {
    const page = await at(open, 'Landing page');
    await say(page, 'Let it fail.');
    await page.getByText('Invalid API key').first().waitFor();
    await page.getByText('This turn failed').waitFor();
  },

  'a message waits in the queue for the end of the turn': async (open) => {
    const page = await at(open, 'Landing page', { scene: 'tour', word: '40' });
    await say(page, 'First.');
    await button(page, /^Stop/).waitFor();
    await say(page, 'Second.');
    await page.getByText('Queued:').waitFor();
    await page.getByRole('article', { name: /^You/ }).getByText('Second.').waitFor({ timeout: 30_000 });
    await page.getByText('Queued:').waitFor({ state: 'detached' });
  },

  'a draft survives a reload': async (open) => {
    const page = await at(open, 'Landing page');
    await box(page).fill('Not sent yet');
    // It is kept when typing rests.
    await page.waitForFunction(() => (sessionStorage.getItem('tour drafts') ?? '').includes('Not sent yet'));
    await page.reload();
    await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'Not sent yet');
  },

  'a session is renamed': async (open) => {
    const page = await at(open, 'Landing page');
    await act(page, 'Landing page', 'Rename');
    await page.getByRole('textbox', { name: 'Title of the session' }).fill('Front page');
    await page.keyboard.press('Enter');
    await row(page, /^Front page/).waitFor();
    await page.getByRole('heading', { name: 'Front page', level: 1 }).waitFor();
  },

  'a session is archived and taken out again': async (open) => {
    const page = await open(FAST);
    await act(page, 'Landing page', 'Archive');
    await row(page, /^Landing page/).waitFor({ state: 'detached' });
    await button(page, 'Archived sessions').click();
    await act(page, 'Landing page', 'Take out of the archive');
    await button(page, 'Archived sessions').click();
    await row(page, /^Landing page/).waitFor();
  },

  'a session is deleted after it was asked for': async (open) => {
    const page = await at(open, 'Landing page');
    await act(page, 'Landing page', 'Delete…');
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
    await dialog.getByText('The files in', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await row(page, /^Landing page/).waitFor({ state: 'detached' });
  },

  'the palette finds a session and a command': async (open) => {
    const page = await open(FAST);
    await row(page, /^Landing page/).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('landing');
    await page.getByRole('option', { name: /Landing page/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('theme: dark');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  },

  'the settings change the language and keep it': async (open) => {
    const page = await open(FAST);
    await row(page, /^Landing page/).waitFor();
    await page.keyboard.press('Control+,');
    await page.getByRole('tab', { name: 'Language' }).click();
    await page.getByRole('radio', { name: 'Français' }).click();
    await page.getByRole('tab', { name: 'Langue' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'fr');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('textbox', { name: 'Message à l’agent' }).waitFor();
  },

  'a goal is armed, runs, is continued and ends': async (open) => {
    const page = await at(open, 'Landing page');
    await button(page, 'Make the next message a goal').click();
    await box(page).fill('Make the landing page load in one second.');
    await box(page).press('Enter');
    const strip = page.getByRole('group', { name: 'Session goal' });
    await strip.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByText('Continued by the goal').waitFor({ timeout: 30_000 });
    await strip.getByText(/Complete/).first().waitFor({ timeout: 30_000 });
    await page.getByRole('treeitem', { name: /Landing page.*Goal: complete/ }).waitFor();
  },

  'a goal is paused and resumed': async (open) => {
    const page = await at(open, 'Landing page', { scene: 'tour', word: '30' });
    await button(page, 'Make the next message a goal').click();
    await say(page, 'Tell it slow.');
    const strip = page.getByRole('group', { name: 'Session goal' });
    await strip.getByRole('button', { name: 'Pause' }).click();
    await strip.getByRole('button', { name: 'Resume' }).click();
    await strip.getByRole('button', { name: 'Pause' }).waitFor();
  },

  'a session begins from an answer, as a goal in a worktree': async (open) => {
    const page = await at(open, 'Refactor the exporter');
    await ofReply(page, 'Start a new session from this answer…');
    const dialog = page.getByRole('dialog', { name: 'New session from this answer' });
    const instructions = dialog.getByRole('textbox', { name: 'Instructions' });
    assert.match(await instructions.inputValue(), /wait for my approval/);
    await dialog.getByRole('switch', { name: 'Run as goal' }).click();
    assert.match(await instructions.inputValue(), /do not wait for approval/);
    await dialog.getByRole('switch', { name: 'Create worktree' }).click();
    await dialog.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('option', { name: /Haiku/ }).click();
    await instructions.press('Control+Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('article', { name: /^You/ }).getByText('Treat the answer below', { exact: false }).waitFor();
    await page.getByRole('article', { name: /^You/ }).getByText('They are next: comma', { exact: false }).waitFor();
    await page.getByRole('group', { name: 'Session goal' }).getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('treeitem', { name: /brave-otter/ }).waitFor();
  },

  'a dialog that is given up changes nothing, and everything goes on': async (open) => {
    const page = await at(open, 'Refactor the exporter');
    await ofReply(page, 'Start a new session from this answer…');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Once more: now its code is there already when the menu closes.
    await ofReply(page, 'Start a new session from this answer…');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await say(page, 'Go on.');
    await page.getByText(ANSWERED).waitFor();
  },

  'a saved plan is implemented': async (open) => {
    const page = await open(FAST);
    await row(page, /^exporter/).hover();
    await button(page, 'New session in exporter').click();
    await button(page, /^Implement a plan/).click();
    const dialog = page.getByRole('dialog', { name: 'Implement a plan' });
    await dialog.getByText('Quote every field that needs it').first().waitFor();
    await dialog.getByRole('button', { name: 'Plan: quiet-canyon' }).click();
    await page.getByRole('menuitemradio', { name: /brave-meadow/ }).click();
    await dialog.getByText('Files with a byte order mark').first().waitFor();
    await dialog.getByRole('switch', { name: 'Run as goal' }).click();
    await dialog.getByRole('button', { name: 'Start goal' }).click();
    const said = page.getByRole('article', { name: /^You/ });
    await said.getByText('Implement the plan “Files with a byte order mark”.').waitFor();
    await said.getByRole('button', { name: 'Added by the app' }).click();
    await said.getByText('An option `bom` of the exporter.', { exact: false }).waitFor();
    await page.getByRole('group', { name: 'Session goal' }).getByRole('button', { name: 'Pause' }).waitFor();
  },

  'a goal is crafted and armed with one press': async (open) => {
    const page = await open(FAST);
    await row(page, 'website').hover();
    await button(page, 'New session in website').click();
    await button(page, /^Craft a goal/).click();
    await page.waitForFunction(() => document.activeElement?.value === '/craft-goal ');
    await page.keyboard.type('a byte order mark');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: /^You/ }).getByText('Help me craft a goal', { exact: false }).waitFor();
    await button(page, 'Arm as goal').click();
    assert.match(await box(page).inputValue(), /^The exporter writes a byte order mark/);
    await page.getByPlaceholder('This message becomes the goal').waitFor();
    await box(page).press('Enter');
    await page.getByRole('group', { name: 'Session goal' }).getByRole('button', { name: 'Pause' }).waitFor();
  },

  'the line is lost and comes back': async (open) => {
    const page = await at(open, 'Landing page');
    await page.evaluate(() => window.__line(false));
    await page.getByText('OpenCode is not reachable', { exact: false }).first().waitFor();
    await box(page).fill('Kept meanwhile');
    await page.evaluate(() => window.__line(true));
    await page.getByText('OpenCode is not reachable', { exact: false }).waitFor({ state: 'detached' });
    await box(page).press('Enter');
    await page.getByText(ANSWERED).waitFor();
  },

  'in a narrow window the sidebar is a sheet': async (open) => {
    const page = await open(FAST, { width: 400, height: 740 });
    await page.getByRole('heading', { name: 'Refactor the exporter', level: 1 }).waitFor();
    assert.equal(await page.getByRole('tree').isVisible().catch(() => false), false);
    await button(page, 'Show sidebar').click();
    await row(page, /^Landing page/).click();
    await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor();
    await page.getByRole('tree').waitFor({ state: 'hidden' });
  },

  'everything is done by keyboard': async (open) => {
    const page = await open(FAST);
    await row(page, /^Landing page/).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('landing');
    await page.getByRole('option', { name: /Landing page/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor();
    await reach(page, 'Message to the agent');
    await page.keyboard.type('Ask for permission.');
    await page.keyboard.press('Enter');
    await button(page, 'Allow once').waitFor();
    await reach(page, 'Allow once');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was published.').waitFor();
    await page.keyboard.press('Control+,');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Alt+ArrowDown');
    await page.getByRole('heading', { name: 'Landing page', level: 1 }).waitFor({ state: 'detached' });
  },
};

/** Tabs until the element of that name has the focus; it must be seen there. */
async function reach(page, name) {
  for (let steps = 0; steps < 60; steps += 1) {
    const focused = await page.evaluate(() => {
      const { activeElement: one } = document;
      return [one?.getAttribute('aria-label') ?? '', one?.textContent?.trim() ?? ''];
    });
    if (focused.includes(name)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`60 presses of Tab do not reach “${name}”`);
}

export function flows() {
  return Object.entries(FLOWS).map(([name, run]) => ({ name, run }));
}
