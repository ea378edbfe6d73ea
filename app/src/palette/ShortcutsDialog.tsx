import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { SHORTCUT_IDS } from '../keys';
import { closeOverlay } from '../navigation';
import { Dialog } from '../ui/Dialog';
import { Keys } from './Keys';

/** The list of shortcuts. */
export function ShortcutsDialog(): ReactNode {
  const { t } = useTranslation('palette');
  return (
    <Dialog open onClose={closeOverlay} title={t('command.shortcuts')} width={420}>
      {/* Scrolled by keys, so it has the focus rather than the cross. */}
      <dl
        ref={(list) => list?.focus()}
        tabIndex={0}
        className="mb-4 min-h-0 overflow-y-auto px-4 outline-none"
      >
        {SHORTCUT_IDS.map((id) => (
          <div key={id} className="flex items-center justify-between gap-4 border-b border-border py-2 last:border-0">
            <dt className="text-ui">{t(`command.${id}`)}</dt>
            <dd>
              <Keys id={id} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
