import { AlertDialog, Dialog, Switch } from 'radix-ui';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';

import { auditorCheck } from '../commands.js';
import { GoalError } from '../errors.js';
import { describe, errorText, present, reasonOf, sentence, usageOf } from '../presentation.js';
import type { GoalView, JournalLine } from '../types.js';
import type { Words } from '../words.js';
import { useGoalActions, type GoalActions } from './actions.js';
import { Failure } from './Failure.js';
import { BUDGET_MAX, BUDGET_MIN, BUDGET_STEP, useGoalForm, type GoalForm } from './form.js';
import { Count } from './GoalCounter.js';
import { GoalGlyph } from './GoalGlyph.js';
import { pulseOf, useDecisions, useGoal, useNow, useSettings } from './hooks.js';
import { useKit } from './kit.js';

/** What a dialog is about. */
export interface GoalDialogProps {
  sessionId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Opened to raise a spent budget: a larger one is suggested. Default: no. */
  raise?: boolean | undefined;
}

/**
 * Shows and changes a session's goal, or sets one where there is none. A complete goal is read
 * only. What is typed is never overwritten by what happens meanwhile.
 *
 * @example
 * ```tsx
 * import { useState } from 'react';
 * import { GoalDialog } from 'tauri-plugin-goal-api/react';
 *
 * function Manage({ sessionId }: { sessionId: string }) {
 *   const [open, setOpen] = useState(false);
 *   return (
 *     <>
 *       <button onClick={() => setOpen(true)}>Goal</button>
 *       <GoalDialog sessionId={sessionId} open={open} onOpenChange={setOpen} />
 *     </>
 *   );
 * }
 * ```
 */
