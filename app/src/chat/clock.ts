/** The time of day, for what counts seconds. One timer for all of it, and none while nothing counts. */
import { useSyncExternalStore } from 'react';

const TICK = 1_000;

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function watch(changed: () => void): () => void {
  watchers.add(changed);
  if (watchers.size === 1) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of watchers) each();
    }, TICK);
  }
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) clearInterval(timer);
  };
}

/** Epoch milliseconds, anew each second. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}
