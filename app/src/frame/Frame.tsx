import type { ReactNode } from 'react';

import { useNavigation } from '../navigation';
import { Chat } from '../chat/Chat';
import { Composer } from '../composer/Composer';
import { Panel } from '../panel/Panel';
import { Sidebar } from '../sidebar/Sidebar';
import { Header } from './Header';
import { Overlays } from './Overlays';

/** Sidebar, conversation, work status. */
export function Frame(): ReactNode {
  const place = useNavigation((state) => state.place);
  return (
    <div className="flex h-full">
      <Sidebar />
      <main className="flex min-w-0 flex-1 flex-col">
        <Header place={place} />
        <div className="flex min-h-0 flex-1">
          <div className="flex min-w-0 flex-1 flex-col">
            <Chat place={place} />
            <Composer place={place} />
          </div>
          <Panel place={place} />
        </div>
      </main>
      <Overlays />
    </div>
  );
}
