import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Overlays } from '../../src/frame/Overlays';
import { navigation, openPalette, openSession, openSettings } from '../../src/navigation';
import { best, sessionsFor } from '../../src/palette/entries';
import { preferences } from '../../src/preferences';
import { acting } from '../../src/sidebar/acting';
import { endHost, fakeHost, know, reset, session, show, type Fake } from '../frame/fake';

let fake: Fake;

beforeEach(() => {
  fake = fakeHost();
  reset();
  know([
    session('ses_a', { title: 'Refactor the exporter', time: { created: 1, updated: 10 } }),
    session('ses_b', { title: 'Fix CI', time: { created: 1, updated: 30 } }),
    session('ses_c', { title: 'Docs', directory: '/home/ada/website', time: { created: 1, updated: 20 } }),
  ]);
});

afterEach(endHost);

function titles(): (string | null)[] {
  return screen.getAllByRole('option').map((option) => option.textContent);
}

describe('the entries', () => {
  const sessions = [
    session('old', { title: 'Refactor the exporter', time: { created: 1, updated: 1 } }),
    session('new', { title: 'Exporter docs', time: { created: 1, updated: 2 } }),
    session('child', { title: 'Exporter child', parentID: 'old' }),
    session('put away', { title: 'Exporter old', time: { created: 1, updated: 9, archived: 9 } }),
  ];

  it('are the newest sessions while nothing is typed', () => {
    expect(sessionsFor('', sessions).map(({ id }) => id)).toEqual(['new', 'old']);
    const many = Array.from({ length: 50 }, (_, at) => session(`s${at}`, { time: { created: 1, updated: at } }));
    expect(sessionsFor('', many).map(({ id }) => id).slice(0, 2)).toEqual(['s49', 's48']);
    expect(sessionsFor('', many).length).toBe(7);
    expect(sessionsFor('title', many).length).toBe(30);
  });

  it('fit although letters are left out, the best first', () => {
    expect(sessionsFor('rfctrexp', sessions).map(({ id }) => id)).toEqual(['old']);
    expect(best(['Settings: server', 'Stop'], 'st', (text) => text)).toEqual(['Stop', 'Settings: server']);
    expect(best(['Stop'], 'zzz', (text) => text)).toEqual([]);
  });
});

