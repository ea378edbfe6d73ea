import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { useLine, useMissing } from '../frame/line';
import { useServer } from '../server/store';
import { readAll } from '../server/sync';
import { Button } from '../ui/Button';
import { useAttempt } from '../ui/toasts';
import type { Found } from './found';
import type { Shown } from './groups';
import { newSession } from './newSession';

/** In place of the list: why there is none, and what to do about it. */
export function Nothing({ shown, found }: { shown: Shown; found: Found['phase'] }): ReactNode {
  const { t } = useTranslation(['sidebar', 'common']);
  const attempt = useAttempt();
  const line = useLine();
  const listing = useServer((state) => state.listing);
  const missing = useMissing();
  const searching = shown.query.trim() !== '';
  if (missing !== null) return <Said title={t('empty')} text={t('emptySetup')} />;
  if (listing === 'loading' && line.kind === 'away') return <Said title={t('offline')} text={t('offlineHint')} />;
  if (listing === 'loading' || found === 'loading') return <Skeleton />;
  if (listing === 'failed' || found === 'failed') {
    return (
      <Said title={t('failed')} text={t('failedHint')}>
        <Button onClick={() => { void attempt(readAll); }}>{t('common:retry')}</Button>
      </Said>
    );
  }
  if (searching) return <Said title={t('noMatch')} text={t('noMatchHint', { query: shown.query.trim() })} />;
  if (shown.archived) return <Said title={t('noArchived')} text={t('noArchivedHint')} />;
  return (
    <Said title={t('empty')} text={t('emptyHint')}>
      <Button onClick={() => { void attempt(newSession); }}>{t('new')}</Button>
    </Said>
  );
}

function Said({ title, text, children }: { title: string; text: string; children?: ReactNode }): ReactNode {
  return (
    <div role="status" className="flex min-h-0 flex-1 flex-col items-start gap-1 overflow-auto px-4 py-3">
      <p className="text-ui font-medium">{title}</p>
      <p className="text-ui text-text-2">{text}</p>
      {children !== undefined && <div className="pt-2">{children}</div>}
    </div>
  );
}

/** As many lines as one mostly has, so that little moves when they come. */
function Skeleton(): ReactNode {
  const { t } = useTranslation('common');
  return (
    <div role="status" aria-label={t('loading')} className="min-h-0 flex-1 overflow-hidden px-4 py-2">
      {[40, 75, 60, 82, 52].map((width) => (
        <div key={width} aria-hidden className="mb-4 h-3 rounded-control bg-raised" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
