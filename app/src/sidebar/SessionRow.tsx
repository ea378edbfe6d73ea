import { CircleDot, Hand, LoaderCircle } from 'lucide-react';
import { memo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';

import { GoalSign } from '../goal';
import { openSession } from '../navigation';
import { preferences } from '../preferences';
import { rename } from '../server/actions';
import type { Session } from '../server/state';
import { classes } from '../ui/classes';
import { useMinute } from '../ui/clock';
import { useAttempt } from '../ui/toasts';
import { askDelete, beginRename, endRename, useActing } from './acting';
import { isUnread } from './groups';
import { RowMenu } from './RowMenu';
import { age, moment } from './time';
import { TitleField } from './TitleField';

/** What was changed before this page is no news. */
const BEGAN = Date.now();

export interface SessionRowProps {
  session: Session;
  index: number;
  position: number;
  of: number;
  /** It is shown in the middle. */
  current: boolean;
  /** It is the one that Tab reaches. */
  active: boolean;
  running: boolean;
  waiting: boolean;
  onActive: (key: string) => void;
}

/** A session of the list: goal, title, what it needs, when it was last active. */
export const SessionRow = memo(function SessionRow(props: SessionRowProps): ReactNode {
  const { session, index, position, of, current, active, onActive } = props;
  const { id } = session;
  const row = useRef<HTMLDivElement>(null);
  const attempt = useAttempt();
  const [menu, setMenu] = useState(false);
  const renaming = useActing(
    (state) => state.renaming?.id === id && state.renaming.at === 'row',
  );
  const context = (event: MouseEvent): void => {
    event.preventDefault();
    setMenu(true);
  };
  return (
    <div
      ref={row}
      role="treeitem"
      aria-level={2}
      aria-posinset={position}
      aria-setsize={of}
      aria-selected={current}
      aria-labelledby={`title-${id} age-${id} marks-${id} goal-${id}`}
      tabIndex={active ? 0 : -1}
      data-index={index}
      className={classes(
        'group relative mx-2 flex h-8 items-center gap-2 rounded-control pr-1 pl-2',
        'focus-visible:-outline-offset-2',
        current ? 'bg-raised font-medium' : 'hover:bg-raised',
      )}
      onFocus={() => { onActive(id); }}
      onClick={() => { openSession(id); }}
      onKeyDown={(event) => { onKey(event, session, setMenu); }}
      onContextMenu={context}
    >
      <span id={`goal-${id}`} className="flex w-4 shrink-0 justify-center">
        <GoalSign sessionId={id} />
      </span>
      {renaming ? (
        <TitleField
          title={session.title}
          onSave={(title) => { void attempt(() => rename(id, title)); }}
          onEnd={(byKey) => {
            endRename();
            if (byKey) row.current?.focus();
          }}
        />
      ) : (
        <>
          <Words {...props} menu={menu} />
          <span
            className={classes(
              'shrink-0',
              menu ? '' : 'absolute right-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100',
            )}
          >
            <RowMenu session={session} open={menu} onOpen={setMenu} reachable={active} />
          </span>
        </>
      )}
    </div>
  );
});

function onKey(event: KeyboardEvent, session: Session, setMenu: (open: boolean) => void): void {
  if (event.target !== event.currentTarget) return;
  const run = {
    Enter: () => { openSession(session.id); },
    ' ': () => { openSession(session.id); },
    F2: () => { beginRename(session.id, 'row'); },
    Delete: () => { askDelete(session); },
    ContextMenu: () => { setMenu(true); },
    F10: event.shiftKey ? () => { setMenu(true); } : undefined,
  }[event.key];
  if (run === undefined) return;
  event.preventDefault();
  run();
}

function Words({ session, current, running, waiting, menu }: SessionRowProps & { menu: boolean }): ReactNode {
  const { i18n } = useTranslation('sidebar');
  const now = useMinute();
  const news = useStore(preferences, ({ seen }) => isUnread(session, seen, BEGAN));
  const unread = news && !running && !current;
  const { updated } = session.time;
  return (
    <>
      <span
        id={`title-${session.id}`}
        title={session.title}
        className={classes('min-w-0 flex-1 truncate', unread && 'font-semibold')}
      >
        {session.title}
      </span>
      {/* Title and age are two words for a screen reader, so they are here. */}
      {' '}
      <span
        className={classes(
          'flex shrink-0 items-center gap-1.5',
          menu ? 'hidden' : 'group-focus-within:pr-6 group-hover:pr-6',
        )}
      >
        <span id={`marks-${session.id}`} className="flex gap-1.5 empty:hidden">
          <Marks waiting={waiting} running={running} unread={unread} />
        </span>
        <time
          id={`age-${session.id}`}
          dateTime={new Date(updated).toISOString()}
          title={moment(updated, i18n.language)}
          className="text-label font-normal text-text-3 tabular-nums"
        >
          {age(updated, now, i18n.language)}
        </time>
      </span>
    </>
  );
}

/** What needs a person comes before what only goes on. */
function Marks(props: { waiting: boolean; running: boolean; unread: boolean }): ReactNode {
  const { t } = useTranslation('sidebar');
  if (props.waiting) {
    return (
      // The goal's own sign may say it already.
      <Mark label={t('mark.waiting')} className="text-waiting group-has-[[data-tone=waiting]]:hidden">
        <Hand size={14} aria-hidden />
      </Mark>
    );
  }
  if (props.running) {
    return (
      <Mark label={t('mark.running')} className="text-accent">
        <LoaderCircle size={14} className="animate-spin" aria-hidden />
      </Mark>
    );
  }
  if (!props.unread) return null;
  return (
    <Mark label={t('mark.unread')} className="text-accent">
      <CircleDot size={12} aria-hidden />
    </Mark>
  );
}

function Mark(props: { label: string; className: string; children: ReactNode }): ReactNode {
  return (
    <span role="img" aria-label={props.label} title={props.label} className={props.className}>
      {props.children}
    </span>
  );
}
