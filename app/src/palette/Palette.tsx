import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { GoalSign } from '../goal';
import { SHORTCUTS, type ShortcutId } from '../keys';
import { closeOverlay, openSession } from '../navigation';
import type { Session } from '../server/state';
import { useServer } from '../server/store';
import { useFound } from '../sidebar/found';
import { shortName } from '../sidebar/groups';
import { age } from '../sidebar/time';
import { useMinute } from '../ui/clock';
import { useAttempt } from '../ui/toasts';
import { COMMAND_IDS, COMMANDS, isPossible, type CommandId } from './commands';
import { best, sessionsFor } from './entries';
import { SIGNS } from './signs';
import { Keys } from './Keys';
import { useSituation } from './session';

/** Everything that can be done or opened, by a few letters of it. */
export function Palette(): ReactNode {
  const { t } = useTranslation('palette');
  const [query, setQuery] = useState('');
  return (
    <Dialog.Root open onOpenChange={(open) => { if (!open) closeOverlay(); }}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12dvh] left-1/2 z-50 w-[min(600px,calc(100vw-16px))] -translate-x-1/2 overflow-hidden rounded-card border border-border bg-surface shadow-floating"
        >
          <Dialog.Title className="sr-only">{t('title')}</Dialog.Title>
          <Command shouldFilter={false} vimBindings={false} label={t('title')} loop>
            <Command.Input
              value={query}
              onValueChange={setQuery}
              placeholder={t('placeholder')}
              className="h-12 w-full border-b border-border bg-transparent px-4 text-chat outline-none placeholder:text-text-3"
            />
            <Entries query={query.trim()} />
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const GROUP =
  '**:[[cmdk-group-heading]]:px-2 **:[[cmdk-group-heading]]:py-1.5 **:[[cmdk-group-heading]]:text-label **:[[cmdk-group-heading]]:text-text-2';

const ITEM =
  'flex h-9 cursor-default items-center gap-3 rounded-control px-2 text-ui data-[selected=true]:bg-raised';

function Entries({ query }: { query: string }): ReactNode {
  const { t } = useTranslation('palette');
  const sessions = useSessions(query);
  const commands = useCommands(query);
  return (
    <Command.List className="max-h-[min(480px,60dvh)] overflow-y-auto p-2">
      <Command.Empty className="px-2 py-6 text-center text-ui text-text-2">{t('nothing', { query })}</Command.Empty>
      {sessions.length > 0 && (
        <Command.Group heading={t(query === '' ? 'recent' : 'sessions')} className={GROUP}>
          {sessions.map((session) => <SessionItem key={session.id} session={session} />)}
        </Command.Group>
      )}
      {commands.length > 0 && (
        <Command.Group heading={t('commands')} className={GROUP}>
          {commands.map((id) => <CommandItem key={id} id={id} />)}
        </Command.Group>
      )}
    </Command.List>
  );
}

function SessionItem({ session }: { session: Session }): ReactNode {
  const { i18n } = useTranslation('palette');
  const now = useMinute();
  return (
    <Command.Item value={session.id} className={ITEM} onSelect={() => { openSession(session.id); }}>
      <span className="flex w-4 shrink-0 justify-center">
        <GoalSign sessionId={session.id} />
      </span>
      <span className="min-w-0 flex-1 truncate">{session.title}</span>
      <span className="max-w-32 shrink-0 truncate text-label text-text-2" title={session.directory}>
        {shortName(session.directory)}
      </span>
      <span className="w-12 shrink-0 text-right text-label text-text-3 tabular-nums">
        {age(session.time.updated, now, i18n.language)}
      </span>
    </Command.Item>
  );
}

function CommandItem({ id }: { id: CommandId }): ReactNode {
  const { t } = useTranslation('palette');
  const attempt = useAttempt();
  const Sign = SIGNS[id];
  const run = (): void => {
    // First, so that what the command opens stays open and keeps the focus.
    closeOverlay();
    setTimeout(() => { void attempt(async () => { await COMMANDS[id].run(); }); });
  };
  return (
    <Command.Item value={id} className={ITEM} onSelect={run}>
      <Sign size={16} className="shrink-0 text-text-2" aria-hidden />
      <span className="min-w-0 flex-1 truncate">{t(`command.${id}`)}</span>
      {isShortcut(id) && <Keys id={id} />}
    </Command.Item>
  );
}

function isShortcut(id: CommandId): id is ShortcutId {
  return id in SHORTCUTS;
}

function useSessions(query: string): Session[] {
  const known = useServer((state) => state.sessions);
  const found = useFound({ query, archived: false }).sessions;
  return useMemo(() => {
    const all = new Map([...found, ...Object.values(known)].map((session) => [session.id, session]));
    return sessionsFor(query, [...all.values()]);
  }, [query, known, found]);
}

function useCommands(query: string): CommandId[] {
  const { t } = useTranslation('palette');
  const now = useSituation();
  const possible = COMMAND_IDS.filter((id) => id !== 'palette' && isPossible(id, now));
  return query === '' ? possible : best(possible, query, (id) => t(`command.${id}`));
}
