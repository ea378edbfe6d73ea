/** What can be done from the palette and by shortcut, and when it makes sense. */
import { pauseAll } from 'tauri-plugin-goal-api';

import { showSidebar, togglePanel, toggleSidebar } from '../frame/room';
import * as host from '../host/host';
import type { Preferences } from '../host/contract';
import type { ShortcutId } from '../keys';
import { openPalette, openSession, openSettings, openShortcuts } from '../navigation';
import { preferences, setPreferences } from '../preferences';
import { archive, stop } from '../server/actions';
import { server } from '../server/store';
import { askDelete, beginRename } from '../sidebar/acting';
import { groupsOf, linesOf } from '../sidebar/groups';
import { newSession, newSessionIn } from '../sidebar/newSession';
import { SEARCH_ID } from '../sidebar/Top';
import { shownSession, type Situation } from './session';

interface Command {
  /** A promise where it is done later; it may reject. */
  run: () => unknown;
  /** Always, where it is left out. */
  when?: (situation: Situation) => boolean;
}

const inSession = ({ session }: Situation): boolean => session !== null;
const isArchived = ({ session }: Situation): boolean => (session?.time.archived ?? 0) > 0;

/** In the order in which the palette lists them. */
export const COMMANDS = {
  newSession: { run: newSession },
  newSessionIn: { run: newSessionIn },
  stop: { run: () => withSession(({ id }) => stop(id)), when: ({ busy }) => busy },
  rename: { run: () => withSession(({ id }) => { beginRename(id, 'header'); }), when: inSession },
  archive: {
    run: () => withSession(({ id }) => archive(id, Date.now())),
    when: (now) => inSession(now) && !isArchived(now),
  },
  unarchive: { run: () => withSession(({ id }) => archive(id, 0)), when: isArchived },
  delete: { run: () => withSession(askDelete), when: inSession },
  pauseAll: { run: () => pauseAll() },
  previous: { run: () => { step(-1); } },
  next: { run: () => { step(1); } },
  search: { run: search },
  sidebar: { run: toggleSidebar },
  panel: { run: togglePanel },
  themeSystem: { run: () => setTheme('system') },
  themeLight: { run: () => setTheme('light') },
  themeDark: { run: () => setTheme('dark') },
  settings: { run: () => { openSettings(); } },
  settingsServer: { run: () => { openSettings('server'); } },
  settingsGoal: { run: () => { openSettings('goal'); } },
  settingsNotifications: { run: () => { openSettings('notifications'); } },
  settingsLanguage: { run: () => { openSettings('language'); } },
  palette: { run: openPalette },
  shortcuts: { run: openShortcuts },
  quit: { run: host.quit },
} as const satisfies Record<string, Command> & Record<ShortcutId, Command>;

export type CommandId = keyof typeof COMMANDS;

export const COMMAND_IDS = Object.keys(COMMANDS) as CommandId[];

export function isPossible(id: CommandId, situation: Situation): boolean {
  const command: Command = COMMANDS[id];
  return command.when?.(situation) ?? true;
}

async function withSession<T>(
  act: (session: NonNullable<ReturnType<typeof shownSession>>) => T | Promise<T>,
): Promise<void> {
  const session = shownSession();
  if (session !== null) await act(session);
}

/** The session above or below the one that is shown, as the sidebar lists them. */
function step(by: 1 | -1): void {
  const { collapsedProjects } = preferences.getState();
  const groups = groupsOf(Object.values(server.getState().sessions), { query: '', archived: false });
  const ids = linesOf(groups, collapsedProjects).flatMap((line) =>
    line.kind === 'session' ? [line.key] : [],
  );
  const at = ids.indexOf(shownSession()?.id ?? '');
  const next = at < 0 ? ids.at(by > 0 ? 0 : -1) : ids[at + by];
  if (next !== undefined) openSession(next);
}

async function search(): Promise<void> {
  await showSidebar();
  requestAnimationFrame(() => document.getElementById(SEARCH_ID)?.focus());
}

function setTheme(theme: Preferences['theme']): Promise<void> {
  return setPreferences({ theme });
}
