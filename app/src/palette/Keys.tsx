import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { keyNames, SHORTCUTS, type ShortcutId } from '../keys';

/** A shortcut as its keys look. Screen readers hear it from the list of shortcuts. */
export function Keys({ id }: { id: ShortcutId }): ReactNode {
  const { t } = useTranslation('palette');
  const [chord] = SHORTCUTS[id];
  return (
    <span className="flex shrink-0 gap-1">
      {keyNames(chord, t('shift')).map((name) => (
        <kbd
          key={name}
          className="min-w-5 rounded-control border border-border bg-raised px-1 text-center font-sans text-label text-text-2"
        >
          {name}
        </kbd>
      ))}
    </span>
  );
}
