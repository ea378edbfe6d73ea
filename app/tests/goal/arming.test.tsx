import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';

import { settingsView } from '../../../guest-js/tests/fixtures';
import { changeDraft, drafts } from '../../src/drafts';
import { ArmedHint, ComposerTarget, useArmed } from '../../src/goal';
import { navigation } from '../../src/navigation';
import { Backend, goalView, know, refusal, session, show } from './backend';

let backend: Backend;
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend();
});

const ARM = 'Make the next message a goal';
const DISARM = 'The next message becomes the goal; press to undo';
const draftOf = (key: string) => drafts.getState()[key];

test('a target arms its own session, with the usual budget, and disarms it again', async () => {
  backend.settings = settingsView({ sessionGoalDefaultBudgetEnabled: true, sessionGoalDefaultBudget: 50_000 });
  know(session(), session({ id: 'ses_b' }));
  show(
    <>
      <ComposerTarget sessionId="ses_a" draft="ses_a" directory="/w" />
      <ComposerTarget sessionId="ses_b" draft="ses_b" directory="/w" />
    </>,
  );
  await waitFor(() => { expect(backend.asked('settings_get')).not.toEqual([]); });
  const [first] = await screen.findAllByRole('button', { name: ARM });
  if (first === undefined) throw new Error('no target');
  await user.click(first);
  expect(draftOf('ses_a')).toMatchObject({ armed: true, budget: 50_000 });
  expect(draftOf('ses_b')?.armed ?? false).toBe(false);
  expect(screen.getByRole('button', { name: DISARM }).getAttribute('aria-pressed')).toBe('true');
  await user.click(screen.getByRole('button', { name: DISARM }));
  expect(draftOf('ses_a')).toMatchObject({ armed: false, budget: null });
});

test('a draft of a folder with blanks in its name is armed under its own key', async () => {
  const draft = 'new:/home/ada/my work';
  show(<ComposerTarget sessionId={null} draft={draft} directory="/home/ada/my work" />);
  await user.click(await screen.findByRole('button', { name: ARM }));
  expect(Object.keys(drafts.getState())).toEqual([draft]);
  expect(draftOf(draft)?.armed).toBe(true);
});

test('without a folder, in a sub-agent’s session and in an archived one there is no target', async () => {
  know(
    session({ id: 'ses_child', parentID: 'ses_a' }),
    session({ id: 'ses_old', time: { created: 1, updated: 1, archived: 2 } }),
    session(),
  );
  show(
    <>
      <ComposerTarget sessionId={null} draft="new" directory={null} />
      <ComposerTarget sessionId="ses_child" draft="ses_child" directory="/w" />
      <ComposerTarget sessionId="ses_old" draft="ses_old" directory="/w" />
      <ComposerTarget sessionId="ses_a" draft="ses_a" directory="/w" />
    </>,
  );
  expect(await screen.findAllByRole('button')).toHaveLength(1);
});

test('the counter counts while armed', async () => {
  know(session());
  changeDraft('ses_a', { text: 'x'.repeat(5_001), armed: true });
  show(<ComposerTarget sessionId="ses_a" draft="ses_a" directory="/w" />);
  expect(await screen.findByText('5001/5000')).toBeTruthy();
});

function Armed(): string {
  return useArmed('ses_a', 'ses_a') ? 'armed' : 'not armed';
}

test('an arming ends where another window set a goal', async () => {
  know(session());
  changeDraft('ses_a', { armed: true, text: 'Fix it.' });
  show(
    <>
      <ComposerTarget sessionId="ses_a" draft="ses_a" directory="/w" />
      <Armed />
    </>,
  );
  expect(await screen.findByText('armed')).toBeTruthy();
  await backend.change(goalView());
  expect(await screen.findByText('not armed')).toBeTruthy();
  await waitFor(() => { expect(draftOf('ses_a')).toMatchObject({ armed: false, text: 'Fix it.' }); });
});

test('an arming ends where goals are switched off', async () => {
  backend.settings = settingsView({ sessionGoalEnabled: false });
  know(session());
  changeDraft('ses_a', { armed: true });
  show(<ComposerTarget sessionId="ses_a" draft="ses_a" directory="/w" />);
  await waitFor(() => { expect(draftOf('ses_a')?.armed).toBe(false); });
  expect(screen.queryByRole('button')).toBeNull();
});

test('the hint names the auditor of the place, and what the goal may use', async () => {
  changeDraft('new:/w', { armed: true, budget: 50_000 });
  show(<ArmedHint sessionId={null} draft="new:/w" directory="/w" />);
  expect(await screen.findByText(/anthropic\/claude-haiku-4-5/)).toBeTruthy();
  expect(backend.asked('auditor_check')[0]).toEqual({ directory: '/w' });
  await user.click(screen.getByRole('button', { name: 'Budget 50K tokens' }));
  await user.click(screen.getByRole('button', { name: 'Raise the budget by 100K tokens' }));
  expect(draftOf('new:/w')?.budget).toBe(150_000);
  const amount = screen.getByRole('spinbutton', { name: 'Tokens' });
  await user.clear(amount);
  await user.type(amount, '999{Enter}');
  expect(screen.getByText('Between 1,000 and 100,000,000 tokens')).toBeTruthy();
  expect(draftOf('new:/w')?.budget).toBe(150_000);
  await user.clear(amount);
  await user.type(amount, '1000{Enter}');
  expect(draftOf('new:/w')?.budget).toBe(1_000);
  await user.click(screen.getByRole('switch', { name: 'Token budget' }));
  expect(draftOf('new:/w')?.budget).toBeNull();
});

test('an amount that stands in the field counts when the field goes with what holds it', async () => {
  changeDraft('new:/w', { armed: true, budget: 50_000 });
  show(<ArmedHint sessionId={null} draft="new:/w" directory="/w" />);
  await user.click(await screen.findByRole('button', { name: 'Budget 50K tokens' }));
  const amount = screen.getByRole('spinbutton', { name: 'Tokens' });
  await user.clear(amount);
  await user.type(amount, '2000{Escape}');
  expect(screen.queryByRole('spinbutton')).toBeNull();
  expect(draftOf('new:/w')?.budget).toBe(2_000);
});

test('the hint warns while there is no auditor, and leads to the settings', async () => {
  backend.answers['auditor_check'] = refusal('noAuditor', 'No model can be found to audit the goal.');
  know(session());
  changeDraft('ses_a', { armed: true });
  show(<ArmedHint sessionId="ses_a" draft="ses_a" directory="/w" />);
  expect((await screen.findByRole('alert')).textContent).toContain('the goal cannot start');
  await user.click(screen.getByRole('button', { name: 'Choose an auditor' }));
  expect(navigation.getState().overlay).toEqual({ kind: 'settings', page: 'goal' });
});

test('the hint tells of the distilled copy, and has nothing against a command', async () => {
  know(session());
  changeDraft('ses_a', { armed: true, text: 'x'.repeat(5_001) });
  show(<ArmedHint sessionId="ses_a" draft="ses_a" directory="/w" />);
  expect(await screen.findByText(/Over 5,000 characters/)).toBeTruthy();
  changeDraft('ses_a', { text: '/review all' });
  await waitFor(() => { expect(screen.getByRole('status').textContent).toBe(''); });
});

test('an unarmed draft has no hint, and asks for no auditor', async () => {
  know(session());
  show(<ArmedHint sessionId="ses_a" draft="ses_a" directory="/w" />);
  await waitFor(() => { expect(backend.asked('list')).not.toEqual([]); });
  expect(backend.asked('auditor_check')).toEqual([]);
});
