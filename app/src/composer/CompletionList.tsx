import { FileText, Folder, SquareSlash } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { classes } from '../ui/classes';
import type { Completion, Option } from './useCompletion';

export function optionId(listId: string, at: number): string {
  return `${listId}-${at}`;
}

/** The list over the text; the text keeps the focus and names the active option. */
export function CompletionList({ id, completion, onPick }: {
  id: string;
  completion: Completion;
  onPick: (option: Option) => void;
}): ReactNode {
  const { t } = useTranslation('composer');
  const { token, options, active, point } = completion;
  useEffect(() => {
    document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  if (token === null) return null;
  return (
    <div className="absolute inset-x-0 bottom-full z-30 mb-1 overflow-hidden rounded-card border border-border bg-surface shadow-floating">
      <ul
        id={id}
        role="listbox"
        aria-label={t(token.kind === 'command' ? 'completion.commands' : 'completion.files')}
        className={classes('max-h-[min(320px,40dvh)] overflow-y-auto', options.length > 0 && 'p-1')}
      >
        {options.map((option, at) => (
          <li
            key={option.value}
            id={optionId(id, at)}
            role="option"
            aria-selected={at === active}
            className={classes('flex items-center gap-2 rounded-control px-2 py-1 text-ui', at === active && 'bg-raised')}
            onPointerMove={() => { if (at !== active) point(at); }}
            // The text keeps the focus.
            onMouseDown={(event) => { event.preventDefault(); }}
            onClick={() => { onPick(option); }}
          >
            <Row option={option} />
          </li>
        ))}
      </ul>
      <Said completion={completion} />
    </div>
  );
}

function Row({ option: { value, detail, path } }: { option: Option }): ReactNode {
  if (path === null) {
    return (
      <>
        <SquareSlash size={14} aria-hidden className="shrink-0 text-text-3" />
        <span className="shrink-0 font-medium">{value}</span>
        <span className="truncate text-text-2">{detail}</span>
      </>
    );
  }
  const trimmed = path.replace(/[\\/]$/, '');
  const cut = Math.max(trimmed.lastIndexOf('/'), trimmed.lastIndexOf('\\')) + 1;
  const Sign = trimmed === path ? FileText : Folder;
  return (
    <>
      <Sign size={14} aria-hidden className="shrink-0 text-text-3" />
      <span className="shrink-0 font-medium">{path.slice(cut)}</span>
      <span className="truncate text-text-2">{path.slice(0, cut)}</span>
    </>
  );
}

/** What there is to say of the list, for eyes where it is empty and for screen readers always. */
function Said({ completion: { token, options, loading, failed } }: { completion: Completion }): ReactNode {
  const { t } = useTranslation('composer');
  const said = (): string => {
    if (failed) return t('completion.failed');
    if (options.length > 0) return t('completion.found', { count: options.length });
    if (loading) return t('completion.searching');
    return t(token?.kind === 'command' ? 'completion.noCommand' : 'completion.noFile');
  };
  return (
    <p role="status" className={options.length > 0 ? 'sr-only' : 'px-3 py-2 text-ui text-text-2'}>
      {said()}
    </p>
  );
}
