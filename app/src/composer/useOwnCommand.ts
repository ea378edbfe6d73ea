/** The page's own slash commands. */
import { useTranslation } from 'react-i18next';

import { changeDraft, returnDraft } from '../drafts';
import type { Draft } from '../host/contract';
import { openDraft } from '../navigation';
import { compact, revert, unrevert } from '../server/actions';
import { isBusy, type Message, type Part, type ServerState } from '../server/state';
import { server } from '../server/store';
import { toast, useFailureText } from '../ui/toasts';
import type { Choice } from './choice';
import type { OwnCommand } from './slash';
import type { Where } from './where';

/** The message that an undo takes back: the user's last one before what is undone already. */
export function lastToUndo(state: ServerState, sessionId: string): Message | null {
  const messages = state.transcripts[sessionId]?.messages ?? [];
  const undone = state.sessions[sessionId]?.revert?.messageID;
  const at = messages.findIndex(({ id }) => id === undone);
  const standing = at < 0 ? messages : messages.slice(0, at);
  return standing.findLast(({ role }) => role === 'user') ?? null;
}

function typed(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' && part.synthetic !== true ? [part.text] : []))
    .join('\n\n');
}

/** Undoes the last message of a session; its text comes back to be typed anew. */
async function undo(sessionId: string): Promise<boolean> {
  const state = server.getState();
  const message = lastToUndo(state, sessionId);
  if (message === null) return false;
  await revert(sessionId, message.id);
  changeDraft(sessionId, { text: typed(state.transcripts[sessionId]?.parts[message.id] ?? []) });
  return true;
}

/** Runs one of the page's own commands; where it cannot, what was typed comes back and the reason shows. */
export function useOwnCommand(where: Where, choice: Choice): (own: OwnCommand, draft: Draft) => Promise<void> {
  const { t } = useTranslation('composer');
  const failure = useFailureText();
  const { sessionId, key, directory } = where;
  return async (own, draft) => {
    const refuse = (text: string): void => {
      returnDraft(key, { ...draft, armed: false });
      toast({ tone: 'bad', text });
    };
    // The target stays armed for the message that comes.
    changeDraft(key, { armed: draft.armed, budget: draft.budget });
    if (own === 'new') {
      openDraft(directory);
      return;
    }
    if (sessionId === null) {
      refuse(t('own.needsSession', { name: `/${own}` }));
      return;
    }
    if (isBusy(server.getState(), sessionId)) {
      refuse(t('own.needsIdle', { name: `/${own}` }));
      return;
    }
    try {
      switch (own) {
        case 'compact':
          if (choice.model === null) refuse(t('own.needsModel'));
          // Its turn shows in the chat.
          else void compact(sessionId, choice.model).catch((thrown: unknown) => { refuse(failure(thrown)); });
          break;
        case 'undo':
          if (!(await undo(sessionId))) toast({ tone: 'plain', text: t('own.nothingToUndo') });
          break;
        case 'redo':
          if (server.getState().sessions[sessionId]?.revert === undefined) {
            toast({ tone: 'plain', text: t('own.nothingToRedo') });
          } else await unrevert(sessionId);
          break;
      }
    } catch (thrown) {
      refuse(failure(thrown));
    }
  };
}