describe('the palette', () => {
  it('opens by its shortcut, with the newest sessions first, and opens one', async () => {
    show(<Overlays />);
    const user = userEvent.setup();
    await user.keyboard('{Control>}k{/Control}');
    expect(titles().slice(0, 3).map((title) => title?.slice(0, 6))).toEqual(['Fix CI', 'Docswe', 'Refact']);
    await user.keyboard('refexp');
    await user.keyboard('{Enter}');
    expect(navigation.getState()).toMatchObject({ place: { kind: 'session', id: 'ses_a' }, overlay: null });
  });

  it('closes by its shortcut', async () => {
    show(<Overlays />);
    await userEvent.keyboard('{Control>}k{/Control}');
    expect(screen.getByRole('dialog', { name: 'Command palette' })).toBeTruthy();
    await userEvent.keyboard('{Control>}k{/Control}');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('offers what makes sense right now only', async () => {
    show(<Overlays />);
    act(openPalette);
    expect(titles().join()).not.toContain('Stop');
    expect(titles().join()).not.toContain('Rename session');
    act(() => {
      know([session('ses_a')], { status: { ses_a: { type: 'busy' } } });
      openSession('ses_a');
      openPalette();
    });
    expect(titles().join()).toContain('Stop');
    await userEvent.click(screen.getByRole('option', { name: /^Rename session/ }));
    await waitFor(() => { expect(acting.getState().renaming).toEqual({ id: 'ses_a', at: 'header' }); });
    expect(navigation.getState().overlay).toBeNull();
  });

  it.each([
    ['Theme: dark', { name: 'preferences_set', args: { patch: { theme: 'dark' } } }],
    ['Quit OpenChamber', { name: 'quit', args: {} }],
  ])('runs “%s”', async (name, command) => {
    show(<Overlays />);
    act(openPalette);
    await userEvent.click(screen.getByRole('option', { name }));
    await waitFor(() => { expect(fake.commands).toContainEqual(command); });
  });

  it('pauses all goals', async () => {
    show(<Overlays />);
    act(openPalette);
    await userEvent.click(screen.getByRole('option', { name: 'Pause all goals' }));
    await waitFor(() => {
      expect(fake.commands.some(({ name }) => name === 'plugin:goal|pause_all')).toBe(true);
    });
  });

  it('starts a session in a folder that a person chooses', async () => {
    fake.folder = '/home/ada/new';
    show(<Overlays />);
    act(openPalette);
    await userEvent.click(screen.getByRole('option', { name: 'New session in folder…' }));
    await waitFor(() => {
      expect(navigation.getState().place).toEqual({ kind: 'draft', directory: '/home/ada/new' });
    });
  });

  it('says that nothing fits', async () => {
    show(<Overlays />);
    act(openPalette);
    await userEvent.keyboard('qqqq');
    expect(screen.getByText('Nothing fits “qqqq”.')).toBeTruthy();
  });

  it('says why a command failed', async () => {
    fake.refuses.add('quit');
    show(<Overlays />);
    act(openPalette);
    await userEvent.click(screen.getByRole('option', { name: 'Quit OpenChamber' }));
    expect(await screen.findByText(/quit is refused/)).toBeTruthy();
  });
});

describe('shortcuts', () => {
  it('step through the sessions as the sidebar lists them', async () => {
    openSession('ses_b');
    show(<Overlays />);
    const user = userEvent.setup();
    await user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_a' });
    await user.keyboard('{Alt>}{ArrowDown}{ArrowDown}{/Alt}');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_c' });
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_a' });
  });

  it('stop a session that works', async () => {
    know([session('ses_a')], { status: { ses_a: { type: 'busy' } } });
    openSession('ses_a');
    show(<Overlays />);
    await userEvent.keyboard('{Control>}.{/Control}');
    await waitFor(() => { expect(fake.asked).toContain('POST /session/ses_a/abort'); });
  });

  it('show and hide the sides', async () => {
    show(<Overlays />);
    await userEvent.keyboard('{Control>}b{/Control}');
    expect(preferences.getState().sidebarOpen).toBe(false);
    await userEvent.keyboard('{Control>}{Shift>}B{/Shift}{/Control}');
    expect(preferences.getState().panelOpen).toBe(true);
    await userEvent.keyboard('{Control>}j{/Control}');
    expect(preferences.getState().panelOpen).toBe(false);
  });

  it('leave a question mark to a text field', async () => {
    show(<><Overlays /><textarea aria-label="Text" /></>);
    await userEvent.type(screen.getByRole('textbox'), '?');
    expect(navigation.getState().overlay).toBeNull();
    act(() => { screen.getByRole('textbox').blur(); });
    await userEvent.keyboard('?');
    expect(navigation.getState().overlay).toEqual({ kind: 'shortcuts' });
  });

  it('leave the keyboard to a dialog, except for the palette, which takes its place', async () => {
    show(<Overlays />);
    act(() => { openSettings(); });
    await screen.findByRole('dialog');
    await userEvent.keyboard('{Control>}b{/Control}');
    expect(preferences.getState().sidebarOpen).toBe(true);
    await userEvent.keyboard('{Control>}k{/Control}');
    expect(navigation.getState().overlay).toEqual({ kind: 'palette' });
  });

  it('leave the keyboard to a dialog of anybody', async () => {
    show(<><Overlays /><div role="alertdialog" aria-label="Sure?" /></>);
    await userEvent.keyboard('{Control>}k{/Control}');
    expect(navigation.getState().overlay).toBeNull();
  });
});
