import { Search as SearchSign } from 'lucide-react';
import { useId, useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { SETTINGS_PAGES } from '../navigation';
import { classes } from '../ui/classes';
import { CATALOGUE, found, marked, type Findable } from './catalogue';
import { FIELD } from './rows';

export interface Search {
  query: string;
  hits: readonly Findable[];
  /** Which of the hits Enter opens. */
  at: number;
  listId: string;
  type: (query: string) => void;
  move: (to: number) => void;
  clear: () => void;
}

/** The search over all settings of all pages. */
export function useSearch(): Search {
  const { t } = useTranslation('settings');
  const listId = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const all = useMemo(
    () =>
      SETTINGS_PAGES.flatMap((page) =>
        CATALOGUE[page].map(
          (id): Findable => ({
            id,
            page,
            label: t(`setting.${id}.label`),
            about: t(`setting.${id}.about`),
            words: `${t(`setting.${id}.words`)} ${t(`page.${page}`)}`,
          }),
        ),
      ),
    [t],
  );
  const hits = useMemo(() => found(all, query), [all, query]);
  const type = (next: string): void => {
    setQuery(next);
    setAt(0);
  };
  return {
    query,
    hits,
    at: Math.min(at, Math.max(0, hits.length - 1)),
    listId,
    type,
    move: setAt,
    clear: () => {
      type('');
    },
  };
}

interface SearchProps {
  search: Search;
  lead: (to: Findable) => void;
}

/** Where is typed: arrows choose a hit, Enter opens it, Escape empties the field. */
export function SearchField({ search, lead }: SearchProps): ReactNode {
  const { t } = useTranslation('settings');
  const { query, hits, at, listId } = search;
  const active = query !== '' && hits.length > 0;
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' && active) search.move((at + 1) % hits.length);
    else if (event.key === 'ArrowUp' && active) search.move((at + hits.length - 1) % hits.length);
    else if (event.key === 'Enter' && hits[at] !== undefined) lead(hits[at]);
    else if (event.key === 'Escape' && query !== '') search.clear();
    else return;
    event.preventDefault();
  };
  return (
    <div className="relative">
      <SearchSign
        size={14}
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-text-3"
      />
      <input
        type="text"
        role="combobox"
        aria-label={t('search')}
        aria-expanded={active}
        aria-controls={active ? listId : undefined}
        aria-autocomplete="list"
        aria-activedescendant={active ? `${listId}-${at}` : undefined}
        placeholder={t('search')}
        value={query}
        spellCheck={false}
        autoComplete="off"
        data-holds-escape={query === '' ? undefined : ''}
        className={classes(FIELD, 'pl-7')}
        onChange={(event) => {
          search.type(event.target.value);
        }}
        onKeyDown={press}
      />
    </div>
  );
}

/** The hits, with the words that were sought marked. */
export function Results({ search, lead }: SearchProps): ReactNode {
  const { t } = useTranslation('settings');
  const { query, hits, at, listId } = search;
  return (
    <>
      <p role="status" className={hits.length === 0 ? 'text-text-2' : 'sr-only'}>
        {hits.length === 0 ? t('foundNone', { query }) : t('foundCount', { count: hits.length })}
      </p>
      {hits.length > 0 && (
        <ul role="listbox" id={listId} aria-label={t('found')} className="-mx-3">
          {hits.map((hit, index) => (
            <Hit
              key={hit.id}
              id={`${listId}-${index}`}
              hit={hit}
              query={query}
              chosen={index === at}
              lead={lead}
            />
          ))}
        </ul>
      )}
    </>
  );
}

interface HitProps {
  id: string;
  hit: Findable;
  query: string;
  chosen: boolean;
  lead: (to: Findable) => void;
}

function Hit({ id, hit, query, chosen, lead }: HitProps): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <li
      id={id}
      role="option"
      aria-selected={chosen}
      className={classes('rounded-control px-3 py-2 hover:bg-raised', chosen && 'bg-raised')}
      ref={(row) => {
        if (chosen) row?.scrollIntoView({ block: 'nearest' });
      }}
      onClick={() => {
        lead(hit);
      }}
    >
      <p className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 font-medium">
          <Marked text={hit.label} query={query} />
        </span>
        <span className="shrink-0 text-label text-text-2">{t(`page.${hit.page}`)}</span>
      </p>
      <p className="text-label text-text-2">
        <Marked text={hit.about} query={query} />
      </p>
    </li>
  );
}

function Marked({ text, query }: { text: string; query: string }): ReactNode {
  return marked(text, query).map((piece, index) =>
    piece.hit ? (
      <mark key={index} className="rounded-[2px] bg-tint-accent text-text underline decoration-accent">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}
