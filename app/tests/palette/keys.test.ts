import { describe, expect, it } from 'vitest';

import {
  ariaKeys,
  keyNames,
  SHORTCUT_IDS,
  SHORTCUTS,
  shortcutOf,
  writes,
  type Chord,
  type Pressed,
} from '../../src/keys';
import en from '../../src/locales/en/palette.json';
import fr from '../../src/locales/fr/palette.json';
import { COMMAND_IDS } from '../../src/palette/commands';

function pressed(key: string, held: Partial<Pressed> = {}): Pressed {
  return { key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held };
}

/** What the keyboard sends for a chord. */
function press({ key, mod, shift, alt }: Chord, mac: boolean): Pressed {
  const down = mod ?? false;
  return pressed(shift === true ? key.toUpperCase() : key, {
    ctrlKey: down && !mac,
    metaKey: down && mac,
    shiftKey: shift ?? false,
    altKey: alt ?? false,
  });
}

describe('the table of shortcuts', () => {
  it.each([true, false])('has no chord twice (mac: %s)', (mac) => {
    for (const id of SHORTCUT_IDS) {
      for (const chord of SHORTCUTS[id]) expect(shortcutOf(press(chord, mac), mac)).toBe(id);
    }
    const all = SHORTCUT_IDS.flatMap((id) => SHORTCUTS[id].map((chord) => JSON.stringify(chord)));
    expect(new Set(all).size).toBe(all.length);
  });

  it('has words for each shortcut and each command in both languages', () => {
    for (const id of [...SHORTCUT_IDS, ...COMMAND_IDS]) {
      expect(en.command[id], id).toMatch(/\S/);
      expect(fr.command[id], id).toMatch(/\S/);
    }
    expect(Object.keys(en.command).sort()).toEqual([...COMMAND_IDS].sort());
  });

  it('takes ⌘ on a Mac and Ctrl elsewhere, never the other', () => {
    expect(shortcutOf(pressed('k', { metaKey: true }), true)).toBe('palette');
    expect(shortcutOf(pressed('k', { ctrlKey: true }), true)).toBeNull();
    expect(shortcutOf(pressed('k', { ctrlKey: true }), false)).toBe('palette');
    expect(shortcutOf(pressed('k', { metaKey: true }), false)).toBeNull();
    expect(shortcutOf(pressed('k', { metaKey: true, ctrlKey: true }), true)).toBeNull();
  });

  it('tells B from Shift+B, with Caps Lock, too', () => {
    expect(shortcutOf(pressed('B', { ctrlKey: true }), false)).toBe('sidebar');
    expect(shortcutOf(pressed('B', { ctrlKey: true, shiftKey: true }), false)).toBe('panel');
  });

  it('hears signs however a keyboard makes them', () => {
    // On a French keyboard the full stop and the slash need Shift.
    expect(shortcutOf(pressed('.', { ctrlKey: true, shiftKey: true }), false)).toBe('stop');
    expect(shortcutOf(pressed('/', { ctrlKey: true, shiftKey: true }), false)).toBe('shortcuts');
    expect(shortcutOf(pressed('?', { shiftKey: true }), false)).toBe('shortcuts');
  });

  it('leaves AltGr alone, which comes as Ctrl and Alt', () => {
    expect(shortcutOf(pressed('k', { ctrlKey: true, altKey: true }), false)).toBeNull();
  });

  it('knows which chords would write', () => {
    expect(writes(pressed('?', { shiftKey: true }))).toBe(true);
    expect(writes(pressed('k', { ctrlKey: true }))).toBe(false);
  });

  it('prints keys as they are known on each system', () => {
    const chord: Chord = { key: 'b', mod: true, shift: true };
    expect(keyNames(chord, 'Maj', false)).toEqual(['Ctrl', 'Maj', 'B']);
    expect(keyNames(chord, 'Maj', true)).toEqual(['⇧', '⌘', 'B']);
    expect(keyNames({ key: 'ArrowUp', alt: true }, 'Shift', false)).toEqual(['Alt', '↑']);
    expect(ariaKeys('panel', false)).toBe('Control+Shift+B Control+J');
    expect(ariaKeys('panel', true)).toBe('Meta+Shift+B Meta+J');
  });
});
