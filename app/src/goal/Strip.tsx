import type { ReactNode } from 'react';
import { GoalStrip } from 'tauri-plugin-goal-api/react';

import { useCost } from './cost';
import { openGoal } from './manage';
import { subagentName } from './subagent';

/** Above the composer: the goal's strip, or nothing. */
export function SessionStrip({ sessionId }: { sessionId: string }): ReactNode {
  const cost = useCost(sessionId);
  return (
    <GoalStrip
      sessionId={sessionId}
      facts={cost}
      subagentName={subagentName}
      onAnswer={showPending}
      onManage={(raise) => {
        openGoal(sessionId, raise);
      }}
    />
  );
}

/** The chat gives the first card that waits for an answer this id. */
function showPending(): void {
  const card = document.getElementById('pending');
  card?.scrollIntoView({ block: 'nearest' });
  card?.focus();
}
