import { ChevronRight } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';

import { classes } from '../ui/classes';
import { useFailureText } from '../ui/toasts';

/** Sections that are folded, as long as the page lives. */
const folded = createStore<Record<string, boolean>>(() => ({}));

export interface SectionProps {
  /** Which one, for remembering whether it is folded. */
  name: string;
  title: string;
  /** Right of the title, also while it is folded. */
  summary?: ReactNode;
  children: ReactNode;
}

/** A part of the work status that can be folded. */
export function Section({ name, title, summary, children }: SectionProps): ReactNode {
  const isFolded = useStore(folded, (all) => all[name] ?? false);
  const id = useId();
  return (
    <section className="border-b border-border last:border-b-0">
      <h3>
        <button
          type="button"
          aria-expanded={!isFolded}
          aria-controls={id}
          className="flex w-full items-center gap-2 py-2.5 pr-4 pl-3 text-left hover:bg-raised focus-visible:-outline-offset-2"
          onClick={() => {
            folded.setState({ [name]: !isFolded });
          }}
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={classes('shrink-0 text-text-3 transition-transform', !isFolded && 'rotate-90')}
          />
          <span className="min-w-0 flex-1 truncate text-ui font-medium">{title}</span>
          {summary !== undefined && (
            <span className="shrink-0 text-ui text-text-2 tabular-nums">{summary}</span>
          )}
        </button>
      </h3>
      <div id={id} hidden={isFolded} className="pr-4 pb-3 pl-[34px]">
        {children}
      </div>
    </section>
  );
}

interface FactProps {
  name: string;
  /** It is a part of the fact above. */
  part?: boolean;
  children: ReactNode;
}

/** A name and its value, on one line. */
export function Fact({ name, part = false, children }: FactProps): ReactNode {
  return (
    <div className={classes('flex items-baseline justify-between gap-4', part && 'pl-3 text-label')}>
      <dt className="min-w-0 truncate text-text-2">{name}</dt>
      <dd className={classes('shrink-0 tabular-nums', part && 'text-text-2')}>{children}</dd>
    </div>
  );
}

export function Loading(): ReactNode {
  const { t } = useTranslation();
  return (
    <p role="status" className="text-text-2">
      {t('loading')}
    </p>
  );
}

/** What could not be read, and the way to try again. */
export function Failed({ thrown, again }: { thrown: unknown; again: () => void }): ReactNode {
  const { t } = useTranslation();
  const text = useFailureText();
  return (
    <div role="alert">
      <p className="break-words text-bad">{text(thrown)}</p>
      <button
        type="button"
        className="mt-1 rounded-control font-medium text-accent hover:underline"
        onClick={again}
      >
        {t('retry')}
      </button>
    </div>
  );
}
