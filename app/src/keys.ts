/** The keyboard's one table: what handles keys, the palette and the list of shortcuts all read it. */

/** A key with its modifiers. `mod` is ⌘ on macOS and Ctrl elsewhere. */
export interface Chord {
  /** `KeyboardEvent.key`; letters in lower case. */
  key: string;
  mod?: true;
  shift?: true;
  alt?: true;
}

/** What can be done by a shortcut, in the order of the list of shortcuts. The first chord is the one that is shown. */
export const SHORTCUTS = {
  palette: [{ key: 'k', mod: true }],
  newSession: [{ key: 'n', mod: true }],
  previous: [{ key: 'ArrowUp', alt: true }],
  next: [{ key: 'ArrowDown', alt: true }],
  search: [{ key: 'f', mod: true, shift: true }],
  stop: [{ key: '.', mod: true }],
  sidebar: [{ key: 'b', mod: true }],
  panel: [
    { key: 'b', mod: true, shift: true },
    { key: 'j', mod: true },
  ],
  settings: [{ key: ',', mod: true }],
  shortcuts: [{ key: '/', mod: true }, { key: '?' }],
} as const satisfies Record<string, readonly Chord[]>;

export type ShortcutId = keyof typeof SHORTCUTS;

export const SHORTCUT_IDS = Object.keys(SHORTCUTS) as ShortcutId[];

/** Whether this is a Mac, by what the web view says of itself. */
export function isMac(userAgent: string = navigator.userAgent): boolean {
  return /Mac|iPhone|iPad/.test(userAgent);
}

/** What of a keyboard event decides. */
export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>;

/** The shortcut that was pressed, or `null`. */
export function shortcutOf(pressed: Pressed, mac: boolean = isMac()): ShortcutId | null {
  return (
    SHORTCUT_IDS.find((id) => SHORTCUTS[id].some((chord) => matches(chord, pressed, mac))) ?? null
  );
}

function matches(chord: Chord, pressed: Pressed, mac: boolean): boolean {
  const mod = mac ? pressed.metaKey : pressed.ctrlKey;
  const other = mac ? pressed.ctrlKey : pressed.metaKey;
  if (other || mod !== (chord.mod ?? false) || pressed.altKey !== (chord.alt ?? false)) return false;
  // Where a sign stands on the keyboard, and whether Shift makes it, differs by country.
  const sign = chord.key.length === 1 && !/[a-z]/.test(chord.key);
  if (!sign && pressed.shiftKey !== (chord.shift ?? false)) return false;
  return chord.key === (pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key);
}

/** Whether a chord would also write something, so that it must not be taken from a text field. */
export function writes(pressed: Pressed): boolean {
  return !pressed.ctrlKey && !pressed.metaKey && !pressed.altKey;
}

/** The parts of a chord as they are printed on keys; `shift` in the user's language. */
export function keyNames(chord: Chord, shift: string, mac: boolean = isMac()): string[] {
  const names: (string | false | undefined)[] = mac
    ? [chord.alt && '⌥', chord.shift && '⇧', chord.mod && '⌘']
    : [chord.mod && 'Ctrl', chord.alt && 'Alt', chord.shift && shift];
  return [...names.filter((name) => typeof name === 'string'), printed(chord.key)];
}

function printed(key: string): string {
  if (key === 'ArrowUp') return '↑';
  if (key === 'ArrowDown') return '↓';
  return key.toUpperCase();
}

/** The chords of a shortcut for `aria-keyshortcuts`. */
export function ariaKeys(id: ShortcutId, mac: boolean = isMac()): string {
  return SHORTCUTS[id].map((chord) => ariaChord(chord, mac)).join(' ');
}

function ariaChord(chord: Chord, mac: boolean): string {
  const mod = mac ? 'Meta' : 'Control';
  return [chord.mod && mod, chord.alt && 'Alt', chord.shift && 'Shift', printedName(chord.key)]
    .filter((part) => typeof part === 'string')
    .join('+');
}

function printedName(key: string): string {
  return key.length === 1 ? key.toUpperCase() : key;
}