export function GoalDialog(props: GoalDialogProps): ReactNode {
  const { portal } = useKit();
  const { goal } = useGoal(props.sessionId);
  const opener = useRef<Element | null>(null);
  return (
    <Dialog.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Dialog.Portal container={portal ?? null}>
        <Dialog.Overlay className="goal-overlay" />
        <Dialog.Content
          className="goal-dialog"
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            // Back to where the focus was, which need not be a trigger of this dialog.
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
        >
          {/* Seeded once, when it opens or its goal makes room for another one. */}
          {goal !== undefined && <Body key={goal?.goalId ?? ''} {...props} goal={goal} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface BodyProps extends GoalDialogProps {
  goal: GoalView | null;
}

function Body({ sessionId, goal, raise = false, onOpenChange }: BodyProps): ReactNode {
  const { words } = useKit();
  const { objective } = useGoal(sessionId);
  const actions = useGoalActions(sessionId);
  const settings = useSettings()?.settings;
  const form = useGoalForm({ goal, objective: goal ? objective : '', settings, raise });
  const close = () => {
    onOpenChange(false);
  };
  const save = async () => {
    if (!form.ready || actions.pending) return;
    const done = goal
      ? await actions.edit(form.changes())
      : await actions.start(form.request());
    if (done) close();
  };
  return (
    <form
      className="goal-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Head goal={goal} sessionId={sessionId} />
      <Objective form={form} readOnly={goal?.status === 'complete'} onSubmit={() => void save()} />
      {goal?.status !== 'complete' && <Budget form={form} goal={goal} raise={raise} words={words} />}
      {!goal && <Send form={form} words={words} />}
      {goal && <Decisions goal={goal} words={words} />}
      <Failure text={actions.failure} onDismiss={actions.dismiss} />
      <Foot goal={goal} form={form} actions={actions} close={close} />
    </form>
  );
}

function Head({ goal, sessionId }: { goal: GoalView | null; sessionId: string }): ReactNode {
  const { words } = useKit();
  return (
    <div className="goal-head">
      <Dialog.Title className="goal-title">
        {words.say(goal ? 'dialog.manage' : 'dialog.create')}
      </Dialog.Title>
      <Dialog.Close asChild>
        <button type="button" className="goal-close" aria-label={words.say('control.close')}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="m4 4 8 8M12 4l-8 8" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
          </svg>
        </button>
      </Dialog.Close>
      {goal ? <State goal={goal} words={words} /> : <Auditor sessionId={sessionId} />}
    </div>
  );
}

function State({ goal, words }: { goal: GoalView; words: Words }): ReactNode {
  const now = useNow(pulseOf(goal));
  const { glyph, tone } = present(goal);
  const { line } = describe(goal, words, now);
  // The lines of the others say theirs.
  const reason = goal.status === 'blocked' ? sentence(reasonOf(goal, words)) : '';
  return (
    <>
      <p className="goal-state" data-tone={tone}>
        <GoalGlyph glyph={glyph} />
        <strong>{line}</strong>
      </p>
      <Dialog.Description className="goal-facts">
        {usageOf(goal, words, 'long')}
      </Dialog.Description>
      {goal.auditedBy !== null && (
        <p className="goal-auditor">{words.say('dialog.auditedBy', { model: goal.auditedBy })}</p>
      )}
      {reason !== '' && <p className="goal-reason">{reason}</p>}
      {goal.note !== '' && goal.note !== goal.reason && <p className="goal-note">{goal.note}</p>}
    </>
  );
}

/** Who will judge the goal to be set; told before it costs anything. */
function Auditor({ sessionId }: { sessionId: string }): ReactNode {
  const { words } = useKit();
  const [found, setFound] = useState<string | GoalError | null>(null);
  useEffect(() => {
    let wanted = true;
    auditorCheck({ sessionId }).then(
      ({ model }) => {
        if (wanted) setFound(model);
      },
      (reason: unknown) => {
        if (wanted) setFound(GoalError.from(reason));
      },
    );
    return () => {
      wanted = false;
    };
  }, [sessionId]);
  return (
    <>
      <Dialog.Description className="goal-facts">
        {words.say('dialog.about')}
        {typeof found === 'string' && ` ${words.say('dialog.willAudit', { model: found })}.`}
      </Dialog.Description>
      {found instanceof GoalError && (
        <p className="goal-reason" role="alert">
          {errorText(found, words)}
        </p>
      )}
    </>
  );
}

interface ObjectiveProps {
  form: GoalForm;
  readOnly: boolean;
  onSubmit: () => void;
}

function Objective({ form, readOnly, onSubmit }: ObjectiveProps): ReactNode {
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

function Budget({ form, goal, raise, words }: BudgetProps): ReactNode {
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

function Send({ form, words }: { form: GoalForm; words: Words }): ReactNode {
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

/** What is worth a line: what was done, not every look. */
const SHOWN = new Set<JournalLine['decision']>(['continue', 'pause', 'settle']);

function Decisions({ goal, words }: { goal: GoalView; words: Words }): ReactNode {
  const lines = useDecisions(goal).filter(({ decision }) => SHOWN.has(decision));
  const now = useNow(60_000);
  if (lines.length === 0) return null;
  return (
    <section className="goal-recent">
      <h3>{words.say('dialog.recent')}</h3>
      <ol>
        {lines.slice(0, 5).map((line) => (
          <li key={`${String(line.at)} ${line.decision}`} data-decision={line.decision}>
            <time dateTime={new Date(line.at).toISOString()}>{words.clock(line.at, now)}</time>
            <span>{decisionText(line, words)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function decisionText({ decision, why }: JournalLine, words: Words): string {
  const families = ['occasion', 'reason', 'auditFailure', 'why'];
  const because = families.map((family) => words.code(family, why)).find(Boolean);
  const done = sentence(words.say(`decision.${decision}`));
  return because === undefined ? done : words.say('dialog.line', { decision: done, why: because });
}

interface FootProps {
  goal: GoalView | null;
  form: GoalForm;
  actions: GoalActions;
  close: () => void;
}

function Foot({ goal, form, actions, close }: FootProps): ReactNode {
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
