import { CircleAlert, CircleCheck, CircleDashed, LoaderCircle, PlugZap } from 'lucide-react';
import type { ServerState, ServerStatus } from 'tauri-plugin-goal-api';
import { useGoalSettings, useKit, useServer } from 'tauri-plugin-goal-api/react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import * as host from '../host/host';
import { Button } from '../ui/Button';
import { AttachForm } from './AttachForm';
import { Install } from './Install';
import { lookAgain, manage, useGoalError, useServerChoice } from './line';
import { Group, Refusal, Row, TextField } from './rows';
import { useRefusalText, useSave, useSaveGoalSettings } from './save';

/** Which OpenCode server is used, and how the line to it stands. */
export function Server(): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <>
      <Group title={t('group.line')}>
        <StateRow />
        <OwnServer />
        <Row id="attach">
          <AttachForm submit={t('attach.submit')} />
        </Row>
      </Group>
      <Group title={t('group.program')}>
        <Binary />
        <Row id="install">
          <div className="mt-3">
            <Install what="install" />
          </div>
        </Row>
      </Group>
    </>
  );
}

function StateRow(): ReactNode {
  const { t } = useTranslation(['settings', 'common']);
  const status = useServer();
  const { store } = useKit();
  const { refusal, pending, save } = useSave();
  const text = useRefusalText();
  const error = useGoalError();
  const unknown = status === undefined && error !== null;
  return (
    <Row
      id="serverState"
      refusal={unknown ? text(error) : refusal}
      control={({ aboutId }) =>
        status?.state === 'connected' ? null : (
          <Button
            aria-describedby={aboutId}
            disabled={pending}
            onClick={() => void save(unknown ? () => store.refresh() : lookAgain)}
          >
            {t('common:retry')}
          </Button>
        )
      }
    >
      {status === undefined ? (
        !unknown && <p className="mt-2 text-text-2">{t('common:loading')}</p>
      ) : (
        <Line status={status} told={refusal !== null} />
      )}
    </Row>
  );
}

const SIGNS: Readonly<Record<ServerState, typeof CircleCheck>> = {
  connected: CircleCheck,
  starting: LoaderCircle,
  away: PlugZap,
  failed: CircleAlert,
  none: CircleDashed,
  ended: CircleDashed,
};

const TONES: Readonly<Record<ServerState, string>> = {
  connected: 'text-good',
  starting: 'text-text-2',
  away: 'text-waiting',
  failed: 'text-bad',
  none: 'text-text-2',
  ended: 'text-text-2',
};

function Line({ status, told }: { status: ServerStatus; told: boolean }): ReactNode {
  const { t } = useTranslation('settings');
  const text = useRefusalText();
  const Sign = SIGNS[status.state];
  return (
    <>
      <div className="mt-2 rounded-control border border-border bg-bg px-3 py-2">
        <p role="status" className={`flex items-center gap-2 font-medium ${TONES[status.state]}`}>
          <Sign size={16} aria-hidden className={status.state === 'starting' ? 'animate-spin' : ''} />
          {t(`line.${status.state}`)}
        </p>
        <Facts status={status} />
      </div>
      {status.code !== null && !told && (
        <Refusal text={text({ code: status.code, message: status.reason })} />
      )}
    </>
  );
}

function Facts({ status }: { status: ServerStatus }): ReactNode {
  const { t } = useTranslation('settings');
  const facts: [string, string][] = [];
  if (status.url !== null) {
    facts.push([t('fact.kind'), status.managed ? t('fact.managed') : t('fact.attached')]);
    facts.push([t('fact.url'), status.url]);
  }
  if (status.version !== null) facts.push([t('fact.version'), status.version]);
  if (status.driver === 'passive') {
    facts.push([t('fact.driver'), t('fact.driverElsewhere', { pid: status.driverPid ?? '?' })]);
  }
  if (status.database !== 'fine') facts.push([t('fact.database'), t(`database.${status.database}`)]);
  if (facts.length === 0) return null;
  return (
    <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-text-2">{name}</dt>
          <dd className="break-words tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function OwnServer(): ReactNode {
  const { t } = useTranslation('settings');
  const { value: choice } = useServerChoice();
  const { refusal, pending, save } = useSave();
  const own = choice?.kind === 'managed';
  return (
    <Row
      id="ownServer"
      refusal={refusal}
      control={({ aboutId }) =>
        own ? (
          <span className="text-text-2">{t('own.inUse')}</span>
        ) : (
          <Button aria-describedby={aboutId} disabled={pending} onClick={() => void save(manage)}>
            {pending ? t('own.starting') : t('own.use')}
          </Button>
        )
      }
    />
  );
}

function Binary(): ReactNode {
  const { t } = useTranslation('settings');
  const { view } = useGoalSettings();
  const { refusal, set } = useSaveGoalSettings();
  const path = view?.settings.opencodeBinary ?? '';
  const keep = (text: string): void => {
    void set({ opencodeBinary: text === '' ? null : text });
  };
  const choose = async (): Promise<void> => {
    const folder = await host.pickFolder(null);
    if (folder !== null) keep(folder);
  };
  const choosing = useSave();
  return (
    <Row id="opencodeBinary" refusal={refusal ?? choosing.refusal}>
      <div className="mt-2 flex gap-2">
        <TextField
          value={path}
          label={t('setting.opencodeBinary.label')}
          placeholder={t('binaryFound')}
          keep={keep}
        />
        <Button onClick={() => void choosing.save(choose)}>{t('binaryChoose')}</Button>
        {path !== '' && (
          <Button
            onClick={() => {
              keep('');
            }}
          >
            {t('binaryReset')}
          </Button>
        )}
      </div>
    </Row>
  );
}
