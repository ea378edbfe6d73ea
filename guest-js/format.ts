const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A token count as it is shown, in parts: the number in words of `locale`, and its unit. */
export interface ShortNumber {
  readonly digits: string;
  readonly unit: 'one' | 'thousand' | 'million';
}

/**
 * A token count, short: 950, 3.4K, 34K, 1.2M. A rounded value moves to the next unit.
 *
 * @example
 * ```ts
 * import { shortNumber } from 'tauri-plugin-goal-api';
 *
 * console.log(shortNumber(3_440, 'en')); // { digits: '3.4', unit: 'thousand' }
 * ```
 * @param count A whole number of tokens, 0 or more.
 */
export function shortNumber(count: number, locale: string): ShortNumber {
  if (count < 1_000) return { digits: digits(count, locale, 0), unit: 'one' };
  if (count < 9_950) return { digits: digits(tenths(count, 1_000), locale, 1), unit: 'thousand' };
  if (count < 999_500) {
    return { digits: digits(Math.floor((count + 500) / 1_000), locale, 0), unit: 'thousand' };
  }
  return { digits: digits(tenths(count, 1_000_000), locale, 1), unit: 'million' };
}

/** A span of time in its largest fitting unit. */
export interface Span {
  readonly n: number;
  readonly unit: 'seconds' | 'minutes' | 'hours';
}

/** A span of `ms` milliseconds, rounded up, so that a wait that still goes on is never "0 s". */
export function span(ms: number): Span {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  if (seconds < 60) return { n: seconds, unit: 'seconds' };
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return { n: minutes, unit: 'minutes' };
  return { n: Math.ceil(minutes / 60), unit: 'hours' };
}

/** A time that has been spent, in parts. */
export interface Spent {
  readonly hours: number;
  /** 0 to 59. */
  readonly minutes: number;
}

/** A time of `ms` milliseconds that has been spent, in whole minutes, rounded down. */
export function spent(ms: number): Spent {
  const minutes = Math.max(0, Math.floor(ms / MINUTE));
  return { hours: Math.floor(minutes / 60), minutes: minutes % 60 };
}

/**
 * A moment as a clock shows it: 14:02 today, with the weekday within a week, else with the date.
 *
 * @param at Epoch milliseconds, before or after `now`.
 */
export function clock(at: number, now: number, locale: string): string {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  if (sameDay(at, now)) return formatted(at, locale, time);
  if (Math.abs(now - at) < 6 * DAY) return formatted(at, locale, { weekday: 'short', ...time });
  return formatted(at, locale, { ...dateOf(at, now), ...time });
}

/** The day of a moment: its weekday within a week, else its date. */
export function day(at: number, now: number, locale: string): string {
  if (Math.abs(now - at) < 6 * DAY) return formatted(at, locale, { weekday: 'long' });
  return formatted(at, locale, dateOf(at, now));
}

/**
 * How long ago something was, under a week; its date, beyond.
 *
 * @example
 * ```ts
 * import { relative } from 'tauri-plugin-goal-api';
 *
 * console.log(relative(Date.now() - 7_200_000, Date.now(), 'en')); // 2h ago
 * ```
 */
export function relative(at: number, now: number, locale: string): string {
  const ago = now - at;
  if (ago >= 7 * DAY) return formatted(at, locale, dateOf(at, now));
  const [size, unit] = ago < HOUR ? ([MINUTE, 'minute'] as const) : unitOf(ago);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' });
  return format.format(-Math.max(0, Math.floor(ago / size)), unit);
}

function unitOf(ago: number): readonly [number, 'hour' | 'day'] {
  return ago < DAY ? [HOUR, 'hour'] : [DAY, 'day'];
}

function tenths(count: number, unit: number): number {
  // Halves go up, in whole numbers, as on the Rust side.
  return Math.floor((count + unit / 20) / (unit / 10)) / 10;
}

function digits(value: number, locale: string, fraction: number): string {
  return new Intl.NumberFormat(locale, {
    minimumFractionDigits: fraction,
    maximumFractionDigits: fraction,
    useGrouping: false,
  }).format(value);
}

function formatted(at: number, locale: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, options).format(at);
}

function sameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

function dateOf(at: number, now: number): Intl.DateTimeFormatOptions {
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  const date = { day: 'numeric', month: 'short' } as const;
  return thisYear ? date : { ...date, year: 'numeric' };
}
