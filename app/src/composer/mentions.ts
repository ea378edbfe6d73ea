/** Files that a text names with `@`. Each is an attachment with a `file:` address whose name stands in the text. */
import type { Attachment } from '../host/contract';

/** The absolute path of a file of a folder; paths of the server's system, Windows' too. */
export function absolute(directory: string, path: string): string {
  if (/^(\/|[A-Za-z]:[\\/])/.test(path)) return path;
  const separator = directory.includes('\\') ? '\\' : '/';
  return `${directory.replace(/[\\/]+$/, '')}${separator}${path}`;
}

/** The `file:` address of an absolute path. */
export function fileUrl(path: string): string {
  const segments = path.replaceAll('\\', '/').split('/').map(encodeURIComponent);
  // A drive's colon stays.
  const [first = '', ...rest] = segments;
  const root = first.replace(/^([A-Za-z])%3A$/, '/$1:');
  return `file://${[root, ...rest].join('/')}`;
}

/** The mention of a file of a folder. The server reads what it is sent as text and lists a folder. */
export function mention(directory: string, path: string): Attachment {
  return { name: path, mime: 'text/plain', url: fileUrl(absolute(directory, path)) };
}

export function isMention({ url }: Attachment): boolean {
  return url.startsWith('file:');
}

/** Where a text names files, in order: an `@`, before it nothing or a space, after it one of the names. */
export function mentionsIn(
  text: string,
  attachments: readonly Attachment[],
): { start: number; end: number; attachment: Attachment }[] {
  const found = attachments.filter(isMention).flatMap((attachment) => {
    const start = placeOf(text, attachment.name);
    return start < 0 ? [] : [{ start, end: start + attachment.name.length + 1, attachment }];
  });
  return found.sort((a, b) => a.start - b.start);
}

function placeOf(text: string, name: string): number {
  const value = `@${name}`;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const before = text[at - 1] ?? ' ';
    const after = text[at + value.length] ?? ' ';
    if (/[\s([{"'`]/.test(before) && /[\s)\]}"'`,;:.!?]/.test(after)) return at;
  }
  return -1;
}

/** What goes along with a text: files that it no longer names do not. */
export function named(text: string, attachments: readonly Attachment[]): Attachment[] {
  const still = new Set(mentionsIn(text, attachments).map(({ attachment }) => attachment));
  return attachments.filter((one) => !isMention(one) || still.has(one));
}
