import { useState } from 'react';

import type { Edit, GoalView, Settings, Start } from '../../types.js';

/** The least budget that the field offers, in tokens. */
export const BUDGET_MIN = 1_000;
/** The greatest budget that the field offers, in tokens. */
export const BUDGET_MAX = 100_000_000;
/** What an arrow key adds to the field, in tokens. */
export const BUDGET_STEP = 50_000;
/** What the button beside the field adds, in tokens. */
const MORE = 100_000;

/** What the dialog is seeded with. */
export interface Seed {
  goal: GoalView | null;
  /** `undefined`: its text is still on its way; it fills the field if that is untouched then. */
  objective: string | null | undefined;
  settings: Settings | undefined;
  raise: boolean;
}

/** What stands in the dialog's fields. */
export interface GoalForm {
  readonly text: string;
  readonly limited: boolean;
  /** The number field's text. */
  readonly budget: string;
  readonly budgetFits: boolean;
  readonly send: boolean;
  /** There is something to save, and it can be saved. */
  readonly ready: boolean;
  readonly setText: (text: string) => void;
  readonly setLimited: (limited: boolean) => void;
  readonly setBudget: (budget: string) => void;
  readonly setSend: (send: boolean) => void;
  readonly addMore: () => void;
  /** What was changed of the goal. */
  readonly changes: () => Omit<Edit, 'sessionId'>;
  /** The goal to start. */
  readonly request: () => Omit<Start, 'sessionId'>;
}

/** The dialog's fields: seeded once, never overwritten by what happens meanwhile. */
export function useGoalForm(seed: Seed): GoalForm {
  const [typed, setText] = useState<string | null>(null);
  const [objective, setObjective] = useState(seed.objective);
  if (objective === undefined && seed.objective !== undefined) setObjective(seed.objective);
  const [stored] = useState(seed.goal?.tokenBudget ?? null);
  const [first] = useState(() => budgetOf(seed));
  const [chosen, setLimited] = useState<boolean | null>(null);
  const [written, setBudget] = useState<string | null>(null);
  const [send, setSend] = useState(true);

  const text = typed ?? objective ?? '';
  // Of a goal to be started the settings tell, whenever they arrive.
  const usual = seed.settings;
  const limited = chosen ?? first?.limited ?? usual?.sessionGoalDefaultBudgetEnabled ?? false;
  const budget = written ?? first?.budget ?? String(usual?.sessionGoalDefaultBudget ?? 200_000);
  const tokens = limited ? Number(budget) : null;
  // A budget that was set elsewhere may lie outside of what the field offers.
  const fits = tokens === null || tokens === stored || inRange(budget, tokens);
  const textChanged = text !== (objective ?? '');
  const changed = textChanged || tokens !== stored;
  const filled = text.trim() !== '';
  const editable = seed.goal === null || (seed.goal.status !== 'complete' && changed);
  return {
    text,
    limited,
    budget,
    budgetFits: fits,
    send,
    // Of a goal whose text is on another machine the budget can be changed all the same.
    ready: editable && fits && (filled || (seed.goal !== null && !textChanged)),
    setText,
    setLimited,
    setBudget,
    setSend,
    addMore: () => {
      const more = (Number.isFinite(Number(budget)) ? Number(budget) : 0) + MORE;
      setBudget(String(Math.min(BUDGET_MAX, more)));
    },
    changes: () => ({
      ...(textChanged && { objective: text }),
      ...(tokens !== stored && { tokenBudget: tokens }),
    }),
    request: () => ({
      objective: text,
      // Left as it was, the default budget holds as it is known where the goal is started.
      ...((chosen !== null || written !== null) && { tokenBudget: tokens }),
      send,
    }),
  };
}

/** The budget of the goal that is shown; nothing for one to be started. */
function budgetOf({ goal, settings, raise }: Seed): { limited: boolean; budget: string } | null {
  if (goal === null) return null;
  const known = goal.tokenBudget ?? settings?.sessionGoalDefaultBudget ?? 200_000;
  const raised = Math.ceil(Math.max(known, goal.tokensUsed) / BUDGET_MIN) * BUDGET_MIN + MORE;
  return { limited: goal.tokenBudget !== null, budget: String(raise ? raised : known) };
}

function inRange(text: string, tokens: number): boolean {
  return text !== '' && Number.isInteger(tokens) && tokens >= BUDGET_MIN && tokens <= BUDGET_MAX;
}
