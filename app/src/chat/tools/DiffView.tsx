import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { classes } from '../../ui/classes';
import { useFold } from '../folds';
import { number } from '../format';
import type { DiffLine, FileDiff } from './diff';
import { ShowAll } from './Output';

/** Lines that are shown before a person asks for all of them. */
const LINES_MAX = 60;

/** A change of one file, line by line. */
export function DiffView({ id, file }: { id: string; file: FileDiff }): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const [all, setAll] = useFold(`${id}:all`, false);
  const shown = all ? file.lines : file.lines.slice(0, LINES_MAX);
  return (
    <div className="overflow-hidden rounded-control border border-border bg-surface">
      <div
        tabIndex={0}
        role="region"
        aria-label={t('diff.name', { path: file.path })}
        className="max-h-120 overflow-auto py-1 -outline-offset-2"
      >
        <table className="w-full border-collapse font-mono text-code">
          <tbody>
            {shown.map((line, at) => (
              <Line key={at} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < file.lines.length && (
        <ShowAll
          text={t('output.all', {
            count: file.lines.length,
            lines: number(file.lines.length, i18n.language),
          })}
          onClick={() => { setAll(true); }}
        />
      )}
    </div>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const TINTS = { same: '', added: 'bg-tint-good', removed: 'bg-tint-bad' } as const;
const NUMBER = 'w-px px-2 text-right align-top text-text-3 tabular-nums select-none';

function Line({ line }: { line: DiffLine }): ReactNode {
  if (line.kind === 'gap') {
    return (
      <tr className="text-text-3">
        <td colSpan={4} className="px-2 py-1">⋯</td>
      </tr>
    );
  }
  const { kind } = line;
  return (
    <tr className={TINTS[kind]}>
      <td className={NUMBER}>{line.before}</td>
      <td className={NUMBER}>{line.after}</td>
      <td
        className={classes(
          'w-px pr-2 align-top',
          kind === 'added' && 'text-good',
          kind === 'removed' && 'text-bad',
        )}
      >
        {SIGNS[kind]}
      </td>
      <td className="pr-3 align-top whitespace-pre">{line.text}</td>
    </tr>
  );
}
