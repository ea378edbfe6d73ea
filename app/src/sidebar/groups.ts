/** Sessions → the lines of the sidebar. Pure. */
import type { PermissionRequest, QuestionRequest, Session, SessionStatus } from '../server/state';

export interface Group {
  directory: string;
  /** The folder's own name; with its parent's where two have the same. */
  name: string;
  /** Newest first. */
  sessions: readonly Session[];
}

export type Line =
  | { kind: 'project'; key: string; group: Group; open: boolean; position: number; of: number }
  | { kind: 'session'; key: string; session: Session; position: number; of: number };

export interface Shown {
  /** Words that each must be in the title or the folder. */
  query: string;
  /** Archived ones, instead of the others. */
  archived: boolean;
}

function parts(directory: string): string[] {
  return directory.split(/[\\/]/).filter((part) => part !== '');
}

/** A folder's own name. */
export function shortName(directory: string): string {
  return parts(directory).at(-1) ?? directory;
}

/** Without case and accents. */
function folded(text: string): string {
  return text.toLowerCase().normalize('NFD').replaceAll(/\p{Mark}/gu, '');
}

function matcher({ query, archived }: Shown): (session: Session) => boolean {
  const words = folded(query).split(/\s+/).filter((word) => word !== '');
  return ({ title, directory, parentID, time }) => {
    if (parentID !== undefined) return false;
    // An archiving that was undone leaves a zero.
    if ((time.archived ?? 0) > 0 !== archived) return false;
    if (words.length === 0) return true;
    const text = folded(`${title} ${directory}`);
    return words.every((word) => text.includes(word));
  };
}

/** The sessions that are shown, by folder; folders and sessions with the newest activity first. */
export function groupsOf(sessions: Iterable<Session>, shown: Shown): Group[] {
  const matches = matcher(shown);
  const newest = [...sessions]
    .filter(matches)
    .sort((a, b) => b.time.updated - a.time.updated || (a.id < b.id ? -1 : 1));
  const byFolder = new Map<string, Session[]>();
  for (const session of newest) {
    const folder = byFolder.get(session.directory);
    if (folder === undefined) byFolder.set(session.directory, [session]);
    else folder.push(session);
  }
  const names = namesOf([...byFolder.keys()]);
  return [...byFolder].map(([directory, own]) => ({
    directory,
    name: names.get(directory) ?? directory,
    sessions: own,
  }));
}

function namesOf(directories: readonly string[]): Map<string, string> {
  const count = new Map<string, number>();
  for (const name of directories.map(shortName)) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(
    directories.map((directory) => {
      const name = shortName(directory);
      const parent = parts(directory).at(-2);
      const twice = (count.get(name) ?? 0) > 1 && parent !== undefined;
      return [directory, twice ? `${parent}/${name}` : name];
    }),
  );
}

/** The lines as they stand below each other. */
export function linesOf(groups: readonly Group[], collapsed: readonly string[]): Line[] {
  const closed = new Set(collapsed);
  return groups.flatMap((group, at): Line[] => {
    const open = !closed.has(group.directory);
    const project: Line = {
      kind: 'project',
      key: `folder:${group.directory}`,
      group,
      open,
      position: at + 1,
      of: groups.length,
    };
    if (!open) return [project];
    return [project, ...group.sessions.map((session, own) => sessionLine(session, own, group))];
  });
}

function sessionLine(session: Session, at: number, group: Group): Line {
  return {
    kind: 'session',
    key: session.id,
    session,
    position: at + 1,
    of: group.sessions.length,
  };
}

/** Sessions that something happens in, themselves or below them. */
export interface Marks {
  running: ReadonlySet<string>;
  waiting: ReadonlySet<string>;
}

export function marksOf(
  sessions: Readonly<Record<string, Session>>,
  status: Readonly<Record<string, SessionStatus>>,
  requests: readonly (PermissionRequest | QuestionRequest)[],
): Marks {
  const busy = Object.entries(status).filter(([, { type }]) => type !== 'idle');
  return {
    running: withParents(sessions, busy.map(([id]) => id)),
    waiting: withParents(sessions, requests.map(({ sessionID }) => sessionID)),
  };
}

/** The session of a person that a sub-agent's session belongs to; a person's own is its own. */
export function rootOf(sessions: Readonly<Record<string, Session>>, id: string): string {
  const seen = new Set<string>();
  let at = id;
  for (;;) {
    const parent = sessions[at]?.parentID;
    if (parent === undefined || seen.has(parent)) return at;
    seen.add(at);
    at = parent;
  }
}

function withParents(
  sessions: Readonly<Record<string, Session>>,
  ids: readonly string[],
): Set<string> {
  const found = new Set<string>();
  for (const id of ids) {
    let at: string | undefined = id;
    while (at !== undefined && !found.has(at)) {
      found.add(at);
      at = sessions[at]?.parentID;
    }
  }
  return found;
}

/** Whether a session changed since it was looked at; one never looked at, since the page began. */
export function isUnread(session: Session, seen: Readonly<Record<string, number>>, began: number): boolean {
  return session.time.updated > (seen[session.id] ?? began);
}
