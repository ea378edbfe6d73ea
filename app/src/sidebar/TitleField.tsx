import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { classes } from '../ui/classes';

export interface TitleFieldProps {
  title: string;
  onSave: (title: string) => void;
  /** `byKey`: the focus is still here and has to go back to where it came from. */
  onEnd: (byKey: boolean) => void;
  className?: string;
}

/** A title as a field: Enter or leaving it saves, Escape does not. */
export function TitleField({ title, onSave, onEnd, className }: TitleFieldProps): ReactNode {
  const { t } = useTranslation('sidebar');
  const ended = useRef(false);
  const end = (value: string | null, byKey: boolean): void => {
    if (ended.current) return;
    ended.current = true;
    const chosen = value?.trim() ?? '';
    if (chosen !== '' && chosen !== title) onSave(chosen);
    onEnd(byKey);
  };
  const key = (event: KeyboardEvent<HTMLInputElement>): void => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') end(event.currentTarget.value, true);
    else if (event.key === 'Escape') end(null, true);
  };
  return (
    <input
      autoFocus
      aria-label={t('title')}
      defaultValue={title}
      maxLength={200}
      className={classes(
        'h-6 min-w-0 flex-1 rounded-control border border-control bg-surface px-1 text-ui text-text',
        className,
      )}
      onFocus={(event) => { event.currentTarget.select(); }}
      onBlur={(event) => { end(event.currentTarget.value, false); }}
      onClick={(event) => { event.stopPropagation(); }}
      onKeyDown={key}
    />
  );
}
