import { Ban, Check, CircleDashed, LoaderCircle, Square, X } from 'lucide-react';
import { memo, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { usePreference } from '../../preferences';
import { classes } from '../../ui/classes';
import { useSecond } from '../../ui/clock';
import { useConversation } from '../context';
import { Fold } from '../Fold';
import { duration, number } from '../format';
import { ToolBody } from './bodies';
import { OpenTask } from './Task';
import { summaryOf, type ToolStatus, type ToolSummary } from './summary';
import type { ToolPart } from './values';

/** A tool call: one line that unfolds to what it was given and gave. */
export const Tool = memo(function Tool({ part }: { part: ToolPart }): ReactNode {
  const { directory } = useConversation();
  const expand = usePreference('expandTools');
  const summary = useMemo(() => summaryOf(part, directory), [part, directory]);
  return (
    <Fold
      id={part.id}
      usually={expand || part.tool === 'todowrite'}
      empty={summary.status === 'pending'}
      head={<Head name={part.tool} summary={summary} />}
      beside={part.tool === 'task' ? <OpenTask part={part} /> : null}
    >
      {() => <ToolBody part={part} />}
    </Fold>
  );
});

function Head({ name, summary }: { name: string; summary: ToolSummary }): ReactNode {
  const { status, title } = summary;
  return (
    <>
      <StatusIcon status={status} />
      <span className="shrink-0 font-mono text-code text-text">{name}</span>
      <span className="min-w-0 flex-1 truncate" title={title}>{title}</span>
      <Facts summary={summary} />
    </>
  );
}

const ICONS = {
  pending: CircleDashed,
  running: LoaderCircle,
  done: Check,
  failed: X,
  denied: Ban,
  stopped: Square,
} as const;

const COLOURS: Readonly<Record<ToolStatus, string>> = {
  pending: 'text-text-3',
  running: 'text-accent animate-spin',
  done: 'text-text-3',
  failed: 'text-bad',
  denied: 'text-waiting',
  stopped: 'text-text-3',
};

function StatusIcon({ status }: { status: ToolStatus }): ReactNode {
  const { t } = useTranslation('chat');
  const Icon = ICONS[status];
  return (
    <Icon size={14} role="img" aria-label={t(`tool.${status}`)} className={classes('shrink-0', COLOURS[status])} />
  );
}

/** What can be said in numbers. */
function Facts({ summary }: { summary: ToolSummary }): ReactNode {
  const { t, i18n } = useTranslation('chat');
  const { status, exit, added, removed, found, started, ended } = summary;
  const language = i18n.language;
  return (
    <span className="flex shrink-0 items-center gap-2 text-label tabular-nums">
      {(status === 'denied' || status === 'stopped') && <span>{t(`tool.${status}`)}</span>}
      {added !== null && (
        <span>
          <span className="text-good">+{number(added, language)}</span>{' '}
          <span className="text-bad">−{number(removed ?? 0, language)}</span>
        </span>
      )}
      {found !== null && <span>{t('tool.found', { count: found })}</span>}
      {exit !== null && exit !== 0 && <span className="text-bad">{t('tool.exit', { code: exit })}</span>}
      {status === 'running' && started !== null ? (
        <Running since={started} />
      ) : (
        started !== null && ended !== null && (
          <span className="text-text-3">{duration(ended - started, language)}</span>
        )
      )}
    </span>
  );
}

function Running({ since }: { since: number }): ReactNode {
  const { i18n } = useTranslation('chat');
  const seconds = Math.floor((useSecond() - since) / 1_000);
  return seconds < 1 ? null : <span className="text-text-3">{duration(seconds * 1_000, i18n.language)}</span>;
}
