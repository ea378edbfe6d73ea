import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

import { classes } from './classes';
import { CloseButton } from './CloseButton';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** Below the title, and read with it. */
  description?: string;
  /** CSS pixels; in narrow windows the dialog is a sheet at the bottom. */
  width?: number;
  children: ReactNode;
  className?: string;
}

/** A modal dialog. Escape, the cross and a press outside close it. */
export function Dialog(props: DialogProps): ReactNode {
  const { open, onClose, title, description, width = 520, children, className } = props;
  return (
    <Radix.Root open={open} onOpenChange={(now) => { if (!now) onClose(); }}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          style={{ width: `min(${width}px, 100vw)` }}
          className={classes(
            'fixed z-50 flex max-h-[85dvh] flex-col border border-border bg-surface shadow-floating',
            'inset-x-0 bottom-0 rounded-t-card frame:inset-x-auto frame:bottom-auto frame:rounded-card',
            'frame:top-1/2 frame:left-1/2 frame:-translate-x-1/2 frame:-translate-y-1/2',
            className,
          )}
        >
          <header className="flex items-start gap-3 px-4 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="truncate text-heading font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-ui text-text-2">{description}</Radix.Description>
              )}
            </div>
            <CloseButton />
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
