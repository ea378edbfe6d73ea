import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';

import { classes } from './classes';

export interface PopupProps {
  /** Its name for screen readers. */
  label: string;
  /** How it is laid out within. */
  className: string;
  children: ReactNode;
}

/** What a `Popover.Trigger` opens above it. */
export function Popup({ label, className, children }: PopupProps): ReactNode {
  return (
    <Popover.Portal>
      <Popover.Content
        side="top"
        align="start"
        sideOffset={6}
        collisionPadding={8}
        aria-label={label}
        className={classes('z-50 rounded-card border border-border bg-surface shadow-floating', className)}
      >
        {children}
      </Popover.Content>
    </Popover.Portal>
  );
}
