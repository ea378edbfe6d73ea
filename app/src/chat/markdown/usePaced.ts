import { useEffect, useRef, useState } from 'react';

/** Milliseconds between two looks at a text that grows: fast enough to be read along, slow enough to leave time. */
const PACE = 50;

/** A growing text as it was at most a moment ago. One that was replaced is given at once. */
export function usePaced(text: string): string {
  const [shown, setShown] = useState(text);
  const latest = useRef(text);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    latest.current = text;
    if (text === shown || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      setShown(latest.current);
    }, PACE);
  }, [text, shown]);
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  return text.startsWith(shown) ? shown : text;
}
