import { expect, test } from 'vitest';

import { createWords } from '../index.js';
import fr from '../locales/fr.json' with { type: 'json' };
import { NOON } from './fixtures.js';

const words = createWords();
const mots = createWords({ messages: fr, locale: 'fr' });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0, '0'],
  [950, '950'],
  [999, '999'],
  [1_000, '1.0K'],
  [1_250, '1.3K'],
  [3_440, '3.4K'],
  [9_949, '9.9K'],
  [9_950, '10K'],
  [12_499, '12K'],
  [34_200, '34K'],
  [200_000, '200K'],
  [999_499, '999K'],
  [999_500, '1.0M'],
  [1_240_000, '1.2M'],
  [Number.MAX_SAFE_INTEGER, '9007199254.7M'],
])('%d tokens are %s', (count, shown) => {
  expect(words.tokens(count)).toBe(shown);
});

test('French has its own comma and unit', () => {
  expect([950, 3_440, 34_200, 1_240_000].map((n) => mots.tokens(n).replace(/\s/u, ' '))).toEqual([
    '950',
    '3,4 k',
    '34 k',
    '1,2 M',
  ]);
});

test.each([
  [-5, '0 s'],
  [0, '0 s'],
  [1, '1 s'],
  [9_000, '9 s'],
  [59_001, '1 min'],
  [4 * MINUTE + 1, '5 min'],
  [59 * MINUTE + 1, '1 h'],
  [26 * HOUR, '26 h'],
])('a wait of %d ms is %s, never less than it is', (ms, shown) => {
  expect(words.span(ms)).toBe(shown);
});

test('a clock names the day where it is another one', () => {
  expect(words.clock(NOON + 2 * MINUTE, NOON)).toBe('14:02');
  expect(words.clock(NOON - DAY, NOON)).toBe('Sun 14:00');
  expect(words.clock(NOON - 10 * DAY, NOON)).toBe('Nov 20, 14:00');
  expect(words.clock(NOON - 400 * DAY, NOON)).toMatch(/^Oct 26, 2025, 1[34]:00$/);
});

test('a day is a weekday within a week, else a date', () => {
  expect(words.day(NOON - 3 * DAY, NOON)).toBe('Friday');
  expect(words.day(NOON - 10 * DAY, NOON)).toBe('Nov 20');
  expect(mots.day(NOON - 3 * DAY, NOON)).toBe('vendredi');
});

test.each([
  [0, 'this minute'],
  [59_000, 'this minute'],
  [4 * MINUTE, '4m ago'],
  [2 * HOUR, '2h ago'],
  [DAY, 'yesterday'],
  [3 * DAY, '3d ago'],
  [7 * DAY, 'Nov 23'],
  // A clock that runs ahead of ours.
  [-5 * MINUTE, 'this minute'],
])('%d ms ago is %s', (ago, shown) => {
  expect(words.relative(NOON - ago, NOON)).toBe(shown);
});

test('a time that has been spent is told in whole minutes', () => {
  const told = [0, MINUTE - 1, MINUTE, 50 * MINUTE, HOUR, 2 * HOUR + 5 * MINUTE, 27 * HOUR];
  expect(told.map((ms) => words.spent(ms))).toEqual([
    '',
    '',
    '1 min',
    '50 min',
    '1 h',
    '2 h 5 min',
    '27 h',
  ]);
});
