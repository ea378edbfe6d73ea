import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import axe from 'axe-core';
import { beforeEach, describe, expect, it } from 'vitest';

import { Actions } from '../../src/chat/Actions';
import { chosen } from '../../src/composer/choice';
import { Overlays } from '../../src/frame/Overlays';
import type { ServerRequest } from '../../src/host/contract';
import { navigation, openOrigin } from '../../src/navigation';
import type { Origin } from '../../src/origins/origin';
import { DEFAULTS, preferences } from '../../src/preferences';
import { server } from '../../src/server/store';
import { MODELS } from '../composer/fake';
import { answered, Backend, know, refusal, session, show } from '../goal/backend';
import { assistant } from '../server/fixtures';

let backend: Backend;
let user: UserEvent;
let posted: { route: string; body: unknown }[];
let routes: Record<string, (request: ServerRequest) => unknown>;

beforeEach(() => {
  backend = new Backend();
  user = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
  posted = [];
  routes = {
    'GET /vcs': () => ({ branch: 'main' }),
    'POST /session': () => session({ id: 'ses_new', title: 'New' }),
  };
  chosen.setState({}, true);
  preferences.setState(DEFAULTS, true);
  know(session());
  navigation.setState({ place: { kind: 'session', id: 'ses_a' } });
  backend.answers['models'] = () => MODELS;
  backend.answers['server_call'] = ({ request }) => {
    const asked = request as ServerRequest;
    const route = `${asked.method} ${asked.path}`;
    if (asked.method !== 'GET') posted.push({ route, body: JSON.parse(asked.body ?? 'null') });
    const answer = routes[route]?.(asked) ?? true;
    return answer instanceof ArrayBuffer || answer instanceof Promise ? answer : answered(answer);
  };
});

const ANSWER: Origin = { kind: 'answer', sessionId: 'ses_a', directory: '/w', text: 'Quote every field.' };

async function opened(origin: Origin): Promise<HTMLElement> {
  show(<Overlays />);
  act(() => { openOrigin(origin); });
  return screen.findByRole('dialog');
}

const field = (): HTMLTextAreaElement => screen.getByLabelText('Instructions');
const button = (name: string): HTMLElement => screen.getByRole('button', { name });
const toggle = (name: string): HTMLElement => screen.getByRole('switch', { name });
const sent = (): { parts: { text: string }[] } =>
  posted.find(({ route }) => route.endsWith('prompt_async'))?.body as { parts: { text: string }[] };

