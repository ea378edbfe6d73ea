import { Tooltip } from 'radix-ui';
import { useEffect, type ReactNode } from 'react';

import { Frame } from './frame/Frame';
import { Goals } from './goal';
import * as host from './host/host';
import { start } from './server/sync';
import { Toasts, useAttempt } from './ui/toasts';

/** The whole page. It begins to listen when it is first drawn. */
export function App(): ReactNode {
  const attempt = useAttempt();
  useEffect(() => {
    void attempt(start);
    // Twice: the first frame after this one is the painted one.
    requestAnimationFrame(() => {
      requestAnimationFrame(() => {
        void host.painted().catch(() => null);
      });
    });
    // Once, whatever is drawn again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return (
    <Tooltip.Provider delayDuration={400}>
      <Goals>
        <Frame />
      </Goals>
      <Toasts />
    </Tooltip.Provider>
  );
}
