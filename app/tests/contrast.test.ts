/** The colours of both themes, computed from the tokens: texts at 4.5:1, edges of controls and signs at 3:1. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const CSS = readFileSync(join(import.meta.dirname, '../src/styles.css'), 'utf8');

type Colours = Record<string, string>;

/** The colours in hexadecimal of the block that begins with `selector`. */
function tokens(selector: string): Colours {
  const start = CSS.indexOf(`${selector} {`);
  if (start < 0) throw new Error(`styles.css has no ${selector}`);
  const block = CSS.slice(start, CSS.indexOf('}', start));
  const found = block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6});/gi);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

const LIGHT = tokens(':root');
const DARK = { ...LIGHT, ...tokens(":root[data-theme='dark']") };
const THEMES = { light: LIGHT, dark: DARK };

/** Relative luminance as WCAG 2 defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['bg', 'surface', 'raised'];
const TINTS = ['tint-good', 'tint-bad', 'tint-waiting', 'tint-accent'];

/** Texts, and on what each of them stands. */
const TEXTS: Record<string, readonly string[]> = {
  text: [...GROUNDS, ...TINTS],
  'text-2': [...GROUNDS, ...TINTS],
  'text-3': GROUNDS,
  accent: [...GROUNDS, 'tint-accent'],
  good: [...GROUNDS, 'tint-good'],
  bad: [...GROUNDS, 'tint-bad'],
  waiting: [...GROUNDS, 'tint-waiting'],
  'on-accent': ['accent'],
};

/** What must be seen, though it is no text. */
const EDGES: Record<string, readonly string[]> = { control: GROUNDS };

/** Lines that only divide what is apart anyway. */
const DECORATION = ['border', 'border-strong'];

describe.each(Object.entries(THEMES))('%s', (_, colours) => {
  const ratio = (front: string, ground: string): number =>
    contrast(colours[front] ?? '', colours[ground] ?? '');

  it.each(Object.entries(TEXTS).flatMap(([front, on]) => on.map((ground) => [front, ground] as const)))(
    '%s is read on %s',
    (front, ground) => {
      expect(ratio(front, ground)).toBeGreaterThanOrEqual(4.5);
    },
  );

  it.each(Object.entries(EDGES).flatMap(([front, on]) => on.map((ground) => [front, ground] as const)))(
    '%s is seen on %s',
    (front, ground) => {
      expect(ratio(front, ground)).toBeGreaterThanOrEqual(3);
    },
  );

  it('has no colour that is looked at by none of these', () => {
    const known = [...Object.keys(TEXTS), ...Object.keys(EDGES), ...GROUNDS, ...TINTS, ...DECORATION];
    expect(Object.keys(colours).filter((name) => !known.includes(name))).toEqual([]);
  });
});

it('knows what contrast is', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});
