import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { memo, useEffect, useMemo, useRef, type ReactNode, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';

import { isBusy, type Transcript as Loaded } from '../server/state';
import { useServer } from '../server/store';
import { loadOlder } from '../server/sync';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { useAttempt } from '../ui/toasts';
import { AssistantRow } from './AssistantRow';
import { useConversation } from './context';
import { Foot, Now, Undone } from './Marks';
import { rowsOf, type Row } from './rows';
import { useFollow } from './useFollow';
import { UserRow } from './UserRow';

/** Pixels below the beginning at which the next older page is asked for. */
const NEAR_START = 600;

type List = Virtualizer<HTMLDivElement, HTMLDivElement>;

/** The rows of a conversation, of which only those in sight exist. */
export function Transcript({ messages }: { messages: Loaded['messages'] }): ReactNode {
  const { t } = useTranslation('chat');
  const { sessionId } = useConversation();
  const busy = useServer((state) => isBusy(state, sessionId));
  const reverted = useServer((state) => state.sessions[sessionId]?.revert?.messageID ?? null);
  const rows = useMemo(() => rowsOf(messages, reverted, busy), [messages, reverted, busy]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRows(rows, scroller);
  const { following, toEnd, ...follows } = useFollow(scroller);
  const older = useOlder(list);
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        {...follows}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('conversation')}
        className="h-full overflow-y-auto overscroll-contain -outline-offset-2 [overflow-anchor:none]"
      >
        {older && <p className="absolute inset-x-0 top-1 text-center text-label text-text-3">{t('older')}</p>}
        <div className="relative mx-auto w-full max-w-[808px]" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              <div
                key={item.key}
                ref={list.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0 px-4 frame:px-6"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row !== undefined && <RowView row={row} />}
              </div>
            );
          })}
        </div>
      </div>
      {!following && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button
            className="pointer-events-auto rounded-full shadow-floating"
            onClick={toEnd}
          >
            <ArrowDown size={14} aria-hidden />
            {t('toNewest')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What rows are high before they were measured. */
const HEIGHTS: Readonly<Record<Row['kind'], number>> = {
  user: 120,
  assistant: 160,
  foot: 28,
  undone: 64,
  now: 56,
};

function useRows(rows: readonly Row[], scroller: RefObject<HTMLDivElement | null>): List {
  const height = (at: number): number => HEIGHTS[rows[at]?.kind ?? 'assistant'];
  // What it gives changes without being another object; nothing here keeps a copy of it.
  // eslint-disable-next-line react-hooks/incompatible-library
  const list = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (at) => rows[at]?.key ?? at,
    estimateSize: height,
    // What is in sight stays where it is when older messages come before it.
    anchorTo: 'end',
    // Keeping to the end is `useFollow`'s business alone.
    scrollEndThreshold: -1,
    initialOffset: () => rows.reduce((sum, _, at) => sum + height(at), 0),
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 8,
  });
  return list;
}

/** Loads older pages while the beginning of what is loaded is near. Whether one is being loaded. */
function useOlder(list: List): boolean {
  const { sessionId } = useConversation();
  const older = useServer((state) => state.transcripts[sessionId]?.older ?? null);
  const attempt = useAttempt();
  const asked = useRef<string | null>(null);
  const near = older !== null && (list.scrollOffset ?? Infinity) < NEAR_START;
  useEffect(() => {
    // A page that could not be loaded is asked for again when the reader comes back.
    if (!near) asked.current = null;
    if (!near || asked.current === older) return;
    asked.current = older;
    void attempt(() => loadOlder(sessionId));
  });
  return near;
}

const RowView = memo(function RowView({ row }: { row: Row }): ReactNode {
  if (!('undone' in row) || !row.undone) return <RowBody row={row} />;
  return <Greyed><RowBody row={row} /></Greyed>;
});

function RowBody({ row }: { row: Row }): ReactNode {
  switch (row.kind) {
    case 'user':
      return <UserRow message={row.message} />;
    case 'assistant':
      return <AssistantRow message={row.message} last={row.last} next={row.next} />;
    case 'foot':
      return <Foot totals={row.totals} />;
    case 'undone':
      return <Undone count={row.count} />;
    case 'now':
      return <div className="min-h-4 pt-1 pb-4"><Now /></div>;
  }
}

/** What is undone: still to be read, no longer part of the conversation. */
function Greyed({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <div role="group" aria-label={t('undone.name')} aria-disabled className={classes('opacity-50')}>
      {children}
    </div>
  );
}
