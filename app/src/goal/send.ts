/** Sending an armed message. The engine carries it out: objective, goal, then the prompt, or the command that it is. */
import i18next from 'i18next';
import {
  errorText,
  GoalError,
  goalStore,
  start,
  type ErrorCode,
  type Start,
  type Started,
} from 'tauri-plugin-goal-api';

import type { Attachment, ModelChoice } from '../host/contract';
import { createSession, remove } from '../server/actions';
import { Told, toast } from '../ui/toasts';
import { wordsOf } from './words';

export interface ArmedMessage {
  /** `null`: a session is made first. */
  sessionId: string | null;
  directory: string | null;
  text: string;
  agent: string | null;
  model: ModelChoice | null;
  attachments: readonly Attachment[];
  /** Tokens the goal may use; `null`: no limit; left out: what the settings say. */
  budget?: number | null;
  /** What the agent is told in the text's place, and what goes along hidden: the text is then what is judged by. */
  said?: { prompt: string; instructions: string | null };
}

/**
 * Starts a goal with a message. Throws a {@link Told} where it does not start: then the message is still the caller's,
 * and a session that was made for it is gone again.
 */
export async function armedSend(message: ArmedMessage): Promise<{ sessionId: string }> {
  const made = message.sessionId === null ? await makeSession(message.directory) : null;
  const sessionId = message.sessionId ?? made ?? '';
  try {
    const started = await start({
      sessionId,
      objective: message.text,
      ...(message.budget === undefined ? {} : { tokenBudget: message.budget }),
      ...choices(message),
    });
    goalStore().accept(started.goal);
    tell(started);
    return { sessionId };
  } catch (thrown) {
    const error = GoalError.from(thrown);
    const told = new Told(errorText(error, wordsOf(i18next.language)), { cause: error });
    if (made !== null && !mayBeStarted(told)) {
      // Left behind, it is an empty session in the list, which does no harm.
      await remove(made).catch(() => undefined);
    }
    throw told;
  }
}

/** What the first message is sent with, as it was chosen; without a choice, what the session had. */
function choices({ agent, model, attachments, said }: ArmedMessage): Partial<Start> {
  return {
    ...(said === undefined ? {} : { prompt: said.prompt }),
    ...(said?.instructions == null ? {} : { instructions: said.instructions }),
    ...(agent === null ? {} : { agent }),
    ...(model === null
      ? {}
      : { model: { providerId: model.providerId, modelId: model.modelId } }),
    ...(model?.variant == null ? {} : { variant: model.variant }),
    ...(attachments.length === 0
      ? {}
      : { attachments: attachments.map(({ name, mime, url }) => ({ name, mime, url })) }),
  };
}

/** After these the session may hold a goal, or a message that still arrives. */
const MAY_BE_STARTED: ReadonlySet<string> = new Set<ErrorCode>(['internal', 'notDelivered']);

/** Whether the goal may stand although {@link armedSend} threw this. */
export function mayBeStarted(thrown: unknown): boolean {
  return thrown instanceof Told && thrown.cause instanceof GoalError && MAY_BE_STARTED.has(thrown.cause.code);
}

async function makeSession(directory: string | null): Promise<string> {
  if (directory === null) throw new Told(text('send.noFolder'));
  return (await createSession(directory)).id;
}

/** Started all the same, but not with all that was asked for. */
function tell({ notDistilled }: Started): void {
  if (notDistilled !== null) toast({ tone: 'plain', text: text('send.notDistilled') });
}

const text = (key: 'send.noFolder' | 'send.notDistilled'): string =>
  i18next.getFixedT(null, 'goal')(key);
