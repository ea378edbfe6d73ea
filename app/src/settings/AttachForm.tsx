import { useServer } from 'tauri-plugin-goal-api/react';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { Button } from '../ui/Button';
import { attach, isAddress, useServerChoice, type Address } from './line';
import { SERVE } from './opencode';
import { FIELD, Refusal } from './rows';
import { useSave } from './save';

/** Names a running server. Fields that were not touched show what is chosen; the password never does. */
export function AttachForm({ submit }: { submit: string }): ReactNode {
  const { t } = useTranslation('settings');
  const { value: choice } = useServerChoice();
  const connected = useServer()?.state === 'connected';
  const { refusal, pending, save } = useSave();
  const [typed, setTyped] = useState<Partial<Address>>({});
  const [wrong, setWrong] = useState(false);
  const [done, setDone] = useState(false);
  const attached = choice?.kind === 'attached' ? choice : null;
  const address: Address = {
    url: typed.url ?? attached?.url ?? '',
    username: typed.username ?? attached?.username ?? '',
    password: typed.password ?? '',
    keep: typed.keep ?? attached?.passwordKept ?? false,
  };
  const type = (patch: Partial<Address>): void => {
    setTyped((before) => ({ ...before, ...patch }));
    setWrong(false);
    setDone(false);
  };
  const send = async (): Promise<void> => {
    if (!isAddress(address.url)) {
      setWrong(true);
      return;
    }
    const used = await save(() => attach(address, connected ? choice : null));
    setDone(used);
    if (used) setTyped({});
  };
  return (
    <form
      noValidate
      className="mt-3 grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <AddressField value={address.url} wrong={wrong} type={type} />
      <Credentials address={address} kept={attached?.passwordKept ?? false} type={type} />
      {choice?.keyring === true && <Keep on={address.keep} type={type} />}
      <div className="flex items-center gap-3">
        <Button kind="primary" type="submit" disabled={pending}>
          {pending ? t('attach.trying') : submit}
        </Button>
        <span role="status" className="text-good">
          {done ? t('attach.done') : ''}
        </span>
      </div>
      <Refusal text={refusal} />
    </form>
  );
}

type Type = (patch: Partial<Address>) => void;

interface AddressProps {
  value: string;
  wrong: boolean;
  type: Type;
}

function AddressField({ value, wrong, type }: AddressProps): ReactNode {
  const { t } = useTranslation('settings');
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-label font-medium">
        {t('attach.url')}
      </label>
      <input
        id={id}
        type="url"
        value={value}
        placeholder="http://127.0.0.1:4096"
        spellCheck={false}
        autoComplete="off"
        aria-invalid={wrong}
        aria-describedby={`${id}-hint`}
        className={FIELD}
        onChange={(event) => {
          type({ url: event.target.value });
        }}
      />
      <p
        id={`${id}-hint`}
        role={wrong ? 'alert' : undefined}
        className={wrong ? 'mt-1 text-label text-bad' : 'mt-1 text-label text-text-2'}
      >
        {wrong ? t('attach.urlWrong') : t('attach.urlHint', { command: SERVE })}
      </p>
    </div>
  );
}

interface CredentialsProps {
  address: Address;
  kept: boolean;
  type: Type;
}

function Credentials({ address, kept, type }: CredentialsProps): ReactNode {
  const { t } = useTranslation('settings');
  const id = useId();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <div>
        <label htmlFor={`${id}-user`} className="mb-1 block text-label font-medium">
          {t('attach.username')}
        </label>
        <input
          id={`${id}-user`}
          value={address.username}
          placeholder="opencode"
          spellCheck={false}
          autoComplete="off"
          className={FIELD}
          onChange={(event) => {
            type({ username: event.target.value });
          }}
        />
      </div>
      <div>
        <label htmlFor={`${id}-password`} className="mb-1 block text-label font-medium">
          {t('attach.password')}
        </label>
        <input
          id={`${id}-password`}
          type="password"
          value={address.password}
          placeholder={kept ? t('attach.passwordKept') : t('attach.passwordNone')}
          autoComplete="off"
          className={FIELD}
          onChange={(event) => {
            type({ password: event.target.value });
          }}
        />
      </div>
    </div>
  );
}

function Keep({ on, type }: { on: boolean; type: Type }): ReactNode {
  const { t } = useTranslation('settings');
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        checked={on}
        className="size-4 accent-accent"
        onChange={(event) => {
          type({ keep: event.target.checked });
        }}
      />
      {t('attach.keep')}
    </label>
  );
}
