import type { SnapshotFileDiff } from '@opencode-ai/sdk/v2/client';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { client, data } from '../server/client';
import { isBusy, type Session } from '../server/state';
import { useServer } from '../server/store';
import { useRead } from '../ui/useRead';
import { useFormats } from './format';
import { Rest } from './Rest';
import { Failed, Loading, Section } from './Section';

/** Files that the session has changed. */
export function Changes({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation('panel');
  const { count } = useFormats();
  const { id, summary } = session;
  const live = useServer((state) => state.connection.kind === 'live');
  const busy = useServer((state) => isBusy(state, id));
  const changed = `${summary?.files ?? 0} ${summary?.additions ?? 0} ${summary?.deletions ?? 0}`;
  const files = summary?.files ?? 0;
  const read = useRead(
    files > 0 ? id : null,
    () => data(client.session.diff({ sessionID: id })),
    `${changed} ${String(live)} ${String(busy)}`,
  );
  if (files === 0 || summary === undefined) return null;
  const diffs = read.value?.filter(({ file }) => file !== undefined) ?? [];
  return (
    <Section
      name="changes"
      title={t('changes.title')}
      summary={
        <>
          {count(files)} <Amount additions={summary.additions} deletions={summary.deletions} />
        </>
      }
    >
      {read.loading && <Loading />}
      {read.failure !== null && <Failed thrown={read.failure.thrown} again={read.again} />}
      {diffs.length > 0 && (
        <Rest all={diffs} first={12} row={(diff) => <File key={diff.file} diff={diff} />} />
      )}
      {read.value !== null && diffs.length === 0 && (
        <p className="text-text-2">{t('changes.unnamed')}</p>
      )}
    </Section>
  );
}

function File({ diff }: { diff: SnapshotFileDiff }): ReactNode {
  const { t } = useTranslation('panel');
  const { file = '', additions, deletions, status = 'modified' } = diff;
  const cut = file.lastIndexOf('/') + 1;
  return (
    <li className="flex items-baseline gap-2 py-0.5" title={file}>
      <span className="sr-only">{t(`changes.${status}`)}</span>
      <span className="flex min-w-0 flex-1 font-mono text-label">
        <span className="truncate text-text-2">{file.slice(0, cut)}</span>
        <span className={status === 'deleted' ? 'shrink-0 line-through' : 'shrink-0'}>
          {file.slice(cut)}
        </span>
      </span>
      <span className="shrink-0 text-label tabular-nums">
        <Amount additions={additions} deletions={deletions} />
      </span>
    </li>
  );
}

/** Lines that came and went. */
function Amount({ additions, deletions }: { additions: number; deletions: number }): ReactNode {
  const { t } = useTranslation('panel');
  const { count } = useFormats();
  return (
    <>
      <span aria-hidden className="text-good">
        +{count(additions)}
      </span>{' '}
      <span aria-hidden className="text-bad">
        −{count(deletions)}
      </span>
      <span className="sr-only">{t('changes.amount', { additions, deletions })}</span>
    </>
  );
}
