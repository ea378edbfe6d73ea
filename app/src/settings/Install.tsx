import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import * as host from '../host/host';
import { Button } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import { useAttempt } from '../ui/toasts';
import { INSTALL_NPM, INSTALL_SCRIPT, OFFICIAL_PAGE, UPGRADE } from './opencode';

/** How OpenCode gets onto this computer, or to a newer version. */
export function Install({ what }: { what: 'install' | 'upgrade' }): ReactNode {
  const { t } = useTranslation('settings');
  const attempt = useAttempt();
  return (
    <div className="flex flex-col gap-3">
      {what === 'install' ? (
        <>
          <CommandLine label={t('install.npm')} command={INSTALL_NPM} />
          <CommandLine label={t('install.script')} command={INSTALL_SCRIPT} />
        </>
      ) : (
        <>
          <CommandLine label={t('install.upgrade')} command={UPGRADE} />
          <CommandLine label={t('install.upgradeNpm')} command={`${INSTALL_NPM}@latest`} />
        </>
      )}
      <Button
        kind="quiet"
        className="self-start"
        onClick={() => void attempt(() => host.openExternal(OFFICIAL_PAGE))}
      >
        <ExternalLink size={14} aria-hidden />
        {t('install.page')}
      </Button>
    </div>
  );
}

/** A command for a terminal, to be copied. */
export function CommandLine({ label, command }: { label: string; command: string }): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <div>
      <p className="mb-1 text-label text-text-2">{label}</p>
      <div className="flex items-center gap-2 rounded-control border border-border bg-raised py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-code wrap-anywhere select-all [font-variant-ligatures:none]">{command}</code>
        <CopyButton text={command} label={t('install.copy', { command })} />
      </div>
    </div>
  );
}
