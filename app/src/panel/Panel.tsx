import { GitBranch } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { GoalRow } from '../goal';
import type { Place } from '../navigation';
import { family, isBusy, type Session } from '../server/state';
import { useServer } from '../server/store';
import { Changes } from './Changes';
import { Context } from './Context';
import { McpServers } from './McpServers';
import { SubAgents } from './SubAgents';
import { Todos } from './Todos';
import { Usage } from './Usage';

/** The work status: how far the session is, what it uses and what it has done. The frame says where it stands. */
export function Panel({ place }: { place: Place }): ReactNode {
  const { t } = useTranslation('panel');
  const id = place.kind === 'session' ? place.id : null;
  const session = useServer((state) => (id === null ? undefined : state.sessions[id]));
  const directory = session?.directory ?? (place.kind === 'draft' ? place.directory : null);
  return (
    <aside aria-labelledby="work-status" className="flex min-h-0 flex-1 flex-col overflow-y-auto bg-bg">
      <h2
        id="work-status"
        className="shrink-0 px-4 pt-3 pb-1 text-label font-medium text-text-2 max-frame:sr-only"
      >
        {t('title')}
      </h2>
      {session === undefined ? <Nothing place={place} /> : <OfSession session={session} />}
      {directory !== null && session === undefined && (
        <>
          <Branch directory={directory} />
          <McpServers directory={directory} stamp="" />
        </>
      )}
    </aside>
  );
}

function Nothing({ place }: { place: Place }): ReactNode {
  const { t } = useTranslation('panel');
  return (
    <p className="px-4 py-3 text-text-2">{place.kind === 'draft' ? t('noSession') : t('unknown')}</p>
  );
}

function OfSession({ session }: { session: Session }): ReactNode {
  const below = useBelow(session.id);
  const busy = useServer((state) => isBusy(state, session.id));
  return (
    <>
      <div className="border-b border-border px-4 py-3 empty:hidden">
        <GoalRow sessionId={session.id} />
      </div>
      <Context session={session} />
      <Usage session={session} below={below} />
      <Todos sessionId={session.id} />
      <SubAgents below={below} />
      <Branch directory={session.directory} />
      <Changes session={session} />
      {/* What an agent did may have started or ended one. */}
      <McpServers directory={session.directory} stamp={String(busy)} />
    </>
  );
}

/** The sub-agents of a session and theirs. The list changes only when a session does. */
function useBelow(sessionId: string): readonly Session[] {
  const sessions = useServer((state) => state.sessions);
  return useMemo(
    () => family({ sessions }, sessionId).slice(1),
    [sessions, sessionId],
  );
}

/** Read by the header, which shows it where there is room. */
function Branch({ directory }: { directory: string }): ReactNode {
  const { t } = useTranslation('panel');
  const branch = useServer((state) => state.branches[directory]);
  if (branch === undefined) return null;
  return (
    <dl className="flex items-center gap-2 border-b border-border py-2.5 pr-4 pl-3">
      <GitBranch size={14} aria-hidden className="shrink-0 text-text-3" />
      <dt className="shrink-0 font-medium">{t('branch')}</dt>
      <dd className="min-w-0 flex-1 truncate text-right font-mono text-label text-text-2" title={branch}>
        {branch}
      </dd>
    </dl>
  );
}
