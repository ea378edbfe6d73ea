import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { IconButton } from './Button';

/** The cross of the dialog around it. */
export function CloseButton(): ReactNode {
  const { t } = useTranslation();
  return (
    <Dialog.Close asChild>
      <IconButton label={t('close')}>
        <X size={16} aria-hidden />
      </IconButton>
    </Dialog.Close>
  );
}
