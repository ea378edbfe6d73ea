import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { classes } from '../../ui/classes';
import { useFold } from '../folds';
import { number } from '../format';

/** What is shown of an output before a person asks for all of it. */
const LINES_MAX = 16;
const CHARACTERS_MAX = 6_000;

export interface OutputProps {
  /** Keeps whether all is shown. */
  id: string;
  text: string;
  /** Which end matters: a command's result stands at its end. */
  end?: 'head' | 'tail';
  tone?: 'plain' | 'bad';
  wrap?: boolean;
}

/** Text of a tool, as it is: bounded on the screen until asked for. */
export function Output({ id, text, end = 'head', tone = 'plain', wrap = true }: OutputProps): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const [all, setAll] = useFold(`${id}:all`, false);
  const lines = text.split('\n');
  const short = excerpt(lines, end);
  const bounded = !all && short.length < text.length;
  const button = bounded && (
    <ShowAll
      text={t('output.all', { count: lines.length, lines: number(lines.length, i18n.language) })}
      onClick={() => { setAll(true); }}
    />
  );
  return (
    <div className="overflow-hidden rounded-control border border-border bg-surface">
      {end === 'tail' && button}
      <pre
        tabIndex={0}
        className={classes(
          'max-h-120 overflow-auto px-3 py-2 font-mono text-code -outline-offset-2',
          wrap && 'break-words whitespace-pre-wrap',
          tone === 'bad' ? 'text-bad' : 'text-text-2',
        )}
      >
        {bounded ? short : text}
      </pre>
      {end === 'head' && button}
    </div>
  );
}

/** The end of an output that is shown. */
export function excerpt(lines: readonly string[], end: 'head' | 'tail'): string {
  const few = end === 'head' ? lines.slice(0, LINES_MAX) : lines.slice(-LINES_MAX);
  const text = few.join('\n');
  return end === 'head' ? text.slice(0, CHARACTERS_MAX) : text.slice(-CHARACTERS_MAX);
}

export function ShowAll({ text, onClick }: { text: string; onClick: () => void }): ReactNode {
  return (
    <button
      type="button"
      onClick={onClick}
      className="block w-full bg-raised px-3 py-1 text-left text-label text-text-2 -outline-offset-2 hover:text-text"
    >
      {text}
    </button>
  );
}
