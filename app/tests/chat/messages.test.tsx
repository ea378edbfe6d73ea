import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AssistantRow } from '../../src/chat/AssistantRow';
import { Markdown } from '../../src/chat/markdown/Markdown';
import { Foot, Retrying } from '../../src/chat/Marks';
import { forkFrom, revertTo } from '../../src/chat/messageActions';
import { totalsOf } from '../../src/chat/rows';
import { Tool } from '../../src/chat/tools/Tool';
import { UserRow } from '../../src/chat/UserRow';
import { drafts } from '../../src/drafts';
import { navigation } from '../../src/navigation';
import type { Message, Part } from '../../src/server/state';
import { server } from '../../src/server/store';
import { permission, reply, session, SESSION, text, tool, user } from './make';
import { known, show, told, chatHost } from './host';

const host = chatHost();

function loaded(...messages: [Message, ...Part[]][]): void {
  server.setState({
    transcripts: {
      [SESSION]: {
        phase: 'ready',
        failure: null,
        messages: messages.map(([message]) => message),
        parts: Object.fromEntries(messages.map(([message, ...parts]) => [message.id, parts])),
        older: null,
      },
    },
  });
}

describe('text of a model', () => {
  it('is never HTML', () => {
    const { container } = show(<Markdown text={'<img src=x onerror=alert(1)> <b>bold</b>\n\n<script>x</script>'} />);
    expect(container.querySelector('img, b, script')).toBeNull();
    expect(screen.getByText(/<b>bold<\/b>/)).toBeTruthy();
  });

  it('opens addresses of the web outside, says where they lead, and follows no others', async () => {
    show(<Markdown text="[here](https://example.com/a) [there](src/a.ts) [run](javascript:alert(1))" />);
    await userEvent.click(screen.getByRole('link'));
    expect(host.opened).toEqual(['https://example.com/a']);
    expect(screen.getByRole('link').title).toBe('https://example.com/a');
    expect(screen.getByText('there').tagName).toBe('SPAN');
  });

  it('loads no picture', () => {
    const { container } = show(<Markdown text="![a chart](https://example.com/a.png)" />);
    expect(container.querySelector('img')).toBeNull();
    expect(screen.getByRole('link', { name: 'Picture: a chart' })).toBeTruthy();
  });

  it('copies code as it is', async () => {
    const user = userEvent.setup();
    show(<Markdown text={'```ts\nconst a = 1;\n\nconst b = 2;\n```'} />);
    await user.click(screen.getByRole('button', { name: 'Copy code' }));
    expect(await navigator.clipboard.readText()).toBe('const a = 1;\n\nconst b = 2;');
  });
});

describe('a growing text', () => {
  afterEach(() => { vi.useRealTimers(); });

  it('is drawn in paces, keeps what is done and ends with all of it', () => {
    vi.useFakeTimers();
    const page = (words: string): ReactNode => <Markdown text={words} />;
    const { container, rerender } = render(page('First.\n\nSec'));
    const first = container.querySelector('p');
    rerender(page('First.\n\nSecond'));
    expect(screen.queryByText('Second')).toBeNull();
    rerender(page('First.\n\nSecond one.'));
    act(() => { vi.advanceTimersByTime(50); });
    expect(screen.getByText('Second one.')).toBeTruthy();
    expect(container.querySelector('p')).toBe(first);
  });
});

