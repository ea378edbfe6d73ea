import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { Preferences } from '../host/contract';
import * as host from '../host/host';
import { DEFAULTS, preferences, setPreferences, usePreference } from '../preferences';
import { Button } from '../ui/Button';
import { toast } from '../ui/toasts';
import { Choice, Group, Row, Switch } from './rows';
import { useSave } from './save';

/** What concerns the app itself. */
export function General(): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <>
      <Group title={t('group.look')}>
        <ThemeRow />
        <ResetLayout />
      </Group>
      <Group title={t('group.conversation')}>
        <SwitchRow name="sendWithEnter" />
        <SwitchRow name="expandReasoning" />
        <SwitchRow name="expandTools" />
      </Group>
      <Group title={t('group.running')}>
        <SwitchRow name="keepRunning" />
        <SwitchRow name="autostart" />
      </Group>
      <Group title={t('group.help')}>
        <Diagnostics />
      </Group>
    </>
  );
}

function ThemeRow(): ReactNode {
  const { t } = useTranslation('settings');
  const theme = usePreference('theme');
  const { refusal, save } = useSave();
  const options = (['system', 'light', 'dark'] as const).map((value) => ({
    value,
    label: t(`theme.${value}`),
  }));
  return (
    <Row
      id="theme"
      refusal={refusal}
      control={(names) => (
        <Choice
          {...names}
          value={theme}
          options={options}
          set={(value) => void save(() => setPreferences({ theme: value }))}
        />
      )}
    />
  );
}

type SwitchName = 'sendWithEnter' | 'expandReasoning' | 'expandTools' | 'keepRunning' | 'autostart';

function SwitchRow({ name }: { name: SwitchName }): ReactNode {
  const on = usePreference(name);
  const { refusal, save } = useSave();
  return (
    <Row
      id={name}
      refusal={refusal}
      control={(names) => (
        <Switch {...names} on={on} set={(now) => void save(() => setPreferences({ [name]: now }))} />
      )}
    />
  );
}

/** What of the preferences is the layout. */
const LAYOUT = [
  'sidebarWidth',
  'sidebarOpen',
  'panelOpen',
  'panelWidth',
  'collapsedProjects',
] as const satisfies (keyof Preferences)[];

function layoutOf(all: Preferences): Partial<Preferences> {
  return Object.fromEntries(LAYOUT.map((key) => [key, all[key]]));
}

function ResetLayout(): ReactNode {
  const { t } = useTranslation('settings');
  const { refusal, pending, save } = useSave();
  const reset = async (): Promise<void> => {
    const before = layoutOf(preferences.getState());
    if (!(await save(() => setPreferences(layoutOf(DEFAULTS))))) return;
    toast({
      tone: 'plain',
      text: t('layoutReset'),
      action: { label: t('undo'), run: () => void save(() => setPreferences(before)) },
    });
  };
  return (
    <Row
      id="resetLayout"
      refusal={refusal}
      control={({ aboutId }) => (
        <Button disabled={pending} aria-describedby={aboutId} onClick={() => void reset()}>
          {t('resetLayout')}
        </Button>
      )}
    />
  );
}

function Diagnostics(): ReactNode {
  const { t } = useTranslation('settings');
  const { refusal, pending, save } = useSave();
  const [shown, setShown] = useState<{ text: string; copied: boolean } | null>(null);
  const copy = (): Promise<boolean> =>
    save(async () => {
      const text = await host.diagnostics();
      // Where the system does not let it be copied, it is shown to be copied by hand.
      const copied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      setShown({ text, copied });
    });
  return (
    <Row
      id="diagnostics"
      refusal={refusal}
      control={({ aboutId }) => (
        <Button disabled={pending} aria-describedby={aboutId} onClick={() => void copy()}>
          {t('copyDiagnostics')}
        </Button>
      )}
    >
      {shown !== null && (
        <div className="mt-3">
          <p role="status" className="mb-1 text-label text-text-2">
            {shown.copied ? t('diagnosticsCopied') : t('diagnosticsByHand')}
          </p>
          <textarea
            readOnly
            value={shown.text}
            aria-label={t('diagnosticsText')}
            rows={8}
            className="w-full resize-y rounded-control border border-border bg-raised p-2 font-mono text-label"
            onFocus={(event) => {
              event.target.select();
            }}
          />
        </div>
      )}
    </Row>
  );
}
