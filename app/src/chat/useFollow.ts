import {
  useLayoutEffect,
  useRef,
  useState,
  type MouseEvent,
  type RefObject,
  type UIEvent,
} from 'react';

/** Pixels above the end within which a reader is at the end. */
const AT_END = 48;

export interface Follow {
  /** The conversation keeps to its end. */
  following: boolean;
  /** To the end, and on from there. */
  toEnd: () => void;
  onScroll: (event: UIEvent<HTMLElement>) => void;
  onClickCapture: (event: MouseEvent<HTMLElement>) => void;
}

function awayFromEnd({ scrollHeight, clientHeight, scrollTop }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop;
}

/**
 * Keeps a scroller at its end, whatever grows, until its reader goes up or unfolds something; and again once they are back
 * at the end. Its owner is drawn anew whenever the content's height changes.
 */
export function useFollow(scroller: RefObject<HTMLElement | null>): Follow {
  const [following, setFollowing] = useState(true);
  const seen = useRef({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    seen.current.height = element.scrollHeight;
    if (following && awayFromEnd(element) > 1) element.scrollTo({ top: element.scrollHeight });
  });
  return {
    following,
    toEnd: () => { setFollowing(true); },
    onScroll: ({ currentTarget }) => {
      const { scrollTop: top, scrollHeight: height } = currentTarget;
      const { top: topBefore, height: heightBefore } = seen.current;
      seen.current = { top, height };
      if (awayFromEnd(currentTarget) <= AT_END) setFollowing(true);
      // Content that shrinks moves the position, too: that is nobody going up.
      else if (top < topBefore - 1 && height >= heightBefore) setFollowing(false);
    },
    onClickCapture: ({ target, currentTarget }) => {
      if (!(target instanceof Element) || target.closest('[aria-expanded]') === null) return;
      // What unfolds stays where it was clicked; where that leaves the end in sight, the end is kept to.
      setFollowing(false);
      requestAnimationFrame(() => {
        requestAnimationFrame(() => {
          if (awayFromEnd(currentTarget) <= AT_END) setFollowing(true);
        });
      });
    },
  };
}
