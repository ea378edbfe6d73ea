import { emit } from '@tauri-apps/api/event';
import { act, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';

import { NoticesButton } from '../../src/goal';
import { navigation } from '../../src/navigation';
import { Backend, notice, refusal, show } from './backend';

let backend: Backend;
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend();
});

const button = (name: string) => screen.findByRole('button', { name });

test('the button counts what was not read, and a press opens the session', async () => {
  backend.answers['notices'] = () => [
    notice({ id: 2, sessionId: 'ses_b', code: 'goalPaused', detail: 'no progress' }),
    notice({ id: 1, read: true }),
  ];
  show(<NoticesButton />);
  await user.click(await button('Notices, 1 not read'));
  expect(await screen.findByText('No progress: the audit says the same again and again')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: /Goal paused/ }));
  expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_b' });
  expect(backend.asked('notices_mark_read')[0]).toMatchObject({ ids: [2] });
  expect(await button('Notices')).toBeTruthy();
});

test('a notice that is told later is the first of the list', async () => {
  backend.answers['notices'] = () => [notice({ id: 1 })];
  show(<NoticesButton />);
  await user.click(await button('Notices, 1 not read'));
  await waitFor(() => { expect(backend.asked('notices')).toHaveLength(2); });
  const later = notice({ id: 2, code: 'waitingForPermission', detail: 'bash wants to run', at: Date.now() });
  await act(() => emit('goal://notice', later));
  await screen.findByText('A permission is asked for');
  const titles = screen.getAllByText(/^(A permission is asked for|Goal complete)$/).map((one) => one.textContent);
  expect(titles).toEqual(['A permission is asked for', 'Goal complete']);
  expect(screen.getByText('bash wants to run')).toBeTruthy();
});

test('one that could not be written down is marked without asking', async () => {
  show(<NoticesButton />);
  await button('Notices');
  await act(() => emit('goal://notice', notice({ id: null })));
  await user.click(await button('Notices, 1 not read'));
  await user.click(await button('Mark all as read'));
  await waitFor(() => { expect(screen.queryByRole('img', { name: 'not read' })).toBeNull(); });
  expect(backend.asked('notices_mark_read')).toEqual([]);
});

test('what could not be marked is unread again, and that is told', async () => {
  backend.answers['notices'] = () => [notice()];
  backend.answers['notices_mark_read'] = refusal('dataFolder', 'The list cannot be written.');
  show(<NoticesButton />);
  await user.click(await button('Notices, 1 not read'));
  await user.click(await button('Mark all as read'));
  expect(await screen.findByText('The list cannot be written.')).toBeTruthy();
  expect(screen.getByRole('img', { name: 'not read' })).toBeTruthy();
});

test('a list that cannot be read says so and can be asked for again', async () => {
  backend.answers['notices'] = refusal('dataFolder', 'The list cannot be read.');
  show(<NoticesButton />);
  await user.click(await button('Notices'));
  expect(await screen.findByText('The list cannot be read.')).toBeTruthy();
  backend.answers['notices'] = () => [];
  await user.click(await button('Try again'));
  expect(await screen.findByText(/Nothing to tell/)).toBeTruthy();
});
