import { act, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createGoalStore } from '../index.js';
import { GoalDialog, GoalProvider, type GoalDialogProps } from '../react/index.js';
import type { GoalView } from '../types.js';
import { Backend } from './backend.js';
import { goalView, NOON, settingsView } from './fixtures.js';

let backend: Backend;
const onOpenChange = vi.fn();
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend().install();
  onOpenChange.mockReset();
});

afterEach(() => { vi.useRealTimers(); });

async function open(change: Partial<GoalView> | null, props: Partial<GoalDialogProps> = {}) {
  if (change !== null) backend.goals = [goalView(change)];
  render(
    <GoalProvider store={createGoalStore()}>
      <GoalDialog sessionId="ses_a" open onOpenChange={onOpenChange} {...props} />
    </GoalProvider>,
  );
  return screen.findByRole('textbox', { name: 'Objective' });
}

const text = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Objective' });
const amount = () => screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Tokens' });
const budget = () => screen.getByRole('switch', { name: 'Token budget' });
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name });
const names = () => screen.getAllByRole('button').map((one) => one.textContent || one.getAttribute('aria-label'));

test('only what was changed is saved', async () => {
  await open({});
  expect(text().value).toBe('Add tests for the export module and make the whole suite pass.');
  expect(button('Save').disabled).toBe(true);
  await user.clear(text());
  expect(button('Save').disabled).toBe(true);
  await user.type(text(), 'Fix CI.');
  await user.click(button('Save'));
  expect(backend.asked('edit')).toEqual([
    { sessionId: 'ses_a', objective: 'Fix CI.', requestId: expect.any(String) as string },
  ]);
  expect(onOpenChange).toHaveBeenCalledWith(false);
});

test('the budget is raised, changed and taken away', async () => {
  await open({});
  await user.click(button('Raise the budget by 100K tokens'));
  expect(amount().value).toBe('300000');
  await user.click(button('Save'));
  await user.clear(amount());
  await user.type(amount(), '500');
  expect(button('Save').disabled).toBe(true);
  expect(screen.getByText('Between 1.0K and 100.0M tokens')).toBeTruthy();
  await user.click(budget());
  await user.click(button('Save'));
  expect(backend.asked('edit')).toMatchObject([{ tokenBudget: 300_000 }, { tokenBudget: null }]);
});

test('a budget that was set elsewhere may be smaller than the field offers', async () => {
  await open({ tokenBudget: 500 });
  await user.type(text(), ' Then stop.');
  expect(button('Save').disabled).toBe(false);
});

test('what is typed is not overwritten by what happens meanwhile', async () => {
  await open({});
  await user.clear(text());
  await user.type(text(), 'Mine');
  await act(() => backend.change(goalView({ objective: 'Theirs', tokenBudget: 1, note: 'Newer.' })));
  await screen.findByText('Newer.');
  expect(text().value).toBe('Mine');
  expect(amount().value).toBe('200000');
});

test('the fields are seeded once, also where nothing is typed', async () => {
  const seeded = (await open({})) as HTMLTextAreaElement;
  await act(() => backend.change(goalView({ objective: 'Theirs', note: 'Newer.' })));
  await screen.findByText('Newer.');
  expect(seeded.value).toBe('Add tests for the export module and make the whole suite pass.');
});

test('a long objective fills the field when it arrives, unless that was typed into', async () => {
  let arrive: (answer: { text: string }) => void = () => undefined;
  backend.answers['objective'] = () => new Promise((resolve) => (arrive = resolve));
  const field = await open({ objective: null });
  expect(text().value).toBe('');
  arrive({ text: 'From the file.' });
  await waitFor(() => {
    expect((field as HTMLTextAreaElement).value).toBe('From the file.');
  });
  expect(button('Save').disabled).toBe(true);
});

test('a long objective that arrives late does not replace what was typed', async () => {
  let arrive: (answer: { text: string }) => void = () => undefined;
  backend.answers['objective'] = () => new Promise((resolve) => (arrive = resolve));
  await open({ objective: null });
  await user.type(text(), 'Mine');
  await act(async () => {
    arrive({ text: 'From the file.' });
    await new Promise((resolve) => setTimeout(resolve, 40));
  });
  expect(text().value).toBe('Mine');
});

test('a goal whose text is on another machine can be given another budget', async () => {
  backend.answers['objective'] = () => ({ text: null });
  await open({ objective: null });
  expect(button('Save').disabled).toBe(true);
  await user.click(budget());
  await user.click(button('Save'));
  expect(backend.asked('edit')).toEqual([
    { sessionId: 'ses_a', tokenBudget: null, requestId: expect.any(String) as string },
  ]);
});

test('a failed save says why and stays open', async () => {
  backend.answers['edit'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'conflict', message: 'Another program changed it.' };
  };
  await open({});
  await user.type(text(), ' More.');
  await user.click(button('Save'));
  expect((await screen.findByRole('alert')).textContent).toContain('Another program changed it.');
  expect(onOpenChange).not.toHaveBeenCalled();
  expect(text().value).toContain(' More.');
});

