import { Dialog } from 'radix-ui';
import { useRef, type ReactNode } from 'react';

import type { GoalView } from '../types.js';
import { useGoalActions } from './actions.js';
import { Decisions } from './dialog/Decisions.js';
import { Budget, Objective, Send } from './dialog/Fields.js';
import { Foot } from './dialog/Foot.js';
import { useGoalForm } from './dialog/form.js';
import { Head } from './dialog/Head.js';
import { Failure } from './Failure.js';
import { useGoalView, useObjective, useSettings } from './hooks.js';
import { useKit } from './kit.js';

/** What a dialog is about. */
export interface GoalDialogProps {
  sessionId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Opened to raise a spent budget: a larger one is suggested. Default: no. */
  raise?: boolean | undefined;
  /** More to say beside the usage, such as what it cost. */
  facts?: string | undefined;
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
  const goal = useGoalView(props.sessionId);
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

function Body({ sessionId, goal, raise = false, facts, onOpenChange }: BodyProps): ReactNode {
  const { words } = useKit();
  // Not what stood there before: what is shown here is what is changed.
  const objective = useObjective(sessionId);
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
      <Head goal={goal} sessionId={sessionId} facts={facts} />
      <Objective form={form} readOnly={goal?.status === 'complete'} onSubmit={() => void save()} />
      {goal?.status !== 'complete' && <Budget form={form} goal={goal} raise={raise} words={words} />}
      {!goal && <Send form={form} words={words} />}
      {goal && <Decisions goal={goal} words={words} />}
      <Failure text={actions.failure} onDismiss={actions.dismiss} />
      <Foot goal={goal} form={form} actions={actions} close={close} />
    </form>
  );
}
