/** Messages that are not sent yet: kept by the host, so that neither a reload nor a restart loses one. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Draft } from './host/contract';
import * as host from './host/host';

export const NO_DRAFT: Draft = { text: '', attachments: [], armed: false, budget: null };

/** Milliseconds after the last key until a draft is kept. */
const KEPT_AFTER = 400;

export const drafts = createStore<Record<string, Draft>>(() => ({}));

const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** The key of a session that does not exist yet. */
export function draftKey(directory: string | null): string {
  return directory === null ? 'new' : `new:${directory}`;
}

export function useDraft(key: string): Draft {
  return useStore(drafts, (all) => all[key] ?? NO_DRAFT);
}

export async function loadDrafts(): Promise<void> {
  drafts.setState(await host.drafts(), true);
}

/** Changes a draft, and keeps it when typing rests; an empty one is forgotten. */
export function changeDraft(key: string, patch: Partial<Draft>): void {
  const draft = { ...(drafts.getState()[key] ?? NO_DRAFT), ...patch };
  drafts.setState({ [key]: draft });
  clearTimeout(timers.get(key));
  timers.set(key, setTimeout(() => { void keep(key); }, KEPT_AFTER));
}

/** Keeps all drafts now: the page is about to go. */
export function flushDrafts(): Promise<unknown> {
  return Promise.all([...timers.keys()].map((key) => keep(key)));
}

async function keep(key: string): Promise<void> {
  clearTimeout(timers.get(key));
  timers.delete(key);
  const draft = drafts.getState()[key] ?? NO_DRAFT;
  const empty = draft.text === '' && draft.attachments.length === 0 && !draft.armed;
  await host.draftSet(key, empty ? null : draft);
}
