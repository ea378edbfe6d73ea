/** All settings, and how they are found. A row bears the id of its setting, so that the search can lead to it. */
import type { SettingsPage } from '../navigation';

/** Page → its settings, in the order in which they stand there. */
export const CATALOGUE = {
  general: [
    'theme',
    'sendWithEnter',
    'expandReasoning',
    'expandTools',
    'keepRunning',
    'autostart',
    'resetLayout',
    'diagnostics',
  ],
  server: ['serverState', 'ownServer', 'attach', 'opencodeBinary', 'install'],
  goal: ['goalEnabled', 'goalBudget', 'goalAuditor'],
  notifications: [
    'nativeNotificationsEnabled',
    'notificationMode',
    'notifyOnCompletion',
    'notifyOnError',
    'notifyOnQuestion',
    'notifyOnSubtasks',
    'notificationTemplates',
    'maxLastMessageLength',
    'lastNotice',
  ],
  language: ['language', 'formats'],
} as const satisfies Record<SettingsPage, readonly string[]>;

export type SettingId = (typeof CATALOGUE)[SettingsPage][number];

/** What the search knows of a setting, in the language of the page. */
export interface Findable {
  id: SettingId;
  page: SettingsPage;
  label: string;
  about: string;
  /** Other names for it. */
  words: string;
}

/** Text as it is compared: without case and accents. */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The words of a query. */
export function wordsOf(query: string): string[] {
  return plain(query).split(/\s+/).filter((word) => word !== '');
}

/** Settings that have every word of the query somewhere; those that have it in their name come first. */
export function found(all: readonly Findable[], query: string): Findable[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const ranked = all.flatMap((one) => {
    const name = plain(one.label);
    const everything = `${name} ${plain(one.about)} ${plain(one.words)}`;
    if (!words.every((word) => everything.includes(word))) return [];
    return [{ one, rank: words.every((word) => name.includes(word)) ? 0 : 1 }];
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one);
}

/** A text in pieces: those that are a word of the query, and those between. */
export function marked(text: string, query: string): { text: string; hit: boolean }[] {
  const words = wordsOf(query);
  const letters = Array.from(text);
  // Letter by letter, so that a place in the plain text is a place in the text.
  const flat = letters.map((letter) => plain(letter).slice(0, 1) || ' ').join('');
  const hit = letters.map(() => false);
  for (const word of words) {
    for (let at = flat.indexOf(word); at >= 0; at = flat.indexOf(word, at + 1)) {
      hit.fill(true, at, at + word.length);
    }
  }
  const pieces: { text: string; hit: boolean }[] = [];
  letters.forEach((letter, at) => {
    const last = pieces.at(-1);
    if (last !== undefined && last.hit === hit[at]) last.text += letter;
    else pieces.push({ text: letter, hit: hit[at] ?? false });
  });
  return pieces;
}
