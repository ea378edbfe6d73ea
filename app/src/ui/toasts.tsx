/** Short messages over the page: what failed, or what was done and can be undone. */
import { X } from 'lucide-react';
import { Toast } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { callError } from '../server/client';
import { IconButton } from './Button';
import { classes } from './classes';

export interface Message {
  id: number;
  tone: 'bad' | 'plain';
  text: string;
  action?: { label: string; run: () => void };
}

/** More than these are not shown at once: the oldest goes. */
const SHOWN_MAX = 4;

/** Milliseconds until a message goes by itself. */
const SHOWN_FOR = 8_000;

const toasts = createStore<{ next: number; all: Message[] }>(() => ({ next: 1, all: [] }));

/** Shows a message. */
export function toast(message: Omit<Message, 'id'>): void {
  toasts.setState(({ next, all }) => ({
    next: next + 1,
    all: [...all, { ...message, id: next }].slice(-SHOWN_MAX),
  }));
}

function dismiss(id: number): void {
  toasts.setState(({ all }) => ({ all: all.filter((one) => one.id !== id) }));
}

/** A failure whose message is in the user's words already. */
export class Told extends Error {
  override readonly name = 'Told';
}

/** The codes that have words of their own. */
const CODES = [
  'invalid',
  'keyringUnavailable',
  'notAllowed',
  'notConnected',
  'server',
  'timedOut',
  'tooBig',
  'unauthorized',
  'unreachable',
] as const;

/** Says a failure in the user's words. */
export function useFailureText(): (thrown: unknown) => string {
  const { t } = useTranslation();
  return (thrown) => {
    if (thrown instanceof Told) return thrown.message;
    const failed = callError(thrown);
    const code = CODES.find((known) => known === failed.code) ?? 'internal';
    return t(`error.${code}`, { detail: failed.message });
  };
}

/** Runs something that may fail and shows the failure. */
export function useAttempt(): (work: () => Promise<unknown>) => Promise<boolean> {
  const text = useFailureText();
  return async (work) => {
    try {
      await work();
      return true;
    } catch (thrown) {
      toast({ tone: 'bad', text: text(thrown) });
      return false;
    }
  };
}

/** Where messages show; once in the page. */
export function Toasts(): ReactNode {
  const { t } = useTranslation(['common', 'frame']);
  const all = useStore(toasts, (state) => state.all);
  return (
    <Toast.Provider duration={SHOWN_FOR} label={t('frame:toasts')}>
      {all.map((one) => (
        <Toast.Root
          key={one.id}
          onOpenChange={(open) => { if (!open) dismiss(one.id); }}
          className={classes(
            'flex items-start gap-2 rounded-card border bg-surface p-3 shadow-floating',
            one.tone === 'bad' ? 'border-bad' : 'border-border',
          )}
        >
          <Toast.Description className="min-w-0 flex-1 text-ui break-words">{one.text}</Toast.Description>
          {one.action !== undefined && (
            <Toast.Action
              altText={one.action.label}
              onClick={one.action.run}
              className="shrink-0 font-medium text-accent"
            >
              {one.action.label}
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton label={t('close')} className="-my-1">
              <X size={14} aria-hidden />
            </IconButton>
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(400px,calc(100vw-32px))] flex-col gap-2" />
    </Toast.Provider>
  );
}
