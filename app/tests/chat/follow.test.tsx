import { act, fireEvent, render } from '@testing-library/react';
import { useRef, type ReactNode } from 'react';
import { expect, it } from 'vitest';

import { useFollow } from '../../src/chat/useFollow';

/** A scroller as high as 100, whose content is as high as it says. */
function Page({ height }: { height: number }): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const { following, toEnd, ...follows } = useFollow(scroller);
  const sized = (element: HTMLDivElement | null): void => {
    scroller.current = element;
    if (element === null) return;
    Object.defineProperty(element, 'scrollHeight', { value: height, configurable: true });
    Object.defineProperty(element, 'clientHeight', { value: 100, configurable: true });
  };
  return (
    <>
      <div ref={sized} {...follows} data-testid="scroller" />
      <button type="button" onClick={toEnd}>{following ? 'follows' : 'rests'}</button>
    </>
  );
}

function shown(): { grow: (height: number) => void; scroll: (top: number) => void; top: () => number; state: () => string } {
  const { rerender, getByTestId, getByRole } = render(<Page height={1_000} />);
  const scroller = getByTestId('scroller');
  return {
    grow: (height) => { rerender(<Page height={height} />); },
    scroll: (top) => {
      scroller.scrollTop = top;
      fireEvent.scroll(scroller);
    },
    top: () => scroller.scrollTop,
    state: () => getByRole('button').textContent,
  };
}

it('opens at the end and keeps to it', () => {
  const page = shown();
  expect(page.top()).toBeGreaterThanOrEqual(900);
  page.grow(2_000);
  expect(page.top()).toBeGreaterThanOrEqual(1_900);
});

it('rests where its reader went up, and follows again at the end', () => {
  const page = shown();
  page.scroll(900);
  page.scroll(500);
  expect(page.state()).toBe('rests');
  page.grow(2_000);
  expect(page.top()).toBe(500);
  page.scroll(1_880);
  expect(page.state()).toBe('follows');
  page.grow(3_000);
  expect(page.top()).toBeGreaterThanOrEqual(2_900);
});

it('does not take content that shrinks for a reader who goes up', () => {
  const page = shown();
  page.scroll(900);
  act(() => { page.grow(1_000); });
  const scroller = document.querySelector('[data-testid=scroller]');
  Object.defineProperty(scroller, 'scrollHeight', { value: 700, configurable: true });
  page.scroll(500);
  expect(page.state()).toBe('follows');
});
