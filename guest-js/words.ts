import { clock, day, relative, shortNumber, span, spent } from './format.js';
import en from './locales/en.json' with { type: 'json' };

/** A key of the catalogue. */
export type MessageKey = keyof typeof en;

/** Every text of one language. `{name}` stands for a value. */
export type Messages = Readonly<Record<MessageKey, string>>;

/** What texts are made from. */
export interface WordsOptions {
  /** Texts in place of the English ones, such as `locales/fr.json`; a missing key stays English. */
  messages?: Partial<Messages>;
  /** For numbers and times, such as `fr` or `de-CH`. Default: `en`. */
  locale?: string;
}

/** Texts, numbers and times in one language. */
export interface Words {
  readonly locale: string;
  /** The text of `key` with its `{name}`s filled in; a value with braces stays what it is. */
  say(key: MessageKey, values?: Readonly<Record<string, string | number>>): string;
  /** The text of an open code such as `why.busy`; `undefined` for one without a text. */
  code(family: string, code: string): string | undefined;
  /** Tokens: 950, 3.4K, 34K, 1.2M. */
  tokens(count: number): string;
  /** A span in milliseconds: 9 s, 4 min, 2 h; rounded up. */
  span(ms: number): string;
  /** A time that has been spent: 4 min, 2 h 5 min; rounded down, empty under a minute. */
  spent(ms: number): string;
  /** A moment, such as 14:02. */
  clock(at: number, now: number): string;
  /** A day, such as Friday. */
  day(at: number, now: number): string;
  /** How long ago, such as 2h ago. */
  relative(at: number, now: number): string;
}

/**
 * Texts, numbers and times in one language.
 *
 * @example
 * ```ts
 * import { createWords } from 'tauri-plugin-goal-api';
 * import fr from 'tauri-plugin-goal-api/locales/fr.json';
 *
 * const words = createWords({ messages: fr, locale: 'fr' });
 * console.log(words.say('control.resume'), words.tokens(34_200));
 * ```
 */
export function createWords({ messages = {}, locale = 'en' }: WordsOptions = {}): Words {
  const texts: Messages = { ...en, ...messages };
  const say: Words['say'] = (key, values = {}) =>
    texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  return {
    locale,
    say,
    code: (family, code) => {
      const key = `${family}.${code}`;
      return isKey(key) ? texts[key] : undefined;
    },
    tokens: (count) => {
      const { digits, unit } = shortNumber(count, locale);
      return unit === 'one' ? digits : say(`tokens.${unit}`, { n: digits });
    },
    span: (ms) => {
      const { n, unit } = span(ms);
      return say(`wait.${unit}`, { n });
    },
    spent: (ms) => {
      const { hours, minutes } = spent(ms);
      if (hours === 0) return minutes === 0 ? '' : say('wait.minutes', { n: minutes });
      if (minutes === 0) return say('wait.hours', { n: hours });
      return say('wait.hoursMinutes', { h: hours, m: minutes });
    },
    clock: (at, now) => clock(at, now, locale),
    day: (at, now) => day(at, now, locale),
    relative: (at, now) => relative(at, now, locale),
  };
}

function isKey(key: string): key is MessageKey {
  return Object.hasOwn(en, key);
}
