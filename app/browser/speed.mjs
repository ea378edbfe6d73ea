// How fast the page is: figures, and a bound that only a fault passes.
import assert from 'node:assert/strict';

/** Milliseconds. A session of 2,000 messages opens in far less than one second on any machine of today. */
const OPENS_MAX = 3_000;
const GAP_MAX = 500;

export function speed() {
  return [
    { name: 'how fast a session of 2,000 messages opens', run: opens },
    { name: 'how fast a session of 2,000 messages scrolls', run: scrolls },
    { name: 'how fast ten thousand deltas are shown', run: floods },
    { name: 'how fast a thousand sessions are listed', run: lists },
  ];
}

async function opens(open) {
  const page = await open({ scene: 'long' });
  await page.getByText('Case 1000 passes.').waitFor();
  const took = await page.evaluate(async () => {
    const rows = [...document.querySelectorAll('[role=treeitem][aria-level="2"]')];
    // Somewhere else, and back again: the transcript is drawn anew.
    document.querySelector('nav button[aria-label="New session"]').click();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const start = performance.now();
    rows[0].click();
    while (!document.querySelector('main').innerText.includes('Case 1000 passes.')) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return performance.now() - start;
  });
  console.log(`      opened in ${took.toFixed(0)} ms`);
  assert.ok(took < OPENS_MAX, `opening took ${took} ms`);
  // From nothing: load, read, draw. How long that takes says more of the machine than of the page.
  const fresh = await open({ scene: 'long' });
  await fresh.getByText('Case 1000 passes.').waitFor();
  const cold = await fresh.evaluate(() => performance.now());
  console.log(`      from an empty window in ${cold.toFixed(0)} ms`);
}

async function scrolls(open) {
  const page = await open({ scene: 'long' });
  await page.getByText('Case 1000 passes.').waitFor();
  const { gap, frames } = await page.evaluate(async () => {
    const transcript = document.querySelector('[role=log]');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let last = await frame();
    let gap = 0;
    let frames = 0;
    // A screen's height every few frames, as a hand on a wheel does.
    for (; frames < 240 && transcript.scrollTop > 0; frames += 1) {
      transcript.scrollTop -= 200;
      const now = await frame();
      gap = Math.max(gap, now - last);
      last = now;
    }
    return { gap, frames };
  });
  console.log(`      the longest of ${frames} frames of scrolling took ${gap.toFixed(0)} ms`);
  assert.ok(frames > 100, `it scrolled for ${frames} frames`);
  assert.ok(gap < GAP_MAX, `a frame took ${gap} ms`);
}

async function floods(open) {
  const page = await open({ scene: 'flood' });
  await page.getByText('Say a lot.').waitFor();
  const { gap, took } = await page.evaluate(async () => {
    let last = performance.now();
    let gap = 0;
    let on = true;
    const look = (now) => {
      gap = Math.max(gap, now - last);
      last = now;
      if (on) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    const start = performance.now();
    await window.__flood();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    on = false;
    return { gap, took: performance.now() - start };
  });
  console.log(`      the longest frame took ${gap.toFixed(0)} ms, all of it ${took.toFixed(0)} ms`);
  await page.getByText('word9998').waitFor();
  assert.ok(gap < GAP_MAX, `a frame took ${gap} ms`);
}

async function lists(open) {
  const page = await open({ scene: 'many-sessions' });
  await page.getByRole('treeitem', { name: /^Session 1:/ }).waitFor();
  const rows = await page.locator('[role=treeitem]').count();
  const took = await page.evaluate(() => performance.now());
  console.log(`      listed in ${took.toFixed(0)} ms, ${rows} rows in the page`);
  assert.ok(rows < 200, `${rows} rows are drawn at once`);
}
