import { screen, waitFor } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';

import { ConversationContext } from '../../src/chat/context';
import { Code } from '../../src/chat/markdown/Code';
import { Start } from '../../src/chat/Start';
import { drafts, NO_DRAFT } from '../../src/drafts';
import { navigation } from '../../src/navigation';
import { preferences } from '../../src/preferences';
import { DIRECTORY, draw, fakeHost, prompts, Status, texts, type Fake } from '../composer/fake';
import { Backend, goalView, know, session, show } from '../goal/backend';

let user: UserEvent;

beforeEach(() => {
  user = userEvent.setup({ delay: null, pointerEventsCheck: 0 });
});

describe('/craft-goal', () => {
  let fake: Fake;
  beforeEach(() => { fake = fakeHost(); });
  const text = (): HTMLTextAreaElement => screen.getByLabelText('Message to the agent');

  it('sends a request that shows and rules that do not', async () => {
    draw();
    await user.type(text(), '/craft-goal a faster page{Enter}');
    await waitFor(() => { expect(texts(fake)).toEqual(['Help me craft a goal from this idea:\n\na faster page']); });
    const [, added] = prompts(fake)[0]?.['parts'] as { text: string; synthetic?: boolean }[];
    expect(added?.synthetic).toBe(true);
    expect(added?.text).toMatch(/^Help the user craft a session goal\./);
    expect(text().value).toBe('');
  });

  it('begins a session from a draft', async () => {
    navigation.setState({ place: { kind: 'draft', directory: DIRECTORY } });
    draw();
    await user.type(text(), '/craft-goal {Enter}');
    await waitFor(() => { expect(texts(fake, 'ses_new')).toEqual(['Help me craft a goal for this session.']); });
  });

  it('is offered while its name is typed', async () => {
    draw();
    await user.type(text(), '/cra');
    await screen.findByRole('option', { name: /\/craft-goal/ });
  });

  it('is never armed itself, and leaves no arming behind', async () => {
    drafts.setState({ ses_a: { ...NO_DRAFT, armed: true } });
    draw();
    expect(screen.getByPlaceholderText('This message becomes the goal')).toBeTruthy();
    await user.type(text(), '/craft-goal an idea');
    expect(drafts.getState()['ses_a']?.armed).toBe(false);
    expect(screen.queryByPlaceholderText('This message becomes the goal')).toBeNull();
    await user.type(text(), '{Enter}');
    await waitFor(() => { expect(texts(fake)).toHaveLength(1); });
    expect(drafts.getState()['ses_a']?.armed).toBe(false);
  });

  it('comes back as it was typed where it cannot be sent', async () => {
    fake.routes['POST /session/ses_a/prompt_async'] = () => new Status(500);
    draw();
    await user.type(text(), '/craft-goal an idea{Enter}');
    await screen.findAllByText(/the server would not/);
    expect(text().value).toBe('/craft-goal an idea');
  });
});

describe('the proposed goal', () => {
  let backend: Backend;
  beforeEach(() => {
    backend = new Backend();
    know(session());
  });

  function proposal(language = 'goal', open = false): void {
    show(
      <ConversationContext value={{ sessionId: 'ses_a', directory: '/w', models: null }}>
        <Code language={language} text={'The page loads in one second.\n'} open={open} />
      </ConversationContext>,
    );
  }

  it('is armed with one press', async () => {
    proposal();
    await user.click(screen.getByRole('button', { name: 'Arm as goal' }));
    expect(drafts.getState()['ses_a']).toMatchObject({ text: 'The page loads in one second.', armed: true });
    expect(backend.asked('start')).toEqual([]);
  });

  it('takes the place of what was typed, which can be brought back', async () => {
    drafts.setState({ ses_a: { ...NO_DRAFT, text: 'half a thought' } });
    proposal();
    await user.click(screen.getByRole('button', { name: 'Arm as goal' }));
    expect(drafts.getState()['ses_a']?.text).toBe('The page loads in one second.');
    await user.click(await screen.findByRole('button', { name: 'Bring it back' }));
    expect(drafts.getState()['ses_a']).toMatchObject({ text: 'half a thought', armed: false });
  });

  it('is offered in its own block alone, and when it has come whole', () => {
    proposal('text');
    proposal('goal', true);
    expect(screen.queryByRole('button', { name: 'Arm as goal' })).toBeNull();
  });

  it.each([{ parentID: 'ses_b' }, { time: { created: 1, updated: 1, archived: 2 } }])(
    'is not offered where no goal starts: %j',
    (change) => {
      know(session(change));
      proposal();
      expect(screen.queryByRole('button', { name: 'Arm as goal' })).toBeNull();
    },
  );

  it('is not offered where there is a goal', async () => {
    backend.goals = [goalView()];
    await backend.change(goalView());
    proposal();
    await waitFor(() => { expect(screen.queryByRole('button', { name: 'Arm as goal' })).toBeNull(); });
  });
});

describe('the start', () => {
  it('puts the command into the composer, and the person adds the idea', async () => {
    new Backend();
    show(<Start directory="/w" />);
    await user.click(screen.getByRole('button', { name: /^Craft a goal/ }));
    expect(drafts.getState()['new:/w']?.text).toBe('/craft-goal ');
  });

  it('offers a saved plan only where there is one', async () => {
    const fake = fakeHost();
    preferences.setState({ lastDirectory: null });
    const inside: Record<string, unknown[]> = {
      '.': [{ name: '.opencode', type: 'directory' }],
      '.opencode': [{ name: 'plans', type: 'directory' }],
      '.opencode/plans': [{ name: '1-a.md', type: 'file' }],
    };
    fake.routes['GET /file'] = ({ query }) => inside[new Map(query).get('path') ?? ''];
    show(<Start directory={DIRECTORY} />);
    await user.click(await screen.findByRole('button', { name: /^Implement a plan/ }));
    expect(navigation.getState().overlay).toMatchObject({ origin: { kind: 'plan', said: null, directory: DIRECTORY } });
    fake.routes['GET /file'] = () => [];
    show(<Start directory="/elsewhere" />);
    await waitFor(() => { expect(screen.getAllByRole('button', { name: /^Implement a plan/ })).toHaveLength(1); });
  });
});
