/** Files that go along with a message: pictures and PDFs as they are, small texts as text, the rest is refused. */
import type { Attachment } from '../host/contract';
import { isMention } from './mentions';

/** Pictures that the server's providers take. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';

/** What the system's file dialog offers first. */
export const OFFERED = [...IMAGES, PDF, 'text/*'].join(',');

const FILE_BYTES_MAX = 8 * 1024 * 1024;
const TOTAL_BYTES_MAX = 20 * 1024 * 1024;
/** A longer text fills a model's context; a mention lets the agent read what it needs of it. */
const TEXT_BYTES_MAX = 256 * 1024;
const FILES_MAX = 20;

export type Refused = 'kind' | 'size' | 'textSize' | 'total' | 'count' | 'unreadable';

export type Read = { attachment: Attachment } | { refused: Refused; name: string };

/** Reads files one after the other; each is taken or refused with a reason. */
export async function readFiles(files: readonly File[], present: readonly Attachment[]): Promise<Read[]> {
  const read: Read[] = [];
  const own = present.filter((one) => !isMention(one));
  let bytes = own.reduce((sum, { url }) => sum + bytesOf(url), 0);
  let count = own.length;
  for (const file of files) {
    const one = await readFile(file, { bytes, count });
    read.push(one);
    if ('attachment' in one) {
      bytes += file.size;
      count += 1;
    }
  }
  return read;
}

async function readFile(file: File, taken: { bytes: number; count: number }): Promise<Read> {
  const name = file.name === '' ? 'file' : file.name;
  const whole = IMAGES.includes(file.type) || file.type === PDF;
  const refused = (reason: Refused): Read => ({ refused: reason, name });
  if (taken.count >= FILES_MAX) return refused('count');
  if (file.size > (whole ? FILE_BYTES_MAX : TEXT_BYTES_MAX)) {
    if (whole) return refused('size');
    return refused(file.type.startsWith('text/') ? 'textSize' : 'kind');
  }
  if (taken.bytes + file.size > TOTAL_BYTES_MAX) return refused('total');
  try {
    if (!whole && !isText(new Uint8Array(await file.arrayBuffer()))) return refused('kind');
    const mime = whole ? file.type : 'text/plain';
    return { attachment: { name, mime, url: `data:${mime};base64,${await base64(file)}` } };
  } catch {
    return refused('unreadable');
  }
}

/** UTF-8 without a zero. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** By the browser itself: megabytes in JavaScript would make the page wait. */
function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    };
    reader.onerror = () => { reject(reader.error ?? new Error('not readable')); };
    reader.readAsDataURL(file);
  });
}

/** Bytes of a file in a `data:` address. */
export function bytesOf(url: string): number {
  return Math.floor(((url.length - url.indexOf(',') - 1) * 3) / 4);
}

/** What a model would have to read for these. */
export function needs(attachments: readonly Attachment[]): { images: boolean; pdf: boolean } {
  return {
    images: attachments.some(({ mime }) => mime.startsWith('image/')),
    pdf: attachments.some(({ mime }) => mime === PDF),
  };
}
