import { Tooltip } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';

import { useKit } from './kit.js';

/** Says more about its one child, on hover and focus. An empty text says nothing. */
export function Tip({ text, children }: { text: string; children: ReactElement }): ReactNode {
  const { portal } = useKit();
  if (text === '') return children;
  return (
    <Tooltip.Provider delayDuration={400}>
      <Tooltip.Root>
        <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
        <Tooltip.Portal container={portal ?? null}>
          <Tooltip.Content className="goal-tip" sideOffset={6} collisionPadding={8}>
            {text}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  );
}
