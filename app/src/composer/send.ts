/** How a message reaches the server: as a prompt, or as the command it begins with. */
import { crafting, ideaOf } from '../origins/craft';
import { runCommand, send, type Outgoing } from '../server/actions';
import { callError } from '../server/client';
import { isBusy } from '../server/state';
import { server } from '../server/store';
import { commandsOf } from './commands';
import { named } from './mentions';
import { parseSlash } from './slash';

/** A command that did not run, told when its turn would have ended; `began`: its turn is seen in the chat. */
export type Lost = (thrown: unknown, began: boolean) => void;

/**
 * Resolves when the server has the message. The page's own command for crafting a goal is what it stands for; in a queue
 * and in a draft it is kept as it was typed. A text with a slash is a prompt only if the server's list of commands was
 * read and lacks it. A command's answer comes when its turn has ended, so nobody waits for it: `lost` tells a failure.
 */
export async function deliver(sessionId: string, message: Outgoing, lost: Lost): Promise<void> {
  const outgoing = { ...message, attachments: named(message.text, message.attachments) };
  const idea = ideaOf(message.text);
  if (idea !== null) {
    await send(sessionId, { ...outgoing, ...crafting(idea) });
    return;
  }
  const slash = parseSlash(message.text);
  const directory = server.getState().sessions[sessionId]?.directory;
  if (slash !== null && directory !== undefined) {
    const commands = await commandsOf(directory);
    if (commands.some(({ name }) => name === slash.name)) {
      void follow(sessionId, runCommand(sessionId, slash, outgoing), lost);
      return;
    }
  }
  await send(sessionId, outgoing);
}

async function follow(sessionId: string, command: Promise<void>, lost: Lost): Promise<void> {
  const turn = { began: false };
  const unsubscribe = server.subscribe((state) => {
    if (isBusy(state, sessionId)) turn.began = true;
  });
  try {
    await command;
  } catch (thrown) {
    // An answer that is late says nothing of the turn.
    lost(thrown, turn.began || callError(thrown).code === 'timedOut');
  } finally {
    unsubscribe();
  }
}
