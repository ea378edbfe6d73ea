import { lazy, Suspense, type ReactNode } from 'react';

import { useNavigation } from '../navigation';
import { Palette } from '../palette/Palette';
import { ShortcutsDialog } from '../palette/ShortcutsDialog';
import { useShortcuts } from '../palette/useShortcuts';
import { DeleteDialog } from '../sidebar/DeleteDialog';

const Settings = lazy(async () => ({ default: (await import('../settings/Settings')).Settings }));
const OriginDialog = lazy(async () => ({ default: (await import('../origins/Dialog')).OriginDialog }));

/** What stands over the page, one at a time, and the shortcuts that open it. */
export function Overlays(): ReactNode {
  useShortcuts();
  const kind = useNavigation((state) => state.overlay?.kind);
  return (
    <>
      {kind === 'palette' && <Palette />}
      {kind === 'shortcuts' && <ShortcutsDialog />}
      {kind === 'origin' && (
        <Suspense fallback={null}>
          <OriginDialog />
        </Suspense>
      )}
      {kind === 'settings' && (
        <Suspense fallback={null}>
          <Settings />
        </Suspense>
      )}
      <DeleteDialog />
    </>
  );
}
