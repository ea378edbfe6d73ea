import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

/** A word about the control below the pointer or the focus. The page has one `Tooltip.Provider`. */
export function Tip({ text, children }: { text: string; children: ReactNode }): ReactNode {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-80 rounded-control border border-border bg-surface px-2 py-1 text-label text-text shadow-floating"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
