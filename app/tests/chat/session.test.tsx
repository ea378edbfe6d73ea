import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Chat } from '../../src/chat/Chat';
import { drafts } from '../../src/drafts';
import { navigation } from '../../src/navigation';
import { reply, session, text, user } from './make';
import { known, show, told, chatHost } from './host';

const host = chatHost();

/** Each test has a session of its own: what was opened once is not read again. */
let id = '';
let count = 0;

beforeEach(() => {
  count += 1;
  id = `ses_chat${count}`;
  // The test's page has no layout: everything is as high as this.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(800);
  host.answers[`GET /session/${id}`] = () => ({ body: session(id, { title: 'Mine' }) });
  host.answers[`GET /session/${id}/children`] = () => ({ body: [] });
  host.answers[`GET /session/${id}/todo`] = () => ({ body: [] });
});

afterEach(() => { vi.restoreAllMocks(); });

const row = (info: object, ...parts: object[]): object => ({ info: { ...info, sessionID: id }, parts: parts.map((part) => ({ ...part, sessionID: id })) });

function holds(...rows: object[]): void {
  host.answers[`GET /session/${id}/message`] = () => ({ body: rows });
}

const chat = (): ReturnType<typeof show> => show(<Chat place={{ kind: 'session', id }} />);

describe('a session', () => {
  it('shows that it loads, then its messages', async () => {
    holds(row(user('u1', 0), text('u1', 'Hello there')), row(reply('a1', 1), text('a1', 'Good day')));
    chat();
    expect(screen.getByRole('status', { name: 'Loading…' })).toBeTruthy();
    expect(await screen.findByText('Good day')).toBeTruthy();
    expect(screen.getByText('Hello there')).toBeTruthy();
  });

  it('says that it is empty', async () => {
    holds();
    chat();
    expect(await screen.findByText('Nothing here yet')).toBeTruthy();
  });

  it('says why it could not be read, and reads it again', async () => {
    host.answers['GET /experimental/session'] = () => ({ body: [] });
    host.answers[`GET /session/${id}/message`] = () => ({ status: 500, body: { message: 'x' } });
    chat();
    expect(await screen.findByRole('alert')).toBeTruthy();
    holds(row(user('u1', 0), text('u1', 'Hello there')));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Hello there')).toBeTruthy();
  });

  it('shows what is being written, and says only that it ended', async () => {
    holds(row(user('u1', 0), text('u1', 'Go')));
    chat();
    await screen.findByText('Go');
    const answer = { ...reply('a1', 1), sessionID: id };
    act(() => {
      told(
        ['session.status', { sessionID: id, status: { type: 'busy' } }],
        ['message.updated', { info: { ...answer, time: { created: 1 } } }],
        ['message.part.updated', { part: { ...text('a1', 'Wor'), sessionID: id } }],
        ['message.part.delta', { sessionID: id, messageID: 'a1', partID: 'prt_a1', field: 'text', delta: 'ds' }],
      );
    });
    expect(await screen.findByText('Words')).toBeTruthy();
    expect(screen.getByText('Working…')).toBeTruthy();
    expect(screen.queryByText('The turn has ended.')).toBeNull();
    act(() => { told(['message.updated', { info: answer }], ['session.idle', { sessionID: id }]); });
    expect(screen.getByText('The turn has ended.')).toBeTruthy();
    expect(screen.queryByText('Working…')).toBeNull();
  });

  it('shows an error that no message tells, once', async () => {
    holds(row(user('u1', 0), text('u1', 'Go')));
    chat();
    await screen.findByText('Go');
    act(() => { told(['session.error', { sessionID: id, error: { name: 'X', data: { message: 'Model not found' } } }]); });
    expect(screen.getAllByText('Model not found')).toHaveLength(1);
    const error = { name: 'UnknownError', data: { message: 'Model not found' } };
    act(() => { told(['message.updated', { info: { ...reply('a1', 1), sessionID: id, error } }]); });
    expect(screen.getAllByText('Model not found')).toHaveLength(1);
  });

  it('restores what was undone', async () => {
    holds(row(user('u1', 0), text('u1', 'One')), row(user('u2', 1), text('u2', 'Two')));
    host.answers[`GET /session/${id}`] = () => ({ body: session(id, { revert: { messageID: 'u2' } }) });
    host.answers[`POST /session/${id}/unrevert`] = () => ({ body: session(id) });
    chat();
    expect(await screen.findByText('1 message and its file changes are undone.')).toBeTruthy();
    expect(screen.getByRole('group', { name: 'Undone' }).textContent).toContain('Two');
    await userEvent.click(screen.getByRole('button', { name: 'Restore' }));
    await waitFor(() => { expect(screen.queryByRole('group', { name: 'Undone' })).toBeNull(); });
  });

  it('of a sub-agent leads back to its parent', async () => {
    holds();
    host.answers[`GET /session/${id}`] = () => ({ body: session(id, { parentID: 'ses_parent' }) });
    known([session('ses_parent', { title: 'The whole' })]);
    chat();
    await userEvent.click(await screen.findByRole('button', { name: 'Sub-agent of The whole' }));
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_parent' });
  });
});

describe('before the first message', () => {
  it('a hint becomes the draft', async () => {
    show(<Chat place={{ kind: 'draft', directory: '/demo' }} />);
    await userEvent.click(screen.getByRole('button', { name: /test fails/ }));
    expect(drafts.getState()['new:/demo']?.text).toBe('Find out why a test fails, and fix it');
  });
});
