/** Ages of sessions, short enough for a row. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago: 5m, 2h, 3d; a date beyond a week. */
export function age(at: number, now: number, language: string): string {
  const ago = Math.max(0, now - at);
  if (ago < HOUR) return inUnit(Math.max(1, Math.floor(ago / MINUTE)), 'minute', language);
  if (ago < DAY) return inUnit(Math.floor(ago / HOUR), 'hour', language);
  if (ago < 7 * DAY) return inUnit(Math.floor(ago / DAY), 'day', language);
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  const date = { day: 'numeric', month: 'short' } as const;
  return new Intl.DateTimeFormat(language, thisYear ? date : { ...date, year: 'numeric' }).format(at);
}

function inUnit(value: number, unit: string, language: string): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'narrow' }).format(value);
}

/** Day and time in full. */
export function moment(at: number, language: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, style).format(at);
}
