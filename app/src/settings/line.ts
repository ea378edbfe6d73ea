/** The line to the server: which server is chosen, how it stands, and how to change that. */
import { useCallback, useSyncExternalStore } from 'react';
import { serverConnect, type GoalError, type ServerStatus } from 'tauri-plugin-goal-api';
import { useKit, useServer } from 'tauri-plugin-goal-api/react';

import type { ServerChoice } from '../host/contract';
import * as host from '../host/host';
import { CallError } from '../server/client';
import { useRead, type Read } from '../ui/useRead';

/** Which server is chosen; read again whenever the line changes. */
export function useServerChoice(): Read<ServerChoice> {
  const status = useServer();
  return useRead('choice', host.serverChoice, status?.seq ?? -1);
}

/** Why the goals' plugin does not answer; `null` while it does. */
export function useGoalError(): GoalError | null {
  const { store } = useKit();
  const subscribe = useCallback((reader: () => void) => store.subscribe(reader), [store]);
  return useSyncExternalStore(subscribe, () => store.error());
}

/** A server as the form names it; empty texts are left out. */
export interface Address {
  url: string;
  username: string;
  password: string;
  keep: boolean;
}

/**
 * Uses a running server. Throws where it cannot be used; `before`, the choice whose server was in use, is then gone back
 * to, so that a wrong address costs nothing. `null`: there was none worth going back to.
 */
export async function attach(address: Address, before: ServerChoice | null): Promise<void> {
  const { url, username, password, keep } = address;
  const answer = await host.serverAttach({
    url: url.trim(),
    username: username.trim() === '' ? null : username.trim(),
    password: password === '' ? null : password,
    keep,
  });
  try {
    reached(answer);
  } catch (thrown) {
    if (before !== null) await goBack(before);
    throw thrown;
  }
}

/** Uses the server of a choice again; where that fails, the state of the line says so. */
async function goBack(before: ServerChoice): Promise<void> {
  const back =
    before.kind === 'managed'
      ? host.serverManage()
      : host.serverAttach({
          url: before.url,
          username: before.username,
          password: null,
          keep: before.passwordKept,
        });
  await back.catch(() => null);
}

/** Uses a server of our own. Throws where none can be started. */
export async function manage(): Promise<void> {
  reached(await host.serverManage());
}

/** Tries the chosen server again, at once. Throws where it cannot be used. */
export async function lookAgain(): Promise<void> {
  const status = await serverConnect({ server: null });
  // No server was chosen yet.
  reached(status.state === 'none' ? await host.serverManage() : status);
}

/** A change of server is carried out even where the server then cannot be reached: that is told like a refusal. */
function reached(answer: unknown): void {
  const status = answer as ServerStatus;
  if (status.state === 'failed') {
    throw new CallError(status.code ?? 'unreachable', status.reason, null);
  }
}

/** Whether this is an address of a server: http or https, and nothing secret in it. */
export function isAddress(text: string): boolean {
  const url = URL.parse(text.trim());
  if (url === null) return false;
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.hostname !== '' && url.username === '' && url.password === '';
}
