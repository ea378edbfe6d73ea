import { act, createEvent, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import axe from 'axe-core';
import { beforeEach, describe, expect, it } from 'vitest';

import { queueOf } from '../../src/composer/queue';
import { drafts, flushDrafts, loadDrafts } from '../../src/drafts';
import { navigation } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { server } from '../../src/server/store';
import { deferred, session } from '../server/fixtures';
import { DIRECTORY, draw, fakeHost, prompts, Status, texts, work, type Fake } from './fake';

let fake: Fake;
let user: UserEvent;

beforeEach(() => {
  fake = fakeHost();
  user = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
});

const text = (): HTMLTextAreaElement => screen.getByLabelText('Message to the agent');
const button = (name: RegExp | string): HTMLElement => screen.getByRole('button', { name });
const said = (wanted: RegExp): Promise<HTMLElement[]> => screen.findAllByText(wanted);

function startDraft(directory: string | null): void {
  navigation.setState({ place: { kind: 'draft', directory } });
}

describe('sending', () => {
  it('is done by Enter, with what the session was last sent with; Shift+Enter starts a line', async () => {
    draw();
    await user.type(text(), 'one{Shift>}{Enter}{/Shift}two{Enter}');
    await waitFor(() => { expect(texts(fake)).toEqual(['one\ntwo']); });
    expect(prompts(fake)[0]).toMatchObject({ agent: 'build', model: { providerID: 'fake', modelID: 'big' } });
    expect(text().value).toBe('');
  });

  it('is done by Ctrl+Enter where Enter is to start a line', async () => {
    preferences.setState({ sendWithEnter: false });
    draw();
    await user.type(text(), 'one{Enter}two');
    expect(texts(fake)).toEqual([]);
    await user.type(text(), '{Control>}{Enter}{/Control}');
    await waitFor(() => { expect(texts(fake)).toEqual(['one\ntwo']); });
  });

  it('is not done by the Enter that ends a composition', async () => {
    draw();
    await user.type(text(), 'にほん');
    fireEvent.keyDown(text(), { key: 'Enter', isComposing: true });
    fireEvent.keyDown(text(), { key: 'Enter', keyCode: 229 });
    expect(text().value).toBe('にほん');
    fireEvent.keyDown(text(), { key: 'Enter' });
    await waitFor(() => { expect(texts(fake)).toEqual(['にほん']); });
  });

  it('gives the text back where the server refuses, and says why', async () => {
    fake.routes['POST /session/ses_a/prompt_async'] = () => new Status(500);
    draw();
    await user.type(text(), 'one{Enter}');
    await said(/the server would not/);
    expect(text().value).toBe('one');
  });

  it('puts a text that failed before what was typed since', async () => {
    const answer = deferred<unknown>();
    fake.routes['POST /session/ses_a/prompt_async'] = () => answer.promise;
    draw();
    await user.type(text(), 'one{Enter}two');
    answer.resolve(new Status(500));
    await waitFor(() => { expect(text().value).toBe('one\n\ntwo'); });
  });

  it('waits without a line, and says so; the text can be typed', async () => {
    server.setState({ connection: { kind: 'away', since: 0, nextTryAt: null } });
    draw();
    await user.type(text(), 'one{Enter}');
    expect(text().value).toBe('one');
    expect(button('Send').hasAttribute('disabled')).toBe(true);
    expect(text().getAttribute('aria-describedby')).toBe(screen.getByText(/is not connected/).id);
    act(() => { server.setState({ connection: { kind: 'live' } }); });
    await user.click(button('Send'));
    await waitFor(() => { expect(texts(fake)).toEqual(['one']); });
  });
});

describe('a draft', () => {
  it('is kept per session, and is there after a reload', async () => {
    const { unmount } = draw();
    await user.type(text(), 'not yet');
    act(() => { navigation.setState({ place: { kind: 'session', id: 'ses_b' } }); });
    expect(text().value).toBe('');
    await flushDrafts();
    unmount();
    drafts.setState({}, true);
    await loadDrafts();
    navigation.setState({ place: { kind: 'session', id: 'ses_a' } });
    draw();
    expect(text().value).toBe('not yet');
  });

  it('is kept when the page goes', async () => {
    await loadDrafts();
    draw();
    await user.type(text(), 'not yet');
    window.dispatchEvent(new Event('pagehide'));
    await waitFor(() => { expect(fake.kept['ses_a']?.text).toBe('not yet'); });
  });

  it('stays kept by the host until the server has the message', async () => {
    const answer = deferred<unknown>();
    fake.routes['POST /session/ses_a/prompt_async'] = () => answer.promise;
    draw();
    await user.type(text(), 'one');
    await flushDrafts();
    await user.type(text(), '{Enter}');
    expect(fake.kept['ses_a']?.text).toBe('one');
    answer.resolve(true);
    await waitFor(() => { expect(fake.kept).toEqual({}); });
  });
});

describe('a new session', () => {
  it('is made in the folder used last, gets the message and is opened', async () => {
    preferences.setState({ lastDirectory: DIRECTORY });
    startDraft(null);
    draw();
    await user.type(text(), 'begin{Enter}');
    await waitFor(() => { expect(texts(fake, 'ses_new')).toEqual(['begin']); });
    expect(fake.posted[0]?.route).toBe('POST /session');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_new' });
    expect(text().value).toBe('');
  });

  it('that is not made keeps the text where it is', async () => {
    fake.routes['POST /session'] = () => new Status(500);
    startDraft(DIRECTORY);
    draw();
    await user.type(text(), 'begin{Enter}');
    await said(/was not created/);
    expect(text().value).toBe('begin');
    expect(navigation.getState().place.kind).toBe('draft');
  });

  it('that is made but gets no message has the text', async () => {
    fake.routes['POST /session/ses_new/prompt_async'] = () => new Status(500);
    startDraft(DIRECTORY);
    draw();
    await user.type(text(), 'begin{Enter}');
    await said(/was created, but your message was not sent/);
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_new' });
    expect(text().value).toBe('begin');
  });

  it('needs a folder, which can be chosen; the text goes along', async () => {
    fake.folder = '/home/me/other';
    startDraft(null);
    draw();
    await user.type(text(), 'begin');
    expect(button('Send').hasAttribute('disabled')).toBe(true);
    await user.click(button(/Choose a project folder/));
    await user.click(await screen.findByRole('menuitem', { name: /another folder/ }));
    await waitFor(() => { expect(navigation.getState().place).toEqual({ kind: 'draft', directory: '/home/me/other' }); });
    expect(text().value).toBe('begin');
    await user.click(text());
    await user.keyboard('{Enter}');
    await waitFor(() => { expect(texts(fake, 'ses_new')).toEqual(['begin']); });
  });
});

describe('a command', () => {
  it('of the server is run, and its turn is not waited for', async () => {
    const answer = deferred<unknown>();
    fake.routes['POST /session/ses_a/command'] = () => answer.promise;
    draw();
    await user.type(text(), '/review main  branch{Enter}');
    await waitFor(() => { expect(fake.posted[0]?.route).toBe('POST /session/ses_a/command'); });
    expect(fake.posted[0]?.body).toMatchObject({ command: 'review', arguments: 'main  branch', agent: 'build', model: 'fake/big' });
    await user.type(text(), 'next');
    expect(text().value).toBe('next');
    answer.resolve(true);
  });

  it('that is refused comes back', async () => {
    fake.routes['POST /session/ses_a/command'] = () => new Status(500);
    draw();
    await user.type(text(), '/review main{Enter}');
    await said(/the server would not/);
    expect(text().value).toBe('/review main');
  });

  it('that failed after its turn began does not', async () => {
    const answer = deferred<unknown>();
    fake.routes['POST /session/ses_a/command'] = () => answer.promise;
    draw();
    await user.type(text(), '/review main{Enter}');
    await waitFor(() => { expect(fake.posted).toHaveLength(1); });
    act(() => { work(true); });
    answer.resolve(new Status(500));
    await said(/the server would not/);
    expect(text().value).toBe('');
  });

  it('that the server does not have is a message', async () => {
    draw();
    await user.type(text(), '/home/ada is full{Enter}');
    await waitFor(() => { expect(texts(fake)).toEqual(['/home/ada is full']); });
  });

  it('is no message while the list of commands is not known', async () => {
    fake.routes['GET /command'] = () => new Status(500);
    server.setState({ sessions: { ses_a: session('ses_a', { directory: '/home/me/unknown' }) } });
    draw();
    await user.type(text(), '/review main{Enter}');
    await said(/the server would not/);
    expect(text().value).toBe('/review main');
    expect(fake.posted).toEqual([]);
  });

  it('of the page condenses the session', async () => {
    draw();
    await user.type(text(), '/compact{Enter}');
    await waitFor(() => { expect(fake.posted[0]?.route).toBe('POST /session/ses_a/summarize'); });
    expect(fake.posted[0]?.body).toEqual({ providerID: 'fake', modelID: 'big' });
    expect(text().value).toBe('');
  });

  it('of the page undoes the last message, whose text comes back', async () => {
    const part = { id: 'prt_1', sessionID: 'ses_a', messageID: 'msg_1', type: 'text' as const, text: 'Do it.' };
    const { transcripts } = server.getState();
    const transcript = transcripts['ses_a'];
    if (transcript === undefined) throw new Error('the session has no transcript');
    server.setState({ transcripts: { ses_a: { ...transcript, parts: { msg_1: [part] } } } });
    fake.routes['POST /session/ses_a/revert'] = () => session('ses_a', { revert: { messageID: 'msg_1' } });
    draw();
    await user.type(text(), '/undo{Enter}');
    await waitFor(() => { expect(text().value).toBe('Do it.'); });
    expect(fake.posted).toEqual([{ route: 'POST /session/ses_a/revert', body: { messageID: 'msg_1' } }]);
  });

  it('of the page begins a new session in the same folder', async () => {
    draw();
    await user.type(text(), '/new{Enter}');
    await waitFor(() => { expect(navigation.getState().place).toEqual({ kind: 'draft', directory: DIRECTORY }); });
    expect(fake.posted).toEqual([]);
  });

  it('of the page that needs an idle session comes back while it works', async () => {
    work(true);
    draw();
    await user.type(text(), '/compact{Enter}');
    await said(/works when the agent is idle/);
    expect(text().value).toBe('/compact');
    expect(fake.posted).toEqual([]);
  });
});

describe('the completion', () => {
  it('of commands is a listbox that the keys move in; Escape closes it', async () => {
    draw();
    await user.type(text(), '/re');
    const list = await screen.findByRole('listbox', { name: 'Commands' });
    await waitFor(() => { expect(within(list).getAllByRole('option')).toHaveLength(2); });
    expect(text().getAttribute('role')).toBe('combobox');
    expect(text().getAttribute('aria-controls')).toBe(list.id);
    await user.keyboard('{ArrowDown}');
    const active = within(list).getByRole('option', { selected: true });
    expect(active.textContent).toContain('/review');
    expect(text().getAttribute('aria-activedescendant')).toBe(active.id);
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(text().getAttribute('role')).toBeNull();
    await user.keyboard('{Backspace}{Backspace}r');
    expect(screen.queryByRole('listbox')).toBeNull();
  });

  it('puts the command into the text, and the next Enter sends it', async () => {
    draw();
    await user.type(text(), '/rev');
    await screen.findByRole('option', { name: /\/review/ });
    await user.keyboard('{Enter}');
    expect(text().value).toBe('/review ');
    expect(fake.posted).toEqual([]);
    await user.keyboard('{Enter}');
    await waitFor(() => { expect(fake.posted[0]?.route).toBe('POST /session/ses_a/command'); });
  });

  it('of files names one in the text, and it goes along', async () => {
    draw();
    await user.type(text(), 'see @exp');
    const options = await screen.findAllByRole('option');
    expect(options.map(({ textContent }) => textContent)).toEqual(['export.tssrc/', 'src/']);
    await user.keyboard('{Tab}please{Enter}');
    await waitFor(() => { expect(prompts(fake)).toHaveLength(1); });
    const value = '@src/export.ts';
    expect(prompts(fake)[0]?.['parts']).toEqual([
      { type: 'text', text: `see ${value} please` },
      {
        type: 'file',
        mime: 'text/plain',
        filename: 'src/export.ts',
        url: `file://${DIRECTORY}/src/export.ts`,
        source: { type: 'file', path: 'src/export.ts', text: { value, start: 4, end: 18 } },
      },
    ]);
  });

  it('drops the answer to what is no longer asked', async () => {
    const late = deferred<unknown>();
    fake.routes['GET /find/file'] = ({ query }) =>
      query.some(([key, value]) => key === 'query' && value === 'a') ? late.promise : ['b.ts'];
    draw();
    await user.type(text(), '@a');
    await waitFor(() => { expect(screen.getByText('Searching…')).toBeTruthy(); });
    await new Promise((resolve) => setTimeout(resolve, 150));
    await user.type(text(), 'b');
    await screen.findByRole('option', { name: /b\.ts/ });
    await act(async () => {
      late.resolve(['a.ts']);
      await late.promise;
    });
    expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['b.ts']);
  });
});

