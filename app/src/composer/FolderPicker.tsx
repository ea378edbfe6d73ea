import { ChevronDown, Folder, FolderOpen } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { draftKey, moveDraft } from '../drafts';
import * as host from '../host/host';
import { openDraft } from '../navigation';
import { useAttempt } from '../ui/toasts';
import { moveChoice } from './choice';
import { folderName, useRecentFolders } from './folders';
import { MENU, MENU_ITEM } from './menu';
import type { Where } from './where';

/** In which folder the new session will be. What was typed goes along. */
export function FolderPicker({ where }: { where: Where }): ReactNode {
  const { t } = useTranslation('composer');
  const attempt = useAttempt();
  const folders = useRecentFolders();
  const pick = (directory: string): void => {
    moveChoice(where.key, draftKey(directory));
    moveDraft(where.key, draftKey(directory));
    openDraft(directory);
  };
  const other = (): Promise<unknown> =>
    attempt(async () => {
      const picked = await host.pickFolder(where.directory);
      if (picked !== null) pick(picked);
    });
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex h-9 w-full items-center gap-2 rounded-t-card border-b border-border px-3 text-left hover:bg-raised focus-visible:-outline-offset-2">
        <Folder size={14} aria-hidden className="shrink-0 text-text-3" />
        <Chosen directory={where.directory} />
        <ChevronDown size={14} aria-hidden className="ml-auto shrink-0 text-text-3" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content side="top" align="start" sideOffset={4} collisionPadding={8} className={MENU}>
          <DropdownMenu.RadioGroup value={where.directory ?? ''} onValueChange={pick}>
            {folders.length > 0 && (
              <DropdownMenu.Label className="px-2 py-1 text-label text-text-3">{t('folder.recent')}</DropdownMenu.Label>
            )}
            {folders.map((folder) => (
              <DropdownMenu.RadioItem key={folder} value={folder} className={MENU_ITEM}>
                <Named directory={folder} />
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          {folders.length > 0 && <DropdownMenu.Separator className="my-1 h-px bg-border" />}
          <DropdownMenu.Item className={MENU_ITEM} onSelect={() => { void other(); }}>
            <FolderOpen size={14} aria-hidden className="shrink-0 text-text-3" />
            {t('folder.other')}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Chosen({ directory }: { directory: string | null }): ReactNode {
  const { t } = useTranslation('composer');
  if (directory === null) return <span className="truncate font-medium">{t('folder.choose')}</span>;
  return (
    <>
      <span className="sr-only">{t('folder.label')}</span>
      <Named directory={directory} />
    </>
  );
}

function Named({ directory }: { directory: string }): ReactNode {
  const { name, parent } = folderName(directory);
  return (
    <>
      <span className="max-w-full shrink-0 truncate font-medium">{name}</span>
      <span className="min-w-0 truncate text-label text-text-3">{parent}</span>
    </>
  );
}
