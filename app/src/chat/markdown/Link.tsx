import type { MouseEvent, ReactNode } from 'react';

import { openExternal } from '../../host/host';
import { useAttempt } from '../../ui/toasts';

const OPENED = /^(?:https?:\/\/|mailto:)/i;

/** A link opens in the system's browser; what is no address of the web is text. */
export function Link({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const attempt = useAttempt();
  if (!OPENED.test(href)) return <span title={href}>{children}</span>;
  const open = (event: MouseEvent): void => {
    event.preventDefault();
    void attempt(() => openExternal(href));
  };
  return (
    <a href={href} title={href} onClick={open} onAuxClick={open}>
      {children}
    </a>
  );
}
