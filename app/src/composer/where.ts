/** Where the composer is: which session or folder, and under which key its draft is kept. */
import { draftKey } from '../drafts';
import type { Place } from '../navigation';
import { usePreference } from '../preferences';
import { useServer } from '../server/store';

export interface Where {
  sessionId: string | null;
  /** Of the draft, and of what was chosen for it. */
  key: string;
  /** The session's folder, or the one a new session will be in; `null`: not known, or none chosen. */
  directory: string | null;
}

export function useWhere(place: Place): Where {
  const last = usePreference('lastDirectory');
  const sessionId = place.kind === 'session' ? place.id : null;
  const ofSession = useServer((state) => (sessionId === null ? null : state.sessions[sessionId]?.directory ?? null));
  if (place.kind === 'session') return { sessionId, key: place.id, directory: ofSession };
  return { sessionId: null, key: draftKey(place.directory), directory: place.directory ?? last };
}
