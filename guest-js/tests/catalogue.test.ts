import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { createWords } from '../index.js';
import en from '../locales/en.json' with { type: 'json' };
import fr from '../locales/fr.json' with { type: 'json' };

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test('both languages have the same keys, in the same order', () => {
  expect(Object.keys(fr)).toEqual(Object.keys(en));
});

test('both languages have the same placeholders', () => {
  const of = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, placeholders(text)]));
  expect(of(fr)).toEqual(of(en));
});

test('no text is empty, or has blanks around it', () => {
  for (const text of [...Object.values(en), ...Object.values(fr)]) {
    expect(text.trim()).toBe(text);
    expect(text).not.toBe('');
  }
});

test('no key of the page’s own is left over', () => {
  const own = /^(strip|usage|button|counter|badge|dialog|tokens|wait)\./;
  const sources = ['.', 'react', 'react/dialog']
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const made = /^(tokens|wait)\.(thousand|million|seconds|minutes|hours)$/;
  const unused = Object.keys(en).filter(
    (key) => own.test(key) && !made.test(key) && !sources.includes(`'${key}'`),
  );
  expect(unused).toEqual([]);
});

test('values are filled in once, and what is missing shows', () => {
  const words = createWords({ messages: { 'strip.waiting': '{detail} and {other}' } });
  expect(words.say('strip.waiting', { detail: '{other}', more: 1 })).toBe('{other} and {other}');
});

test('a missing translation falls back to English', () => {
  const words = createWords({ messages: { 'control.pause': 'Halt' }, locale: 'de' });
  expect([words.say('control.pause'), words.say('control.resume')]).toEqual(['Halt', 'Resume']);
  expect(words.code('why', 'busy')).toBe('the session works');
  expect(words.code('why', 'noSuchCode')).toBeUndefined();
});
