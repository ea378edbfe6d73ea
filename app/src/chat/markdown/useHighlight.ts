import { useEffect, useMemo, useState, type ReactNode } from 'react';

type Highlight = (language: string, code: string) => ReactNode[] | null;

/** Longer code is shown without colours: they would cost more than a frame. */
const COLOURED_MAX = 60_000;

let loaded: Highlight | null = null;
let loading: Promise<Highlight> | null = null;

async function load(): Promise<Highlight> {
  loading ??= import('./highlight').then(({ highlight }) => highlight);
  loaded = await loading;
  return loaded;
}

/** Code in colours; as it is until they are loaded, and where there are none. */
export function useHighlight(language: string, code: string): ReactNode {
  const [highlight, setHighlight] = useState<Highlight | null>(() => loaded);
  const wanted = language !== '' && code.length <= COLOURED_MAX;
  useEffect(() => {
    if (!wanted || highlight !== null) return;
    let gone = false;
    load().then(
      (ready) => {
        if (!gone) setHighlight(() => ready);
      },
      // Without its colours code is still code.
      () => { loading = null; },
    );
    return () => { gone = true; };
  }, [wanted, highlight]);
  return useMemo(
    () => (wanted ? highlight?.(language.toLowerCase(), code) : null) ?? code,
    [wanted, highlight, language, code],
  );
}
