import type { ReactNode } from 'react';
import { GoalButton, GoalCounter, useGoalView } from 'tauri-plugin-goal-api/react';

import { useDraft } from '../drafts';
import { ideaOf } from '../origins/craft';
import { classes } from '../ui/classes';
import { useDisarming, useUnsuitable } from './arming';
import { openGoal } from './manage';

export interface PlaceProps {
  sessionId: string | null;
  /** The key of the draft. */
  draft: string;
  /** The folder of a session that does not exist yet; `null`: none is chosen. */
  directory: string | null;
}

/** In the composer's foot: the target, and while armed the counter. */
export function ComposerTarget({ sessionId, draft, directory }: PlaceProps): ReactNode {
  const { text } = useDraft(draft);
  const goal = useGoalView(sessionId);
  const unsuitable = useUnsuitable(sessionId);
  useDisarming(sessionId, draft);
  if ((unsuitable && !goal) || (sessionId === null && directory === null)) return null;
  const target = { sessionId, draftId: draft };
  const manage = (): void => {
    if (sessionId !== null) openGoal(sessionId, goal?.status === 'budgetLimited');
  };
  // Its place stays.
  const crafts = ideaOf(text) !== null && !goal;
  return (
    <span className={classes('inline-flex items-center gap-2', crafts && 'invisible')}>
      <GoalButton {...target} onManage={manage} />
      <GoalCounter {...target} text={text} />
    </span>
  );
}
