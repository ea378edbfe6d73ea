/** What all of one conversation's rows share. */
import { createContext, use } from 'react';

import type { Models } from '../host/contract';

export interface Conversation {
  sessionId: string;
  /** The session's folder; `''` until it is known. */
  directory: string;
  models: Models | null;
}

export const ConversationContext = createContext<Conversation>({
  sessionId: '',
  directory: '',
  models: null,
});

export function useConversation(): Conversation {
  return use(ConversationContext);
}
