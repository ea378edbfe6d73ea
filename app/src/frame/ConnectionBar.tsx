import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { clock, serverConnect } from 'tauri-plugin-goal-api';

import { useAttempt } from '../ui/toasts';
import { useAfter } from './after';
import { useLine, useMissing } from './line';

/** A short break is nobody's business: the line is mostly back before this many milliseconds. */
const SAID_AFTER = 10_000;

/** Below the header, while the server has been away for longer. */
export function ConnectionBar(): ReactNode {
  const { t, i18n } = useTranslation('frame');
  const attempt = useAttempt();
  const line = useLine();
  const missing = useMissing();
  const away = line.kind === 'away' ? line : null;
  const shown = useAfter(away === null ? null : away.since + SAID_AFTER);
  const trying = useAfter(away?.nextTryAt ?? null);
  if (away === null || !shown || missing !== null) return null;
  const known = away.nextTryAt !== null && !trying;
  return (
    <div
      role="status"
      className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-border bg-tint-waiting px-4 py-1 text-ui text-text"
    >
      <span className="min-w-0 flex-1">
        {known
          ? t('away.until', { time: clock(away.nextTryAt ?? 0, away.since, i18n.language) })
          : t('away.trying')}
      </span>
      <button
        type="button"
        className="shrink-0 rounded-control px-2 py-0.5 font-medium text-text underline decoration-waiting underline-offset-4 hover:bg-raised"
        onClick={() => { void attempt(() => serverConnect({ server: null })); }}
      >
        {t('away.now')}
      </button>
    </div>
  );
}
