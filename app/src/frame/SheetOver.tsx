import { Dialog, Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { showSheet, useNavigation, type Place, type Sheet } from '../navigation';
import { Panel } from '../panel/Panel';
import { Sidebar } from '../sidebar/Sidebar';
import { classes } from '../ui/classes';
import { CloseButton } from '../ui/CloseButton';
import { Boundary } from './Boundary';
import { useHasRoom, useNarrow } from './room';

/** In narrow windows: sidebar and work status over the conversation, as two tabs of one sheet. */
export function SheetOver({ place }: { place: Place }): ReactNode {
  const { t } = useTranslation('frame');
  const sheet = useNavigation((state) => state.sheet);
  const narrow = useNarrow();
  const room = useHasRoom();
  const shown = sheet !== null && (narrow || (sheet === 'status' && !room));
  return (
    <Dialog.Root open={shown} onOpenChange={(open) => { if (!open) showSheet(null); }}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          data-sheet=""
          className={classes(
            'fixed inset-y-0 z-30 flex w-[min(336px,88vw)] flex-col bg-bg shadow-floating outline-none',
            narrow ? 'left-0' : 'right-0',
          )}
        >
          <Dialog.Title className="sr-only">{t('sheet.title')}</Dialog.Title>
          {narrow ? (
            <Both sheet={sheet ?? 'sessions'} place={place} />
          ) : (
            <>
              <div className="flex h-12 shrink-0 items-center justify-end border-b border-border px-2">
                <CloseButton />
              </div>
              <Boundary area="panel">
                <Panel place={place} />
              </Boundary>
            </>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const TAB =
  'h-8 rounded-control px-3 text-ui text-text-2 hover:bg-raised data-[state=active]:bg-raised data-[state=active]:font-medium data-[state=active]:text-text';

function Both({ sheet, place }: { sheet: Sheet; place: Place }): ReactNode {
  const { t } = useTranslation('frame');
  return (
    <Tabs.Root
      value={sheet}
      onValueChange={(value) => { showSheet(value === 'status' ? 'status' : 'sessions'); }}
      className="flex min-h-0 flex-1 flex-col"
    >
      <div className="flex h-12 shrink-0 items-center gap-1 border-b border-border px-2">
        <Tabs.List className="flex min-w-0 flex-1 gap-1" aria-label={t('sheet.title')}>
          <Tabs.Trigger value="sessions" className={TAB}>{t('sheet.sessions')}</Tabs.Trigger>
          <Tabs.Trigger value="status" className={TAB}>{t('sheet.status')}</Tabs.Trigger>
        </Tabs.List>
        <CloseButton />
      </div>
      <Tabs.Content value="sessions" className="flex min-h-0 flex-1 flex-col" tabIndex={-1}>
        <nav aria-label={t('sidebar.name')} className="flex min-h-0 flex-1 flex-col">
          <Boundary area="sidebar">
            <Sidebar />
          </Boundary>
        </nav>
      </Tabs.Content>
      <Tabs.Content value="status" className="flex min-h-0 flex-1 flex-col" tabIndex={-1}>
        <Boundary area="panel">
          <Panel place={place} />
        </Boundary>
      </Tabs.Content>
    </Tabs.Root>
  );
}
