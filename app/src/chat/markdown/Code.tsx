import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { PROPOSAL } from '../../origins/craft';
import { ArmProposal } from '../../origins/Proposal';
import { classes } from '../../ui/classes';
import { CopyButton } from '../../ui/CopyButton';
import { useConversation } from '../context';
import { colouredLength } from './coloured';
import { useHighlight } from './useHighlight';

export interface CodeProps {
  language: string;
  text: string;
  /** It still grows. */
  open?: boolean;
}

/** A block of code with its language and a button that copies it. */
export const Code = memo(function Code({ language, text, open = false }: CodeProps): ReactNode {
  const { t } = useTranslation('chat');
  const { sessionId } = useConversation();
  const isProposal = language === PROPOSAL;
  const end = open ? colouredLength(text) : text.length;
  const coloured = useHighlight(language, text.slice(0, end));
  return (
    <figure className="overflow-hidden rounded-card border border-border bg-surface">
      <figcaption className="flex h-8 items-center justify-between border-b border-border bg-raised pr-1 pl-3">
        <span className="truncate font-mono text-label text-text-2">
          {language === '' ? t('code.plain') : language}
        </span>
        <span className="flex items-center gap-1">
          {isProposal && !open && sessionId !== '' && <ArmProposal sessionId={sessionId} text={text} />}
          <CopyButton text={text} label={t('code.copy')} />
        </span>
      </figcaption>
      <pre
        // Long lines scroll, by keyboard too.
        tabIndex={0}
        className={classes(
          'overflow-x-auto px-3 py-2 font-mono text-code -outline-offset-2',
          // Prose, which is read and not scrolled through.
          isProposal && 'break-words whitespace-pre-wrap',
        )}
      >
        <code>
          {/* Blocks of their own: what comes at the end does not lay out all before it again. */}
          <span className="block">{coloured}</span>
          {end < text.length && <span className="block">{text.slice(end)}</span>}
        </code>
      </pre>
    </figure>
  );
});
