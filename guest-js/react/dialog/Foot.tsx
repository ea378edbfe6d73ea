import { AlertDialog } from 'radix-ui';
import type { ReactNode } from 'react';

import { present } from '../../presentation.js';
import type { GoalView } from '../../types.js';
import type { GoalActions } from '../actions.js';
import { useKit } from '../kit.js';
import type { GoalForm } from './form.js';

interface FootProps {
  goal: GoalView | null;
  form: GoalForm;
  actions: GoalActions;
  close: () => void;
}

/** What can be done about the goal: removed on the left, everything else on the right. */
export function Foot({ goal, form, actions, close }: FootProps): ReactNode {
  const { words } = useKit();
  const { pending } = actions;
  const open = goal !== null && goal.status !== 'complete';
  const primary = !goal ? 'start' : goal.status === 'budgetLimited' ? 'raise' : 'save';
  return (
    <div className="goal-foot">
      {goal && <Remove goal={goal} actions={actions} onRemoved={close} />}
      <span className="goal-space" />
      {open && <Toggle goal={goal} actions={actions} />}
      {open && (
        <button
          type="button"
          className="goal-action"
          disabled={pending}
          onClick={() => void actions.complete()}
        >
          {words.say('control.complete')}
        </button>
      )}
      {!open && (
        <button type="button" className="goal-action" onClick={close}>
          {words.say(goal ? 'control.close' : 'control.cancel')}
        </button>
      )}
      {goal?.status !== 'complete' && (
        <button type="submit" className="goal-action goal-primary" disabled={pending || !form.ready}>
          {words.say(`control.${primary}`)}
        </button>
      )}
    </div>
  );
}

/** Pause and Resume, as the state has them; a spent budget is raised instead. */
function Toggle({ goal, actions }: { goal: GoalView; actions: GoalActions }): ReactNode {
  const { words } = useKit();
  const { control } = present(goal);
  const resumes = control === 'resume' || control === 'continue';
  return (
    <>
      {resumes && (
        <button
          type="button"
          className="goal-action"
          disabled={actions.pending}
          onClick={() => void actions.resume()}
        >
          {words.say(control === 'continue' ? 'control.continue' : 'control.resume')}
        </button>
      )}
      {goal.status === 'active' && (
        <button
          type="button"
          className="goal-action"
          disabled={actions.pending}
          onClick={() => void actions.pause()}
        >
          {words.say('control.pause')}
        </button>
      )}
    </>
  );
}

interface RemoveProps {
  goal: GoalView;
  actions: GoalActions;
  onRemoved: () => void;
}

/** Removes at once what has ended, and asks once before it stops what runs. */
function Remove({ goal, actions, onRemoved }: RemoveProps): ReactNode {
  const { words, portal } = useKit();
  const remove = async () => {
    if (await actions.clear()) onRemoved();
  };
  const label = words.say('control.remove');
  if (goal.status !== 'active') {
    return (
      <button
        type="button"
        className="goal-action goal-danger"
        disabled={actions.pending}
        onClick={() => void remove()}
      >
        {label}
      </button>
    );
  }
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger asChild>
        <button type="button" className="goal-action goal-danger" disabled={actions.pending}>
          {label}
        </button>
      </AlertDialog.Trigger>
      <AlertDialog.Portal container={portal ?? null}>
        <AlertDialog.Overlay className="goal-overlay goal-overlay-above" />
        <AlertDialog.Content className="goal-dialog goal-confirm">
          <AlertDialog.Title className="goal-title">
            {words.say('dialog.removeTitle')}
          </AlertDialog.Title>
          <AlertDialog.Description className="goal-facts">
            {words.say('dialog.removeText')}
          </AlertDialog.Description>
          <div className="goal-foot">
            <span className="goal-space" />
            <AlertDialog.Cancel asChild>
              <button type="button" className="goal-action">
                {words.say('dialog.keep')}
              </button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <button
                type="button"
                className="goal-action goal-danger"
                onClick={() => void remove()}
              >
                {words.say('dialog.removeNow')}
              </button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
