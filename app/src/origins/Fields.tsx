import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { promptBreaks } from '../fields';
import { Switch } from '../settings/rows';
import { classes } from '../ui/classes';

/** What the agent is to do with an answer. */
export function Instructions({ text, set }: { text: string; set: (text: string) => void }): ReactNode {
  const { t } = useTranslation('origins');
  const id = useId();
  const broken = promptBreaks(text);
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-label font-medium text-text-2">
        {t('answer.instructions')}
      </label>
      <textarea
        id={id}
        value={text}
        rows={5}
        autoFocus
        aria-invalid={broken !== null}
        aria-describedby={broken === null ? undefined : `${id}-rule`}
        onChange={({ target }) => { set(target.value); }}
        className={classes(
          'block max-h-60 min-h-24 w-full resize-y rounded-control border bg-surface px-3 py-2 text-chat',
          broken === null ? 'border-control' : 'border-bad',
        )}
      />
      {broken !== null && (
        <p id={`${id}-rule`} role="alert" className="mt-1 text-label text-bad">
          {t(`rule.${broken}`, { field: t('answer.instructions') })}
        </p>
      )}
    </div>
  );
}

interface ToggleProps {
  label: string;
  about: string;
  on: boolean;
  set: (on: boolean) => void;
  disabled?: boolean;
  children?: ReactNode;
}

/** On or off, with what that means. */
export function Toggle({ label, about, on, set, disabled = false, children }: ToggleProps): ReactNode {
  const id = useId();
  const names = { labelId: `${id}-label`, aboutId: `${id}-about` };
  return (
    <div className="py-2">
      <div className="flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <p id={names.labelId} className="text-ui font-medium">{label}</p>
          <p id={names.aboutId} className="text-label text-text-2">{about}</p>
        </div>
        <Switch on={on} set={set} disabled={disabled} {...names} />
      </div>
      {children}
    </div>
  );
}

/** What goes along, as far as one looks to know it again. */
export function Preview({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <figure>
      <figcaption className="mb-1 text-label font-medium text-text-2">{label}</figcaption>
      <blockquote className="line-clamp-3 rounded-control border border-border bg-raised px-3 py-2 text-ui break-words text-text-2">
        {text.replace(/\s+/g, ' ').trim().slice(0, 600)}
      </blockquote>
    </figure>
  );
}
