import { Bell } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import {
  errorText,
  present,
  reasonOf,
  sentence,
  type GoalError,
  type GoalView,
  type Notice,
  type NoticeCode,
} from 'tauri-plugin-goal-api';
import { GoalGlyph, useEnabled, useKit, useNow } from 'tauri-plugin-goal-api/react';
import { useStore } from 'zustand';

import { openSession } from '../navigation';
import { Button, IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { Popup } from '../ui/Popup';
import { toast } from '../ui/toasts';
import { keyOf, loadNotices, markRead, notices, useFollowedNotices } from './notices';

/** The list of notices, with the number of those that were not read on its button. */
export function NoticesButton(): ReactNode {
  const { t } = useTranslation('goal');
  const enabled = useEnabled();
  const [open, setOpen] = useState(false);
  const unread = useStore(notices, ({ all }) => all?.filter(({ read }) => !read).length ?? 0);
  useFollowedNotices();
  if (!enabled) return null;
  return (
    <Popover.Root
      open={open}
      onOpenChange={(now) => {
        setOpen(now);
        // Another window may have read them.
        if (now) void loadNotices();
      }}
    >
      <Popover.Trigger asChild>
        <IconButton label={unread === 0 ? t('notices.title') : t('notices.unread', { count: unread })} className="relative">
          <Bell size={16} aria-hidden />
          {unread > 0 && <Count unread={unread} />}
        </IconButton>
      </Popover.Trigger>
      <Popup
        label={t('notices.title')}
        className="flex max-h-[min(480px,var(--radix-popover-content-available-height))] w-[min(380px,calc(100vw-16px))] flex-col overflow-hidden"
      >
        <List
          unread={unread}
          close={() => {
            setOpen(false);
          }}
        />
      </Popup>
    </Popover.Root>
  );
}

function Count({ unread }: { unread: number }): ReactNode {
  return (
    <span
      aria-hidden
      className="absolute -top-0.5 -right-0.5 min-w-4 rounded-full bg-accent px-1 text-[10px] leading-4 font-semibold text-on-accent tabular-nums"
    >
      {unread > 99 ? '99+' : unread}
    </span>
  );
}

function List({ unread, close }: { unread: number; close: () => void }): ReactNode {
  const { t } = useTranslation('goal');
  const { all, error } = useStore(notices);
  const mark = useMark();
  return (
    <>
      <header className="flex items-center gap-2 border-b border-border py-1.5 pr-1.5 pl-3">
        <h2 className="flex-1 font-medium">{t('notices.title')}</h2>
        <Button kind="quiet" className="h-7 px-2" disabled={unread === 0} onClick={() => void mark(all ?? [])}>
          {t('notices.markAll')}
        </Button>
      </header>
      {error !== null && <Failure error={error} />}
      {all?.length === 0 && <p className="p-4 text-text-2">{t('notices.none')}</p>}
      <ul className="min-h-0 overflow-y-auto p-1">
        {all?.map((notice) => (
          <li key={keyOf(notice)}>
            <Line
              notice={notice}
              press={() => {
                void mark([notice]);
                openSession(notice.sessionId);
                close();
              }}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Marks as read; a failure is a message over the page. */
function useMark(): (lines: readonly Notice[]) => Promise<void> {
  const { words } = useKit();
  return (lines) =>
    markRead(lines).catch((thrown: unknown) => {
      toast({ tone: 'bad', text: errorText(thrown as GoalError, words) });
    });
}

function Failure({ error }: { error: GoalError }): ReactNode {
  const { t } = useTranslation('common');
  const { words } = useKit();
  return (
    <div role="alert" className="flex items-start gap-2 border-b border-border bg-tint-bad px-3 py-2 text-bad">
      <span className="min-w-0 flex-1">{errorText(error, words)}</span>
      <button type="button" className="font-medium underline underline-offset-2" onClick={() => void loadNotices()}>
        {t('retry')}
      </button>
    </div>
  );
}

/** The state that each notice tells of, for its sign; a turn's end is no state of a goal. */
const STATES: Readonly<Record<NoticeCode, Pick<GoalView, 'status' | 'phase' | 'why'> | null>> = {
  goalComplete: { status: 'complete', phase: 'settled', why: '' },
  goalBlocked: { status: 'blocked', phase: 'settled', why: '' },
  goalBudgetLimited: { status: 'budgetLimited', phase: 'settled', why: '' },
  goalPaused: { status: 'paused', phase: 'settled', why: '' },
  waitingForPermission: { status: 'active', phase: 'waitingForYou', why: '' },
  waitingForAnswer: { status: 'active', phase: 'waitingForYou', why: '' },
  stalled: { status: 'active', phase: 'stalled', why: '' },
  turnReady: null,
  turnFailed: { status: 'blocked', phase: 'settled', why: '' },
};

function Line({ notice, press }: { notice: Notice; press: () => void }): ReactNode {
  const { t } = useTranslation('goal');
  const { words } = useKit();
  const now = useNow(60_000);
  const state = STATES[notice.code];
  const look = state === null ? { glyph: 'check' as const, tone: 'none' } : present(state);
  return (
    <button
      type="button"
      data-tone={look.tone}
      className="flex w-full items-start gap-2 rounded-control px-2 py-2 text-left hover:bg-raised"
      onClick={press}
    >
      <span className="mt-0.5 text-(--goal-tone)">
        <GoalGlyph glyph={look.glyph} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className={classes('min-w-0 flex-1 truncate', !notice.read && 'font-semibold')}>
            {words.say(`notice.${notice.code}`)}
          </span>
          <time dateTime={new Date(notice.at).toISOString()} className="shrink-0 text-label text-text-3">
            {words.relative(notice.at, now)}
          </time>
        </span>
        <span className="block truncate text-text-2">{notice.title}</span>
        <span className="line-clamp-2 text-label break-words text-text-2">{detailOf(notice, words)}</span>
      </span>
      {!notice.read && (
        <span className="mt-1.5 size-2 shrink-0 rounded-full bg-accent" role="img" aria-label={t('notices.new')} />
      )}
    </button>
  );
}

/** The reason in the reader's words, where it is one of the loop's own; else as it was told. */
function detailOf({ code, detail, objective }: Notice, words: Parameters<typeof reasonOf>[1]): string {
  const state = STATES[code];
  // A request names a tool, a turn's end what the agent said: both stay as they are.
  if (state === null || state.status === 'active') return detail || objective;
  return sentence(reasonOf({ status: state.status, reason: detail }, words)) || objective;
}
