import type { ReactNode } from 'react';
import { GoalBadge } from 'tauri-plugin-goal-api/react';

/** In a row of the sidebar: the sign of the session's goal. */
export function GoalSign({ sessionId }: { sessionId: string }): ReactNode {
  return <GoalBadge sessionId={sessionId} />;
}
