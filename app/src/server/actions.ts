/** What a person does to sessions. Each throws a {@link CallError} and changes nothing where it fails. */
import type { FilePartInput, TextPartInput } from '@opencode-ai/sdk/v2/client';

import type { Attachment, ModelChoice } from '../host/contract';
import { client, data } from './client';
import { apply } from './apply';
import type { Session } from './state';
import { server } from './store';

/** What a message is sent with. */
export interface Outgoing {
  text: string;
  attachments: readonly Attachment[];
  agent: string | null;
  model: ModelChoice | null;
  /** What the agent is told besides; the conversation shows it folded, as added by the app. */
  hidden?: string;
}

/** A new session in a folder. It is in the store when this resolves. */
export async function createSession(directory: string): Promise<Session> {
  const session = await data(client.session.create({ directory }));
  server.setState((state) => ({ sessions: { ...state.sessions, [session.id]: session } }));
  return session;
}

/** Sends a message; while the session works the server queues it. */
export async function send(sessionID: string, message: Outgoing): Promise<void> {
  await data(
    client.session.promptAsync({
      sessionID,
      parts: parts(message),
      ...(message.agent === null ? {} : { agent: message.agent }),
      ...(message.model === null
        ? {}
        : {
            model: { providerID: message.model.providerId, modelID: message.model.modelId },
            ...(message.model.variant === null ? {} : { variant: message.model.variant }),
          }),
    }),
  );
}

function parts({ text, attachments, hidden }: Outgoing): (TextPartInput | FilePartInput)[] {
  const files = attachments.map(
    ({ name, mime, url }): FilePartInput => ({ type: 'file', mime, filename: name, url, ...sourceIn(text, name, url) }),
  );
  const added: TextPartInput[] = hidden === undefined ? [] : [{ type: 'text', text: hidden, synthetic: true }];
  return text === '' ? [...files, ...added] : [{ type: 'text', text }, ...files, ...added];
}

/** Where a text names a file of the folder, as OpenCode's own clients tell it. */
function sourceIn(text: string, name: string, url: string): Pick<FilePartInput, 'source'> {
  const value = `@${name}`;
  const start = text.indexOf(value);
  if (!url.startsWith('file:') || start < 0) return {};
  return { source: { type: 'file', path: name, text: { value, start, end: start + value.length } } };
}

/** Runs a slash command. The server answers when its turn has ended, so this waits that long. */
export async function runCommand(
  sessionID: string,
  command: { name: string; arguments: string },
  { agent, model, attachments }: Pick<Outgoing, 'agent' | 'model' | 'attachments'>,
): Promise<void> {
  await data(
    client.session.command({
      sessionID,
      command: command.name,
      arguments: command.arguments,
      ...(agent === null ? {} : { agent }),
      ...(model === null ? {} : { model: `${model.providerId}/${model.modelId}` }),
      ...(model?.variant == null ? {} : { variant: model.variant }),
      parts: attachments.map(({ name, mime, url }) => ({
        type: 'file' as const,
        mime,
        filename: name,
        url,
      })),
    }),
  );
}

/** Stops a session's turn. With an active goal the host pauses the goal, which stops the turn. */
export async function stop(sessionID: string): Promise<void> {
  await data(client.session.abort({ sessionID }));
}

export async function rename(sessionID: string, title: string): Promise<void> {
  put(await data(client.session.update({ sessionID, title })));
}

export async function archive(sessionID: string, when: number): Promise<void> {
  put(await data(client.session.update({ sessionID, time: { archived: when } })));
}

/** Deletes a session with all its messages and sub-agents. There is no way back. */
export async function remove(sessionID: string): Promise<void> {
  const info = server.getState().sessions[sessionID];
  await data(client.session.delete({ sessionID }));
  const event = { directory: null, type: 'session.deleted', properties: { info } };
  server.setState((state) => apply(state, [event]), true);
}

/** Undoes a session's messages and file changes from this message on, until the next prompt for good. */
export async function revert(sessionID: string, messageID: string): Promise<void> {
  put(await data(client.session.revert({ sessionID, messageID })));
}

export async function unrevert(sessionID: string): Promise<void> {
  put(await data(client.session.unrevert({ sessionID })));
}

/** A copy of a session up to a message, or whole. */
export async function fork(sessionID: string, messageID?: string): Promise<Session> {
  const session = await data(
    client.session.fork({ sessionID, ...(messageID === undefined ? {} : { messageID }) }),
  );
  put(session);
  return session;
}

/** Condenses a session's history. */
export async function compact(sessionID: string, model: ModelChoice): Promise<void> {
  await data(
    client.session.summarize({ sessionID, providerID: model.providerId, modelID: model.modelId }),
  );
}

export type PermissionReply = 'once' | 'always' | 'reject';

/** Answers a permission request. A rejection without a message ends the turn. */
export async function replyPermission(
  request: { id: string; sessionID: string },
  reply: PermissionReply,
  message?: string,
): Promise<void> {
  await data(
    client.permission.reply({
      requestID: request.id,
      ...directoryOf(request.sessionID),
      reply,
      ...(message === undefined ? {} : { message }),
    }),
  );
  tell('permission.replied', request.id);
}

/** Answers a question: for each of its questions the chosen labels or own words. */
export async function replyQuestion(
  request: { id: string; sessionID: string },
  answers: string[][],
): Promise<void> {
  await data(
    client.question.reply({ requestID: request.id, ...directoryOf(request.sessionID), answers }),
  );
  tell('question.replied', request.id);
}

/** Declines a question, which ends the turn. */
export async function rejectQuestion(request: { id: string; sessionID: string }): Promise<void> {
  await data(client.question.reject({ requestID: request.id, ...directoryOf(request.sessionID) }));
  tell('question.rejected', request.id);
}

/** Requests belong to a folder's instance. */
function directoryOf(sessionId: string): { directory?: string } {
  const directory = server.getState().sessions[sessionId]?.directory;
  return directory === undefined ? {} : { directory };
}

function tell(type: string, requestID: string): void {
  server.setState((state) => apply(state, [{ directory: null, type, properties: { requestID } }]), true);
}

function put(session: Session): void {
  server.setState((state) => ({ sessions: { ...state.sessions, [session.id]: session } }));
}