describe('while the session works', () => {
  beforeEach(() => { work(true); });

  it('messages wait in sight, can be taken back and removed', async () => {
    draw();
    await user.type(text(), 'one{Enter}two{Enter}');
    const list = screen.getByRole('region', { name: '2 queued messages' });
    expect(within(list).getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual(['Queued: one', 'Queued: two']);
    expect(texts(fake)).toEqual([]);
    await user.click(within(list).getAllByRole('button', { name: 'Take back to edit' })[0] ?? list);
    expect(text().value).toBe('one');
    await user.click(within(list).getByRole('button', { name: 'Remove from the queue' }));
    expect(queueOf('ses_a').entries).toEqual([]);
  });

  it('a stop holds them, and says so', async () => {
    draw();
    await user.type(text(), 'one{Enter}');
    await user.keyboard('{Control>}.{/Control}');
    await waitFor(() => { expect(fake.posted[0]?.route).toBe('POST /session/ses_a/abort'); });
    expect(screen.getByText(/Held: the turn was stopped/)).toBeTruthy();
    act(() => { work(false); });
    await user.click(button('Resume'));
    await waitFor(() => { expect(texts(fake)).toEqual(['one']); });
  });

  it('there is a button to stop', async () => {
    draw();
    await user.click(button(/^Stop/));
    await waitFor(() => { expect(fake.posted[0]?.route).toBe('POST /session/ses_a/abort'); });
  });
});

describe('what it is sent with', () => {
  it('is chosen from lists, remembered, and goes along', async () => {
    draw();
    await user.click((await screen.findAllByRole('button', { name: 'Agent: build' }))[0] ?? text());
    await user.click(await screen.findByRole('menuitemradio', { name: /plan/ }));
    await user.click(button('Model: Big'));
    await user.type(await screen.findByPlaceholderText('Search models'), 'blind{Enter}');
    expect(preferences.getState()).toMatchObject({ agent: 'plan', model: { modelId: 'blind' } });
    await user.type(text(), 'one{Enter}');
    await waitFor(() => { expect(prompts(fake)[0]).toMatchObject({ agent: 'plan', model: { modelID: 'blind' } }); });
  });

  it('shows price and context of the models', async () => {
    draw();
    await user.click(await screen.findByRole('button', { name: 'Model: Big' }));
    const option = await screen.findByRole('option', { name: /Big/ });
    expect(option.textContent).toContain('$3 / $15 per 1M · 200K context');
  });
});

describe('files', () => {
  const image = new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' });

  it('are pasted, shown and sent; a refused one is told', async () => {
    draw();
    const paste = createEvent.paste(text(), { clipboardData: { files: [image, new File([new Uint8Array([0])], 'a.bin')], types: ['Files'] } });
    fireEvent(text(), paste);
    expect(paste.defaultPrevented).toBe(true);
    expect((await screen.findByRole('list', { name: 'Attached files' })).textContent).toContain('a.png');
    await said(/a\.bin was not attached/);
    await user.click(button('Send'));
    await waitFor(() => { expect(prompts(fake)[0]?.['parts']).toEqual([
      { type: 'file', mime: 'image/png', filename: 'a.png', url: 'data:image/png;base64,AQID' },
    ]); });
  });

  it('can be dropped anywhere in the window, and removed', async () => {
    draw();
    fireEvent.drop(document.body, { dataTransfer: { files: [image], types: ['Files'] } });
    await user.click(await screen.findByRole('button', { name: 'Remove a.png' }));
    expect(screen.queryByRole('list', { name: 'Attached files' })).toBeNull();
  });

  it('that the model does not read are warned of', async () => {
    preferences.setState({ model: { providerId: 'fake', modelId: 'blind', variant: null } });
    startDraft(DIRECTORY);
    draw();
    fireEvent.drop(document.body, { dataTransfer: { files: [image], types: ['Files'] } });
    await screen.findByText(/Blind does not read images/);
    expect(button('Send').hasAttribute('disabled')).toBe(false);
  });
});

it('has nothing that axe finds serious, with a list open and without', async () => {
  const { container } = draw();
  const serious = async (): Promise<string[]> => {
    const { violations } = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } });
    return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id);
  };
  expect(await serious()).toEqual([]);
  await user.type(text(), '/');
  await screen.findByRole('listbox');
  expect(await serious()).toEqual([]);
});
