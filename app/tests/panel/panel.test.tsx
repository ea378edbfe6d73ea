import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';

import type { ServerRequest } from '../../src/host/contract';
import { navigation } from '../../src/navigation';
import { Panel } from '../../src/panel/Panel';
import type { Session } from '../../src/server/state';
import { server } from '../../src/server/store';
import { answered, Refused, show, fakeHost } from '../settings/host';
import { assistant, session, todo } from './make';

const host = fakeHost();

/** What the server answers to a GET, by path. */
let routes: Record<string, () => unknown>;

beforeEach(() => {
  routes = { '/mcp': () => ({}) };
  host.answers['server_call'] = ({ request }) => {
    const route = routes[(request as ServerRequest).path];
    if (route === undefined) throw new Refused('notAllowed', (request as ServerRequest).path);
    return answered(route());
  };
  const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const big = { id: 'big', name: 'Big', contextLimit: 200_000, outputLimit: null, cost, variants: [], attachments: true, images: false, pdf: false, reasoning: true };
  host.answers['models'] = () => ({
    providers: [{ id: 'fake', name: 'Fake', models: [big, { ...big, id: 'endless', name: 'Endless', contextLimit: null, cost: null }] }],
    configured: null,
    agents: [],
  });
});

const PLACE = { kind: 'session', id: 'ses_1' } as const;
const TOKENS = { input: 18_000, output: 6_200, reasoning: 0, cache: { read: 410_000, write: 22_000 } };

function known(...sessions: Session[]): void {
  server.setState({
    connection: { kind: 'live' },
    listing: 'ready',
    sessions: Object.fromEntries(sessions.map((one) => [one.id, one])),
  });
}

function section(name: string): Promise<HTMLElement> {
  return screen.findByRole('button', { name: new RegExp(`^${name}`) });
}

test('the context is shown against what the model holds', async () => {
  known(session('ses_1'));
  const last = assistant('msg_1', { tokens: { ...TOKENS, total: 82_000 } });
  server.setState({
    transcripts: { ses_1: { phase: 'ready', failure: null, messages: [last], parts: {}, older: null } },
  });
  show(<Panel place={PLACE} />);
  expect(await screen.findByText('82K of 200K tokens')).toBeTruthy();
  expect(screen.getByRole('meter').getAttribute('aria-valuenow')).toBe('41');
  act(() => {
    const fuller = { ...last, tokens: { ...last.tokens, total: 190_000 } };
    server.setState({
      transcripts: { ses_1: { phase: 'ready', failure: null, messages: [fuller], parts: {}, older: null } },
    });
  });
  expect(screen.getByText(/Nearly full/)).toBeTruthy();
});

test('a model without a known limit shows the tokens alone', async () => {
  known(session('ses_1'));
  const last = assistant('msg_1', { modelID: 'endless', tokens: { ...TOKENS, total: 950 } });
  server.setState({
    transcripts: { ses_1: { phase: 'ready', failure: null, messages: [last], parts: {}, older: null } },
  });
  show(<Panel place={PLACE} />);
  expect(await screen.findByText('950 tokens')).toBeTruthy();
  expect(screen.queryByRole('meter')).toBeNull();
});

test('cost and tokens are those of the session with its sub-agents', async () => {
  known(
    session('ses_1', { cost: 0.42, tokens: TOKENS }),
    session('ses_2', { parentID: 'ses_1', cost: 0.84, tokens: TOKENS }),
  );
  show(<Panel place={PLACE} />);
  expect((await section('Cost')).textContent).toBe('Cost$1.26');
  expect(screen.getByText('$0.84')).toBeTruthy();
  expect(screen.getByText('912K')).toBeTruthy();
});

test('a model without a price is not said to be free', async () => {
  const model = { providerID: 'fake', id: 'endless' };
  known(session('ses_1', { cost: 0, tokens: TOKENS, model }));
  show(<Panel place={PLACE} />);
  expect(await screen.findByText('no price known')).toBeTruthy();
  expect(screen.queryByText('$0.00')).toBeNull();
});

test('a press on a sub-agent steps in', async () => {
  known(
    session('ses_1'),
    session('ses_2', { parentID: 'ses_1', title: 'Look around', agent: 'explore' }),
    session('ses_3', { parentID: 'ses_2', title: 'Deeper' }),
  );
  server.setState({ status: { ses_2: { type: 'busy' } } });
  const user = userEvent.setup();
  show(<Panel place={PLACE} />);
  expect((await section('Sub-agents')).textContent).toContain('1 of 2 running');
  await user.click(screen.getByRole('button', { name: /Look around/ }));
  expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_2' });
});

test('todos are listed with their states in words', async () => {
  known(session('ses_1'));
  server.setState({ todos: { ses_1: [todo('Quote', 'completed'), todo('Delimit', 'in_progress')] } });
  show(<Panel place={PLACE} />);
  expect((await section('Todos')).textContent).toBe('Todos1/2');
  expect(screen.getByText('In progress:')).toBeTruthy();
});

test('changed files are read, and again when more has changed', async () => {
  routes['/session/ses_1/diff'] = () => [
    { file: 'src/export.ts', additions: 12, deletions: 3, status: 'modified' },
  ];
  known(session('ses_1', { summary: { additions: 12, deletions: 3, files: 1 } }));
  show(<Panel place={PLACE} />);
  expect(await screen.findByText('export.ts')).toBeTruthy();
  routes['/session/ses_1/diff'] = () => [
    { file: 'README.md', additions: 1, deletions: 0, status: 'added' },
  ];
  act(() => {
    known(session('ses_1', { summary: { additions: 13, deletions: 3, files: 1 } }));
  });
  expect(await screen.findByText('README.md')).toBeTruthy();
  expect(screen.queryByText('export.ts')).toBeNull();
});

test('a list that cannot be read says so and is read again when asked', async () => {
  known(session('ses_1'));
  routes['/mcp'] = () => {
    throw new Refused('timedOut');
  };
  const user = userEvent.setup();
  show(<Panel place={PLACE} />);
  expect((await screen.findByRole('alert')).textContent).toContain('did not answer in time');
  routes['/mcp'] = () => ({ sentry: { status: 'failed', error: 'no such host' } });
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('no such host')).toBeTruthy();
  expect((await section('MCP servers')).textContent).toContain('0/1');
});

test('what is empty is left out', async () => {
  known(session('ses_1'));
  show(<Panel place={PLACE} />);
  await waitFor(() => {
    expect(screen.queryByText('Loading…')).toBeNull();
  });
  expect(screen.queryAllByRole('button')).toEqual([]);
  expect(screen.getByRole('complementary', { name: 'Work status' })).toBeTruthy();
});

test('a section folds and stays folded in another session', async () => {
  known(session('ses_1'), session('ses_2'));
  server.setState({ todos: { ses_1: [todo('Quote', 'pending')], ses_2: [todo('Other', 'pending')] } });
  const user = userEvent.setup();
  const { unmount } = show(<Panel place={PLACE} />);
  await user.click(await section('Todos'));
  unmount();
  show(<Panel place={{ kind: 'session', id: 'ses_2' }} />);
  expect((await section('Todos')).getAttribute('aria-expanded')).toBe('false');
});

test('before there is a session it says what will be here', () => {
  show(<Panel place={{ kind: 'draft', directory: null }} />);
  expect(screen.getByText(/Once a session works/)).toBeTruthy();
});

test('a session that is gone is said to be', () => {
  show(<Panel place={{ kind: 'session', id: 'ses_9' }} />);
  expect(screen.getByText(/not known/)).toBeTruthy();
});
