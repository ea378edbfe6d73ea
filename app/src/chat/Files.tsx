import { FileText } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

import type { FilePart } from './prompts';

/** Files and pictures that go with a message or came from a tool. */
export function Files({ files }: { files: readonly FilePart[] }): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {files.map((file) => (
        <li key={file.id} className="min-w-0">
          <File file={file} />
        </li>
      ))}
    </ul>
  );
}

function File({ file }: { file: FilePart }): ReactNode {
  const { t } = useTranslation('chat');
  const name = nameOf(file) ?? t('file');
  // Only what came with the message: nothing is fetched from elsewhere.
  if (file.mime.startsWith('image/') && file.url.startsWith('data:image/')) {
    return (
      <img
        src={file.url}
        alt={name}
        title={name}
        className="max-h-60 max-w-full rounded-control border border-border object-contain"
      />
    );
  }
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 rounded-control border border-border bg-surface px-2 py-1 text-label text-text-2">
      <FileText size={14} aria-hidden className="shrink-0" />
      <span className="truncate" title={name}>{name}</span>
    </span>
  );
}

function nameOf({ filename, source, url }: FilePart): string | undefined {
  if (filename !== undefined && filename !== '') return filename;
  if (source?.type === 'file' || source?.type === 'symbol') return source.path;
  return url.startsWith('data:') ? undefined : url.split('/').at(-1);
}
