import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';

import { Requests } from '../../src/chat/cards/Requests';
import { navigation } from '../../src/navigation';
import { server } from '../../src/server/store';
import { permission, question, session, SESSION } from './make';
import { known, show, told, chatHost } from './host';

const host = chatHost();

beforeEach(() => {
  known([session(SESSION), session('ses_2', { parentID: SESSION, title: 'Look around' })]);
  host.answers['POST /permission/per_1/reply'] = () => ({ body: true });
  host.answers['POST /question/que_1/reply'] = () => ({ body: true });
  host.answers['POST /question/que_1/reject'] = () => ({ body: true });
});

const button = (name: string): HTMLElement => screen.getByRole('button', { name });

function asks(what: ReturnType<typeof permission> | ReturnType<typeof question>): void {
  act(() => {
    told(['questions' in what ? 'question.asked' : 'permission.asked', what]);
  });
}

describe('a permission request', () => {
  it('says what it is about and what "always" would mean', () => {
    show(<Requests id={SESSION} />);
    asks(permission());
    expect(screen.getByRole('region', { name: 'The agent wants to run a command' })).toBeTruthy();
    expect(screen.getByText('$ npm publish')).toBeTruthy();
    expect(screen.getByText('npm publish *')).toBeTruthy();
  });

  it.each([
    ['Allow once', { reply: 'once' }],
    ['Always', { reply: 'always' }],
    ['Deny', { reply: 'reject' }],
  ])('is answered by "%s", and goes', async (name, body) => {
    show(<Requests id={SESSION} />);
    asks(permission());
    await userEvent.click(button(name));
    expect(host.asked).toEqual([{ call: 'POST /permission/per_1/reply', body }]);
    await waitFor(() => { expect(screen.queryByRole('button')).toBeNull(); });
  });

  it('is denied with words, by keyboard alone', async () => {
    show(<Requests id={SESSION} />);
    asks(permission());
    button('Deny and say why…').focus();
    await userEvent.keyboard('{Enter}Use the dry run{Enter}');
    expect(host.asked).toEqual([
      { call: 'POST /permission/per_1/reply', body: { reply: 'reject', message: 'Use the dry run' } },
    ]);
  });

  it('offers no "always" where there is nothing it could mean', () => {
    show(<Requests id={SESSION} />);
    asks(permission({ always: [] }));
    expect(screen.queryByRole('button', { name: 'Always' })).toBeNull();
  });

  it('of a sub-agent shows in the parent and leads to it', async () => {
    show(<Requests id={SESSION} />);
    asks(permission({ sessionID: 'ses_2' }));
    await userEvent.click(button('from Look around'));
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_2' });
  });

  it('of another session does not show', () => {
    show(<Requests id="ses_2" />);
    asks(permission());
    expect(screen.queryByRole('button')).toBeNull();
  });

  it('shows the change that it is about', () => {
    show(<Requests id={SESSION} />);
    const diff = '--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n';
    asks(permission({ permission: 'edit', metadata: { filepath: '/demo/a.ts', diff }, always: [] }));
    expect(screen.getByText('a.ts')).toBeTruthy();
    expect(screen.getByText('new')).toBeTruthy();
  });

  it('stays when it could not be answered, and says so', async () => {
    host.answers['POST /permission/per_1/reply'] = () => ({ status: 500, body: { message: 'broken' } });
    show(<Requests id={SESSION} />);
    asks(permission());
    await userEvent.click(button('Allow once'));
    expect(await screen.findByText('OpenCode refused: broken')).toBeTruthy();
    expect(server.getState().permissions['per_1']).toBeDefined();
    await waitFor(() => { expect(button('Allow once')).toHaveProperty('disabled', false); });
  });

  it('that was answered elsewhere goes without a word', async () => {
    host.answers['POST /permission/per_1/reply'] = () => ({ status: 404, body: { message: 'gone' } });
    show(<Requests id={SESSION} />);
    asks(permission());
    await userEvent.click(button('Deny'));
    await waitFor(() => { expect(server.getState().permissions['per_1']).toBeUndefined(); });
    expect(screen.queryByText(/gone/)).toBeNull();
  });
});

describe('a question', () => {
  const answered = (answers: string[][]): unknown => [{ call: 'POST /question/que_1/reply', body: { answers } }];

  it('takes one choice, and none before it was made', async () => {
    show(<Requests id={SESSION} />);
    asks(question());
    expect(button('Answer')).toHaveProperty('disabled', true);
    await userEvent.click(screen.getByRole('radio', { name: /^A/ }));
    await userEvent.click(screen.getByRole('radio', { name: /^B/ }));
    await userEvent.click(button('Answer'));
    expect(host.asked).toEqual(answered([['B']]));
  });

  it('takes several where it may', async () => {
    show(<Requests id={SESSION} />);
    asks(question({ multiple: true }));
    await userEvent.click(screen.getByRole('checkbox', { name: /^C/ }));
    await userEvent.click(screen.getByRole('checkbox', { name: /^A/ }));
    await userEvent.click(screen.getByRole('checkbox', { name: /^C/ }));
    await userEvent.type(screen.getByRole('textbox'), 'and D');
    await userEvent.click(button('Answer'));
    expect(host.asked).toEqual(answered([['A', 'and D']]));
  });

  it('takes own words in place of a choice', async () => {
    show(<Requests id={SESSION} />);
    asks(question());
    await userEvent.click(screen.getByRole('radio', { name: /^A/ }));
    await userEvent.type(screen.getByRole('textbox'), ' none of them {Enter}');
    expect(host.asked).toEqual(answered([['none of them']]));
  });

  it('takes no own words where it wants none', () => {
    show(<Requests id={SESSION} />);
    asks(question({ custom: false }));
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  it('can be left unanswered', async () => {
    show(<Requests id={SESSION} />);
    asks(question());
    await userEvent.click(button('Do not answer'));
    expect(host.asked.map(({ call }) => call)).toEqual(['POST /question/que_1/reject']);
    await waitFor(() => { expect(screen.queryByRole('button', { name: 'Answer' })).toBeNull(); });
  });
});
