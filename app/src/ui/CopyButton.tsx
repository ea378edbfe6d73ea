import { Check, Copy } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { IconButton } from './Button';
import { useAttempt } from './toasts';

/** How long it says that it copied, in milliseconds. */
const SAID_FOR = 2_000;

/** Copies a text. `label` names what is copied where "Copy" alone would not tell. */
export function CopyButton({ text, label }: { text: string; label?: string }): ReactNode {
  const { t } = useTranslation();
  const attempt = useAttempt();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => {
      setCopied(false);
    }, SAID_FOR);
    return () => {
      clearTimeout(timer);
    };
  }, [copied]);
  const copy = async (): Promise<void> => {
    setCopied(await attempt(() => navigator.clipboard.writeText(text)));
  };
  return (
    <>
      <IconButton label={copied ? t('copied') : (label ?? t('copy'))} onClick={() => void copy()}>
        {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      </IconButton>
      <span className="sr-only" role="status">
        {copied ? t('copied') : ''}
      </span>
    </>
  );
}
