import type { ComponentProps, ReactNode } from 'react';

import { classes } from './classes';
import { Tip } from './Tip';

type Kind = 'primary' | 'plain' | 'quiet' | 'danger';

const KINDS: Readonly<Record<Kind, string>> = {
  primary: 'bg-accent text-on-accent hover:opacity-90',
  plain: 'border border-control bg-surface text-text hover:bg-raised',
  quiet: 'text-text-2 hover:bg-raised hover:text-text',
  danger: 'border border-bad text-bad hover:bg-tint-bad',
};

export interface ButtonProps extends ComponentProps<'button'> {
  kind?: Kind;
}

/** A button with words. */
export function Button({ kind = 'plain', className, ...rest }: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={classes(
        'inline-flex h-8 items-center justify-center gap-2 rounded-control px-3 text-ui font-medium',
        'whitespace-nowrap transition-colors disabled:opacity-50',
        KINDS[kind],
        className,
      )}
      {...rest}
    />
  );
}

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'aria-label'> {
  /** Its name for screen readers and in its tip. */
  label: string;
  kind?: Kind;
}

/** A button that is only a sign; its name is its tip. */
export function IconButton({ label, kind = 'quiet', className, ...rest }: IconButtonProps): ReactNode {
  return (
    <Tip text={label}>
      <button
        type="button"
        aria-label={label}
        className={classes(
          'inline-flex size-7 shrink-0 items-center justify-center rounded-control',
          'transition-colors disabled:opacity-50',
          KINDS[kind],
          className,
        )}
        {...rest}
      />
    </Tip>
  );
}
