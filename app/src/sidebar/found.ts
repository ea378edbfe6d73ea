/** Sessions beyond those that the page holds: older ones by search, archived ones. */
import { useEffect, useState } from 'react';

import { client, page } from '../server/client';
import { isAudit, type Session } from '../server/state';
import { useServer } from '../server/store';
import { useActing } from './acting';
import type { Shown } from './groups';

/** Milliseconds after the last key until the server is asked. */
const ASKED_AFTER = 300;

/** Shorter words would find everything. */
const QUERY_MIN = 2;

const PAGE = 200;

/** A person narrows a search before reading further than this. */
const PAGES_MAX = 5;

export interface Found {
  sessions: readonly Session[];
  phase: 'none' | 'loading' | 'ready' | 'failed';
}

const NONE: readonly Session[] = [];

async function ask({ query, archived }: Shown, wanted: () => boolean): Promise<Session[]> {
  const all: Session[] = [];
  let cursor: number | undefined;
  for (let pages = 0; pages < PAGES_MAX && wanted(); pages += 1) {
    const { data: rows, next } = await page(
      client.experimental.session.list({
        roots: true,
        limit: PAGE,
        ...(query === '' ? {} : { search: query }),
        ...(archived ? { archived: true } : {}),
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    all.push(...rows.filter((session) => !isAudit(session)));
    if (next === null) break;
    cursor = Number(next);
  }
  return all;
}

/** What the server finds. Asked when typing rests, and again when the line is back. */
export function useFound({ query, archived }: Shown): Found {
  const live = useServer((state) => state.connection.kind === 'live');
  const gone = useActing((state) => state.gone);
  const words = query.trim();
  const key = live && (archived || words.length >= QUERY_MIN) ? `${String(archived)} ${words}` : null;
  const [answer, setAnswer] = useState<{ key: string; sessions: readonly Session[] | null } | null>(null);
  useEffect(() => {
    if (key === null) return;
    let ended = false;
    const timer = setTimeout(() => {
      ask({ query: words, archived }, () => !ended).then(
        (sessions) => { if (!ended) setAnswer({ key, sessions }); },
        () => { if (!ended) setAnswer({ key, sessions: null }); },
      );
    }, words === '' ? 0 : ASKED_AFTER);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [key, words, archived]);
  if (key === null) return { sessions: NONE, phase: 'none' };
  if (answer?.key !== key) return { sessions: NONE, phase: 'loading' };
  if (answer.sessions === null) return { sessions: NONE, phase: 'failed' };
  return { sessions: answer.sessions.filter(({ id }) => gone[id] === undefined), phase: 'ready' };
}
