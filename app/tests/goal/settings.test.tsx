import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';

import { settingsView } from '../../../guest-js/tests/fixtures';
import { GoalSettings } from '../../src/goal';
import { AUDITOR, Backend, know, refusal, session, show } from './backend';
import { navigation } from '../../src/navigation';

let backend: Backend;
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend();
  know(session());
});

test('goals are switched off and on', async () => {
  show(<GoalSettings />);
  const on = await screen.findByRole('switch', { name: 'Session goals' });
  await waitFor(() => { expect(on.getAttribute('aria-checked')).toBe('true'); });
  await user.click(on);
  expect(backend.asked('settings_set')[0]).toMatchObject({ changes: { sessionGoalEnabled: false } });
  await waitFor(() => { expect(on.getAttribute('aria-checked')).toBe('false'); });
  expect(screen.getByRole<HTMLButtonElement>('switch', { name: /budget/i }).disabled).toBe(true);
});

test('the usual budget is a number of tokens within bounds', async () => {
  show(<GoalSettings />);
  await user.click(await screen.findByRole('switch', { name: /budget/i }));
  expect(backend.asked('settings_set')[0]).toMatchObject({
    changes: { sessionGoalDefaultBudgetEnabled: true },
  });
  const amount = await screen.findByRole('spinbutton', { name: 'Tokens' });
  await user.clear(amount);
  await user.type(amount, '100000001{Enter}');
  expect(backend.asked('settings_set')).toHaveLength(1);
  expect(screen.getByRole('alert').textContent).toContain('Between');
  await user.clear(amount);
  await user.type(amount, '300000{Enter}');
  expect(backend.asked('settings_set')[1]).toMatchObject({
    changes: { sessionGoalDefaultBudget: 300_000 },
  });
});

test('the audit’s model is found by itself, or named', async () => {
  show(<GoalSettings />);
  const model = await screen.findByRole<HTMLSelectElement>('combobox');
  expect(await screen.findByText(/At present anthropic\/claude-haiku-4-5/)).toBeTruthy();
  await screen.findByRole('option', { name: 'Tiny' });
  await user.selectOptions(model, 'acme/tiny');
  expect(backend.asked('settings_set')[0]).toMatchObject({
    changes: { smallModelUseDefault: false, smallModelOverride: 'acme/tiny' },
  });
  await waitFor(() => { expect(model.value).toBe('acme/tiny'); });
  await user.selectOptions(model, '');
  expect(backend.asked('settings_set')[1]).toMatchObject({ changes: { smallModelUseDefault: true } });
});

test('a model that is not known any more stays in sight', async () => {
  backend.settings = settingsView({ smallModelUseDefault: false, smallModelOverride: 'gone/model' });
  show(<GoalSettings />);
  expect(await screen.findByRole('option', { name: 'gone/model' })).toBeTruthy();
  expect(screen.getByRole<HTMLSelectElement>('combobox').value).toBe('gone/model');
});

test('the auditor is tested for the session behind the settings', async () => {
  navigation.setState({ place: { kind: 'session', id: 'ses_a' } });
  backend.answers['auditor_test'] = () => ({ auditor: AUDITOR, verdict: 'complete', note: '', tookMs: 900 });
  show(<GoalSettings />);
  await user.click(await screen.findByRole('button', { name: 'Test the auditor' }));
  expect(await screen.findByText('anthropic/claude-haiku-4-5 judged rightly in 0.9 s.')).toBeTruthy();
  expect(backend.asked('auditor_test')[0]).toMatchObject({ sessionId: 'ses_a' });
});

test('an unfit auditor, and one that fails, are told', async () => {
  backend.answers['auditor_test'] = () => ({ auditor: AUDITOR, verdict: 'blocked', note: 'No.', tookMs: 900 });
  show(<GoalSettings />);
  await user.click(await screen.findByRole('button', { name: 'Test the auditor' }));
  expect(await screen.findByText(/did not find something reached that is: No\./)).toBeTruthy();
  backend.answers['auditor_test'] = refusal('auditFailed', 'The auditor did not answer in 90 s.');
  await user.click(screen.getByRole('button', { name: 'Test the auditor' }));
  expect(await screen.findByText('The auditor did not answer in 90 s.')).toBeTruthy();
});
