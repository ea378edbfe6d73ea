import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Where the messages will be. */
export function Skeleton(): ReactNode {
  const { t } = useTranslation();
  const bar = 'rounded-control bg-raised motion-safe:animate-pulse';
  return (
    <div role="status" aria-label={t('loading')} className="min-h-0 flex-1 overflow-hidden">
      <div className="mx-auto flex h-full max-w-[808px] flex-col justify-end gap-3 px-4 pb-6 frame:px-6">
        <div className={`${bar} h-18`} />
        <div className={`${bar} h-4 w-11/12`} />
        <div className={`${bar} h-4 w-4/5`} />
        <div className={`${bar} h-4 w-2/3`} />
        <div className={`${bar} mt-6 h-12`} />
        <div className={`${bar} h-4 w-5/6`} />
        <div className={`${bar} h-4 w-1/2`} />
      </div>
    </div>
  );
}
