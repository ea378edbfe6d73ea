import { useState } from 'react';

import { CallError } from '../../server/client';
import { hear } from '../../server/sync';
import { useAttempt } from '../../ui/toasts';

/** Sends an answer once: whether one is on its way, and what sends it. */
export function useAnswer(
  request: { id: string; sessionID: string },
  gone: 'permission.replied' | 'question.rejected',
): [sending: boolean, answer: (send: () => Promise<void>) => Promise<void>] {
  const attempt = useAttempt();
  const [sending, setSending] = useState(false);
  const answer = async (send: () => Promise<void>): Promise<void> => {
    setSending(true);
    await attempt(async () => {
      try {
        await send();
      } catch (thrown) {
        // Answered elsewhere, or its turn is over: it waits no longer.
        if (!(thrown instanceof CallError) || thrown.status !== 404) throw thrown;
        const properties = { sessionID: request.sessionID, requestID: request.id };
        hear({ kind: 'events', events: [{ directory: null, type: gone, properties }] });
      }
    });
    setSending(false);
  };
  return [sending, answer];
}
