import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { AttachForm } from '../../src/settings/AttachForm';
import { isAddress } from '../../src/settings/line';
import { CONNECTED, failed, Refused, show, fakeHost } from './host';

const host = fakeHost();

const ADDRESS = 'http://10.0.0.2:4096';

async function fill(password: string): Promise<ReturnType<typeof userEvent.setup>> {
  const user = userEvent.setup();
  show(<AttachForm submit="Test and use" />);
  await screen.findByRole('checkbox');
  await user.type(screen.getByLabelText('Address'), ` ${ADDRESS} `);
  await user.type(screen.getByLabelText('Password'), password);
  return user;
}

async function send(user: ReturnType<typeof userEvent.setup>): Promise<void> {
  await user.click(screen.getByRole('button', { name: 'Test and use' }));
}

test('an address of a server is http or https without anything secret', () => {
  expect(['http://a', ' https://a.example:1/x '].every(isAddress)).toBe(true);
  expect(['', 'a', 'localhost:4096', 'ftp://a', 'http://u:p@a', 'http://'].some(isAddress)).toBe(false);
});

test('what is no address is not sent', async () => {
  const user = userEvent.setup();
  show(<AttachForm submit="Test and use" />);
  await user.type(screen.getByLabelText('Address'), 'localhost');
  await send(user);
  expect(screen.getByRole('alert').textContent).toContain('no address');
  expect(host.of('server_attach')).toEqual([]);
});

test('a server is used with what was typed, and the password is gone from the page', async () => {
  host.answers['server_attach'] = () => CONNECTED;
  const user = await fill('hush');
  await user.click(screen.getByRole('checkbox'));
  await send(user);
  expect(await screen.findByText('In use')).toBeTruthy();
  expect(host.of('server_attach')).toEqual([
    { url: ADDRESS, username: null, password: 'hush', keep: true },
  ]);
  expect(screen.getByLabelText<HTMLInputElement>('Password').value).toBe('');
});

test('a kept password is named and not asked for again', async () => {
  host.answers['server_choice'] = () => ({
    kind: 'attached',
    url: ADDRESS,
    username: 'ada',
    passwordKept: true,
    needsPassword: false,
    keyring: true,
  });
  host.answers['server_attach'] = () => CONNECTED;
  const user = userEvent.setup();
  show(<AttachForm submit="Test and use" />);
  await screen.findByDisplayValue(ADDRESS);
  expect(screen.getByLabelText<HTMLInputElement>('Password').placeholder).toBe('in the keyring');
  await send(user);
  expect(host.of('server_attach')).toEqual([
    { url: ADDRESS, username: 'ada', password: null, keep: true },
  ]);
});

test('without a keyring nothing is offered to be kept', async () => {
  host.answers['server_choice'] = () => ({ kind: 'managed', keyring: false });
  show(<AttachForm submit="Test and use" />);
  await waitFor(() => {
    expect(host.of('server_choice').length).toBeGreaterThan(0);
  });
  await Promise.resolve();
  expect(screen.queryByRole('checkbox')).toBeNull();
});

test('a server that cannot be used is said, and the one before is used again', async () => {
  host.answers['server_attach'] = () => failed('unauthorized');
  host.answers['server_manage'] = () => CONNECTED;
  const user = await fill('wrong');
  await send(user);
  expect((await screen.findByRole('alert')).textContent).toContain('refused the user name');
  expect(host.of('server_manage')).toHaveLength(1);
  // What was typed stays, to be mended.
  expect(screen.getByDisplayValue(ADDRESS)).toBeTruthy();
});

test('where the host refused, nothing was changed and nothing is taken back', async () => {
  host.answers['server_attach'] = () => {
    throw new Refused('keyringUnavailable');
  };
  const user = await fill('hush');
  await send(user);
  expect((await screen.findByRole('alert')).textContent).toContain('no keyring');
  expect(host.of('server_manage')).toEqual([]);
});
