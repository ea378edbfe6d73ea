import { act, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { PHASES, present, STATUSES, type GoalView } from 'tauri-plugin-goal-api';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { settingsView } from '../../../guest-js/tests/fixtures';
import { GoalRow, GoalSign, NoticesButton, SessionStrip } from '../../src/goal';
import { setLanguage } from '../../src/i18n';
import { openSession } from '../../src/navigation';
import { Backend, goalView, know, refusal, session, show } from './backend';

let backend: Backend;
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend();
  know(session());
});

afterEach(() => setLanguage('en'));

const press = (name: string | RegExp) => user.click(screen.getByRole('button', { name }));

const EVERY: Partial<GoalView>[] = [
  ...PHASES.map((phase) => ({ phase })),
  ...STATUSES.filter((status) => status !== 'active').map((status) => ({ status, phase: 'settled' as const })),
];

test.each(EVERY)('strip, sign and row show one look for %o', async (change) => {
  const goal = goalView(change);
  backend.goals = [goal];
  const { container } = show(
    <>
      <SessionStrip sessionId="ses_a" />
      <GoalSign sessionId="ses_a" />
      <GoalRow sessionId="ses_a" />
    </>,
  );
  await screen.findByRole('group', { name: 'Session goal' });
  const { glyph, tone } = present(goal);
  const toned = [...container.querySelectorAll('[data-tone]')];
  expect(toned).toHaveLength(3);
  for (const place of toned) {
    expect(place.getAttribute('data-tone')).toBe(tone);
    expect(place.querySelector(`[data-glyph="${glyph}"]`)).not.toBeNull();
  }
});

test('the strip tells tokens, continuations, active time and the cost with sub-agents', async () => {
  know(session({ cost: 0.4 }), session({ id: 'ses_child', parentID: 'ses_a', cost: 0.02 }));
  backend.goals = [goalView()];
  show(<SessionStrip sessionId="ses_a" />);
  expect(await screen.findByText('34K / 200K tokens · 3 of 20 · 50 min · $0.42')).toBeTruthy();
});

test('a sub-agent that is waited for has its name', async () => {
  know(session(), session({ id: 'ses_child', parentID: 'ses_a', agent: 'explore' }));
  backend.goals = [goalView({ phase: 'waitingForSubagent', detail: 'ses_child' })];
  show(
    <>
      <SessionStrip sessionId="ses_a" />
      <GoalRow sessionId="ses_a" />
    </>,
  );
  expect(await screen.findAllByText('Waiting for explore')).toHaveLength(2);
});

test('Answer leads to the first card that waits', async () => {
  backend.goals = [goalView({ phase: 'waitingForYou', why: 'waitingForYou', detail: 'bash wants to run' })];
  show(
    <>
      <section id="pending" tabIndex={-1} />
      <SessionStrip sessionId="ses_a" />
    </>,
  );
  expect(await screen.findByText('Waiting for you: bash wants to run')).toBeTruthy();
  await press('Answer');
  expect(document.activeElement?.id).toBe('pending');
});

test('a failed action is told in a message, and the strip stays as it was', async () => {
  backend.goals = [goalView()];
  backend.answers['pause'] = refusal('unreachable', 'OpenCode did not answer. Your goals are safe.');
  show(<SessionStrip sessionId="ses_a" />);
  await screen.findByRole('group', { name: 'Session goal' });
  await press('Pause');
  expect(await screen.findByText('OpenCode did not answer. Your goals are safe.')).toBeTruthy();
  expect(screen.getByText('Working')).toBeTruthy();
});

test('the strip opens the one dialog; a goal without budget left opens it to be raised', async () => {
  act(() => { openSession('ses_a'); });
  backend.goals = [goalView({ status: 'budgetLimited', phase: 'settled', tokensUsed: 203_000 })];
  show(<SessionStrip sessionId="ses_a" />);
  await screen.findByRole('group', { name: 'Session goal' });
  await press('Raise and resume');
  const dialog = await screen.findByRole('dialog');
  const amount = within(dialog).getByRole<HTMLInputElement>('spinbutton', { name: 'Tokens' });
  expect(amount.value).toBe('303000');
  await user.click(within(dialog).getByRole('button', { name: 'Raise and resume' }));
  expect(backend.asked('edit')[0]).toMatchObject({ sessionId: 'ses_a', tokenBudget: 303_000 });
  await waitFor(() => { expect(screen.queryByRole('dialog')).toBeNull(); });
});

test('the dialog shows its failure itself and stays open; another place closes it', async () => {
  act(() => { openSession('ses_a'); });
  backend.goals = [goalView()];
  backend.answers['pause'] = refusal('conflict', 'Another program changed the goal.');
  show(<GoalRow sessionId="ses_a" />);
  await user.click(await screen.findByRole('button', { name: 'Add tests for the export module.' }));
  const dialog = await screen.findByRole('dialog');
  await user.click(within(dialog).getByRole('button', { name: 'Pause' }));
  expect(await within(dialog).findByText('Another program changed the goal.')).toBeTruthy();
  act(() => { openSession('ses_b'); });
  await waitFor(() => { expect(screen.queryByRole('dialog')).toBeNull(); });
});

test('the row pauses and resumes', async () => {
  backend.goals = [goalView()];
  show(<GoalRow sessionId="ses_a" />);
  await user.click(await screen.findByRole('button', { name: 'Pause' }));
  await user.click(await screen.findByRole('button', { name: 'Resume' }));
  expect([backend.asked('pause'), backend.asked('resume')].map((asked) => asked.length)).toEqual([1, 1]);
  expect(await screen.findByRole('button', { name: 'Pause' })).toBeTruthy();
});

test('everything is hidden while goals are switched off', async () => {
  backend.settings = settingsView({ sessionGoalEnabled: false });
  backend.goals = [goalView()];
  show(
    <main>
      <SessionStrip sessionId="ses_a" />
      <GoalSign sessionId="ses_a" />
      <GoalRow sessionId="ses_a" />
      <NoticesButton />
    </main>,
  );
  await waitFor(() => { expect(backend.asked('settings_get')).not.toEqual([]); });
  await waitFor(() => { expect(screen.getByRole('main').innerHTML).toBe(''); });
});

test('the words follow the language of the page', async () => {
  backend.goals = [goalView()];
  show(<SessionStrip sessionId="ses_a" />);
  expect(await screen.findByText('Working')).toBeTruthy();
  await act(() => setLanguage('fr'));
  expect(await screen.findByText('Au travail')).toBeTruthy();
});
