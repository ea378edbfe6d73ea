import { Switch } from 'radix-ui';
import { useEffect, useId, useRef, type ReactNode } from 'react';

import type { GoalView } from '../../types.js';
import type { Words } from '../../words.js';
import { Count } from '../GoalCounter.js';
import { useKit } from '../kit.js';
import { BUDGET_MAX, BUDGET_MIN, BUDGET_STEP, type GoalForm } from './form.js';

interface ObjectiveProps {
  form: GoalForm;
  readOnly: boolean;
  onSubmit: () => void;
}

/** The objective, as high as its text up to twelve lines. Ctrl or Cmd with Enter submits. */
export function Objective({ form, readOnly, onSubmit }: ObjectiveProps): ReactNode {
  const { words } = useKit();
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const area = field.current;
    if (area === null) return;
    // As high as its text; the style sheet ends that at twelve lines.
    area.style.height = 'auto';
    area.style.height = `${String(area.scrollHeight + 2)}px`;
  }, [form.text]);
  return (
    <div className="goal-field">
      <div className="goal-label-row">
        <label htmlFor={id}>{words.say('dialog.objective')}</label>
        {!readOnly && form.text !== '' && <Count length={form.text.length} />}
      </div>
      <textarea
        id={id}
        ref={field}
        className="goal-text"
        rows={4}
        readOnly={readOnly}
        placeholder={words.say('dialog.placeholder')}
        value={form.text}
        onChange={(event) => {
          form.setText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
        }}
      />
    </div>
  );
}

interface BudgetProps {
  form: GoalForm;
  goal: GoalView | null;
  raise: boolean;
  words: Words;
}

/** Whether there is a budget, how much, and a step more. */
export function Budget({ form, goal, raise, words }: BudgetProps): ReactNode {
  const id = useId();
  const more = words.tokens(100_000);
  const range = { min: words.tokens(BUDGET_MIN), max: words.tokens(BUDGET_MAX) };
  return (
    <div className="goal-field">
      <div className="goal-budget">
        <Switch.Root
          id={id}
          className="goal-switch"
          checked={form.limited}
          onCheckedChange={form.setLimited}
        >
          <Switch.Thumb className="goal-switch-thumb" />
        </Switch.Root>
        <label htmlFor={id}>{words.say('dialog.budget')}</label>
        {form.limited && (
          <>
            <input
              className="goal-number"
              type="number"
              inputMode="numeric"
              min={BUDGET_MIN}
              max={BUDGET_MAX}
              step={BUDGET_STEP}
              aria-label={words.say('dialog.budgetAmount')}
              aria-invalid={!form.budgetFits}
              aria-describedby={form.budgetFits ? undefined : `${id}-range`}
              autoFocus={raise}
              value={form.budget}
              onChange={(event) => {
                form.setBudget(event.target.value);
              }}
            />
            <button
              type="button"
              className="goal-action"
              aria-label={words.say('dialog.moreLabel', { n: more })}
              onClick={form.addMore}
            >
              {words.say('dialog.more', { n: more })}
            </button>
          </>
        )}
      </div>
      {form.limited && !form.budgetFits && (
        <p id={`${id}-range`} className="goal-reason">
          {words.say('dialog.budgetRange', range)}
        </p>
      )}
      {goal?.status === 'budgetLimited' && (
        <p className="goal-hint">{words.say('dialog.budgetSpent')}</p>
      )}
    </div>
  );
}

/** Whether a goal to be set goes to the session as a message. */
export function Send({ form, words }: { form: GoalForm; words: Words }): ReactNode {
  const id = useId();
  return (
    <div className="goal-field">
      <div className="goal-budget">
        <Switch.Root
          id={id}
          className="goal-switch"
          checked={form.send}
          onCheckedChange={form.setSend}
          aria-describedby={`${id}-hint`}
        >
          <Switch.Thumb className="goal-switch-thumb" />
        </Switch.Root>
        <label htmlFor={id}>{words.say('dialog.send')}</label>
      </div>
      <p id={`${id}-hint`} className="goal-hint">
        {words.say('dialog.sendOff')}
      </p>
    </div>
  );
}
