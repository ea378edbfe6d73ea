/** Begins what the dialog shows, and tells what became of it. */
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';

import { closeOverlay, navigation, openSession } from '../navigation';
import { toast, useFailureText } from '../ui/toasts';
import { begin, Left, MayHaveBegun, type Beginning } from './begin';

export interface Begin {
  starting: boolean;
  /** Why it did not begin. */
  failure: string | null;
  run: (beginning: Beginning) => Promise<void>;
  /** Closes the dialog, and gives up what has not begun. */
  close: () => void;
}

export function useBegin(): Begin {
  const words = useWords();
  const [starting, setStarting] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const wanted = useRef<AbortController | null>(null);
  useEffect(() => () => { wanted.current?.abort(); }, []);
  const run = async (beginning: Beginning): Promise<void> => {
    const ours = new AbortController();
    wanted.current = ours;
    const { place } = navigation.getState();
    // Whoever has gone elsewhere meanwhile, or gave it up too late, is not called back.
    const isHere = (): boolean => navigation.getState().place === place && !ours.signal.aborted;
    setStarting(true);
    setFailure(null);
    try {
      const sessionId = await begin(beginning, ours.signal);
      if (isHere()) openSession(sessionId);
    } catch (thrown) {
      if (thrown instanceof MayHaveBegun && isHere()) openSession(thrown.sessionId);
      const given = ours.signal.aborted && thrown === ours.signal.reason;
      if (given) return;
      if (thrown instanceof MayHaveBegun || ours.signal.aborted) toast({ tone: 'bad', text: words(thrown) });
      else setFailure(words(thrown));
    } finally {
      setStarting(false);
    }
  };
  return { starting, failure, run, close: closeOverlay };
}

function useWords(): (thrown: unknown) => string {
  const { t } = useTranslation('origins');
  const text = useFailureText();
  return (thrown) => {
    if (thrown instanceof MayHaveBegun) return t('failed.unknown', { reason: text(thrown.cause) });
    if (thrown instanceof Left) return t('failed.left', { folder: thrown.worktree, reason: text(thrown.cause) });
    return text(thrown);
  };
}
