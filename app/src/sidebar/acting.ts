/** What a person is about to do to a session: rename it in its place, or delete it after a question. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Session } from '../server/state';

export interface Acting {
  /** Where the title is a field right now. */
  renaming: { id: string; at: 'row' | 'header' } | null;
  /** The session whose deletion is asked about. */
  deleting: Session | null;
  /** Deleted ones, which an older answer of the server's search may still name. */
  gone: Readonly<Record<string, true>>;
}

export const acting = createStore<Acting>(() => ({ renaming: null, deleting: null, gone: {} }));

export function useActing<T>(select: (state: Acting) => T): T {
  return useStore(acting, select);
}

export function beginRename(id: string, at: 'row' | 'header'): void {
  acting.setState({ renaming: { id, at } });
}

export function endRename(): void {
  acting.setState({ renaming: null });
}

export function askDelete(session: Session | null): void {
  acting.setState({ deleting: session });
}

export function markGone(id: string): void {
  acting.setState(({ gone }) => ({ gone: { ...gone, [id]: true } }));
}
