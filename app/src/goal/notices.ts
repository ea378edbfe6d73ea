/** What the user was told: read from the plugin, followed by its events, newest first. */
import { useEffect } from 'react';
import {
  GoalError,
  notices as readNotices,
  noticesMarkRead,
  onNotice,
  type Notice,
} from 'tauri-plugin-goal-api';
import { createStore } from 'zustand/vanilla';

/** Lines that the list holds; older ones stay in the plugin's memory. */
const LIST_MAX = 100;

export interface Notices {
  /** `null`: not known yet. */
  all: readonly Notice[] | null;
  /** Why the newest reading failed. */
  error: GoalError | null;
}

export const notices = createStore<Notices>(() => ({ all: null, error: null }));

/** Reads the list anew. Lines that could not be written down are in no list: they stay. */
export async function loadNotices(): Promise<void> {
  try {
    const read = await readNotices({ limit: LIST_MAX });
    notices.setState(({ all }) => ({ all: joined(read, all ?? []), error: null }));
  } catch (thrown) {
    notices.setState({ error: GoalError.from(thrown) });
  }
}

function joined(read: readonly Notice[], heard: readonly Notice[]): readonly Notice[] {
  const newest = read[0]?.id ?? 0;
  // What came by an event while the answer was on its way is newer than the answer.
  const more = heard.filter(({ id }) => id === null || id > newest);
  return [...more, ...read].toSorted((a, b) => b.at - a.at).slice(0, LIST_MAX);
}

function hear(notice: Notice): void {
  notices.setState(({ all }) => {
    const others = (all ?? []).filter(({ id }) => id === null || id !== notice.id);
    return { all: [notice, ...others].slice(0, LIST_MAX) };
  });
}

/** Marks lines as read: shown at once, undone where it fails. */
export async function markRead(lines: readonly Notice[]): Promise<void> {
  const unread = lines.filter(({ read }) => !read);
  if (unread.length === 0) return;
  setRead(unread, true);
  const ids = unread.flatMap(({ id }) => (id === null ? [] : [id]));
  if (ids.length === 0) return;
  try {
    await noticesMarkRead({ ids });
  } catch (thrown) {
    setRead(unread, false);
    throw GoalError.from(thrown);
  }
}

function setRead(lines: readonly Notice[], read: boolean): void {
  const keys = new Set(lines.map(keyOf));
  notices.setState(({ all }) => ({
    all: all?.map((line) => (keys.has(keyOf(line)) ? { ...line, read } : line)) ?? null,
  }));
}

/** What tells one line from another. */
export function keyOf({ id, at, sessionId, code }: Notice): string {
  return id === null ? `${String(at)} ${sessionId} ${code}` : String(id);
}

/** Keeps the list true while the page shows it. */
export function useFollowedNotices(): void {
  useEffect(() => {
    let ended = false;
    let end = (): void => {
      ended = true;
    };
    // Listens first, asks then: what comes between is heard.
    void onNotice(hear)
      .then((unlisten) => {
        if (ended) unlisten();
        else end = unlisten;
      }, (thrown: unknown) => {
        notices.setState({ error: GoalError.from(thrown) });
      })
      .then(loadNotices);
    return () => {
      end();
    };
  }, []);
}
