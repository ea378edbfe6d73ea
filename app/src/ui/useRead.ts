/** Something that is read once it is shown, and again when it may have changed. */
import { useCallback, useEffect, useEffectEvent, useState } from 'react';

export interface Read<T> {
  /** What was read last for this key; `null` until then. */
  value: T | null;
  /** What the newest try threw; `null` while all is well. */
  failure: { thrown: unknown } | null;
  loading: boolean;
  /** Reads once more. */
  again: () => void;
}

interface Got<T> {
  key: string;
  value: T | null;
  failure: { thrown: unknown } | null;
}

/**
 * Reads when `key` changes, which forgets what was there, and when `stamp` changes, which keeps it until the new one has
 * come. `null` as key: there is nothing to read.
 */
export function useRead<T>(
  key: string | null,
  read: () => Promise<T>,
  stamp: string | number | boolean = 0,
): Read<T> {
  const [got, setGot] = useState<Got<T> | null>(null);
  const [round, setRound] = useState(0);
  const start = useEffectEvent(read);
  useEffect(() => {
    if (key === null) return;
    let wanted = true;
    start().then(
      (value) => {
        if (wanted) setGot({ key, value, failure: null });
      },
      (thrown: unknown) => {
        if (!wanted) return;
        setGot((before) => ({
          key,
          value: before?.key === key ? before.value : null,
          failure: { thrown },
        }));
      },
    );
    return () => {
      wanted = false;
    };
  }, [key, stamp, round]);
  const again = useCallback(() => {
    setRound((before) => before + 1);
  }, []);
  const mine = got !== null && got.key === key ? got : null;
  return {
    value: mine?.value ?? null,
    failure: mine?.failure ?? null,
    loading: key !== null && mine === null,
    again,
  };
}
