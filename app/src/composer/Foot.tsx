import { LoaderCircle, Paperclip, Square } from 'lucide-react';
import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { ComposerTarget } from '../goal';
import { Button, IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { OFFERED } from './files';
import { withCommand } from './keys';
import { Pickers, type PickersProps } from './Pickers';
import type { Where } from './where';

export interface FootProps extends PickersProps {
  where: Where;
  busy: boolean;
  /** A goal is being made of the message, which may take a while. */
  starting: boolean;
  blocked: boolean;
  hintId: string;
  onFiles: (files: File[]) => void;
  onStop: () => void;
  onSubmit: () => void;
}

/** Below the text: what it is sent with, and the sending. Every place is kept, whatever shows in it. */
export function Foot(props: FootProps): ReactNode {
  const { where, busy, starting, blocked, hintId, onFiles, onStop, onSubmit } = props;
  const { t } = useTranslation('composer');
  return (
    <div className="flex items-center gap-1 px-2 pb-2">
      <Attach onFiles={onFiles} />
      <Pickers draftKey={props.draftKey} models={props.models} choice={props.choice} />
      <div className="ml-auto flex shrink-0 items-center gap-2 pl-1">
        <ComposerTarget sessionId={where.sessionId} draft={where.key} directory={where.directory} />
        {where.sessionId !== null && (
          <IconButton
            label={t('stop', { keys: withCommand('.') })}
            className={classes('text-bad! hover:bg-tint-bad', !busy && 'invisible')}
            onClick={onStop}
          >
            <Square size={12} fill="currentColor" aria-hidden />
          </IconButton>
        )}
        <Button kind="primary" className="min-w-18" disabled={blocked} aria-busy={starting} aria-describedby={hintId} onClick={onSubmit}>
          {starting ? <LoaderCircle size={16} aria-label={t('sending')} className="animate-spin" /> : t(busy ? 'queue.add' : 'send')}
        </Button>
      </div>
    </div>
  );
}

function Attach({ onFiles }: { onFiles: (files: File[]) => void }): ReactNode {
  const { t } = useTranslation('composer');
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        accept={OFFERED}
        aria-label={t('attach')}
        tabIndex={-1}
        className="hidden"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again.
          target.value = '';
        }}
      />
      <IconButton label={t('attach')} onClick={() => { input.current?.click(); }}>
        <Paperclip size={16} aria-hidden />
      </IconButton>
    </>
  );
}
