/** What is unfolded. Kept beside the rows: one that was scrolled away comes back as it was. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

/** More than these are forgotten, the oldest first. */
const KEPT_MAX = 2_000;

const folds = createStore<ReadonlyMap<string, boolean>>(() => new Map());

/** Whether something is unfolded, and what changes it. */
export function useFold(key: string, usually: boolean): [open: boolean, set: (open: boolean) => void] {
  const open = useStore(folds, (all) => all.get(key)) ?? usually;
  const set = (now: boolean): void => {
    const next = new Map(folds.getState());
    next.delete(key);
    next.set(key, now);
    const oldest = next.keys().next();
    if (next.size > KEPT_MAX && oldest.done !== true) next.delete(oldest.value);
    folds.setState(next, true);
  };
  return [open, set];
}
