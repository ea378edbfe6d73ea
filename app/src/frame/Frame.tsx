import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { Chat } from '../chat/Chat';
import { Composer } from '../composer/Composer';
import { useNavigation, type Place } from '../navigation';
import { Panel } from '../panel/Panel';
import { DEFAULTS, usePreference } from '../preferences';
import { Sidebar } from '../sidebar/Sidebar';
import { useWelcomeNeeded } from '../welcome/needed';
import { Welcome } from '../welcome/Welcome';
import { Boundary } from './Boundary';
import { ConnectionBar } from './ConnectionBar';
import { Header } from './Header';
import { Overlays } from './Overlays';
import { useHasRoom, useNarrow } from './room';
import { SheetOver } from './SheetOver';
import { Side } from './Side';

/** Sidebar, conversation, work status. */
export function Frame(): ReactNode {
  const place = useNavigation((state) => state.place);
  return (
    <div className="flex h-full">
      <LeftSide />
      <main className="flex min-w-0 flex-1 flex-col">
        <Boundary area="header">
          <Header place={place} />
          <ConnectionBar />
        </Boundary>
        <div className="flex min-h-0 flex-1">
          <Middle place={place} />
          <RightSide place={place} />
        </div>
      </main>
      <SheetOver place={place} />
      <Boundary area="overlay">
        <Overlays />
      </Boundary>
    </div>
  );
}

function LeftSide(): ReactNode {
  const { t } = useTranslation('frame');
  const narrow = useNarrow();
  const open = usePreference('sidebarOpen');
  if (narrow || !open) return null;
  const usual = DEFAULTS.sidebarWidth;
  return (
    <Side
      width="sidebarWidth"
      side="left"
      navigation={t('sidebar.name')}
      label={t('sidebar.width')}
      min={200}
      max={480}
      usual={usual}
    >
      <Boundary area="sidebar">
        <Sidebar />
      </Boundary>
    </Side>
  );
}

/** The conversation; before there is a server to talk to, how to get one. */
function Middle({ place }: { place: Place }): ReactNode {
  const needed = useWelcomeNeeded();
  return (
    <div className="flex min-w-0 flex-1 flex-col">
      {!needed ? (
        <>
          <Boundary area="chat">
            <Chat place={place} />
          </Boundary>
          <Boundary area="composer">
            <Composer place={place} />
          </Boundary>
        </>
      ) : (
        <Boundary area="chat">
          <Welcome />
        </Boundary>
      )}
    </div>
  );
}

function RightSide({ place }: { place: Place }): ReactNode {
  const { t } = useTranslation('frame');
  const room = useHasRoom();
  const open = usePreference('panelOpen');
  if (!room || !open) return null;
  const usual = DEFAULTS.panelWidth;
  return (
    <Side width="panelWidth" side="right" label={t('panel.width')} min={260} max={520} usual={usual}>
      <Boundary area="panel">
        <Panel place={place} />
      </Boundary>
    </Side>
  );
}
