import { useCallback, useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { preferences, setPreferences, usePreference } from '../preferences';
import type { Session } from '../server/state';
import { useServer } from '../server/store';
import { useAttempt } from '../ui/toasts';
import { Footer } from './Footer';
import { useFound, type Found } from './found';
import { groupsOf, linesOf, marksOf, type Line, type Marks, type Shown } from './groups';
import { Nothing } from './Nothing';
import { Top } from './Top';
import { Tree } from './Tree';

/** Closed folders that the host keeps. */
const COLLAPSED_MAX = 500;

/** All sessions by folder, with a search; how the server stands below. */
export function Sidebar(): ReactNode {
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const shown = { query: useDeferredValue(query), archived };
  const found = useFound(shown);
  const lines = useSidebarLines(shown, found);
  const marks = useMarks();
  const toggle = useToggle();
  return (
    <div className="flex min-h-0 flex-1 flex-col bg-bg">
      <Top
        query={query}
        onQuery={setQuery}
        archived={archived}
        onArchived={() => { setArchived(!archived); }}
      />
      {lines.length > 0 ? (
        <Tree lines={lines} marks={marks} onToggle={toggle} />
      ) : (
        <Nothing shown={shown} found={found.phase} />
      )}
      {lines.length > 0 && <Beyond phase={found.phase} />}
      <Footer />
    </div>
  );
}

/** Below the list while the server looks for more. */
function Beyond({ phase }: { phase: Found['phase'] }): ReactNode {
  const { t } = useTranslation('sidebar');
  if (phase !== 'loading' && phase !== 'failed') return null;
  return (
    <p role="status" className="shrink-0 truncate px-4 py-1 text-label text-text-2">
      {t(phase === 'loading' ? 'beyond.loading' : 'beyond.failed')}
    </p>
  );
}

function useSidebarLines(shown: Shown, found: Found): Line[] {
  const { query, archived } = shown;
  const sessions = useServer((state) => state.sessions);
  const collapsed = usePreference('collapsedProjects');
  const groups = useMemo(() => {
    const all = new Map<string, Session>();
    for (const session of found.sessions) all.set(session.id, session);
    // What the page hears is newer than what a search found.
    for (const session of Object.values(sessions)) all.set(session.id, session);
    return groupsOf(all.values(), { query, archived });
  }, [sessions, found.sessions, query, archived]);
  // What is searched for is not hidden in a closed folder.
  return useMemo(() => linesOf(groups, query === '' ? collapsed : []), [groups, collapsed, query]);
}

function useMarks(): Marks {
  const sessions = useServer((state) => state.sessions);
  const status = useServer((state) => state.status);
  const permissions = useServer((state) => state.permissions);
  const questions = useServer((state) => state.questions);
  return useMemo(
    () => marksOf(sessions, status, [...Object.values(permissions), ...Object.values(questions)]),
    [sessions, status, permissions, questions],
  );
}

function useToggle(): (directory: string) => void {
  const attempt = useAttempt();
  return useCallback(
    (directory: string) => {
      const { collapsedProjects: before } = preferences.getState();
      const without = before.filter((one) => one !== directory);
      const closed = without.length < before.length ? without : [...before, directory];
      // The host keeps no more; of those that were closed long ago some may open again.
      const collapsedProjects = closed.slice(-COLLAPSED_MAX);
      void attempt(() => setPreferences({ collapsedProjects }));
    },
    // A new function at every drawing would draw every row again; what it says does not change.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [],
  );
}
