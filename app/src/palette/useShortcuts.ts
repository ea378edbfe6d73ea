import { useEffect } from 'react';

import { shortcutOf, writes, type ShortcutId } from '../keys';
import { closeOverlay, navigation } from '../navigation';
import { useAttempt } from '../ui/toasts';
import { COMMANDS, isPossible } from './commands';
import { situation } from './session';

const EDITABLE = 'input, textarea, select, [contenteditable="true"]';

/** What has the keyboard to itself. The sheet of narrow windows is a part of the frame. */
const MODAL = '[role="dialog"]:not([data-sheet]), [role="alertdialog"], [role="menu"]';

/** Hears the shortcuts of the whole page. */
export function useShortcuts(): void {
  const attempt = useAttempt();
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      const id = heard(event);
      if (id === null) return;
      // Also where it makes no sense right now: Ctrl+N must not open a browser's window.
      event.preventDefault();
      if (id === 'palette' && navigation.getState().overlay?.kind === 'palette') closeOverlay();
      else if (isPossible(id, situation())) void attempt(async () => { await COMMANDS[id].run(); });
    };
    window.addEventListener('keydown', hear);
    return () => { window.removeEventListener('keydown', hear); };
    // Once: what it needs is read when a key is pressed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

function heard(event: KeyboardEvent): ShortcutId | null {
  if (event.defaultPrevented || event.isComposing) return null;
  const id = shortcutOf(event);
  if (id === null || (writes(event) && isEditable(event.target))) return null;
  // The palette takes the place of what the page itself put over it, and goes by its own shortcut.
  if (navigation.getState().overlay !== null) return id === 'palette' ? id : null;
  return document.querySelector(MODAL) === null ? id : null;
}

function isEditable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(EDITABLE) !== null;
}
