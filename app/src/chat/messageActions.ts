/** What a person does with one message of a conversation. */
import { changeDraft, drafts, NO_DRAFT } from '../drafts';
import { openSession } from '../navigation';
import { fork, revert } from '../server/actions';
import { server } from '../server/store';
import type { Message } from '../server/state';
import { textOf } from './prompts';

function wordsOf({ sessionID, id }: Message): string {
  return textOf(server.getState().transcripts[sessionID]?.parts[id] ?? []);
}

/** Puts a prompt back where it is written, unless something is written there. */
function takeBack(sessionId: string, text: string): void {
  const written = (drafts.getState()[sessionId] ?? NO_DRAFT).text;
  if (written === '' && text !== '') changeDraft(sessionId, { text });
}

/** Undoes a prompt and all that followed; its words can be changed and sent again. */
export async function revertTo(message: Message): Promise<void> {
  const text = wordsOf(message);
  await revert(message.sessionID, message.id);
  takeBack(message.sessionID, text);
}

/** A copy of the conversation: up to a prompt, which can be written anew, or up to a reply and with it. */
export async function forkFrom(message: Message, next: string | null): Promise<void> {
  const text = message.role === 'user' ? wordsOf(message) : '';
  const before = message.role === 'user' ? message.id : next;
  const copy = await fork(message.sessionID, before ?? undefined);
  takeBack(copy.id, text);
  openSession(copy.id);
}
