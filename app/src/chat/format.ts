/** Numbers as the conversation shows them. */
import { shortNumber } from 'tauri-plugin-goal-api';

const UNITS = { one: '', thousand: 'K', million: 'M' } as const;

/** 950, 3.4K, 1.2M. */
export function tokens(count: number, language: string): string {
  const { digits, unit } = shortNumber(count, language);
  return digits + UNITS[unit];
}

/** US dollars; small sums keep what is worth seeing of them. */
export function cost(dollars: number, language: string): string {
  const small = dollars < 0.01;
  return new Intl.NumberFormat(language, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    ...(small ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }),
  }).format(dollars);
}

/** 340ms, 2.3s, 45s, 3m 5s, 2h 4m; in French 340 ms, 2,3 s, 3 min 5 s. */
export function duration(milliseconds: number, language: string): string {
  const one = (value: number, unit: string, digits = 0): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit,
      // English writes "5 sec" where French writes "5 s".
      unitDisplay: language.startsWith('en') ? 'narrow' : 'short',
      maximumFractionDigits: digits,
    }).format(value);
  if (milliseconds < 1_000) return one(Math.round(milliseconds), 'millisecond');
  const seconds = milliseconds / 1_000;
  if (seconds < 9.95) return one(seconds, 'second', 1);
  if (seconds < 59.5) return one(Math.round(seconds), 'second');
  const whole = Math.round(seconds);
  if (whole < 3_600) return two(one(Math.floor(whole / 60), 'minute'), whole % 60, (n) => one(n, 'second'));
  const minutes = Math.round(whole / 60);
  return two(one(Math.floor(minutes / 60), 'hour'), minutes % 60, (n) => one(n, 'minute'));
}

function two(large: string, rest: number, small: (n: number) => string): string {
  return rest === 0 ? large : `${large} ${small(rest)}`;
}

/** The time of day, as goals tell it. */
export function timeOf(at: number, language: string): string {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, time).format(at);
}

export function number(count: number, language: string): string {
  return new Intl.NumberFormat(language).format(count);
}
