/** What a session and its sub-agents cost, where the server knows the prices. */
import { useTranslation } from 'react-i18next';

import type { ServerState } from '../server/state';
import { useServer } from '../server/store';

type Sessions = ServerState['sessions'];

/** Sums of one list of sessions: it is asked for at every change of anything, and mostly the same. */
const sums = new WeakMap<Sessions, Map<string, number>>();

/** US dollars; 0 where no price is known. */
export function costOf(sessions: Sessions, sessionId: string): number {
  const known = sums.get(sessions) ?? new Map<string, number>();
  sums.set(sessions, known);
  const sum = known.get(sessionId) ?? added(sessions, sessionId);
  known.set(sessionId, sum);
  return sum;
}

function added(sessions: Sessions, sessionId: string): number {
  const members = new Set([sessionId]);
  const all = Object.values(sessions);
  // The set grows while it is walked: children of children follow.
  for (const parent of members) {
    for (const { id, parentID } of all) if (parentID === parent) members.add(id);
  }
  return [...members].reduce((sum, id) => sum + (sessions[id]?.cost ?? 0), 0);
}

/** An amount as it is shown; empty for none. */
export function costText(dollars: number, locale: string): string {
  if (dollars <= 0) return '';
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
  });
  return dollars < 0.01 ? `< ${format.format(0.01)}` : format.format(dollars);
}

/** What a session and its sub-agents cost so far, in words. */
export function useCost(sessionId: string): string {
  const { i18n } = useTranslation();
  const dollars = useServer((state) => costOf(state.sessions, sessionId));
  return costText(dollars, i18n.language);
}
