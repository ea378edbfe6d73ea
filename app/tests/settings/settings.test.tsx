import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';

import { navigation, openSettings, type SettingsPage } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { Settings } from '../../src/settings/Settings';
import { CONNECTED, failed, Refused, show, fakeHost, viewOf, SETTINGS } from './host';

const host = fakeHost();

function open(page: SettingsPage): ReturnType<typeof userEvent.setup> {
  const user = userEvent.setup();
  openSettings(page);
  show(<Settings />);
  return user;
}

function page(name: string): Promise<HTMLElement> {
  return screen.findByRole('tabpanel', { name });
}

test('a switch saves at once, and setting it back undoes it', async () => {
  const user = open('general');
  const toggle = await screen.findByRole('switch', { name: 'Send with Enter' });
  expect(toggle.getAttribute('aria-checked')).toBe('true');
  await user.click(toggle);
  await user.click(toggle);
  expect(host.of('preferences_set')).toEqual([
    { patch: { sendWithEnter: false } },
    { patch: { sendWithEnter: true } },
  ]);
});

test('a refusal is said where the setting stands, and what was before holds again', async () => {
  host.answers['preferences_set'] = () => {
    throw new Refused('unavailable', 'no autostart here');
  };
  const user = open('general');
  const toggle = await screen.findByRole('switch', { name: 'Start with the computer' });
  await user.click(toggle);
  const said = await screen.findByRole('alert');
  expect(said.textContent).toContain('no autostart here');
  expect(said.closest('[data-setting]')?.getAttribute('data-setting')).toBe('autostart');
  expect(toggle.getAttribute('aria-checked')).toBe('false');
});

test('the theme is chosen by the arrow keys', async () => {
  const user = open('general');
  (await screen.findByRole('radio', { name: 'System' })).focus();
  await user.keyboard('{ArrowRight>}');
  await waitFor(() => {
    expect(preferences.getState().theme).toBe('light');
  });
});

test('the layout goes back to what it was at the beginning', async () => {
  preferences.setState({ sidebarWidth: 400, collapsedProjects: ['/a'], panelOpen: true });
  const user = open('general');
  await user.click(await screen.findByRole('button', { name: 'Reset layout' }));
  expect(preferences.getState()).toMatchObject({
    sidebarWidth: 264,
    collapsedProjects: [],
    panelOpen: false,
  });
});

test('diagnostics are copied; where that is not possible they are shown', async () => {
  host.answers['diagnostics'] = () => 'openchamber 0.1.0';
  const user = open('general');
  const copy = vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('no'));
  await user.click(await screen.findByRole('button', { name: 'Copy diagnostics' }));
  const text = await screen.findByRole('textbox', { name: 'Diagnostics' });
  expect((text as HTMLTextAreaElement).value).toBe('openchamber 0.1.0');
  expect(screen.getByText(/Select the text and copy it/)).toBeTruthy();
  copy.mockResolvedValue();
  await user.click(screen.getByRole('button', { name: 'Copy diagnostics' }));
  expect(await screen.findByText(/^Copied/)).toBeTruthy();
});

test('the search leads by keyboard to a setting of another page, which has the focus', async () => {
  const user = open('general');
  await user.type(await screen.findByRole('combobox', { name: 'Search settings' }), 'sub-agent');
  const hits = screen.getAllByRole('option');
  expect(hits[0]?.textContent).toContain('Notifications');
  await user.keyboard('{Enter}');
  const toggle = await screen.findByRole('switch', { name: 'A sub-agent has ended' });
  expect(document.activeElement).toBe(toggle);
  expect(toggle.closest('[data-sought]')).not.toBeNull();
  expect(navigation.getState().overlay).toEqual({ kind: 'settings', page: 'notifications' });
});

