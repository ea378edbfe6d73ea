import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import type { ServerStatus } from 'tauri-plugin-goal-api';
import { expect, test, vi } from 'vitest';

import { navigation } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { server } from '../../src/server/store';
import { passWelcome, useWelcomeNeeded } from '../../src/welcome/needed';
import { Welcome } from '../../src/welcome/Welcome';
import { CONNECTED, failed, show, fakeHost } from '../settings/host';

const host = fakeHost();

function status(told: ServerStatus): void {
  host.answers['server_status'] = () => told;
}

function attached(needsPassword = false): void {
  host.answers['server_choice'] = () => ({
    kind: 'attached',
    url: 'http://10.0.0.2:4096',
    username: null,
    passwordKept: false,
    needsPassword,
    keyring: true,
  });
}

test('without the program it says exactly how to install it, and looks again when asked', async () => {
  status(failed('openCodeMissing', 'not on PATH'));
  host.answers['server_connect'] = () => failed('openCodeMissing');
  const user = userEvent.setup();
  show(<Welcome />);
  expect(await screen.findByText('npm install -g opencode-ai')).toBeTruthy();
  const copy = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  await user.click(screen.getByRole('button', { name: 'Copy “npm install -g opencode-ai”' }));
  expect(copy).toHaveBeenCalledWith('npm install -g opencode-ai');
  await user.click(screen.getByRole('button', { name: 'Look again' }));
  expect(host.of('server_connect')).toMatchObject([{ server: null }]);
  expect(screen.getByText('not on PATH')).toBeTruthy();
});

test('the official page opens outside the app', async () => {
  status(failed('openCodeMissing'));
  host.answers['open_external'] = () => null;
  const user = userEvent.setup();
  show(<Welcome />);
  await user.click(await screen.findByRole('button', { name: 'Official instructions' }));
  expect(host.of('open_external')).toEqual([{ url: 'https://opencode.ai/docs/' }]);
});

test('too old a program says the least version', async () => {
  status(failed('notOpenCode'));
  show(<Welcome />);
  expect(await screen.findByText(/version 1\.15\.13 at least/)).toBeTruthy();
  expect(screen.getByText('opencode upgrade')).toBeTruthy();
});

test('a server that wants a password is given one', async () => {
  status(failed('unauthorized'));
  attached();
  host.answers['server_attach'] = () => CONNECTED;
  const user = userEvent.setup();
  show(<Welcome />);
  expect(await screen.findByText('The server asks for a password')).toBeTruthy();
  await user.type(screen.getByLabelText('Password'), 'hush{Enter}');
  expect(host.of('server_attach')).toEqual([
    { url: 'http://10.0.0.2:4096', username: null, password: 'hush', keep: false },
  ]);
});

test('what was found is shown with its version, and a folder is chosen', async () => {
  host.answers['pick_folder'] = () => '/home/me/exporter';
  const user = userEvent.setup();
  show(<Welcome />);
  expect(await screen.findByText('1.18.33')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Choose a folder' }));
  expect(navigation.getState().place).toEqual({ kind: 'draft', directory: '/home/me/exporter' });
});

test.each([
  ['openCodeMissing', false],
  ['notOpenCode', false],
  ['notOpenCode', true],
  ['unauthorized', true],
  ['unreachable', true],
  ['dataFolder', false],
  ['internal', false],
] as const)('%s is no dead end', async (code, other) => {
  status(failed(code));
  if (other) attached();
  const user = userEvent.setup();
  show(<Welcome />);
  expect(await screen.findByRole('button', { name: 'Look again' })).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Server settings' }));
  expect(navigation.getState().overlay).toEqual({ kind: 'settings', page: 'server' });
});

test('from another server there is a way back to the app’s own', async () => {
  status(failed('unreachable'));
  attached();
  host.answers['server_manage'] = () => CONNECTED;
  const user = userEvent.setup();
  show(<Welcome />);
  await user.click(await screen.findByRole('button', { name: 'Use the app’s own server' }));
  expect(host.of('server_manage')).toHaveLength(1);
});

function Needed(): ReactNode {
  return <p>{useWelcomeNeeded() ? 'welcome' : 'conversation'}</p>;
}

test('on the first run it stays until a folder is chosen', async () => {
  show(<Needed />);
  expect(screen.getByText('welcome')).toBeTruthy();
  act(() => {
    navigation.setState({ place: { kind: 'draft', directory: '/a' } });
  });
  expect(await screen.findByText('conversation')).toBeTruthy();
});

test('later it comes only where a person is needed, or where there is nothing to show', async () => {
  preferences.setState({ lastDirectory: '/a' });
  server.setState({ listing: 'ready' });
  status(failed('unreachable'));
  show(<Needed />);
  await waitFor(() => {
    expect(host.of('server_status')).toHaveLength(1);
  });
  expect(screen.getByText('conversation')).toBeTruthy();
  act(() => {
    server.setState({ listing: 'loading' });
  });
  expect(await screen.findByText('welcome')).toBeTruthy();
});

test('a program that is gone is never only a broken line', async () => {
  preferences.setState({ lastDirectory: '/a' });
  server.setState({ listing: 'ready' });
  status(failed('openCodeMissing'));
  show(<Needed />);
  expect(await screen.findByText('welcome')).toBeTruthy();
});

test('whoever passed it is not shown it again', async () => {
  show(<Needed />);
  act(passWelcome);
  expect(await screen.findByText('conversation')).toBeTruthy();
});
