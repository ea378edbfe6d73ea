import { useLayoutEffect, useRef } from 'react';

/** Has a field left when it goes, too: one that is taken away never hears that it lost the focus. */
export function useLeaving(leave: () => void): void {
  const latest = useRef(leave);
  useLayoutEffect(() => {
    latest.current = leave;
  });
  useLayoutEffect(
    () => () => {
      latest.current();
    },
    [],
  );
}
