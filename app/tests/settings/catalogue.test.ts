import { expect, test } from 'vitest';

import { SETTINGS_PAGES } from '../../src/navigation';
import { CATALOGUE, found, marked, type Findable } from '../../src/settings/catalogue';
import en from '../../src/locales/en/settings.json';
import fr from '../../src/locales/fr/settings.json';

const ALL: Findable[] = [
  { id: 'theme', page: 'general', label: 'Thème', about: 'Clair ou sombre.', words: 'nuit' },
  { id: 'language', page: 'language', label: 'Langue', about: 'Des textes et du thème.', words: '' },
];

test('a setting is found by name, description and other words, whatever case and accents', () => {
  expect(found(ALL, 'NUIT').map(({ id }) => id)).toEqual(['theme']);
  expect(found(ALL, 'sombre theme').map(({ id }) => id)).toEqual(['theme']);
  expect(found(ALL, 'nothing')).toEqual([]);
  expect(found(ALL, '  ')).toEqual([]);
});

test('what has the words in its name comes first', () => {
  expect(found(ALL.toReversed(), 'theme').map(({ id }) => id)).toEqual(['theme', 'language']);
});

test('the words of a query are marked where they stand, accents and all', () => {
  expect(marked('Le thème', 'THEME')).toEqual([
    { text: 'Le ', hit: false },
    { text: 'thème', hit: true },
  ]);
  expect(marked('abab', 'ab ba')).toEqual([{ text: 'abab', hit: true }]);
  expect(marked('plain', 'x')).toEqual([{ text: 'plain', hit: false }]);
});

test('every setting stands on one page and has its words in both languages', () => {
  const ids = SETTINGS_PAGES.flatMap((page) => [...CATALOGUE[page]]).sort();
  expect(new Set(ids).size).toBe(ids.length);
  for (const texts of [en, fr]) {
    expect(Object.keys(texts.setting).sort()).toEqual(ids);
    for (const { label, about, words } of Object.values(texts.setting)) {
      expect([label, about, words].every((text) => text !== '')).toBe(true);
    }
  }
});
