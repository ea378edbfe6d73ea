/** Sending what was typed: whatever fails, the text comes back. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

import { drafts, keepDraft, moveDraft, NO_DRAFT, returnDraft, takeDraft } from '../drafts';
import { armedSend } from '../goal/send';
import type { Draft } from '../host/contract';
import { openSession } from '../navigation';
import { setPreferences } from '../preferences';
import { createSession, type Outgoing } from '../server/actions';
import { isBusy } from '../server/state';
import { server } from '../server/store';
import { toast, useFailureText } from '../ui/toasts';
import { moveChoice, type Choice } from './choice';
import { focusComposer } from './focus';
import { named } from './mentions';
import { enqueue, queueOf } from './queue';
import { deliver, type Lost } from './send';
import { ownCommand } from './slash';
import { useOwnCommand } from './useOwnCommand';
import type { Where } from './where';

/** Whether a message would wait in the queue: behind the turn that runs, or behind what waits already. */
function mustWait(sessionId: string): boolean {
  const { entries, held } = queueOf(sessionId);
  return isBusy(server.getState(), sessionId) || (entries.length > 0 && held === null);
}

/** Sends the draft of a place; `sending` while it is on its way. */
export function useSubmit(
  where: Where,
  choice: Choice,
  armed: boolean,
): { sending: boolean; submit: () => Promise<void> } {
  const [sending, setSending] = useState(false);
  const sendTo = useSendTo();
  const startIn = useStartIn();
  const startGoal = useStartGoal();
  const run = useOwnCommand(where, choice);

  const submit = async (): Promise<void> => {
    const { sessionId, directory, key } = where;
    const own = ownCommand(drafts.getState()[key] ?? NO_DRAFT);
    setSending(true);
    try {
      if (own !== null) await run(own, takeDraft(key));
      else if (armed) await startGoal(where, choice);
      else if (sessionId !== null) await sendTo(sessionId, takeDraft(key), choice);
      else if (directory !== null) await startIn(directory, key, takeDraft(key), choice);
    } finally {
      setSending(false);
      await keepDraft(key);
    }
  };
  return { sending, submit };
}

function outgoing({ text, attachments }: Draft, choice: Choice): Outgoing {
  return { text: text.trim(), attachments, ...choice };
}

function useSendTo(): (sessionId: string, draft: Draft, choice: Choice) => Promise<void> {
  const { t } = useTranslation('composer');
  const failure = useFailureText();
  return async (sessionId, draft, choice) => {
    const message = outgoing(draft, choice);
    if (mustWait(sessionId)) {
      if (enqueue(sessionId, message)) return;
      returnDraft(sessionId, draft);
      toast({ tone: 'bad', text: t('queue.full') });
      return;
    }
    const lost: Lost = (thrown, began) => {
      if (!began) returnDraft(sessionId, draft);
      toast({ tone: 'bad', text: failure(thrown) });
    };
    try {
      await deliver(sessionId, message, lost);
    } catch (thrown) {
      lost(thrown, false);
    }
  };
}

function useStartIn(): (directory: string, key: string, draft: Draft, choice: Choice) => Promise<void> {
  const { t } = useTranslation('composer');
  const failure = useFailureText();
  return async (directory, key, draft, choice) => {
    let created: string;
    try {
      created = (await createSession(directory)).id;
    } catch (thrown) {
      returnDraft(key, draft);
      toast({ tone: 'bad', text: t('failed.create', { reason: failure(thrown) }) });
      return;
    }
    enter(created, directory, key);
    const lost: Lost = (thrown, began) => {
      if (!began) returnDraft(created, draft);
      toast({ tone: 'bad', text: t(began ? 'failed.command' : 'failed.send', { reason: failure(thrown) }) });
    };
    try {
      await deliver(created, outgoing(draft, choice), lost);
    } catch (thrown) {
      lost(thrown, false);
    }
  };
}

/** The text stays where it is until the goal stands: making it may take a minute. */
function useStartGoal(): (where: Where, choice: Choice) => Promise<void> {
  const failure = useFailureText();
  return async ({ sessionId, directory, key }, choice) => {
    const draft = drafts.getState()[key] ?? NO_DRAFT;
    const { text, attachments, agent, model } = outgoing(draft, choice);
    try {
      const begun = await armedSend({
        ...{ sessionId, directory, text, agent, model },
        attachments: named(text, attachments),
        budget: draft.budget,
      });
      takeDraft(key);
      if (sessionId === null && directory !== null) enter(begun.sessionId, directory, key);
    } catch (thrown) {
      toast({ tone: 'bad', text: failure(thrown) });
    }
  };
}

/** A draft has become a session: its place is where the person is. */
function enter(sessionId: string, directory: string, key: string): void {
  // Not remembered is no reason not to send.
  void setPreferences({ lastDirectory: directory }).catch(() => null);
  moveChoice(key, sessionId);
  // What was typed since belongs to the session, too.
  moveDraft(key, sessionId);
  openSession(sessionId);
  // Another place has another text: it takes the focus of the one that went.
  requestAnimationFrame(focusComposer);
}
