import { Tooltip } from 'radix-ui';
import { useEffect, useLayoutEffect, type ReactNode } from 'react';

import { Boundary } from './frame/Boundary';
import { Frame } from './frame/Frame';
import { followLanguage } from './frame/language';
import { followPlaces, showLast } from './frame/places';
import { Goals } from './goal';
import * as host from './host/host';
import { start } from './server/sync';
import { Toasts, useAttempt } from './ui/toasts';

/** The whole page. It begins to listen when it is first drawn. */
export function App(): ReactNode {
  const attempt = useAttempt();
  // Before the first paint, so that nothing is shown that is not meant.
  useLayoutEffect(showLast, []);
  useEffect(followPlaces, []);
  useEffect(followLanguage, []);
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
      <Boundary area="page">
        <Goals>
          <Frame />
        </Goals>
      </Boundary>
      <Toasts />
    </Tooltip.Provider>
  );
}
