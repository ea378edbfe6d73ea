import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import {
  auditorTest,
  errorText,
  GoalError,
  type AuditorTest,
  type Settings,
} from 'tauri-plugin-goal-api';
import { useGoalSettings, useKit } from 'tauri-plugin-goal-api/react';

import type { Models } from '../host/contract';
import { useModels } from '../models';
import { useNavigation } from '../navigation';
import { usePreference } from '../preferences';
import { useServer } from '../server/store';
import { useGoalError } from '../settings/line';
import { FIELD, Refusal, Row, Switch } from '../settings/rows';
import { useSaveGoalSettings } from '../settings/save';
import { Button } from '../ui/Button';
import { classes } from '../ui/classes';
import { useAuditor } from './auditor';
import { BudgetField } from './Budget';

/** The settings' page of goals. */
export function GoalSettings(): ReactNode {
  const { t } = useTranslation(['goal', 'settings', 'common']);
  const { words } = useKit();
  const { view } = useGoalSettings();
  const error = useGoalError();
  if (view === undefined) {
    return error === null ? (
      <p className="text-text-2">{t('common:loading')}</p>
    ) : (
      <Unread error={error} />
    );
  }
  const { settings, complaint } = view;
  return (
    <>
      {complaint !== null && (
        <p role="alert" className="mb-3 rounded-control bg-tint-waiting px-3 py-2 break-words text-waiting">
          {t('settings:complaint', { detail: complaint })}
        </p>
      )}
      <p className="mb-2 max-w-[68ch] text-text-2">
        {t('settings.arming', { arm: words.say('button.arm') })}
      </p>
      <Enabled settings={settings} />
      <DefaultBudget settings={settings} />
      <Auditor settings={settings} />
    </>
  );
}

function Unread({ error }: { error: GoalError }): ReactNode {
  const { t } = useTranslation('common');
  const { store, words } = useKit();
  return (
    <div>
      <Refusal text={errorText(error, words)} />
      <Button className="mt-3" onClick={() => void store.refresh()}>
        {t('retry')}
      </Button>
    </div>
  );
}

interface PartProps {
  settings: Settings;
}

function Enabled({ settings }: PartProps): ReactNode {
  const { refusal, pending, set } = useSaveGoalSettings();
  return (
    <Row
      id="goalEnabled"
      refusal={refusal}
      control={(names) => (
        <Switch
          {...names}
          on={settings.sessionGoalEnabled}
          set={(on) => {
            if (!pending) void set({ sessionGoalEnabled: on });
          }}
        />
      )}
    />
  );
}

function DefaultBudget({ settings }: PartProps): ReactNode {
  const { refusal, pending, set } = useSaveGoalSettings();
  const off = !settings.sessionGoalEnabled;
  return (
    <Row
      id="goalBudget"
      refusal={refusal}
      control={(names) => (
        <Switch
          {...names}
          disabled={off}
          on={settings.sessionGoalDefaultBudgetEnabled}
          set={(on) => {
            if (!pending) void set({ sessionGoalDefaultBudgetEnabled: on });
          }}
        />
      )}
    >
      {settings.sessionGoalDefaultBudgetEnabled && (
        <div className="mt-2">
          <BudgetField
            disabled={off}
            tokens={settings.sessionGoalDefaultBudget}
            set={(tokens) => void set({ sessionGoalDefaultBudget: tokens })}
          />
        </div>
      )}
    </Row>
  );
}

/** Whose auditor is meant: that of the place which the settings lie over. */
function useWhose(): { sessionId: string | null; directory: string | null } {
  const place = useNavigation((state) => state.place);
  const last = usePreference('lastDirectory');
  const known = useServer(({ sessions }) => place.kind === 'session' && sessions[place.id] !== undefined);
  const ofSession = useServer(({ sessions }) =>
    place.kind === 'session' ? (sessions[place.id]?.directory ?? null) : null,
  );
  if (place.kind === 'session' && known) return { sessionId: place.id, directory: ofSession };
  return { sessionId: null, directory: (place.kind === 'draft' ? place.directory : null) ?? last };
}

