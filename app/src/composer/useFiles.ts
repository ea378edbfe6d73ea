/** Files of a folder whose path fits what is typed. */
import { useEffect, useState } from 'react';

import { client, data } from '../server/client';

/** Milliseconds that typing rests before the server is asked. */
const ASKED_AFTER = 120;

const FILES_MAX = 20;

export interface Found {
  /** What was asked for; another one than what is typed while the answer is awaited. */
  query: string | null;
  paths: readonly string[];
  failed: boolean;
}

const NOTHING: Found = { query: null, paths: [], failed: false };

/** `query` `null`: nothing is asked. An answer to something that is no longer asked is dropped. */
export function useFiles(directory: string | null, query: string | null): Found {
  const [told, setTold] = useState(NOTHING);
  useEffect(() => {
    if (directory === null || query === null) return;
    const asked = new AbortController();
    const tell = (now: Found): void => {
      if (!asked.signal.aborted) setTold(now);
    };
    const timer = setTimeout(() => {
      const call = client.find.files({ directory, query, dirs: 'true', limit: FILES_MAX }, { signal: asked.signal });
      data(call).then(
        // The folder itself is among its folders.
        (found) => { tell({ query, paths: found.filter((path) => path !== '/'), failed: false }); },
        () => { tell({ query, paths: [], failed: true }); },
      );
    }, ASKED_AFTER);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [directory, query]);
  return query === null ? NOTHING : told;
}
