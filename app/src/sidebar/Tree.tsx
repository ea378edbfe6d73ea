import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useNavigation } from '../navigation';
import { useServer } from '../server/store';
import { rootOf, type Line, type Marks } from './groups';
import { ProjectRow } from './ProjectRow';
import { SessionRow } from './SessionRow';

/** CSS pixels. */
const SESSION_HEIGHT = 32;
const PROJECT_HEIGHT = 36;

/** Lines beyond the visible ones that are drawn, so that scrolling shows no gaps. */
const OVERSCAN = 8;

export interface TreeProps {
  lines: readonly Line[];
  marks: Marks;
  onToggle: (directory: string) => void;
}

/** The folders and sessions; only what is visible is drawn. One line is in the order of Tab, arrows move it. */
export function Tree({ lines, marks, onToggle }: TreeProps): ReactNode {
  const { t } = useTranslation('sidebar');
  const shown = useNavigation(({ place }) => (place.kind === 'session' ? place.id : null));
  const current = useServer(({ sessions }) => (shown === null ? null : rootOf(sessions, shown)));
  const [chosen, setActive] = useState<string | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const active = activeIndex(lines, chosen, current);
  const virtual = useLines(lines, active, scroller);
  const focus = useFocus(scroller, virtual.scrollToIndex);
  useShowCurrent(lines, current, virtual.scrollToIndex);
  const key = (event: KeyboardEvent): void => {
    const target = targetOf(event, lines, active);
    const line = target === null ? undefined : lines[target];
    if (target === null || line === undefined) return;
    event.preventDefault();
    setActive(line.key);
    focus(target);
  };
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto pb-2">
      <div
        role="tree"
        aria-label={t('tree')}
        className="relative w-full"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={key}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          if (line === undefined) return null;
          return (
            <div
              key={line.key}
              role="none"
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row {...{ line, index, marks, onToggle, current }} active={index === active} onActive={setActive} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  line: Line;
  index: number;
  marks: Marks;
  current: string | null;
  active: boolean;
  onActive: (key: string) => void;
  onToggle: (directory: string) => void;
}

function Row({ line, index, marks, current, active, onActive, onToggle }: RowProps): ReactNode {
  const { position, of } = line;
  const place = { index, position, of, active, onActive };
  if (line.kind === 'project') {
    return (
      <ProjectRow {...place} lineKey={line.key} group={line.group} open={line.open} onToggle={onToggle} />
    );
  }
  return (
    <SessionRow
      {...place}
      session={line.session}
      current={line.key === current}
      running={marks.running.has(line.key)}
      waiting={marks.waiting.has(line.key)}
    />
  );
}

/** The line in the order of Tab: the chosen one, else the session that is shown, else the first. */
function activeIndex(lines: readonly Line[], chosen: string | null, current: string | null): number {
  const at = lines.findIndex(({ key }) => key === chosen);
  if (at >= 0) return at;
  return Math.max(0, lines.findIndex(({ key }) => key === current));
}

function useLines(
  lines: readonly Line[],
  active: number,
  scroller: React.RefObject<HTMLDivElement | null>,
): ReturnType<typeof useVirtualizer<HTMLDivElement, Element>> {
  // The one that has the focus stays drawn, or the focus would be lost by scrolling.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const indexes = defaultRangeExtractor(range);
      const missing = active < range.count && !indexes.includes(active);
      return missing ? [...indexes, active].sort((a, b) => a - b) : indexes;
    },
    [active],
  );
  // eslint-disable-next-line react-hooks/incompatible-library -- its functions are called while drawing only
  return useVirtualizer<HTMLDivElement, Element>({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === 'project' ? PROJECT_HEIGHT : SESSION_HEIGHT),
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: OVERSCAN,
    rangeExtractor,
  });
}

/** Scrolls to a line and gives it the focus once it is drawn. */
function useFocus(
  scroller: React.RefObject<HTMLDivElement | null>,
  scrollTo: (index: number) => void,
): (index: number) => void {
  return (index) => {
    scrollTo(index);
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
    });
  };
}

/** Brings the session that is shown into view when another one is shown. */
function useShowCurrent(
  lines: readonly Line[],
  current: string | null,
  scrollTo: (index: number) => void,
): void {
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (current === null || shown.current === current) return;
    const at = lines.findIndex(({ key }) => key === current);
    if (at < 0) return;
    shown.current = current;
    scrollTo(at);
  }, [lines, current, scrollTo]);
}

/** Where a key moves to; `null` where it does not move. */
function targetOf(event: KeyboardEvent, lines: readonly Line[], active: number): number | null {
  const plain = !event.altKey && !event.ctrlKey && !event.metaKey;
  // Keys of what stands within a line are its own.
  const onLine = event.target instanceof HTMLElement && event.target.role === 'treeitem';
  if (!plain || !onLine) return null;
  switch (event.key) {
    case 'ArrowDown':
      return Math.min(lines.length - 1, active + 1);
    case 'ArrowUp':
      return Math.max(0, active - 1);
    case 'Home':
      return 0;
    case 'End':
      return lines.length - 1;
    case 'ArrowLeft':
      return lines.slice(0, active).findLastIndex(({ kind }) => kind === 'project');
    case 'ArrowRight':
      return lines[active]?.kind === 'project' ? active + 1 : null;
    default:
      return null;
  }
}
