import { Settings } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { clock } from 'tauri-plugin-goal-api';

import { useAfter } from '../frame/after';
import { useLine, useMissing } from '../frame/line';
import { NoticesButton } from '../goal';
import { ariaKeys } from '../keys';
import { openSettings } from '../navigation';
import { IconButton } from '../ui/Button';
import { classes } from '../ui/classes';

/** Settings, how the server stands, notices. */
export function Footer(): ReactNode {
  const { t } = useTranslation('sidebar');
  return (
    <footer className="flex h-11 shrink-0 items-center gap-1 border-t border-border px-2">
      <IconButton
        label={t('settings')}
        aria-keyshortcuts={ariaKeys('settings')}
        onClick={() => { openSettings(); }}
      >
        <Settings size={16} aria-hidden />
      </IconButton>
      <ServerMark />
      <span className="flex-1" />
      <NoticesButton />
    </footer>
  );
}

const DOTS = {
  live: 'bg-good',
  starting: 'border border-control',
  away: 'border-2 border-waiting',
  missing: 'border-2 border-bad',
} as const;

/** A dot and a word; leads to the server's settings. */
function ServerMark(): ReactNode {
  const { kind, word } = useServerWord();
  return (
    <button
      type="button"
      className="flex h-7 min-w-0 items-center gap-2 rounded-control px-2 text-label text-text-2 hover:bg-raised hover:text-text"
      onClick={() => { openSettings('server'); }}
    >
      <span aria-hidden className={classes('size-2 shrink-0 rounded-full', DOTS[kind])} />
      <span role="status" className="truncate">{word}</span>
    </button>
  );
}

function useServerWord(): { kind: keyof typeof DOTS; word: string } {
  const { t, i18n } = useTranslation('sidebar');
  const line = useLine();
  const missing = useMissing();
  const nextTryAt = line.kind === 'away' ? line.nextTryAt : null;
  const trying = useAfter(nextTryAt);
  if (missing !== null) return { kind: 'missing', word: t('server.missing') };
  if (line.kind !== 'away') return { kind: line.kind, word: t(`server.${line.kind}`) };
  if (nextTryAt === null || trying) return { kind: 'away', word: t('server.trying') };
  const time = clock(nextTryAt, line.since, i18n.language);
  return { kind: 'away', word: t('server.away', { time }) };
}
