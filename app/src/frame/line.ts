/** The line to the server in the user's terms, from the page's own stream and the plugin's word. */
import { useSyncExternalStore } from 'react';
import { goalStore, type ServerStatus } from 'tauri-plugin-goal-api';

import type { Connection } from '../server/state';
import { useServer } from '../server/store';

/** What only a person can supply. */
export type Missing = 'program' | 'password' | 'server';

/** What the plugin says of the server; `undefined`: not known yet. */
export function useServerStatus(): ServerStatus | undefined {
  return useSyncExternalStore(subscribe, status);
}

function subscribe(changed: () => void): () => void {
  return goalStore().subscribe(changed);
}

function status(): ServerStatus | undefined {
  return goalStore().server();
}

export function missingOf(told: ServerStatus | undefined): Missing | null {
  if (told === undefined || told.state === 'connected') return null;
  if (told.code === 'openCodeMissing') return 'program';
  if (told.code === 'unauthorized') return 'password';
  return told.state === 'none' ? 'server' : null;
}

/** The stream knows best; where it never began, the plugin says why. */
export function lineOf(connection: Connection, told: ServerStatus | undefined): Connection {
  // What is being started for the first time is not away, though there is no stream from it yet.
  if (connection.kind === 'away' && told?.state === 'starting') return { kind: 'starting' };
  if (connection.kind !== 'starting') return connection;
  const lost = told?.state === 'failed' || told?.state === 'away' || told?.state === 'ended';
  return lost ? { kind: 'away', since: 0, nextTryAt: null } : connection;
}

export function useMissing(): Missing | null {
  return missingOf(useServerStatus());
}

export function useLine(): Connection {
  const told = useServerStatus();
  return lineOf(useServer((state) => state.connection), told);
}
