/** The time, for what counts and what ages. One timer for all readers of a clock, and none while nobody reads. */
import { useSyncExternalStore } from 'react';

/** A hook that gives epoch milliseconds, anew each `period` milliseconds. */
function clock(period: number): () => number {
  const readers = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let now = Date.now();

  function subscribe(reader: () => void): () => void {
    readers.add(reader);
    if (readers.size === 1) {
      now = Date.now();
      timer = setInterval(() => {
        now = Date.now();
        for (const each of readers) each();
      }, period);
    }
    return () => {
      readers.delete(reader);
      if (readers.size === 0) clearInterval(timer);
    };
  }

  return function useClock() {
    return useSyncExternalStore(subscribe, () => now);
  };
}

/** The present, once a second. */
export const useSecond = clock(1_000);

/** The present, once a minute. */
export const useMinute = clock(60_000);