describe('a user message', () => {
  it('folds what the app added', async () => {
    const added = text('u1', 'Goal mode is on.', { id: 'prt_x', synthetic: true });
    loaded([user('u1', 0), text('u1', 'Do **it**.'), added]);
    show(<UserRow message={user('u1', 0)} />);
    expect(screen.getByText('Do **it**.')).toBeTruthy();
    expect(screen.queryByText('Goal mode is on.')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Added by the app' }));
    expect(screen.getByText('Goal mode is on.')).toBeTruthy();
  });

  it('that the goal sent is one quiet line', () => {
    const prompt =
      'Keep working toward the active goal of this session. Your last reply was empty: go on.\n\n<objective>\nx\n</objective>\n\nThis is automatic continuation 3 of at most 20.';
    loaded([user('u2', 0), text('u2', prompt)]);
    show(<UserRow message={user('u2', 0)} />);
    const line = screen.getByRole('button', { name: /Continued by the goal · the reply was empty/ });
    expect(line.textContent).toContain('3 of 20');
    expect(line.getAttribute('aria-expanded')).toBe('false');
  });

  it('that is long is cut until it is asked for', async () => {
    loaded([user('u3', 0), text('u3', Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n'))]);
    show(<UserRow message={user('u3', 0)} />);
    expect(screen.queryByText(/line 39/)).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
    expect(screen.getByText(/line 39/)).toBeTruthy();
  });
});

describe('a reply', () => {
  it('says its error, a stop and a crash', () => {
    const error = { name: 'UnknownError' as const, data: { message: 'No credit left' } };
    const aborted = { name: 'MessageAbortedError' as const, data: { message: 'Aborted' } };
    const crashed = reply('a3', 2, { time: { created: 2 }, finish: undefined });
    loaded([reply('a1', 0)], [reply('a2', 1)], [crashed]);
    show(
      <>
        <AssistantRow message={reply('a1', 0, { error })} last={false} next="a2" />
        <AssistantRow message={reply('a2', 1, { error: aborted })} last={false} next="a3" />
        <AssistantRow message={crashed} last next={null} />
      </>,
    );
    expect(screen.getByText('No credit left')).toBeTruthy();
    expect(screen.getByText('Stopped')).toBeTruthy();
    expect(screen.getByText(/^Interrupted/)).toBeTruthy();
  });

  it('folds its reasoning and shows its text', () => {
    const reasoning = { ...text('a1', 'deep thoughts'), id: 'r', type: 'reasoning' as const, time: { start: 0, end: 4_200 } };
    loaded([reply('a1', 0), reasoning, text('a1', 'The answer.')]);
    show(<AssistantRow message={reply('a1', 0)} last next={null} />);
    expect(screen.getByRole('button', { name: 'Thought for 4.2s' })).toBeTruthy();
    expect(screen.queryByText('deep thoughts')).toBeNull();
    expect(screen.getByText('The answer.')).toBeTruthy();
  });

  it('ends a turn with what it took', () => {
    const totals = totalsOf([reply('a', 1_000, { cost: 0.1234, variant: 'high' })], 0);
    if (totals === null) throw new Error('no totals');
    show(<Foot totals={totals} />);
    expect(screen.getByText('big high')).toBeTruthy();
    expect(screen.getByText('$0.12')).toBeTruthy();
    expect(screen.getByText('2 tokens')).toBeTruthy();
  });
});

describe('a tool call', () => {
  it('is one line that unfolds to its command and output', async () => {
    show(<Tool part={tool('bash', { input: { command: 'npm test' }, output: 'one failed', metadata: { exit: 1 } })} />);
    const line = screen.getByRole('button', { name: /bash.*npm test.*exit 1.*2.3s/ });
    expect(screen.getByRole('img', { name: 'Failed' })).toBeTruthy();
    await userEvent.click(line);
    expect(screen.getByText('$ npm test')).toBeTruthy();
    expect(screen.getByText('one failed')).toBeTruthy();
  });

  it('bounds its output until all of it is asked for', async () => {
    const output = Array.from({ length: 200 }, (_, at) => `row ${at + 1}`).join('\n');
    show(<Tool part={{ ...tool('grep', { output }), id: 'prt_long' }} />);
    await userEvent.click(screen.getByRole('button', { name: /grep/ }));
    expect(screen.queryByText(/row 200/)).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show all (200 lines)' }));
    expect(screen.getByText(/row 200/)).toBeTruthy();
  });

  it('of an unknown tool shows input and output as text', async () => {
    show(<Tool part={tool('jira_search', { input: { query: 'CSV' }, output: '<b>none</b>' })} />);
    await userEvent.click(screen.getByRole('button', { name: /jira_search/ }));
    expect(screen.getByText(/"query": "CSV"/)).toBeTruthy();
    expect(screen.getByText('<b>none</b>')).toBeTruthy();
  });

  it('of a sub-agent says how it stands and steps into it', async () => {
    known([session(SESSION), session('ses_2', { parentID: SESSION })]);
    show(<Tool part={tool('task', { status: 'running', input: { description: 'Look' }, metadata: { sessionId: 'ses_2' } })} />);
    act(() => { told(['session.status', { sessionID: 'ses_2', status: { type: 'busy' } }]); });
    expect(screen.getByText('Working')).toBeTruthy();
    act(() => { told(['permission.asked', permission({ sessionID: 'ses_2' })]); });
    expect(screen.getByText('Waits for you')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Open' }));
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_2' });
  });
});

describe('a retry', () => {
  afterEach(() => { vi.useRealTimers(); });

  it('counts down to its next try', () => {
    vi.useFakeTimers({ now: 1_000_000 });
    show(<Retrying message="Rate limit" attempt={3} next={1_002_500} />);
    expect(screen.getByText('The provider failed (try 3); again in 3s')).toBeTruthy();
    act(() => { vi.advanceTimersByTime(1_000); });
    expect(screen.getByText('The provider failed (try 3); again in 2s')).toBeTruthy();
    act(() => { vi.advanceTimersByTime(2_000); });
    expect(screen.getByText('The provider failed (try 3); trying again')).toBeTruthy();
  });
});

describe('the menu of a message', () => {
  it('reverts to a prompt and gives its words back', async () => {
    loaded([user('u1', 0), text('u1', 'Do it.')]);
    drafts.setState({}, true);
    host.answers[`POST /session/${SESSION}/revert`] = () => ({
      body: session(SESSION, { revert: { messageID: 'u1' } }),
    });
    await revertTo(user('u1', 0));
    expect(host.asked[0]?.body).toEqual({ messageID: 'u1' });
    expect(server.getState().sessions[SESSION]?.revert?.messageID).toBe('u1');
    expect(drafts.getState()[SESSION]?.text).toBe('Do it.');
  });

  it('does not write over what is being written', async () => {
    loaded([user('u1', 0), text('u1', 'Do it.')]);
    drafts.setState({ [SESSION]: { text: 'mine', attachments: [], armed: false, budget: null } }, true);
    host.answers[`POST /session/${SESSION}/revert`] = () => ({ body: session(SESSION) });
    await revertTo(user('u1', 0));
    expect(drafts.getState()[SESSION]?.text).toBe('mine');
  });

  it('forks with a reply, and before a prompt', async () => {
    loaded([user('u1', 0), text('u1', 'Do it.')], [reply('a1', 1)]);
    host.answers[`POST /session/${SESSION}/fork`] = () => ({ body: session('ses_copy') });
    await forkFrom(reply('a1', 1), 'u2');
    await forkFrom(reply('a1', 1), null);
    await forkFrom(user('u1', 0), null);
    expect(host.asked.map(({ body }) => body)).toEqual([{ messageID: 'u2' }, null, { messageID: 'u1' }]);
    expect(drafts.getState()['ses_copy']?.text).toBe('Do it.');
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_copy' });
  });
});
