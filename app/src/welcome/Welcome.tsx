import { CircleAlert, CircleCheck, FolderOpen, KeyRound, LoaderCircle, Settings2 } from 'lucide-react';
import type { ServerStatus } from 'tauri-plugin-goal-api';
import { useKit, useServer } from 'tauri-plugin-goal-api/react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import * as host from '../host/host';
import { openDraft, openSettings } from '../navigation';
import { useServer as useSessions } from '../server/store';
import { AttachForm } from '../settings/AttachForm';
import { Install } from '../settings/Install';
import { lookAgain, manage, useGoalError, useServerChoice } from '../settings/line';
import { LEAST_VERSION } from '../settings/opencode';
import { Refusal } from '../settings/rows';
import { useSave } from '../settings/save';
import { Button } from '../ui/Button';
import { useAttempt } from '../ui/toasts';
import { passWelcome } from './needed';
import { viewOf, type View } from './view';

/** The first sight of the app: whether OpenCode is there, and what to do where it is not. */
export function Welcome(): ReactNode {
  const { t } = useTranslation('settings');
  const status = useServer();
  const { store } = useKit();
  const error = useGoalError();
  const { value: choice, loading } = useServerChoice();
  const now = viewOf(status, error !== null, loading ? undefined : choice);
  const retrying = useSave();
  // While a failed server is tried again, what is there to do stays in sight.
  const [failed, setFailed] = useState<View | null>(null);
  if (failed !== now && now !== 'looking') setFailed(now);
  const view = now === 'looking' && failed !== null && failed !== 'found' ? failed : now;
  const again = (): Promise<boolean> =>
    retrying.save(view === 'broken' ? () => store.refresh() : lookAgain);
  return (
    <section aria-labelledby="welcome" className="flex min-h-0 flex-1 overflow-y-auto bg-bg">
      <div className="m-auto w-full max-w-lg px-6 py-8">
        <Sign view={view} />
        <h1 id="welcome" className="mt-4 text-title font-semibold text-balance">
          {t(`welcome.${view}.title`)}
        </h1>
        <p role="status" className="mt-2 mb-6 max-w-[60ch] text-chat text-text-2">
          {t(`welcome.${view}.text`, { least: LEAST_VERSION, url: status?.url ?? addressOf(choice) })}
        </p>
        <Body view={view} status={status} />
        {view !== 'found' && view !== 'looking' && (
          <Ways view={view} busy={retrying.pending || now === 'looking'} again={() => void again()} />
        )}
        <Reason status={status} refusal={retrying.refusal} />
      </div>
    </section>
  );
}

function addressOf(choice: { kind: string; url?: string } | null): string {
  return choice?.url ?? '';
}

function Sign({ view }: { view: View }): ReactNode {
  if (view === 'looking') {
    return <LoaderCircle size={32} aria-hidden className="animate-spin text-text-2" />;
  }
  if (view === 'found') return <CircleCheck size={32} aria-hidden className="text-good" />;
  if (view === 'password') return <KeyRound size={32} aria-hidden className="text-waiting" />;
  return <CircleAlert size={32} aria-hidden className="text-waiting" />;
}

function Body({ view, status }: { view: View; status: ServerStatus | undefined }): ReactNode {
  const { t } = useTranslation('settings');
  switch (view) {
    case 'found':
      return status === undefined ? null : <Found status={status} />;
    case 'missing':
      return <Install what="install" />;
    case 'tooOld':
      return <Install what="upgrade" />;
    case 'password':
    case 'unusable':
    case 'unreachable':
      return <AttachForm submit={t('attach.submit')} />;
    case 'looking':
    case 'broken':
      return null;
  }
}

/** What was found, and the way in. */
function Found({ status }: { status: ServerStatus }): ReactNode {
  const { t } = useTranslation('settings');
  const attempt = useAttempt();
  const known = useSessions((state) => Object.values(state.sessions).some((one) => !one.parentID));
  const choose = async (): Promise<void> => {
    const folder = await host.pickFolder(null);
    if (folder !== null) openDraft(folder);
  };
  return (
    <>
      <dl className="mb-6 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-card border border-border bg-surface px-4 py-3">
        <dt className="text-text-2">{t('fact.version')}</dt>
        <dd className="tabular-nums">{status.version ?? '–'}</dd>
        <dt className="text-text-2">{t('fact.url')}</dt>
        <dd className="break-all">{status.url ?? '–'}</dd>
        <dt className="text-text-2">{t('fact.kind')}</dt>
        <dd>{status.managed ? t('fact.managed') : t('fact.attached')}</dd>
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => void attempt(choose)}>
          <FolderOpen size={16} aria-hidden />
          {t('welcome.folder')}
        </Button>
        {known && <Button onClick={passWelcome}>{t('welcome.sessions')}</Button>}
      </div>
    </>
  );
}

/** What else there is to do; never nothing. */
function Ways({ view, busy, again }: { view: View; busy: boolean; again: () => void }): ReactNode {
  const { t } = useTranslation('settings');
  const own = useSave();
  const attached = view === 'password' || view === 'unusable' || view === 'unreachable';
  return (
    <>
      <div className="mt-6 flex flex-wrap gap-2 border-t border-border pt-6">
        <Button kind={attached ? 'plain' : 'primary'} disabled={busy} onClick={again}>
          {busy ? t('welcome.busy') : t('welcome.again')}
        </Button>
        {attached && (
          <Button disabled={own.pending} onClick={() => void own.save(manage)}>
            {t('own.use')}
          </Button>
        )}
        <Button
          kind="quiet"
          onClick={() => {
            openSettings('server');
          }}
        >
          <Settings2 size={16} aria-hidden />
          {t('welcome.settings')}
        </Button>
      </div>
      <Refusal text={own.refusal} />
    </>
  );
}

/** What exactly went wrong, for whoever looks for the cause. */
function Reason({ status, refusal }: { status: ServerStatus | undefined; refusal: string | null }): ReactNode {
  const { t } = useTranslation('settings');
  const reason = status === undefined || status.reason === '' ? null : status.reason;
  if (reason === null) return <Refusal text={refusal} />;
  return (
    <details className="mt-4 text-text-2">
      <summary className="w-fit rounded-control text-label">{t('welcome.details')}</summary>
      <p className="mt-1 font-mono text-label break-words select-text">{reason}</p>
    </details>
  );
}
