/** Whether the next message of a place becomes a goal: kept in its draft, and nowhere else. */
import { useEffect } from 'react';
import { arming, DISARMED, goalStore, type Arming, type Armings } from 'tauri-plugin-goal-api';
import { useEnabled, useGoalView } from 'tauri-plugin-goal-api/react';

import { changeDraft, drafts, useDraft } from '../drafts';
import { ideaOf } from '../origins/craft';
import { useServer } from '../server/store';

const ARMED: Arming = { armed: true, objective: null };

/** The drafts, as the kit's components ask for armings. No flow of this page arms with a text of its own. */
export const draftArmings: Armings = {
  get: (key) => (drafts.getState()[draftOf(key)]?.armed === true ? ARMED : DISARMED),
  send: (key, event) => {
    setArmed(draftOf(key), arming(draftArmings.get(key), event).armed);
  },
  subscribe: (reader) => drafts.subscribe(reader),
};

/** The draft that a key of the kit's names: `session <server> <id>` or `draft <server> <key>`. */
function draftOf(key: string): string {
  return key.replace(/^\w+ \S* /, '');
}

/** Arms a draft with the usual budget, or disarms it. */
export function setArmed(draft: string, armed: boolean): void {
  changeDraft(draft, { armed, budget: armed ? usualBudget() : null });
  if (armed && goalStore().settings() === undefined) void budgetLater(draft);
}

function usualBudget(): number | null {
  const settings = goalStore().settings()?.settings;
  const limited = settings?.sessionGoalDefaultBudgetEnabled === true;
  return limited ? settings.sessionGoalDefaultBudget : null;
}

/** The settings were not known yet when it was armed. */
async function budgetLater(draft: string): Promise<void> {
  await goalStore().refresh();
  const now = drafts.getState()[draft];
  if (now?.armed === true && now.budget === null) changeDraft(draft, { budget: usualBudget() });
}

/**
 * Whether the next message of a place becomes a goal. Where there is a goal, or goals are off, none does; and crafting a
 * goal is none itself.
 */
export function useArmed(sessionId: string | null, draft: string): boolean {
  const { armed, text } = useDraft(draft);
  const goal = useGoalView(sessionId);
  const enabled = useEnabled();
  return armed && enabled && !goal && ideaOf(text) === null;
}

/** Whether no goal starts in a session: a sub-agent's, or one in the archive. */
export function useUnsuitable(sessionId: string | null): boolean {
  return useServer(({ sessions }) => {
    const session = sessionId === null ? undefined : sessions[sessionId];
    return session?.parentID !== undefined || (session?.time.archived ?? 0) > 0;
  });
}

/** Ends an arming that became pointless: another window set a goal, goals were switched off, or one is to be crafted. */
export function useDisarming(sessionId: string | null, draft: string): void {
  const { armed, text } = useDraft(draft);
  const goal = useGoalView(sessionId);
  const enabled = useEnabled();
  const pointless = armed && (!enabled || Boolean(goal) || ideaOf(text) !== null);
  useEffect(() => {
    if (pointless) setArmed(draft, false);
  }, [pointless, draft]);
}
