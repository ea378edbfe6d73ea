/** The host's commands, one function each. A refusal rejects with a {@link HostError}. */
import { Channel, invoke } from '@tauri-apps/api/core';

import type {
  CommandName,
  Draft,
  Models,
  OpenRequest,
  Preferences,
  ServerAnswerHead,
  ServerChoice,
  ServerRequest,
  StreamMessage,
} from './contract';

/** A refused command: `code` is one of the host's or the plugin's. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What was thrown, as a {@link HostError}: `internal` where it names no code. */
export function hostError(thrown: unknown): HostError {
  if (thrown instanceof HostError) return thrown;
  if (typeof thrown === 'object' && thrown !== null && 'code' in thrown && 'message' in thrown) {
    return new HostError(String(thrown.code), String(thrown.message));
  }
  return new HostError('internal', String(thrown));
}

async function ask<T>(command: CommandName, args: Record<string, unknown> = {}): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (refused) {
    throw hostError(refused);
  }
}

/** Asks the OpenCode server, through the host's list of what a page may ask. */
export async function serverCall(
  request: ServerRequest,
): Promise<{ head: ServerAnswerHead; body: Uint8Array<ArrayBuffer> }> {
  const bytes = new Uint8Array(await ask<ArrayBuffer>('server_call', { request }));
  const end = bytes.indexOf(0x0a);
  if (end < 0) throw new HostError('invalid', 'an answer without its head');
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as ServerAnswerHead;
  return { head, body: bytes.subarray(end + 1) };
}

/** Opens this window's stream of events; an earlier one of this window ends. */
export function serverEvents(hear: (message: StreamMessage) => void): Promise<null> {
  return ask('server_events', { events: new Channel<StreamMessage>(hear) });
}

export const models = (directory: string | null): Promise<Models> => ask('models', { directory });

export const serverChoice = (): Promise<ServerChoice> => ask('server_choice');

/** Uses a running server. Without a password, the kept one; `keep` puts it into the system's keyring. */
export const serverAttach = (server: {
  url: string;
  username: string | null;
  password: string | null;
  keep: boolean;
}): Promise<unknown> => ask('server_attach', server);

/** Uses a server that the app starts and ends itself. */
export const serverManage = (): Promise<unknown> => ask('server_manage');

export const preferences = (): Promise<Preferences> => ask('preferences');

export const preferencesSet = (patch: Partial<Preferences>): Promise<Preferences> =>
  ask('preferences_set', { patch });

export const drafts = (): Promise<Record<string, Draft>> => ask('drafts');

export const draftSet = (key: string, draft: Draft | null): Promise<null> =>
  ask('draft_set', { key, draft });

/** Lets a person choose a folder; `null` if they do not. */
export const pickFolder = (start: string | null): Promise<string | null> =>
  ask('pick_folder', { start });

/** Opens an address in the system's browser. */
export const openExternal = (url: string): Promise<null> => ask('open_external', { url });

export const diagnostics = (): Promise<string> => ask('diagnostics');

/** What was asked to be opened before the page listened; given once. */
export const takeOpen = (): Promise<OpenRequest | null> => ask('take_open');

/** Says that the page has been painted. */
export const painted = (): Promise<null> => ask('painted');

export const quit = (): Promise<null> => ask('quit');
