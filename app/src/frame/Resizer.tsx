import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';

import { classes } from '../ui/classes';

/** CSS pixels that one press of an arrow key moves. */
const STEP = 16;

export interface ResizerProps {
  label: string;
  width: number;
  min: number;
  max: number;
  usual: number;
  /** Where the resized part stands as seen from the handle. */
  side: 'left' | 'right';
  /** While it is dragged. */
  onMove: (width: number) => void;
  /** The width is chosen. */
  onDone: (width: number) => void;
}

/** The edge of a part of the frame: by pointer, by arrow keys; a double click brings the usual width back. */
export function Resizer(props: ResizerProps): ReactNode {
  const { label, width, min, max, usual, side, onMove, onDone } = props;
  const drag = useRef<{ x: number; width: number; now: number } | null>(null);
  const sign = side === 'left' ? 1 : -1;
  const within = (wanted: number): number => Math.round(Math.min(max, Math.max(min, wanted)));

  const down = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width, now: width };
  };
  const move = (event: PointerEvent): void => {
    if (drag.current === null) return;
    drag.current.now = within(drag.current.width + sign * (event.clientX - drag.current.x));
    onMove(drag.current.now);
  };
  const up = (): void => {
    if (drag.current === null) return;
    const { now, width: before } = drag.current;
    drag.current = null;
    if (now !== before) onDone(now);
  };
  const key = (event: KeyboardEvent): void => {
    const wanted = {
      ArrowLeft: width - sign * STEP,
      ArrowRight: width + sign * STEP,
      Home: min,
      End: max,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    onDone(within(wanted));
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      className={classes(
        'absolute inset-y-0 z-10 w-2 cursor-col-resize touch-none',
        'after:absolute after:inset-y-0 after:left-1/2 after:w-0.5 after:-translate-x-1/2 after:transition-colors',
        'hover:after:bg-accent focus-visible:outline-none focus-visible:after:bg-accent active:after:bg-accent',
        side === 'left' ? '-right-1' : '-left-1',
      )}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onDoubleClick={() => { onDone(usual); }}
      onKeyDown={key}
    />
  );
}
