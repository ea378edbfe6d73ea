import { notices, type Notice, type Settings } from 'tauri-plugin-goal-api';
import { useGoalSettings, useKit } from 'tauri-plugin-goal-api/react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { moment } from '../sidebar/time';
import { Button } from '../ui/Button';
import { useRead } from '../ui/useRead';
import { useGoalError } from './line';
import { Choice, Group, Row, Switch, TextField } from './rows';
import { useRefusalText, useSaveGoalSettings } from './save';
import { Templates } from './Templates';

/** Which notices are raised, and how. They are the goals' own settings, which the command line shares. */
export function Notifications(): ReactNode {
  const { t } = useTranslation('settings');
  const { view } = useGoalSettings();
  if (view === undefined) return <Unknown />;
  const { settings } = view;
  return (
    <>
      {view.complaint !== null && (
        <p role="status" className="mb-4 rounded-control bg-tint-waiting px-3 py-2 text-waiting">
          {t('complaint', { detail: view.complaint })}
        </p>
      )}
      <Group title={t('group.notices')}>
        <NoticeSwitch name="nativeNotificationsEnabled" settings={settings} />
        <ModeRow settings={settings} />
        <LastNotice />
      </Group>
      <Group title={t('group.occasions')}>
        <NoticeSwitch name="notifyOnCompletion" settings={settings} />
        <NoticeSwitch name="notifyOnError" settings={settings} />
        <NoticeSwitch name="notifyOnQuestion" settings={settings} />
        <NoticeSwitch name="notifyOnSubtasks" settings={settings} />
      </Group>
      <Group title={t('group.texts')}>
        <Templates templates={settings.notificationTemplates} />
        <LengthRow settings={settings} />
      </Group>
    </>
  );
}

/** The plugin has not answered, or said why it does not. */
function Unknown(): ReactNode {
  const { t } = useTranslation(['settings', 'common']);
  const { store } = useKit();
  const error = useGoalError();
  const text = useRefusalText();
  if (error === null) return <p className="text-text-2">{t('common:loading')}</p>;
  return (
    <div role="alert">
      <p className="mb-3 text-bad">{text(error)}</p>
      <Button onClick={() => void store.refresh()}>{t('common:retry')}</Button>
    </div>
  );
}

type SwitchName =
  | 'nativeNotificationsEnabled'
  | 'notifyOnCompletion'
  | 'notifyOnError'
  | 'notifyOnQuestion'
  | 'notifyOnSubtasks';

function NoticeSwitch({ name, settings }: { name: SwitchName; settings: Settings }): ReactNode {
  const { refusal, pending, set } = useSaveGoalSettings();
  return (
    <Row
      id={name}
      refusal={refusal}
      control={(names) => (
        <Switch
          {...names}
          on={settings[name]}
          set={(on) => {
            // The control keeps the focus while it is saved, so it is not disabled.
            if (!pending) void set({ [name]: on });
          }}
        />
      )}
    />
  );
}

function ModeRow({ settings }: { settings: Settings }): ReactNode {
  const { t } = useTranslation('settings');
  const { refusal, set } = useSaveGoalSettings();
  const options = (['hidden-only', 'always'] as const).map((value) => ({
    value,
    label: t(`mode.${value}`),
  }));
  return (
    <Row
      id="notificationMode"
      refusal={refusal}
      control={(names) => (
        <Choice
          {...names}
          value={settings.notificationMode}
          options={options}
          set={(notificationMode) => void set({ notificationMode })}
        />
      )}
    />
  );
}

function LengthRow({ settings }: { settings: Settings }): ReactNode {
  const { t } = useTranslation('settings');
  const { refusal, save, set } = useSaveGoalSettings();
  const keep = (text: string): void => {
    if (/^\d{1,9}$/.test(text)) void set({ maxLastMessageLength: Number(text) });
    else void save(() => Promise.reject(new RangeError(t('wholeNumber'))));
  };
  return (
    <Row
      id="maxLastMessageLength"
      refusal={refusal}
      control={({ aboutId }) => (
        <TextField
          numeric
          value={String(settings.maxLastMessageLength)}
          label={t('setting.maxLastMessageLength.label')}
          describedBy={aboutId}
          className="w-24"
          keep={keep}
        />
      )}
    />
  );
}

function LastNotice(): ReactNode {
  const { t } = useTranslation(['settings', 'common']);
  const text = useRefusalText();
  const { value, failure, loading, again } = useRead('notices', () => notices({ limit: 1 }));
  const newest = value?.[0];
  return (
    <Row
      id="lastNotice"
      refusal={failure === null ? null : text(failure.thrown)}
      control={({ aboutId }) => (
        <Button aria-describedby={aboutId} onClick={again}>
          {t('readAgain')}
        </Button>
      )}
    >
      {loading && <p className="mt-2 text-text-2">{t('common:loading')}</p>}
      {value !== null && newest === undefined && <p className="mt-2 text-text-2">{t('noNotice')}</p>}
      {newest !== undefined && <Told notice={newest} />}
    </Row>
  );
}

function Told({ notice }: { notice: Notice }): ReactNode {
  const { t, i18n } = useTranslation('settings');
  return (
    <div className="mt-2 rounded-control bg-raised px-3 py-2">
      <p className="truncate font-medium">{notice.title}</p>
      <p className={notice.state === 'failed' ? 'text-bad' : 'text-text-2'}>
        {t(`noticeState.${notice.state}`, { when: moment(notice.at, i18n.language) })}
      </p>
    </div>
  );
}
