/** The rows that settings are made of. */
import { RadioGroup, Switch as RadixSwitch } from 'radix-ui';
import { createContext, useContext, useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { classes } from '../ui/classes';
import { useLeaving } from '../ui/leaving';
import type { SettingId } from './catalogue';

/** The setting that the search led to. */
export const Sought = createContext<SettingId | null>(null);

/** What of a row the keyboard goes to when the search leads there. */
const CONTROL = '[role=radio][data-state=checked], button:not([role=radio]), input, select, textarea, summary';

export interface RowProps {
  id: SettingId;
  /** Right of the words; below them in narrow windows. */
  control?: (names: { labelId: string; aboutId: string }) => ReactNode;
  refusal?: string | null;
  /** Below the words, over the whole width. */
  children?: ReactNode;
}

/** A setting: its name, what it does, and the control. */
export function Row({ id, control, refusal = null, children }: RowProps): ReactNode {
  const { t } = useTranslation('settings');
  const unique = useId();
  const labelId = `${unique}-label`;
  const aboutId = `${unique}-about`;
  const sought = useContext(Sought) === id;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!sought) return;
    place.current?.scrollIntoView({ block: 'center' });
    place.current?.querySelector<HTMLElement>(CONTROL)?.focus({ preventScroll: true });
  }, [sought]);
  return (
    <div
      ref={place}
      data-setting={id}
      data-sought={sought ? '' : undefined}
      className={classes(
        '-mx-3 rounded-control px-3 py-3',
        sought && 'bg-tint-accent outline-1 outline-accent',
      )}
    >
      <div className="flex flex-wrap items-start gap-x-6 gap-y-2">
        <div className="min-w-0 flex-[1_1_240px]">
          <p id={labelId} className="text-ui font-medium">
            {t(`setting.${id}.label`)}
          </p>
          <p id={aboutId} className="max-w-[60ch] text-label text-text-2">
            {t(`setting.${id}.about`)}
          </p>
        </div>
        {control !== undefined && (
          <div className="flex min-h-8 shrink-0 items-center">{control({ labelId, aboutId })}</div>
        )}
      </div>
      {children}
      <Refusal text={refusal} />
    </div>
  );
}

/** Why something was refused, where it was asked for. */
export function Refusal({ text }: { text: string | null }): ReactNode {
  if (text === null) return null;
  return (
    <p role="alert" className="mt-2 rounded-control bg-tint-bad px-3 py-2 text-ui break-words text-bad">
      {text}
    </p>
  );
}

/** A heading over rows that belong together. */
export function Group({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="mb-6">
      <h2 className="mb-1 border-b border-border pb-2 text-label font-medium text-text-2">{title}</h2>
      {children}
    </section>
  );
}

interface SwitchProps {
  on: boolean;
  set: (on: boolean) => void;
  labelId: string;
  aboutId: string;
  disabled?: boolean;
}

/** On or off. */
export function Switch({ on, set, labelId, aboutId, disabled = false }: SwitchProps): ReactNode {
  return (
    <RadixSwitch.Root
      checked={on}
      onCheckedChange={set}
      disabled={disabled}
      aria-labelledby={labelId}
      aria-describedby={aboutId}
      className={classes(
        'flex h-5 w-9 items-center rounded-full border px-0.5 transition-colors disabled:opacity-50',
        on ? 'border-accent bg-accent' : 'border-control bg-raised',
      )}
    >
      <RadixSwitch.Thumb
        className={classes(
          'block size-3.5 rounded-full transition-transform',
          on ? 'translate-x-4 bg-on-accent' : 'bg-text-2',
        )}
      />
    </RadixSwitch.Root>
  );
}

interface ChoiceProps<T extends string> {
  value: T;
  options: readonly { value: T; label: string }[];
  set: (value: T) => void;
  labelId: string;
  aboutId: string;
}

/** One of a few, all in sight. */
export function Choice<T extends string>(props: ChoiceProps<T>): ReactNode {
  const { value, options, set, labelId, aboutId } = props;
  return (
    <RadioGroup.Root
      value={value}
      onValueChange={(chosen) => {
        const option = options.find((one) => one.value === chosen);
        if (option !== undefined) set(option.value);
      }}
      aria-labelledby={labelId}
      aria-describedby={aboutId}
      className="flex flex-wrap gap-0.5 rounded-control border border-border bg-raised p-0.5"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          className={classes(
            'h-7 rounded-[4px] px-3 text-ui whitespace-nowrap transition-colors',
            'data-[state=checked]:bg-surface data-[state=checked]:font-medium data-[state=checked]:text-text',
            'data-[state=checked]:shadow-[0_0_0_1px_var(--control)]',
            'data-[state=unchecked]:text-text-2 data-[state=unchecked]:hover:text-text',
          )}
        >
          {option.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

export const FIELD = classes(
  'h-8 w-full min-w-0 rounded-control border border-control bg-surface px-2 text-ui text-text',
  'placeholder:text-text-3 disabled:opacity-50',
);

interface TextFieldProps {
  value: string;
  /** Called when the field is left or Enter is pressed, with a text that differs. */
  keep: (text: string) => void;
  label: string;
  placeholder?: string;
  describedBy?: string;
  numeric?: boolean;
  className?: string;
}

/** A text that is saved when it is left or goes. */
export function TextField(props: TextFieldProps): ReactNode {
  const { value, keep, label, placeholder, describedBy, numeric = false, className } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const leave = (): void => {
    if (typed === null) return;
    setTyped(null);
    if (typed.trim() !== value) keep(typed.trim());
  };
  useLeaving(leave);
  return (
    <input
      value={typed ?? value}
      aria-label={label}
      aria-describedby={describedBy}
      placeholder={placeholder}
      inputMode={numeric ? 'numeric' : 'text'}
      spellCheck={false}
      autoComplete="off"
      data-holds-escape={typed === null ? undefined : ''}
      className={classes(FIELD, numeric && 'text-right tabular-nums', className)}
      onChange={(event) => {
        setTyped(event.target.value);
      }}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key === 'Enter') leave();
        if (event.key === 'Escape') setTyped(null);
      }}
    />
  );
}
