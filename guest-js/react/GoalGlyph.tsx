import type { ReactNode } from 'react';

import type { Glyph } from '../presentation.js';

/** The signs, on a grid of 16. Drawn in the current colour. */
const SHAPES: Record<Glyph, ReactNode> = {
  target: (
    <>
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="2.25" />
    </>
  ),
  armed: (
    <>
      <circle cx="8" cy="8" r="6.75" fill="currentColor" stroke="none" />
      <circle cx="8" cy="8" r="3.25" stroke="var(--goal-surface)" />
      <circle cx="8" cy="8" r="1" fill="var(--goal-surface)" stroke="none" />
    </>
  ),
  ring: (
    <>
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="2.25" fill="currentColor" stroke="none" />
    </>
  ),
  arc: (
    <>
      <circle cx="8" cy="8" r="6" opacity="0.3" />
      <path className="goal-glyph-arc" d="M8 2a6 6 0 0 1 6 6" />
      <circle cx="8" cy="8" r="2.25" fill="currentColor" stroke="none" />
    </>
  ),
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.25" />,
  check: (
    <>
      <circle cx="8" cy="8" r="6.75" fill="currentColor" stroke="none" />
      <path d="m5 8.25 2.1 2.1L11 6.1" stroke="var(--goal-surface)" strokeWidth="1.75" />
    </>
  ),
  bar: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M4.75 8h6.5" strokeWidth="2" />
    </>
  ),
  coin: (
    <>
      <ellipse cx="8" cy="4.5" rx="5.25" ry="2.25" />
      <path d="M2.75 4.5v3.5c0 1.24 2.35 2.25 5.25 2.25s5.25-1 5.25-2.25V4.5" />
      <path d="M2.75 8v3.5c0 1.24 2.35 2.25 5.25 2.25s5.25-1 5.25-2.25V8" />
    </>
  ),
  hand: (
    <path d="M5.25 8.5V4.25a1 1 0 0 1 2 0v3.25-5a1 1 0 0 1 2 0v5-4a1 1 0 0 1 2 0v4.75-2.5a1 1 0 0 1 2 0V10a4.5 4.5 0 0 1-4.5 4.5c-2 0-3-.8-3.9-2.3L2.9 9.6a1 1 0 0 1 1.6-1.2l.75.9" />
  ),
  away: (
    <>
      <circle cx="8" cy="8" r="6" strokeDasharray="2.2 2.51" />
      <circle cx="8" cy="8" r="1.5" fill="currentColor" stroke="none" />
    </>
  ),
};

/** A state's sign. It is decoration: what stands beside it, or bears it, has the words. */
export function GoalGlyph({ glyph }: { glyph: Glyph }): ReactNode {
  return (
    <svg
      className="goal-glyph"
      data-glyph={glyph}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {SHAPES[glyph]}
    </svg>
  );
}
