/** Folders that a new session can be in. */
import { useMemo } from 'react';

import type { Session } from '../server/state';
import { useServer } from '../server/store';

const FOLDERS_MAX = 12;

/** The folders of the sessions, the one that was used last first. */
export function recentFolders(sessions: readonly Session[]): string[] {
  const newest = sessions.toSorted((a, b) => b.time.updated - a.time.updated);
  return [...new Set(newest.map(({ directory }) => directory))].slice(0, FOLDERS_MAX);
}

export function useRecentFolders(): string[] {
  const sessions = useServer((state) => state.sessions);
  return useMemo(() => recentFolders(Object.values(sessions)), [sessions]);
}

/** A folder's own name and where it is. */
export function folderName(path: string): { name: string; parent: string } {
  const found = /^(.*?)[\\/]?([^\\/]+)[\\/]*$/.exec(path);
  return { name: found?.[2] ?? path, parent: found?.[1] ?? '' };
}
