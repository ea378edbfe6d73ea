import { useEffect, useState } from 'react';

/** Whether a moment (epoch milliseconds) has come; `null` never does. */
export function useAfter(at: number | null): boolean {
  const [passed, setPassed] = useState<number | null>(null);
  useEffect(() => {
    if (at === null) return;
    const timer = setTimeout(() => { setPassed(at); }, Math.max(0, at - Date.now()));
    return () => { clearTimeout(timer); };
  }, [at]);
  return at !== null && passed === at;
}
