/** The one store of what the page knows of the server. Only `sync.ts` and `actions.ts` write it. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { EMPTY, type Part, type ServerState } from './state';

export const server = createStore<ServerState>(() => EMPTY);

/** A part of the state; the caller is drawn again when what `select` gives is another value. */
export function useServer<T>(select: (state: ServerState) => T): T {
  return useStore(server, select);
}

const NO_PARTS: readonly Part[] = [];

/** The parts of a message. */
export function useParts(sessionId: string, messageId: string): readonly Part[] {
  return useServer((state) => state.transcripts[sessionId]?.parts[messageId] ?? NO_PARTS);
}
