import type { ReactNode } from 'react';
import { describe, present, type Control, type GoalView } from 'tauri-plugin-goal-api';
import {
  GoalGlyph,
  useEnabled,
  useGoal,
  useGoalActions,
  useKit,
  useNow,
} from 'tauri-plugin-goal-api/react';

import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { useCost } from './cost';
import { openGoal } from './manage';
import { subagentName } from './subagent';

/** In the work status: the goal's row. */
export function GoalRow({ sessionId }: { sessionId: string }): ReactNode {
  const { goal, objective } = useGoal(sessionId);
  const enabled = useEnabled();
  if (!goal || !enabled) return null;
  return <Row key={goal.goalId} goal={goal} objective={objective} />;
}

interface RowProps {
  goal: GoalView;
  objective: string | null | undefined;
}

function Row({ goal, objective }: RowProps): ReactNode {
  const { words } = useKit();
  const cost = useCost(goal.sessionId);
  const now = useNow(goal.status === 'active' ? 1_000 : 60_000);
  const { glyph, tone, needsYou } = present(goal);
  const { line, usage } = describe(goal, words, now, subagentName(goal.detail));
  return (
    <div data-tone={tone} className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-2 gap-y-1">
      <button
        type="button"
        aria-haspopup="dialog"
        className="col-span-2 flex items-start gap-2 rounded-control text-left hover:bg-raised"
        onClick={() => {
          openGoal(goal.sessionId);
        }}
      >
        <span className="mt-0.5 text-(--goal-tone)">
          <GoalGlyph glyph={glyph} />
        </span>
        <span className="line-clamp-2 min-w-0 flex-1 break-words">
          {objective ?? (goal.note || goal.title)}
        </span>
      </button>
      <span
        className={classes(
          'pl-6 text-label break-words tabular-nums',
          needsYou ? 'font-medium text-(--goal-tone)' : 'text-text-2',
        )}
      >
        {line}
      </span>
      <Act goal={goal} />
      <span className="col-span-2 pl-6 text-label text-text-3 tabular-nums">
        {[usage, cost].filter(Boolean).join(' · ')}
      </span>
    </div>
  );
}

/** Pause or Resume, as the one table has it. */
function Act({ goal }: { goal: GoalView }): ReactNode {
  const { words } = useKit();
  const { pause, resume, pending } = useGoalActions(goal.sessionId);
  const control = actOf(present(goal).control);
  if (control === null) return null;
  const act = (): void => {
    if (control === 'raise') openGoal(goal.sessionId, true);
    else void (control === 'pause' ? pause() : resume());
  };
  return (
    <Button disabled={pending} className="h-7 px-2" onClick={act}>
      {words.say(`control.${control}`)}
    </Button>
  );
}

/** What the strip alone offers (an answer, another try, an edit) leaves Pause here. */
function actOf(control: Control): 'pause' | 'resume' | 'continue' | 'raise' | null {
  switch (control) {
    case 'pause':
    case 'answer':
    case 'retry':
    case 'edit':
      return 'pause';
    case 'resume':
    case 'continue':
    case 'raise':
      return control;
    case 'remove':
      return null;
  }
}
