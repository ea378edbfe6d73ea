/** Messages that are not sent yet: kept by the host, so that neither a reload nor a restart loses one. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import type { Draft } from './host/contract';
import * as host from './host/host';

export const NO_DRAFT: Draft = { text: '', attachments: [], armed: false, budget: null };

/** Milliseconds after the last key until a draft is kept. */
const KEPT_AFTER = 400;

/** What the host keeps of one draft at most. */
const TEXT_CHARS_MAX = 100_000;
const ATTACHMENTS_BYTES_MAX = 8 * 1024 * 1024;

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
  window.addEventListener('pagehide', () => { void flushDrafts(); });
  drafts.setState(await host.drafts(), true);
}

/** Changes a draft, and keeps it when typing rests; an empty one is forgotten. */
export function changeDraft(key: string, patch: Partial<Draft>): void {
  const draft = { ...(drafts.getState()[key] ?? NO_DRAFT), ...patch };
  drafts.setState({ [key]: draft });
  clearTimeout(timers.get(key));
  timers.set(key, setTimeout(() => { void keepDraft(key); }, KEPT_AFTER));
}

/** Empties a draft to send it. What the host keeps stays until {@link keepDraft}: sending may fail. */
export function takeDraft(key: string): Draft {
  const taken = drafts.getState()[key] ?? NO_DRAFT;
  clearTimeout(timers.get(key));
  timers.delete(key);
  drafts.setState({ [key]: NO_DRAFT });
  return taken;
}

/** Puts a message back where it was typed, before whatever was typed since. */
export function returnDraft(key: string, draft: Draft): void {
  const since = drafts.getState()[key] ?? NO_DRAFT;
  changeDraft(key, {
    text: [draft.text, since.text].filter((text) => text !== '').join('\n\n'),
    attachments: [...draft.attachments, ...since.attachments],
    armed: draft.armed || since.armed,
    budget: draft.budget ?? since.budget,
  });
}

/** Takes what was typed along to another place. */
export function moveDraft(from: string, to: string): void {
  if (from === to) return;
  const moved = takeDraft(from);
  void keepDraft(from);
  if (!isEmpty(moved)) returnDraft(to, moved);
}

/** Whether the host can keep all of a draft. */
export function fitsHost({ text, attachments }: Draft): boolean {
  const bytes = attachments.reduce((sum, { name, mime, url }) => sum + name.length + mime.length + url.length, 0);
  return text.length <= TEXT_CHARS_MAX && bytes <= ATTACHMENTS_BYTES_MAX;
}

/** Keeps all drafts now: the page is about to go. */
export function flushDrafts(): Promise<unknown> {
  return Promise.all([...timers.keys()].map((key) => keepDraft(key)));
}

/** Keeps one now. Of one that is too large the page alone has the rest; its composer says so. */
export async function keepDraft(key: string): Promise<void> {
  clearTimeout(timers.get(key));
  timers.delete(key);
  const draft = drafts.getState()[key] ?? NO_DRAFT;
  const kept = fitsHost(draft) ? draft : fitting(draft);
  // The next change, or the page's end, tries again.
  await host.draftSet(key, isEmpty(kept) ? null : kept).catch(() => null);
}

function fitting(draft: Draft): Draft {
  return {
    ...draft,
    text: draft.text.slice(0, TEXT_CHARS_MAX),
    attachments: draft.attachments.filter(({ url }) => !url.startsWith('data:')),
  };
}

function isEmpty({ text, attachments, armed }: Draft): boolean {
  return text === '' && attachments.length === 0 && !armed;
}