test('a running goal is removed only after a question', async () => {
  await open({});
  await user.click(button('Remove'));
  await screen.findByRole('alertdialog', { name: 'Remove this goal?' });
  await user.click(button('Keep the goal'));
  expect(backend.asked('clear')).toEqual([]);
  await user.click(button('Remove'));
  await user.click(await screen.findByRole('button', { name: 'Remove the goal' }));
  await waitFor(() => {
    expect(onOpenChange).toHaveBeenCalledWith(false);
  });
  expect(backend.asked('clear')).toMatchObject([{ sessionId: 'ses_a' }]);
});

test('a complete goal is read only, and removed at once', async () => {
  await open({ status: 'complete', phase: 'settled', reason: 'verified by audit' });
  expect(text().readOnly).toBe(true);
  expect(screen.queryByRole('switch')).toBeNull();
  expect(names()).toEqual(['Close', 'Remove', 'Close']);
  await user.click(button('Remove'));
  expect(backend.asked('clear')).toHaveLength(1);
});

test.each<[Partial<GoalView>, string[]]>([
  [{}, ['Remove', 'Pause', 'Mark complete', 'Save']],
  [{ phase: 'stalled' }, ['Remove', 'Resume', 'Pause', 'Mark complete', 'Save']],
  [{ status: 'paused' }, ['Remove', 'Resume', 'Mark complete', 'Save']],
  [{ status: 'blocked' }, ['Remove', 'Resume', 'Mark complete', 'Save']],
  [{ status: 'budgetLimited' }, ['Remove', 'Mark complete', 'Raise and resume']],
])('a goal with %o offers %o', async (change, offered) => {
  await open(change);
  expect(names().filter((name) => name !== 'Close' && name !== '+100K')).toEqual(offered);
});

test('a spent budget comes with a larger one to agree to', async () => {
  await open({ status: 'budgetLimited', tokensUsed: 203_412 }, { raise: true });
  expect(amount().value).toBe('304000');
  await user.click(button('Raise and resume'));
  expect(backend.asked('edit')).toMatchObject([{ tokenBudget: 304_000 }]);
});

test('pause, resume and mark complete are carried out', async () => {
  await open({});
  await user.click(button('Pause'));
  await user.click(await screen.findByRole('button', { name: 'Resume' }));
  await user.click(button('Mark complete'));
  const asked = ['pause', 'resume', 'complete'].map((command) => backend.asked(command).length);
  expect(asked).toEqual([1, 1, 1]);
});

test('without a goal one is set; an untouched budget is the default one', async () => {
  backend.settings = settingsView({
    sessionGoalDefaultBudgetEnabled: true,
    sessionGoalDefaultBudget: 50_000,
  });
  await open(null);
  await screen.findByText(/anthropic\/claude-haiku-4-5 will audit it/);
  expect(amount().value).toBe('50000');
  expect(button('Start').disabled).toBe(true);
  await user.type(text(), 'Fix CI.');
  await user.click(screen.getByRole('switch', { name: 'Send it as a message' }));
  await user.click(button('Start'));
  expect(backend.asked('start')).toEqual([
    {
      sessionId: 'ses_a',
      objective: 'Fix CI.',
      send: false,
      requestId: expect.any(String) as string,
    },
  ]);
});

test('a goal is set without the default budget, or with another one', async () => {
  backend.settings = settingsView({ sessionGoalDefaultBudgetEnabled: true });
  backend.answers['start'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'unreachable', message: 'Nothing was started.' };
  };
  await open(null);
  await user.type(text(), 'Fix CI.');
  await user.click(button('Raise the budget by 100K tokens'));
  await user.click(button('Start'));
  await user.click(budget());
  await user.click(button('Start'));
  expect(backend.asked('start')).toMatchObject([
    { tokenBudget: 300_000, send: true },
    { tokenBudget: null, send: true },
  ]);
});

test('a missing auditor is told before the goal is started', async () => {
  backend.answers['auditor_check'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'noAuditor', message: 'No model can be found for the audit.' };
  };
  await open(null);
  await screen.findByText('No model can be found for the audit.');
});

test('the latest decisions are shown, without the looks that did nothing', async () => {
  // On another day they would be told with theirs.
  vi.setSystemTime(NOON);
  await open({});
  await screen.findByText('Continues: there is work left');
  expect(screen.getAllByRole('listitem').map((item) => item.textContent.replace(/^[\d:]+/, ''))).toEqual([
    'Continues: there is work left',
    'Continues: the turn was cut off',
  ]);
});

test('Ctrl+Enter in the objective saves', async () => {
  await open({});
  await user.type(text(), ' More.{Control>}{Enter}{/Control}');
  expect(backend.asked('edit')).toHaveLength(1);
});
