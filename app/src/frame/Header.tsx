import { PanelLeft, PanelRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { ariaKeys, type ShortcutId } from '../keys';
import { findModel, useModels } from '../models';
import { useNavigation, type Place } from '../navigation';
import { usePreference } from '../preferences';
import { rename } from '../server/actions';
import { useBranch } from '../server/branch';
import type { Session } from '../server/state';
import { useServer } from '../server/store';
import { beginRename, endRename, useActing } from '../sidebar/acting';
import { shortName } from '../sidebar/groups';
import { TitleField } from '../sidebar/TitleField';
import { IconButton } from '../ui/Button';
import { Tip } from '../ui/Tip';
import { useAttempt } from '../ui/toasts';
import { togglePanel, toggleSidebar, useHasRoom, useNarrow } from './room';

/** What is shown: the session's title, where it works and with what; buttons for both sides. */
export function Header({ place }: { place: Place }): ReactNode {
  const id = place.kind === 'session' ? place.id : null;
  const session = useServer((state) => (id === null ? undefined : state.sessions[id]));
  const directory = session?.directory ?? (place.kind === 'draft' ? place.directory : null);
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-border px-2">
      <SidebarButton />
      <div className="flex min-w-0 flex-1 items-center pl-1">
        <Title place={place} session={session} />
      </div>
      <Facts session={session} directory={directory} />
      <PanelButton />
    </header>
  );
}

function SidebarButton(): ReactNode {
  const { t } = useTranslation('frame');
  const narrow = useNarrow();
  const preferred = usePreference('sidebarOpen');
  const sheet = useNavigation((state) => state.sheet);
  const open = narrow ? sheet !== null : preferred;
  return (
    <ToggleButton
      label={t(open ? 'sidebar.hide' : 'sidebar.show')}
      open={open}
      shortcut="sidebar"
      toggle={toggleSidebar}
    >
      <PanelLeft size={16} aria-hidden />
    </ToggleButton>
  );
}

function PanelButton(): ReactNode {
  const { t } = useTranslation('frame');
  const room = useHasRoom();
  const preferred = usePreference('panelOpen');
  const sheet = useNavigation((state) => state.sheet);
  const open = room ? preferred : sheet === 'status';
  return (
    <ToggleButton
      label={t(open ? 'panel.hide' : 'panel.show')}
      open={open}
      shortcut="panel"
      toggle={togglePanel}
    >
      <PanelRight size={16} aria-hidden />
    </ToggleButton>
  );
}

interface ToggleProps {
  label: string;
  open: boolean;
  shortcut: ShortcutId;
  toggle: () => Promise<void>;
  children: ReactNode;
}

function ToggleButton({ label, open, shortcut, toggle, children }: ToggleProps): ReactNode {
  const attempt = useAttempt();
  return (
    <IconButton
      label={label}
      aria-expanded={open}
      aria-keyshortcuts={ariaKeys(shortcut)}
      onClick={() => { void attempt(toggle); }}
    >
      {children}
    </IconButton>
  );
}

/** Where the focus goes back to after renaming. */
const TITLE_ID = 'session-title';

function Title({ place, session }: { place: Place; session: Session | undefined }): ReactNode {
  const { t } = useTranslation('frame');
  const attempt = useAttempt();
  const renaming = useActing((state) => state.renaming);
  const id = session?.id;
  if (session !== undefined && renaming?.id === id && renaming?.at === 'header') {
    return (
      <TitleField
        title={session.title}
        onSave={(title) => { void attempt(() => rename(session.id, title)); }}
        onEnd={(byKey) => {
          endRename();
          if (byKey) requestAnimationFrame(() => document.getElementById(TITLE_ID)?.focus());
        }}
      />
    );
  }
  const title = place.kind === 'draft' ? t('newSession') : (session?.title ?? t('unknownSession'));
  return (
    <h1 className="min-w-0 truncate text-ui font-semibold">
      {session === undefined ? (
        title
      ) : (
        <Tip text={t('rename', { title })}>
          <button
            id={TITLE_ID}
            type="button"
            className="block max-w-full truncate rounded-control px-1 text-left hover:bg-raised"
            onClick={() => { beginRename(session.id, 'header'); }}
          >
            {title}
          </button>
        </Tip>
      )}
    </h1>
  );
}

/** Branch, agent and model; where there is no room, the work status has them. */
function Facts({
  session,
  directory,
}: {
  session: Session | undefined;
  directory: string | null;
}): ReactNode {
  const { t } = useTranslation('frame');
  const branch = useBranch(directory);
  const model = useModelName(session, directory);
  const facts = [
    { name: 'folder' as const, value: directory === null ? undefined : shortName(directory) },
    { name: 'branch' as const, value: branch },
    { name: 'agent' as const, value: session?.agent },
    { name: 'model' as const, value: model },
  ].filter((fact) => fact.value !== undefined);
  if (facts.length === 0) return null;
  return (
    <dl className="hidden min-w-0 shrink items-center text-label text-text-2 frame:flex">
      {facts.map(({ name, value }, at) => (
        <div key={name} className="flex min-w-0 items-center" title={name === 'folder' ? directory ?? '' : value}>
          {at > 0 && <span aria-hidden className="px-1.5 text-text-3">·</span>}
          <dt className="sr-only">{t(`fact.${name}`)}</dt>
          <dd className="max-w-48 truncate">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function useModelName(session: Session | undefined, directory: string | null): string | undefined {
  const models = useModels(directory);
  if (session?.model === undefined) return undefined;
  const { providerID, id } = session.model;
  return findModel(models, providerID, id)?.name ?? `${providerID}/${id}`;
}