test('arrows move through what was found, and a press opens it', async () => {
  const user = open('language');
  const field = await screen.findByRole('combobox');
  await user.type(field, 'goal');
  await user.keyboard('{ArrowUp}');
  const last = screen.getAllByRole('option').at(-1);
  expect(last?.getAttribute('aria-selected')).toBe('true');
  expect(field.getAttribute('aria-activedescendant')).toBe(last?.id);
  const hit = screen.getAllByRole('option').find((one) => one.textContent.startsWith('Keep goals'));
  if (hit === undefined) throw new Error('not found');
  await user.click(hit);
  expect(await page('General')).toBeTruthy();
});

test('nothing found is said; Escape empties the field before it closes the settings', async () => {
  const user = open('general');
  const field = await screen.findByRole('combobox');
  await user.type(field, 'xyzzy');
  expect(screen.getByText(/No setting has “xyzzy”/)).toBeTruthy();
  await user.keyboard('{Escape}');
  expect((field as HTMLInputElement).value).toBe('');
  expect(navigation.getState().overlay).not.toBeNull();
  await user.keyboard('{Escape}');
  expect(navigation.getState().overlay).toBeNull();
});

test('settings of notices go to the plugin, and its refusal stands in place', async () => {
  const user = open('notifications');
  await user.click(await screen.findByRole('switch', { name: 'System notifications' }));
  expect(host.of('settings_set')[0]?.['changes']).toEqual({ nativeNotificationsEnabled: false });
  host.answers['settings_set'] = () => {
    throw new Refused('invalidSetting', 'at least 10');
  };
  const field = screen.getByRole('textbox', { name: 'Length of a quoted reply' });
  await user.clear(field);
  await user.type(field, '3{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('at least 10');
  expect((field as HTMLInputElement).value).toBe('250');
});

test('what is no number is not sent', async () => {
  const user = open('notifications');
  const field = await screen.findByRole('textbox', { name: 'Length of a quoted reply' });
  await user.clear(field);
  await user.type(field, 'many{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('whole number');
  expect(host.of('settings_set')).toEqual([]);
});

test('a text of one’s own is saved with the others beside it', async () => {
  const user = open('notifications');
  await user.click(await screen.findByText('Write your own'));
  const group = screen.getByRole('group', { name: 'A turn has failed' });
  await user.type(within(group).getByRole('textbox', { name: 'Title' }), 'Oh no{Enter}');
  expect(host.of('settings_set')[0]?.['changes']).toEqual({
    notificationTemplates: {
      ...SETTINGS.notificationTemplates,
      error: { title: 'Oh no', message: '' },
    },
  });
});

test('the newest notice tells whether the system showed it', async () => {
  host.answers['notices'] = () => [{ id: 1, at: 0, title: 'Parser', state: 'failed' }];
  open('notifications');
  expect(await screen.findByText(/the system did not show it/)).toBeTruthy();
});

test('a fault of the settings’ file is said', async () => {
  host.answers['settings_get'] = () => ({ ...viewOf(SETTINGS), complaint: 'line 3' });
  open('notifications');
  expect(await screen.findByText(/has a fault.*line 3/)).toBeTruthy();
});

test('the plugin’s silence is said, with a way to ask again', async () => {
  host.answers['settings_get'] = () => {
    throw new Refused('shuttingDown');
  };
  open('notifications');
  expect(await screen.findByText(/The app is ending/)).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy();
});

test('the language is chosen in its own words, and dates are shown in it', async () => {
  const user = open('language');
  await user.click(await screen.findByRole('radio', { name: 'Français' }));
  expect(host.of('preferences_set')).toEqual([{ patch: { language: 'fr' } }]);
  expect(screen.getByText('February 3, 2026')).toBeTruthy();
});

test('the server page shows how the line stands', async () => {
  open('server');
  expect(await screen.findByText('Connected')).toBeTruthy();
  expect(screen.getByText('1.18.33')).toBeTruthy();
  expect(screen.getByText('The app’s own')).toBeTruthy();
});

test('a failed line says why and is tried again at once', async () => {
  host.answers['server_status'] = () => failed('openCodeMissing');
  host.answers['server_connect'] = () => CONNECTED;
  const user = open('server');
  expect((await screen.findByRole('alert')).textContent).toContain('Install it');
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(host.of('server_connect')).toMatchObject([{ server: null }]);
});
