import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { findModel, useModels } from '../models';
import type { Session } from '../server/state';
import { useServer } from '../server/store';
import { classes } from '../ui/classes';
import { contextOf, lastCounted, percentOf } from './figures';
import { useFormats } from './format';
import { Loading, Section } from './Section';

/** From here on it is said that the context is nearly full, in percent. */
const NEARLY_FULL = 85;

/** How full the model's context is, by the newest complete answer. */
export function Context({ session }: { session: Session }): ReactNode {
  const { t } = useTranslation('panel');
  const { tokens, percent } = useFormats();
  const models = useModels(session.directory);
  const loading = useServer((state) => state.transcripts[session.id]?.phase === 'loading');
  const last = useServer((state) => lastCounted(state.transcripts[session.id]?.messages));
  if (last === null) {
    if (!loading) return null;
    return (
      <Section name="context" title={t('context.title')}>
        <Loading />
      </Section>
    );
  }
  const used = contextOf(last);
  const model = findModel(models, last.providerID, last.modelID);
  const limit = model?.contextLimit ?? null;
  const full = limit === null ? null : percentOf(used, limit);
  return (
    <Section
      name="context"
      title={t('context.title')}
      summary={full === null ? tokens(used) : percent(full)}
    >
      {full !== null && <Bar full={full} />}
      <p className="tabular-nums">
        {limit === null
          ? t('context.used', { used: tokens(used) })
          : t('context.usedOf', { used: tokens(used), limit: tokens(limit) })}
      </p>
      <p className="truncate text-label text-text-2">
        {model?.name ?? `${last.providerID}/${last.modelID}`}
      </p>
      {full !== null && full >= NEARLY_FULL && (
        <p className="mt-1 text-label text-waiting">{t('context.nearlyFull')}</p>
      )}
    </Section>
  );
}

function Bar({ full }: { full: number }): ReactNode {
  const { t } = useTranslation('panel');
  return (
    <div
      role="meter"
      aria-label={t('context.title')}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={full}
      className="mb-2 h-1.5 overflow-hidden rounded-full bg-border"
    >
      <div
        style={{ width: `${full}%` }}
        className={classes('h-full rounded-full', full >= NEARLY_FULL ? 'bg-waiting' : 'bg-accent')}
      />
    </div>
  );
}
