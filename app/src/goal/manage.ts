/** The goals' one dialog: strip, target and work status open it. */
import { createStore } from 'zustand/vanilla';

export interface Managed {
  /** The session whose goal it shows, or showed last. */
  sessionId: string | null;
  open: boolean;
  /** It was opened to raise a spent budget. */
  raise: boolean;
}

export const managed = createStore<Managed>(() => ({ sessionId: null, open: false, raise: false }));

export function openGoal(sessionId: string, raise = false): void {
  managed.setState({ sessionId, open: true, raise });
}

export function closeGoal(): void {
  managed.setState({ open: false });
}
