/** Files that are pasted, dropped or chosen become attachments, or are refused with a reason. */
import { useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';

import { changeDraft, drafts, NO_DRAFT } from '../drafts';
import { toast } from '../ui/toasts';
import { readFiles } from './files';

/** Takes files into a draft. */
export function useAttach(key: string): (files: File[]) => Promise<void> {
  const { t } = useTranslation('composer');
  const present = (): typeof NO_DRAFT => drafts.getState()[key] ?? NO_DRAFT;
  return async (files) => {
    const read = await readFiles(files, present().attachments);
    const taken = read.flatMap((one) => ('attachment' in one ? [one.attachment] : []));
    if (taken.length > 0) changeDraft(key, { attachments: [...present().attachments, ...taken] });
    for (const one of read) {
      if ('refused' in one) toast({ tone: 'bad', text: t(`refused.${one.refused}`, { name: one.name }) });
    }
  };
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}

/** Files may be dropped anywhere in the window: elsewhere than here the browser would open them. */
export function useDrop(onFiles: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const drop = useEffectEvent((event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(false);
    onFiles([...(event.dataTransfer?.files ?? [])]);
  });
  useEffect(() => {
    const drag = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent): void => { drop(event); };
    window.addEventListener('dragover', drag);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', dropped);
    return () => {
      window.removeEventListener('dragover', drag);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', dropped);
    };
  }, []);
  return over;
}
