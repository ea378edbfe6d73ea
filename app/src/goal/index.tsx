/** What of goals the rest of the page places; the components themselves stand in this folder. */
import type { ReactNode } from 'react';

/** Around the whole page: the goals' one listener, words and language. */
export function Goals({ children }: { children: ReactNode }): ReactNode {
  return children;
}

/** Above the composer: the goal's strip, or nothing. */
export function SessionStrip(_: { sessionId: string }): ReactNode {
  return null;
}

/** In the composer's foot: the target, and while armed the counter. `draft`: the key of the draft. */
export function ComposerTarget(_: { sessionId: string | null; draft: string; directory: string | null }): ReactNode {
  return null;
}

/** Above the composer's text while armed: what is missing, or that a distilled copy will be judged. */
export function ArmedHint(_: { sessionId: string | null; draft: string; directory: string | null }): ReactNode {
  return null;
}

/** In a row of the sidebar: the sign of the session's goal. */
export function GoalSign(_: { sessionId: string }): ReactNode {
  return null;
}

/** In the work status: the goal's row. */
export function GoalRow(_: { sessionId: string }): ReactNode {
  return null;
}

/** The list of notices, with the number of those that were not read on its button. */
export function NoticesButton(): ReactNode {
  return null;
}

/** The settings' page of goals. */
export function GoalSettings(): ReactNode {
  return null;
}
