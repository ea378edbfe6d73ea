import { Archive, Search, SquarePen, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { ariaKeys } from '../keys';
import { IconButton } from '../ui/Button';
import { useAttempt } from '../ui/toasts';
import { newSession } from './newSession';

/** The id of the field that searches the list, for the shortcut that goes there. */
export const SEARCH_ID = 'sidebar-search';

export interface TopProps {
  query: string;
  onQuery: (query: string) => void;
  archived: boolean;
  onArchived: () => void;
}

/** Search, archived ones, a new session. */
export function Top({ query, onQuery, archived, onArchived }: TopProps): ReactNode {
  const { t } = useTranslation('sidebar');
  const attempt = useAttempt();
  return (
    <div className="flex h-12 shrink-0 items-center gap-1 px-2">
      <div className="relative min-w-0 flex-1">
        <Search size={14} aria-hidden className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-text-3" />
        <input
          id={SEARCH_ID}
          type="text"
          role="searchbox"
          value={query}
          aria-label={t(archived ? 'searchArchived' : 'search')}
          aria-keyshortcuts={ariaKeys('search')}
          placeholder={t(archived ? 'placeholderArchived' : 'placeholder')}
          spellCheck={false}
          className="h-8 w-full rounded-control bg-raised pr-7 pl-7 text-ui placeholder:text-text-3"
          onChange={(event) => { onQuery(event.target.value); }}
          onKeyDown={(event) => { if (event.key === 'Escape' && query !== '') { event.stopPropagation(); onQuery(''); } }}
        />
        {query !== '' && (
          <span className="absolute top-1 right-1">
            <IconButton label={t('clear')} className="size-6" onClick={() => { onQuery(''); }}>
              <X size={12} aria-hidden />
            </IconButton>
          </span>
        )}
      </div>
      <IconButton
        label={t('archived')}
        aria-pressed={archived}
        className={archived ? 'bg-tint-accent text-accent' : ''}
        onClick={onArchived}
      >
        <Archive size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('new')} aria-keyshortcuts={ariaKeys('newSession')} onClick={() => { void attempt(newSession); }}>
        <SquarePen size={16} aria-hidden />
      </IconButton>
    </div>
  );
}
