import { Bell, Globe, Server as ServerSign, Settings2, Target } from 'lucide-react';
import { Dialog, Tabs } from 'radix-ui';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useNarrow } from '../frame/room';
import { GoalSettings } from '../goal';
import {
  closeOverlay,
  openSettings,
  SETTINGS_PAGES,
  useNavigation,
  type SettingsPage,
} from '../navigation';
import { classes } from '../ui/classes';
import { CloseButton } from '../ui/CloseButton';
import type { Findable, SettingId } from './catalogue';
import { General } from './General';
import { Language } from './Language';
import { Notifications } from './Notifications';
import { Sought } from './rows';
import { Results, SearchField, useSearch } from './Search';
import { Server } from './Server';

const SIGNS: Readonly<Record<SettingsPage, typeof Bell>> = {
  general: Settings2,
  server: ServerSign,
  goal: Target,
  notifications: Bell,
  language: Globe,
};

const PAGES: Readonly<Record<SettingsPage, () => ReactNode>> = {
  general: General,
  server: Server,
  goal: GoalSettings,
  notifications: Notifications,
  language: Language,
};

/** The settings: a dialog, in narrow windows the whole height. */
export function Settings(): ReactNode {
  const overlay = useNavigation((state) => state.overlay);
  const open = overlay?.kind === 'settings';
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(now) => {
        if (!now) closeOverlay();
      }}
    >
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // A field with something typed in it takes it back first.
            if (event.target instanceof HTMLElement && 'holdsEscape' in event.target.dataset) {
              event.preventDefault();
            }
          }}
          className={classes(
            'fixed inset-0 z-50 flex flex-col overflow-clip bg-surface',
            'frame:inset-auto frame:top-1/2 frame:left-1/2 frame:-translate-x-1/2 frame:-translate-y-1/2',
            'frame:h-[min(680px,calc(100dvh-48px))] frame:w-[min(880px,calc(100vw-48px))]',
            'frame:rounded-card frame:border frame:border-border frame:shadow-floating',
          )}
        >
          {open && <Content page={overlay.page} />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Content({ page }: { page: SettingsPage }): ReactNode {
  const { t } = useTranslation(['settings', 'common']);
  const narrow = useNarrow();
  const search = useSearch();
  const [sought, setSought] = useState<SettingId | null>(null);
  const show = (next: SettingsPage): void => {
    search.clear();
    setSought(null);
    openSettings(next);
  };
  const lead = ({ id, page: there }: Findable): void => {
    search.clear();
    setSought(id);
    openSettings(there);
  };
  const Page = PAGES[page];
  return (
    <Tabs.Root
      value={page}
      onValueChange={(value) => {
        const next = SETTINGS_PAGES.find((one) => one === value);
        if (next !== undefined) show(next);
      }}
      orientation={narrow ? 'horizontal' : 'vertical'}
      className="flex min-h-0 flex-1 flex-col frame:flex-row"
    >
      <div className="flex shrink-0 flex-col border-border bg-bg frame:w-56 frame:border-r">
        <div className="flex min-h-12 items-center gap-2 px-4 pt-2">
          <Dialog.Title className="flex-1 text-heading font-semibold">{t('title')}</Dialog.Title>
          {narrow && <CloseButton />}
        </div>
        <div className="px-3 pb-1">
          <SearchField search={search} lead={lead} />
        </div>
        <Pages />
      </div>
      <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
        {!narrow && (
          <div className="flex min-h-12 items-center gap-2 pt-2 pr-3 pl-6">
            <h1 className="flex-1 text-heading font-semibold">
              {search.query === '' ? t(`page.${page}`) : t('found')}
            </h1>
            <CloseButton />
          </div>
        )}
        <div className="relative min-h-0 flex-1 overflow-y-auto px-4 py-3 frame:px-6">
          {search.query !== '' && <Results search={search} lead={lead} />}
          <Tabs.Content value={page} tabIndex={-1} hidden={search.query !== ''} className="outline-none">
            <Sought value={search.query === '' ? sought : null}>
              <Page />
            </Sought>
          </Tabs.Content>
        </div>
      </div>
    </Tabs.Root>
  );
}

/** The pages: a column, in narrow windows a line that scrolls sideways. */
function Pages(): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <Tabs.List
      aria-label={t('pages')}
      className={classes(
        'flex gap-1 overflow-x-auto border-b border-border px-3 pt-1 pb-2',
        'frame:flex-col frame:overflow-visible frame:border-0',
      )}
    >
      {SETTINGS_PAGES.map((page) => {
        const Sign = SIGNS[page];
        return (
          <Tabs.Trigger
            key={page}
            value={page}
            className={classes(
              'flex h-8 shrink-0 items-center gap-2 rounded-control px-2 text-ui whitespace-nowrap',
              'text-text-2 transition-colors hover:bg-raised hover:text-text',
              'data-[state=active]:bg-raised data-[state=active]:font-medium data-[state=active]:text-text',
            )}
          >
            <Sign size={16} aria-hidden />
            {t(`page.${page}`)}
          </Tabs.Trigger>
        );
      })}
    </Tabs.List>
  );
}
