/** The session that is shown, for commands about it. */
import { navigation, useNavigation } from '../navigation';
import { isBusy, type Session } from '../server/state';
import { server, useServer } from '../server/store';

export function shownSession(): Session | null {
  const { place } = navigation.getState();
  return place.kind === 'session' ? (server.getState().sessions[place.id] ?? null) : null;
}

/** What decides which commands make sense right now. */
export interface Situation {
  session: Session | null;
  busy: boolean;
}

export function situation(): Situation {
  const session = shownSession();
  return { session, busy: session !== null && isBusy(server.getState(), session.id) };
}

export function useSituation(): Situation {
  const id = useNavigation(({ place }) => (place.kind === 'session' ? place.id : null));
  const session = useServer((state) => (id === null ? null : (state.sessions[id] ?? null)));
  const busy = useServer((state) => id !== null && isBusy(state, id));
  return { session, busy };
}