function Auditor({ settings }: PartProps): ReactNode {
  const { t } = useTranslation('goal');
  const { words } = useKit();
  const { sessionId, directory } = useWhose();
  const { refusal, set } = useSaveGoalSettings();
  const models = useModels(directory);
  const found = useAuditor(sessionId, directory);
  const chosen = settings.smallModelUseDefault ? null : settings.smallModelOverride;
  return (
    <Row
      id="goalAuditor"
      refusal={refusal}
      control={({ labelId, aboutId }) => (
        <div className="w-64 max-w-full">
          <select
            aria-labelledby={labelId}
            aria-describedby={aboutId}
            className={FIELD}
            value={chosen ?? ''}
            onChange={({ target: { value } }) => {
              void set(
                value === ''
                  ? { smallModelUseDefault: true }
                  : { smallModelUseDefault: false, smallModelOverride: value },
              );
            }}
          >
            <option value="">{t('settings.auditorUsual')}</option>
            <Options models={models} chosen={chosen} />
          </select>
        </div>
      )}
    >
      <p className="mt-2 break-words text-text-2" role="status">
        {found !== null &&
          (found instanceof GoalError
            ? errorText(found, words)
            : t('settings.auditorNow', {
                model: found.model,
                source: words.say(`auditor.${found.source}`),
              }))}
      </p>
      <Test sessionId={sessionId} directory={directory} />
    </Row>
  );
}

/** All models by their providers; one that is chosen and not known stays in sight. */
function Options({ models, chosen }: { models: Models | null; chosen: string | null }): ReactNode {
  const providers = models?.providers ?? [];
  const known = providers.some((provider) =>
    provider.models.some((model) => `${provider.id}/${model.id}` === chosen),
  );
  return (
    <>
      {chosen !== null && !known && <option value={chosen}>{chosen}</option>}
      {providers.map((provider) => (
        <optgroup key={provider.id} label={provider.name}>
          {provider.models.map((model) => (
            <option key={model.id} value={`${provider.id}/${model.id}`}>
              {model.name}
            </option>
          ))}
        </optgroup>
      ))}
    </>
  );
}

type Outcome = { kind: 'running' } | { kind: 'judged'; test: AuditorTest } | { kind: 'failed'; error: GoalError };

/** Has the auditor judge something that is done. */
function Test({ sessionId, directory }: { sessionId: string | null; directory: string | null }): ReactNode {
  const { t } = useTranslation('goal');
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const whose = sessionId !== null ? { sessionId } : directory !== null ? { directory } : null;
  const run = async (): Promise<void> => {
    if (whose === null) return;
    setOutcome({ kind: 'running' });
    try {
      setOutcome({ kind: 'judged', test: await auditorTest(whose) });
    } catch (thrown) {
      setOutcome({ kind: 'failed', error: GoalError.from(thrown) });
    }
  };
  const running = outcome?.kind === 'running';
  return (
    <div className="mt-2">
      <Button disabled={whose === null || running} onClick={() => void run()}>
        {running ? t('settings.testing') : t('settings.test')}
      </Button>
      <p className="mt-1 text-label text-text-2">
        {whose === null ? t('settings.testNowhere') : t('settings.testAbout')}
      </p>
      <div role="status">{outcome !== null && <Result outcome={outcome} />}</div>
    </div>
  );
}

function Result({ outcome }: { outcome: Outcome }): ReactNode {
  const { t, i18n } = useTranslation('goal');
  const { words } = useKit();
  switch (outcome.kind) {
    case 'running':
      return null;
    case 'failed':
      return <Refusal text={errorText(outcome.error, words)} />;
    case 'judged': {
      const { auditor, verdict, note, tookMs } = outcome.test;
      const fit = verdict === 'complete';
      const seconds = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format(tookMs / 1_000);
      return (
        <p className={classes('mt-2 break-words', fit ? 'text-good' : 'text-waiting')}>
          {t(fit ? 'settings.testFit' : 'settings.testUnfit', { model: auditor.model, seconds, note })}
        </p>
      );
    }
  }
}
