import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync('react/styles.css', 'utf8');

/** The tokens of each block that sets them: light, dark by the system, dark by the attribute. */
const blocks = [...css.matchAll(/:where\([^{]*\) \{\n([^}]*--goal-bg:[^}]*)\}/g)].map(tokensOf);
const [light = {}, system = {}, dark = {}] = blocks;

test('dark is the same by the system and by the attribute', () => {
  expect(blocks).toHaveLength(3);
  expect(system).toEqual(dark);
  const scale = ['font', 'radius', 'radius-card'].map((name) => `--goal-${name}`);
  const colours = Object.keys(light).filter((name) => !scale.includes(name));
  expect(Object.keys(dark)).toEqual(colours);
});

const SURFACES = ['bg', 'surface', 'raised', 'tint-blocked', 'tint-waiting'];
const PLAIN = SURFACES.slice(0, 3);
/** What is written on what, at 4.5 to 1 at least. */
const TEXTS: [string, string[]][] = [
  ['text', SURFACES],
  ['text-2', SURFACES],
  ['text-3', SURFACES],
  ['blocked', ['bg', 'surface', 'tint-blocked']],
  ['waiting', ['bg', 'surface', 'tint-waiting']],
  ['complete', ['bg', 'surface']],
  ['active', ['bg', 'surface']],
  ['on-accent', ['accent']],
  ['surface', ['text']],
];
/** Signs, edges of fields and focus rings, at 3 to 1 at least. */
const SIGNS: [string, string[]][] = [
  ['active', PLAIN],
  ['paused', PLAIN],
  ['complete', PLAIN],
  ['blocked', SURFACES],
  ['waiting', SURFACES],
  ['accent', SURFACES],
  ['control', ['bg', 'surface']],
];

test.each([
  ['light', light],
  ['dark', dark],
])('%s: texts and signs stand out', (_, tokens) => {
  const problems: string[] = [];
  for (const [pairs, least] of [[TEXTS, 4.5] as const, [SIGNS, 3] as const]) {
    for (const [front, backs] of pairs) {
      for (const back of backs) {
        const found = contrast(tokens[`--goal-${front}`], tokens[`--goal-${back}`]);
        if (!(found >= least)) problems.push(`${front} on ${back}: ${found.toFixed(2)}`);
      }
    }
  }
  expect(problems).toEqual([]);
});

test('the measure is right', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

test('every colour comes from a token', () => {
  const rules = css.slice(css.lastIndexOf('--goal-shadow'));
  expect(rules.match(/#[0-9a-f]{3,8}\b/gi) ?? []).toEqual([]);
  const used = new Set(rules.match(/--goal-[\w-]+/g));
  const known = new Set([...Object.keys(light), '--goal-tone']);
  expect([...used].filter((name) => !known.has(name))).toEqual([]);
});

function tokensOf([, body = '']: RegExpMatchArray): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const [, name = '', value = ''] of body.matchAll(/(--goal-[\w-]+): ([^;]+);/g)) {
    tokens[name] = value;
  }
  return tokens;
}

/** By WCAG 2: (lighter + 0.05) / (darker + 0.05). */
function contrast(one: string | undefined, other: string | undefined): number {
  const [light = NaN, dark = NaN] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex = ''): number {
  const [r = NaN, g = NaN, b = NaN] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
