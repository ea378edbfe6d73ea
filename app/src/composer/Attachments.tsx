import { FileText, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import { changeDraft } from '../drafts';
import type { Attachment, Draft } from '../host/contract';
import { IconButton } from '../ui/Button';
import { bytesOf } from './files';
import { isMention } from './mentions';

/** The files that go along, each with a cross. Files that the text names stand in the text. */
export function Attachments({ draftKey, draft }: { draftKey: string; draft: Draft }): ReactNode {
  const { t } = useTranslation('composer');
  const shown = draft.attachments.filter((one) => !isMention(one));
  if (shown.length === 0) return null;
  return (
    <ul aria-label={t('attachments')} className="flex max-h-32 flex-wrap gap-2 overflow-y-auto px-3 pt-2.5">
      {shown.map((one, at) => (
        <li
          // Two may be the same file.
          key={`${at} ${one.name}`}
          className="flex h-9 max-w-60 items-center gap-2 rounded-control border border-border bg-raised pr-1 pl-1.5"
        >
          <Sign attachment={one} />
          <span className="min-w-0 truncate">{one.name}</span>
          <Size attachment={one} />
          <IconButton
            label={t('attachmentRemove', { name: one.name })}
            className="size-6"
            onClick={() => {
              changeDraft(draftKey, { attachments: draft.attachments.filter((other) => other !== one) });
            }}
          >
            <X size={14} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

function Sign({ attachment: { mime, url } }: { attachment: Attachment }): ReactNode {
  if (mime.startsWith('image/')) {
    return <img src={url} alt="" className="size-6 shrink-0 rounded-sm object-cover" />;
  }
  return <FileText size={16} aria-hidden className="shrink-0 text-text-3" />;
}

function Size({ attachment: { url } }: { attachment: Attachment }): ReactNode {
  const { i18n } = useTranslation();
  const kilobytes = Math.max(1, Math.round(bytesOf(url) / 1024));
  const [amount, unit] = kilobytes < 1024 ? [kilobytes, 'kilobyte'] : [kilobytes / 1024, 'megabyte'];
  const format = new Intl.NumberFormat(i18n.language, { style: 'unit', unit, maximumFractionDigits: 1 });
  return <span className="shrink-0 text-label text-text-3 tabular-nums">{format.format(amount)}</span>;
}