describe('from an answer', () => {
  it('proposes instructions for what they are for, until they were changed', async () => {
    await opened(ANSWER);
    expect(field().value).toMatch(/wait for my approval/);
    await user.click(toggle('Run as goal'));
    expect(field().value).toMatch(/do not wait for approval/);
    await user.click(toggle('Run as goal'));
    await user.type(field(), ' Be brief.');
    await user.click(toggle('Run as goal'));
    expect(field().value).toMatch(/wait for my approval before you change anything\. Be brief\.$/);
  });

  it('brought back to what was proposed, they change again', async () => {
    await opened(ANSWER);
    await user.type(field(), 'x{Backspace}');
    await user.click(toggle('Run as goal'));
    expect(field().value).toMatch(/do not wait for approval/);
  });

  it('sends them with the answer to a new session, and goes there', async () => {
    await opened(ANSWER);
    await user.click(button('Start session'));
    await waitFor(() => { expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_new' }); });
    expect(navigation.getState().overlay).toBeNull();
    expect(posted.map(({ route }) => route)).toEqual(['POST /session', 'POST /session/ses_new/prompt_async']);
    expect(sent()).toMatchObject({ agent: 'build', model: { providerID: 'fake', modelID: 'big' } });
    expect(sent().parts[0]?.text).toMatch(/approval.*\n\nThe answer from the other session:\n\nQuote every field\.$/s);
    expect(backend.asked('start')).toEqual([]);
  });

  it('is submitted by Ctrl+Enter from the field, and with Cmd, not by Enter alone', async () => {
    await opened(ANSWER);
    await user.type(field(), '{Enter}x');
    expect(posted).toEqual([]);
    await user.type(field(), '{Control>}{Enter}{/Control}');
    await waitFor(() => { expect(sent().parts[0]?.text).toMatch(/anything\.\nx\n\nThe answer/); });
  });

  it('as a goal it is armed, whatever the place that one came from is', async () => {
    await opened(ANSWER);
    await user.click(toggle('Run as goal'));
    await screen.findByText(/claude-haiku-4-5 will audit it/);
    await user.click(button('Start goal'));
    await waitFor(() => { expect(backend.asked('start')).toHaveLength(1); });
    expect(backend.asked('start')[0]).toMatchObject({ sessionId: 'ses_new' });
    expect(backend.asked('start')[0]).not.toHaveProperty('tokenBudget');
    expect(sent()).toBeUndefined();
  });

  it('names the field and its rule where something is missing, and sends nothing', async () => {
    const dialog = await opened(ANSWER);
    await user.clear(field());
    expect(within(dialog).getByRole('alert').textContent).toBe('“Instructions” takes a text; it is empty.');
    expect(button('Start session').hasAttribute('disabled')).toBe(true);
    await user.type(field(), '{Control>}{Enter}{/Control}');
    expect(posted).toEqual([]);
  });

  it('stays open with everything in it where it fails, and says why', async () => {
    backend.answers['start'] = refusal('noAuditor', 'No model can be found to audit the goal.');
    const dialog = await opened(ANSWER);
    await user.click(toggle('Run as goal'));
    await user.type(field(), ' Be brief.');
    await user.click(button('Start goal'));
    await within(dialog).findByText('No model can be found to audit the goal.');
    expect(field().value).toMatch(/Be brief\.$/);
    expect(posted.map(({ route }) => route)).toEqual(['POST /session', 'DELETE /session/ses_new']);
    expect(navigation.getState().place).toEqual({ kind: 'session', id: 'ses_a' });
  });

  it('offers no worktree outside of git', async () => {
    routes['GET /vcs'] = () => ({ branch: null, default_branch: null });
    server.setState({ branches: {} });
    await opened(ANSWER);
    expect(toggle('Create worktree').hasAttribute('disabled')).toBe(true);
    expect(screen.getByText('Only in a folder under git.')).toBeTruthy();
  });

  it('offers no goal where goals are off', async () => {
    const { settings } = backend.settings;
    backend.settings = { ...backend.settings, settings: { ...settings, sessionGoalEnabled: false } };
    await opened(ANSWER);
    await waitFor(() => { expect(screen.queryByRole('switch', { name: 'Run as goal' })).toBeNull(); });
  });

  it('has nothing that axe finds', async () => {
    const dialog = await opened(ANSWER);
    const { violations } = await axe.run(dialog, { rules: { 'color-contrast': { enabled: false } } });
    expect(violations.map(({ id }) => id)).toEqual([]);
  });
});

const FILES: Record<string, string> = {
  '.opencode/plans/1764411600000-brave-meadow.md': '# Byte order marks\n\n1. An option.\n',
  '.opencode/plans/1764498000000-quiet-canyon.md': '# Quoting\n\n1. Quote.\n',
};

function withFiles(): void {
  const nodes = Object.keys(FILES).map((path) => ({ name: path.split('/').at(-1), path, type: 'file' }));
  const folder = (name: string): unknown => ({ name, type: 'directory' });
  const inside: Record<string, unknown[]> = {
    '.': [folder('.opencode')],
    '.opencode': [folder('plans')],
    '.opencode/plans': [...nodes, folder('old')],
  };
  routes['GET /file'] = ({ query }) => inside[new Map(query).get('path') ?? ''] ?? answered({}, 500);
  routes['GET /file/content'] = ({ query }) => ({ type: 'text', content: FILES[new Map(query).get('path') ?? ''] });
}

describe('from a plan', () => {
  it('the newest file is proposed, another one can be chosen, and a short message goes with all of it hidden', async () => {
    withFiles();
    await opened({ kind: 'plan', sessionId: null, directory: '/w', said: null });
    await screen.findByText('Quoting');
    await user.click(button('Plan: quiet-canyon'));
    await user.click(await screen.findByRole('menuitemradio', { name: /brave-meadow/ }));
    await screen.findByText('Byte order marks');
    await user.click(button('Start session'));
    await waitFor(() => { expect(sent()).toBeDefined(); });
    const [said, added] = sent().parts;
    expect(said).toEqual({ type: 'text', text: 'Implement the plan “Byte order marks”.' });
    expect(added).toMatchObject({ synthetic: true });
    expect(added?.text).toContain('Plan file: .opencode/plans/1764411600000-brave-meadow.md');
    expect(added?.text).toContain('1. An option.');
  });

  it('as a goal its content and path are the objective', async () => {
    withFiles();
    await opened({ kind: 'plan', sessionId: null, directory: '/w', said: null });
    await screen.findByText('Quoting');
    await user.click(toggle('Run as goal'));
    await user.click(button('Start goal'));
    await waitFor(() => { expect(backend.asked('start')).toHaveLength(1); });
    const { objective, prompt } = backend.asked('start')[0] ?? {};
    expect(prompt).toBe('Implement the plan “Quoting”.');
    expect(objective).toContain('1764498000000-quiet-canyon.md');
    expect(objective).toContain('# Quoting\n\n1. Quote.');
  });

  it('what the plan agent said comes first, and another agent implements it', async () => {
    preferences.setState({ agent: 'plan' });
    const said = { title: 'Quoting', path: null, content: 'Quote all.' };
    await opened({ kind: 'plan', sessionId: 'ses_a', directory: '/w', said });
    await screen.findByText('Quoting');
    await user.click(button('Start session'));
    await waitFor(() => { expect(sent()).toMatchObject({ agent: 'build' }); });
    expect(sent().parts[1]?.text).toMatch(/The plan:\n\nQuote all\.$/);
  });

  it('the file that the session itself has written comes before what was said of it', async () => {
    withFiles();
    know(session({ slug: 'brave-meadow', time: { created: 1_764_411_600_000, updated: 1 } }));
    const said = { title: 'I have written it down.', path: null, content: 'I have written it down.' };
    await opened({ kind: 'plan', sessionId: 'ses_a', directory: '/w', said });
    await screen.findByText('Byte order marks');
    expect(button('Plan: brave-meadow')).toBeTruthy();
  });

  it('without any it says so, and where they cannot be read it offers to try again', async () => {
    routes['GET /file'] = () => answered({ data: { message: 'no access' } }, 500);
    await opened({ kind: 'plan', sessionId: null, directory: '/w', said: null });
    await screen.findByText(/no access/);
    expect(button('Start session').hasAttribute('disabled')).toBe(true);
    routes['GET /file'] = () => [];
    await user.click(button('Try again'));
    await screen.findByText(/There is no plan in \.opencode\/plans yet/);
  });
});

describe('the menu of an answer', () => {
  async function menuOf(agent: string): Promise<string[]> {
    const message = { ...assistant('msg_2', 2), agent };
    show(<Actions message={message} text="Quote every field." next={null} />);
    await user.click(button('More'));
    return (await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent);
  }

  it('begins a session from any answer', async () => {
    expect(await menuOf('build')).toEqual(['Fork from here', 'Start a new session from this answer…']);
    await user.click(screen.getByRole('menuitem', { name: /new session/ }));
    expect(navigation.getState().overlay).toEqual({ kind: 'origin', origin: ANSWER });
  });

  it('implements what the plan agent answered', async () => {
    expect(await menuOf('plan')).toContain('Implement this plan…');
    await user.click(screen.getByRole('menuitem', { name: /Implement/ }));
    const said = { title: 'Quote every field.', path: null, content: 'Quote every field.' };
    expect(navigation.getState().overlay).toMatchObject({ origin: { kind: 'plan', said } });
  });
});
