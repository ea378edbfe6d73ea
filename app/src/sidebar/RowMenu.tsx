import { Archive, ArchiveRestore, Copy, Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { archive } from '../server/actions';
import type { Session } from '../server/state';
import { IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { toast, useAttempt } from '../ui/toasts';
import { askDelete, beginRename } from './acting';

const ITEM =
  'flex h-8 cursor-default items-center gap-2 rounded-control px-2 text-ui outline-none data-[highlighted]:bg-raised';

export interface RowMenuProps {
  session: Session;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** In the order of Tab: its row is the one that has the focus. */
  reachable: boolean;
}

/** What can be done to a session of the list. */
export function RowMenu({ session, open, onOpen, reachable }: RowMenuProps): ReactNode {
  const { t } = useTranslation('sidebar');
  const attempt = useAttempt();
  // Done when the menu is gone, so that it does not take the focus from what is done.
  const chosen = useRef<'rename' | 'delete' | null>(null);
  const archived = (session.time.archived ?? 0) > 0;
  const copy = (): void => {
    void attempt(async () => {
      await navigator.clipboard.writeText(session.id);
      toast({ tone: 'plain', text: t('copied') });
    });
  };
  return (
    <DropdownMenu.Root open={open} onOpenChange={onOpen} modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton
          label={t('actions', { title: session.title })}
          tabIndex={reachable ? 0 : -1}
          className="size-6"
          onClick={(event) => { event.stopPropagation(); }}
        >
          <Ellipsis size={14} aria-hidden />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-card border border-border bg-surface p-1 shadow-floating"
          onClick={(event) => { event.stopPropagation(); }}
          onKeyDown={(event) => { event.stopPropagation(); }}
          onCloseAutoFocus={(event) => {
            if (chosen.current === null) return;
            event.preventDefault();
            if (chosen.current === 'rename') beginRename(session.id, 'row');
            else askDelete(session);
            chosen.current = null;
          }}
        >
          <DropdownMenu.Item className={ITEM} onSelect={() => { chosen.current = 'rename'; }}>
            <Pencil size={14} aria-hidden />
            {t('rename')}
          </DropdownMenu.Item>
          <DropdownMenu.Item
            className={ITEM}
            onSelect={() => { void attempt(() => archive(session.id, archived ? 0 : Date.now())); }}
          >
            {archived ? <ArchiveRestore size={14} aria-hidden /> : <Archive size={14} aria-hidden />}
            {t(archived ? 'unarchive' : 'archive')}
          </DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={copy}>
            <Copy size={14} aria-hidden />
            {t('copyId')}
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="my-1 h-px bg-border" />
          <DropdownMenu.Item
            className={classes(ITEM, 'text-bad')}
            onSelect={() => { chosen.current = 'delete'; }}
          >
            <Trash2 size={14} aria-hidden />
            {t('delete')}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
