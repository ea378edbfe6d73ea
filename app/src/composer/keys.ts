/** Keys of the composer's text. */

interface Key {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** Whether a key is part of writing a character, as in Japanese: Enter then takes a word and sends nothing. */
export function isComposing(event: { isComposing: boolean; keyCode: number }): boolean {
  // WebKit ends the composition before the Enter that ends it; 229 tells it still.
  return event.isComposing || event.keyCode === 229;
}

/** Whether a key sends. With Ctrl or Cmd Enter always does. */
export function isSend({ key, shiftKey, altKey, ctrlKey, metaKey }: Key, sendWithEnter: boolean): boolean {
  if (key !== 'Enter' || shiftKey || altKey) return false;
  return sendWithEnter || ctrlKey || metaKey;
}

/** Ctrl or Cmd and a full stop. */
export function isStop({ key, shiftKey, altKey, ctrlKey, metaKey }: Key): boolean {
  return key === '.' && (ctrlKey || metaKey) && !shiftKey && !altKey;
}

const MAC = /mac/i.test(navigator.userAgent);

/** How a key with Ctrl, or with Cmd on a Mac, is written. */
export function withCommand(key: string): string {
  return MAC ? `⌘${key}` : `Ctrl+${key}`;
}
