/** What the palette lists for what was typed. Pure. */
import { defaultFilter } from 'cmdk';

import type { Session } from '../server/state';

/** A longer list is not read: one types on. */
const SESSIONS_MAX = 30;

/** Shown before anything is typed. */
const RECENT_MAX = 7;

/** How well a text fits; 0: not at all. Letters may be left out, as in `rfexp` for "Refactor the exporter". */
function fit(text: string, query: string): number {
  return defaultFilter(text, query);
}

/** Sessions that fit, the best first; the newest ones while nothing is typed. */
export function sessionsFor(query: string, sessions: readonly Session[]): Session[] {
  const newest = sessions
    .filter(({ parentID, time }) => parentID === undefined && (time.archived ?? 0) === 0)
    .sort((a, b) => b.time.updated - a.time.updated);
  if (query === '') return newest.slice(0, RECENT_MAX);
  return best(newest, query, ({ title, directory }) => `${title} ${directory}`).slice(0, SESSIONS_MAX);
}

/** Of `all` those whose text fits, the best first, else in their order. */
export function best<T>(all: readonly T[], query: string, textOf: (one: T) => string): T[] {
  return all
    .map((one) => ({ one, score: fit(textOf(one), query) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}
