/** The page's texts: complete in every language, all of them used, and none beside them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';
import { describe, expect, it } from 'vitest';

import { LANGUAGES } from '../src/i18n';
import en from '../src/locales/en';
import fr from '../src/locales/fr';

const SOURCE = join(import.meta.dirname, '../src');
const PLURAL = /_(zero|one|two|few|many|other)$/;

/** `ns:key` → text. */
type Texts = ReadonlyMap<string, string>;

function flat(tree: object, path: string): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]: [string, unknown]) => {
    const at = path.endsWith(':') ? path + key : `${path}.${key}`;
    return typeof value === 'object' && value !== null ? flat(value, at) : [[at, String(value)]];
  });
}

const textsOf = (namespaces: object): Texts =>
  new Map(Object.entries(namespaces).flatMap(([ns, tree]) => flat(tree as object, `${ns}:`)));

const TEXTS: Record<(typeof LANGUAGES)[number], Texts> = { en: textsOf(en), fr: textsOf(fr) };

/** A key without its plural form. */
const base = (key: string): string => key.replace(PLURAL, '');
const bases = (texts: Texts): string[] => [...new Set([...texts.keys()].map(base))].sort();

/** The placeholders of all forms of a key. */
function placeholders(texts: Texts, key: string): string[] {
  const forms = [...texts].filter(([one]) => base(one) === key);
  const found = forms.flatMap(([, text]) => [...text.matchAll(/\{\{\s*([\w.]+)/g)].map(([, name = '']) => name));
  return [...new Set(found)].sort();
}

describe('every language', () => {
  it('has the same texts', () => {
    expect(bases(TEXTS.fr)).toEqual(bases(TEXTS.en));
  });

  it.each(LANGUAGES)('%s has no empty text', (language) => {
    const empty = [...TEXTS[language]].filter(([, text]) => text.trim() === '');
    expect(empty).toEqual([]);
  });

  it.each(LANGUAGES)('%s has all plural forms that it has, and no others', (language) => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const keys = [...TEXTS[language].keys()];
    const plural = new Set(keys.filter((key) => PLURAL.test(key)).map(base));
    const wanted = [...plural].flatMap((key) => forms.map((form) => `${key}_${form}`));
    expect(keys.filter((key) => PLURAL.test(key)).sort()).toEqual(wanted.sort());
  });

  it('fills in the same', () => {
    const differ = bases(TEXTS.en).filter(
      (key) => placeholders(TEXTS.en, key).join() !== placeholders(TEXTS.fr, key).join(),
    );
    expect(differ).toEqual([]);
  });
});

describe('French', () => {
  const wrong = (pattern: RegExp): [string, string][] =>
    [...TEXTS.fr].filter(([, text]) => pattern.test(text.replace(/\{\{.*?\}\}|https?:\S+/g, 'x')));

  it('has typographic apostrophes and quotes', () => {
    expect(wrong(/['"“”]/)).toEqual([]);
  });

  it('has a space that does not break before high marks and inside quotes', () => {
    expect(wrong(/[^\u202f\u00a0\s:;?!][:;?!](\s|$)|[ ][:;?!]|«[^\u202f\u00a0]|[^\u202f\u00a0]»/)).toEqual([]);
  });
});

interface Source {
  name: string;
  text: string;
  tree: ts.SourceFile;
}

const SOURCES: Source[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('locales'))
  .map((name) => {
    const text = readFileSync(join(SOURCE, name), 'utf8');
    const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
    return { name, text, tree: ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true, kind) };
  });

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  node.forEachChild((child) => {
    visit(child, look);
  });
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What the source names: whole keys, and patterns where a part of a key is computed. */
function named(): { keys: Set<string>; patterns: RegExp[] } {
  const keys = new Set<string>();
  const patterns: RegExp[] = [];
  for (const { text, tree } of SOURCES) {
    visit(tree, (node) => {
      if (ts.isStringLiteralLike(node)) keys.add(node.text);
      if (ts.isTemplateExpression(node) && /^[\w:]+\./.test(node.head.text)) {
        const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
        patterns.push(new RegExp(`^${parts.map(quoted).join('.+')}$`));
      }
    });
    // Keys that are put together in other ways are announced: `// i18n: prefix.*`.
    for (const [, prefix = ''] of text.matchAll(/\/\/ i18n: ([\w:.]+)\.\*/g)) {
      patterns.push(new RegExp(`^${quoted(prefix)}\\..+$`));
    }
  }
  return { keys, patterns };
}

describe('the source', () => {
  it('uses every text', () => {
    const { keys, patterns } = named();
    const unused = bases(TEXTS.en).filter((key) => {
      const [, bare = ''] = key.split(':');
      const names = [key, bare];
      return !names.some((name) => keys.has(name) || patterns.some((pattern) => pattern.test(name)));
    });
    expect(unused).toEqual([]);
  });

  it('has no text of its own between tags', () => {
    const found: string[] = [];
    for (const { name, tree } of SOURCES) {
      visit(tree, (node) => {
        if (ts.isJsxText(node) && /\p{L}/u.test(node.text)) found.push(`${name}: ${node.text.trim()}`);
      });
    }
    expect(found).toEqual([]);
  });

  it('has no text of its own in what is shown or read aloud of a tag', () => {
    const SHOWN = ['aria-label', 'aria-description', 'alt', 'label', 'placeholder', 'title', 'description'];
    const found: string[] = [];
    for (const { name, tree } of SOURCES) {
      visit(tree, (node) => {
        if (!ts.isJsxAttribute(node) || !SHOWN.includes(node.name.getText())) return;
        const value = node.initializer;
        if (value === undefined || !ts.isStringLiteral(value)) return;
        // An example of what is typed is the same in all languages.
        const example = node.name.getText() === 'placeholder' && !value.text.includes(' ');
        if (/\p{L}/u.test(value.text) && !example) {
          found.push(`${name}: ${value.text}`);
        }
      });
    }
    expect(found).toEqual([]);
  });
});
