/** Follows where a person goes: opens what is shown, remembers it, and notes that it was looked at. */
import { listen } from '@tauri-apps/api/event';
import i18next from 'i18next';
import { onOpen } from 'tauri-plugin-goal-api';

import { EVENTS, type OpenRequest } from '../host/contract';
import * as host from '../host/host';
import { navigation, openDraft, openSession, type Place } from '../navigation';
import { preferences, setPreferences } from '../preferences';
import { callError, client, data } from '../server/client';
import type { ServerState, Session } from '../server/state';
import { server } from '../server/store';
import { open } from '../server/sync';
import { toast } from '../ui/toasts';

/** Milliseconds in which looks are gathered: a working session changes several times a second. */
const LOOKS_GATHERED = 1_000;

/** Shows what was shown last. Before the first paint, so without asking anybody. */
export function showLast(): void {
  const { lastSession, lastDirectory } = preferences.getState();
  if (lastSession === null) openDraft(lastDirectory);
  else openSession(lastSession);
}

/** Follows from now on; returns what ends it. */
export function followPlaces(): () => void {
  const leave = [
    navigation.subscribe((now, before) => { if (now.place !== before.place) arrive(now.place); }),
    server.subscribe((now, before) => {
      leaveDeleted(now, before);
      if (now.sessions !== before.sessions) look();
      if (now.connection.kind === 'live' && before.connection.kind !== 'live') void leaveMissing();
    }),
    onWindow('focus', look),
    onWindow('visibilitychange', look),
    hearOpen(),
  ];
  arrive(navigation.getState().place);
  return () => {
    for (const end of leave) end();
    forgetLook();
  };
}

function onWindow(event: 'focus' | 'visibilitychange', run: () => void): () => void {
  const target = event === 'focus' ? window : document;
  target.addEventListener(event, run);
  return () => { target.removeEventListener(event, run); };
}

/** Links, clicked notifications and second starts; then what was asked before this page listened. */
function hearOpen(): () => void {
  let ended = false;
  const unlisten: (() => void)[] = [];
  const show = ({ sessionId }: { sessionId: string }): void => { openSession(sessionId); };
  const heard = [
    onOpen(show),
    listen<OpenRequest>(EVENTS.open, ({ payload }) => { show(payload); }),
  ].map(async (promise) => {
    const end = await promise;
    if (ended) end();
    else unlisten.push(end);
  });
  void Promise.allSettled(heard)
    .then(() => host.takeOpen())
    .then(
      (asked) => { if (asked !== null) show(asked); },
      () => null,
    );
  return () => {
    ended = true;
    for (const end of unlisten) end();
  };
}

function arrive(place: Place): void {
  if (place.kind === 'session') {
    void open(place.id);
    remember({ lastSession: place.id });
    look();
  } else if (place.directory === null) {
    remember({ lastSession: null });
  } else {
    remember({ lastSession: null, lastDirectory: place.directory });
  }
}

/** What is not kept is only not there after the next start. */
function remember(patch: Parameters<typeof setPreferences>[0]): void {
  const known = preferences.getState();
  const news = Object.entries(patch).some(([key, value]) => known[key as keyof typeof known] !== value);
  if (news) setPreferences(patch).catch(() => null);
}

/** A session that is gone is shown no longer, whoever deleted it. */
function leaveDeleted(now: ServerState, before: ServerState): void {
  const { place } = navigation.getState();
  if (place.kind !== 'session' || now.sessions[place.id] !== undefined) return;
  const gone = before.sessions[place.id];
  // A list that is read anew may lack it; only a deletion takes the transcript, too.
  if (gone === undefined || now.transcripts[place.id] !== undefined) return;
  if (before.transcripts[place.id] === undefined) return;
  openDraft(gone.directory);
  toast({ tone: 'plain', text: i18next.t('frame:deleted', { title: gone.title }) });
}

/** The session shown last may have been deleted while the app was away. */
async function leaveMissing(): Promise<void> {
  const { place } = navigation.getState();
  if (place.kind !== 'session' || server.getState().sessions[place.id] !== undefined) return;
  try {
    await data(client.session.get({ sessionID: place.id }));
  } catch (thrown) {
    const gone = callError(thrown).status === 404;
    if (gone && navigation.getState().place === place) openDraft(preferences.getState().lastDirectory);
  }
}

let looking: ReturnType<typeof setTimeout> | null = null;

/** Notes that the session on the screen is looked at, if somebody does. */
function look(): void {
  const session = lookedAt();
  if (session === null) return;
  // The next draft begins in the folder that was used last.
  remember({ lastDirectory: session.directory });
  if (looking !== null || !hasNews(session)) return;
  looking = setTimeout(() => {
    looking = null;
    const still = lookedAt();
    if (still === null || !hasNews(still)) return;
    const at = Math.max(Date.now(), still.time.updated);
    remember({ seen: { ...preferences.getState().seen, [still.id]: at } });
  }, LOOKS_GATHERED);
}

function forgetLook(): void {
  if (looking !== null) clearTimeout(looking);
  looking = null;
}

/** The session on the screen, if the window is used and the session known. */
function lookedAt(): Session | null {
  const { place } = navigation.getState();
  if (place.kind !== 'session' || document.hidden || !document.hasFocus()) return null;
  return server.getState().sessions[place.id] ?? null;
}

function hasNews({ id, time }: Session): boolean {
  return (preferences.getState().seen[id] ?? 0) < time.updated;
}
