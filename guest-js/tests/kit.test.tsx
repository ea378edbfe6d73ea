import { act, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { StrictMode, type ReactNode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';

import { createArmStore, createGoalStore, draftKey, sessionKey, type ArmStore } from '../index.js';
import fr from '../locales/fr.json' with { type: 'json' };
import {
  GoalBadge,
  GoalButton,
  GoalCounter,
  GoalDialog,
  GoalProvider,
  GoalStrip,
  useGoals,
  useGoalSettings,
  type GoalProviderProps,
} from '../react/index.js';
import type { GoalView } from '../types.js';
import { Backend } from './backend.js';
import { goalView, server, settingsView } from './fixtures.js';

let backend: Backend;
let arm: ArmStore;
const user = userEvent.setup();

beforeEach(() => {
  backend = new Backend().install();
  arm = createArmStore();
});

function show(children: ReactNode, props: Omit<GoalProviderProps, 'children'> = {}) {
  const store = createGoalStore();
  return render(
    <StrictMode>
      <GoalProvider store={store} arm={arm} {...props}>
        {children}
      </GoalProvider>
    </StrictMode>,
  );
}

function withGoal(change: Partial<GoalView> = {}): void {
  backend.goals = [goalView(change)];
}

const press = (name: string | RegExp) => user.click(screen.getByRole('button', { name }));

test('a strip says what the goal is about, what it does, and what it used', async () => {
  withGoal({ at: Date.now() });
  show(<GoalStrip sessionId="ses_a" facts="$0.42" />);
  const strip = await screen.findByRole('group', { name: 'Session goal' });
  expect(within(strip).getByText('Quoting is done; the delimiter cases remain.')).toBeTruthy();
  expect(within(strip).getByText('Working')).toBeTruthy();
  expect(within(strip).getByText(/^34K \/ 200K tokens · 3 of 20 · .* min · \$0\.42$/)).toBeTruthy();
});

test('a strip follows the events, and disappears with its goal', async () => {
  withGoal();
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
  await act(() => backend.change(goalView({ phase: 'auditing', since: Date.now() })));
  await screen.findByText(/^Evaluating… \d+ s$/);
  await act(() => backend.remove('ses_a'));
  await waitFor(() => {
    expect(screen.queryByRole('group')).toBeNull();
  });
});

test('a strip is told to screen readers by state, not by the second', async () => {
  withGoal({ phase: 'quiet', next: Date.now() + 60_000 });
  show(<GoalStrip sessionId="ses_a" />);
  expect((await screen.findByRole('status')).textContent).toBe('evaluating: quiet');
});

test('a strip without a note shows the objective, also a long one', async () => {
  withGoal({ note: '', objective: null });
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('A long objective that is kept in a file.');
  expect(backend.asked('objective')).toEqual([{ sessionId: 'ses_a' }]);
});

test('a strip keeps the objective while a changed goal has its text read anew', async () => {
  const change = { note: '', objective: null };
  withGoal(change);
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('A long objective that is kept in a file.');
  backend.answers['objective'] = () => new Promise(() => undefined);
  const { updatedAt } = goalView();
  await act(() => backend.change(goalView({ ...change, status: 'paused', updatedAt: updatedAt + 1 })));
  await screen.findByText(/^Paused/);
  expect(backend.asked('objective')).toHaveLength(2);
  expect(screen.getByText('A long objective that is kept in a file.')).toBeTruthy();
});

test.each<[Partial<GoalView>, string, string, object]>([
  [{}, 'Pause', 'pause', {}],
  [{ status: 'paused', phase: 'settled' }, 'Resume', 'resume', {}],
  [{ status: 'blocked', phase: 'settled' }, 'Resume', 'resume', {}],
  [{ status: 'complete', phase: 'settled' }, 'Remove', 'clear', {}],
  [{ phase: 'needsClick' }, 'Continue', 'resume', {}],
  [{ phase: 'waitingForYou', why: 'userPending' }, 'Resume', 'resume', {}],
  [{ phase: 'waitingForYou', why: 'waitingForYou' }, 'Pause', 'pause', {}],
])('the action of a strip with %o is %s', async (change, name, command, request) => {
  withGoal(change);
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByRole('group');
  await press(name);
  expect(backend.asked(command)).toMatchObject([{ sessionId: 'ses_a', ...request }]);
});

test('the answer of an action shows before any event', async () => {
  withGoal();
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
  await press('Pause');
  await screen.findByText('Paused by you');
});

test('a failed action is told as a sentence and can be dismissed', async () => {
  withGoal();
  backend.answers['pause'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'unreachable', message: 'OpenCode did not answer. Your goals are safe.' };
  };
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
  await press('Pause');
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('OpenCode did not answer. Your goals are safe.');
  await press('Dismiss');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a page that shows errors itself is handed them', async () => {
  withGoal();
  backend.answers['pause'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as Tauri refuses
    throw 'goal.pause not allowed';
  };
  const onError = vi.fn();
  show(<GoalStrip sessionId="ses_a" />, { onError });
  await screen.findByText('Working');
  await press('Pause');
  await waitFor(() => {
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'notAllowed' }), 'ses_a');
  });
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what could not be stopped is told, though the goal is paused', async () => {
  withGoal();
  const goal = goalView({ status: 'paused', phase: 'settled' });
  backend.answers['pause'] = () => ({ goal, already: false, abortFailed: 'timed out' });
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
  await press('Pause');
  expect((await screen.findByRole('alert')).textContent).toContain('timed out');
  expect(screen.getByText('Paused by you')).toBeTruthy();
});

test('only a server that is away is tried again', async () => {
  withGoal({ phase: 'retrying', why: 'statusUnknown' });
  const { unmount } = show(<GoalStrip sessionId="ses_a" />);
  await screen.findByRole('button', { name: 'Pause' });
  unmount();
  backend.server = server({ state: 'away' });
  show(<GoalStrip sessionId="ses_a" />);
  await user.click(await screen.findByRole('button', { name: 'Retry now' }));
  expect(backend.asked('server_connect')).toMatchObject([{ server: null }]);
});

test('a page that can answer is asked to', async () => {
  withGoal({ phase: 'waitingForYou', why: 'waitingForYou', detail: 'bash wants to run' });
  const onAnswer = vi.fn();
  show(<GoalStrip sessionId="ses_a" onAnswer={onAnswer} />);
  await screen.findByText('Waiting for you: bash wants to run');
  await press('Answer');
  expect(onAnswer).toHaveBeenCalledWith(expect.objectContaining({ sessionId: 'ses_a' }));
});

test('nothing shows while goals are switched off', async () => {
  withGoal();
  backend.settings = settingsView({ sessionGoalEnabled: false });
  const { container } = show(
    <>
      <GoalStrip sessionId="ses_a" />
      <GoalButton sessionId="ses_a" />
      <GoalBadge sessionId="ses_a" />
    </>,
  );
  await waitFor(() => {
    expect(backend.asked('settings_get')).toHaveLength(1);
    expect(container.textContent).toBe('');
    expect(container.querySelector('button')).toBeNull();
  });
});

test('the target arms and disarms its own draft', async () => {
  show(<GoalButton draftId="1" />);
  const button = await screen.findByRole('button', { name: 'Make the next message a goal' });
  expect(button.getAttribute('aria-pressed')).toBe('false');
  await user.click(button);
  expect(arm.get(draftKey('1')).armed).toBe(true);
  expect(button.getAttribute('aria-pressed')).toBe('true');
  await user.click(button);
  expect(arm.get(draftKey('1')).armed).toBe(false);
});

test('the target of a session with a goal opens the dialog', async () => {
  withGoal({ status: 'blocked', phase: 'settled', reason: 'empty replies' });
  show(<GoalButton sessionId="ses_a" />);
  const button = await screen.findByRole('button', { name: 'Session goal: blocked' });
  expect(button.dataset['tone']).toBe('blocked');
  expect(button.getAttribute('aria-pressed')).toBe('true');
  await user.click(button);
  const dialog = await screen.findByRole('dialog', { name: 'Session goal' });
  expect(within(dialog).getByText('The agent answers with nothing')).toBeTruthy();
  expect(arm.get(sessionKey('ses_a')).armed).toBe(false);
});

test('the counter counts while armed, and says when the auditor gets a shortened copy', () => {
  const { rerender } = show(<GoalCounter draftId="1" text="hello" />);
  expect(screen.queryByText('5/5000')).toBeNull();
  act(() => {
    arm.send(draftKey('1'), { type: 'arm' });
  });
  expect(screen.getByText('5/5000')).toBeTruthy();
  expect(screen.getByRole('status').textContent).toBe('');
  rerender(
    <GoalProvider store={createGoalStore()} arm={arm}>
      <GoalCounter draftId="1" text={'x'.repeat(5_001)} />
    </GoalProvider>,
  );
  expect(screen.getByRole('status').textContent).toContain('5001 of 5000 characters');
});

test('a badge says the state in words', async () => {
  withGoal({ phase: 'waitingForYou', why: 'waitingForYou' });
  show(<GoalBadge sessionId="ses_a" />);
  expect(await screen.findByRole('img', { name: 'Goal: waiting for you' })).toBeTruthy();
});

test('signs ask for no objective', async () => {
  withGoal({ objective: null });
  show(
    <>
      <GoalBadge sessionId="ses_a" />
      <GoalButton sessionId="ses_a" />
    </>,
  );
  await screen.findByRole('img');
  await screen.findByRole('button');
  expect(backend.asked('objective')).toEqual([]);
});

test('useGoals lists every goal', async () => {
  backend.goals = [goalView({ sessionId: 'ses_b', title: 'B' }), goalView({ title: 'A' })];
  function Titles() {
    return <p>{useGoals().map(({ title }) => title)}</p>;
  }
  show(<Titles />);
  expect(await screen.findByText('AB')).toBeTruthy();
});

test('useGoalSettings shows and changes them', async () => {
  function Enabled() {
    const { view, set, failure } = useGoalSettings();
    return (
      <button type="button" onClick={() => void set({ sessionGoalEnabled: false })}>
        {failure ?? String(view?.settings.sessionGoalEnabled)}
      </button>
    );
  }
  show(<Enabled />);
  const button = await screen.findByRole('button', { name: 'true' });
  backend.answers['settings_set'] = () => settingsView({ sessionGoalEnabled: false });
  await user.click(button);
  await screen.findByRole('button', { name: 'false' });
  backend.answers['settings_set'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'settingsUnwritable', message: 'The disk is full.' };
  };
  await user.click(button);
  await screen.findByRole('button', { name: 'The disk is full.' });
  expect(backend.asked('settings_set')).toMatchObject([
    { changes: { sessionGoalEnabled: false } },
    { changes: { sessionGoalEnabled: false } },
  ]);
});

test('the kit speaks French', async () => {
  withGoal({ status: 'paused', phase: 'settled' });
  show(<GoalStrip sessionId="ses_a" />, { messages: fr, locale: 'fr' });
  await screen.findByText('Mis en pause par vous');
  await screen.findByRole('button', { name: 'Reprendre' });
});

test('without a provider the kit uses the page’s store and English', async () => {
  withGoal();
  render(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
});

test('a goal that takes the place of another one begins with a clean strip', async () => {
  withGoal();
  backend.answers['pause'] = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the Rust side refuses
    throw { code: 'conflict', message: 'Changed meanwhile.' };
  };
  show(<GoalStrip sessionId="ses_a" />);
  await screen.findByText('Working');
  await press('Pause');
  await screen.findByRole('alert');
  await act(() => backend.change(goalView({ goalId: 'goal_2' })));
  await waitFor(() => {
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

test('the dialog is left when it is told to', async () => {
  withGoal();
  const onOpenChange = vi.fn();
  show(<GoalDialog sessionId="ses_a" open onOpenChange={onOpenChange} />);
  await screen.findByRole('dialog');
  await user.keyboard('{Escape}');
  expect(onOpenChange).toHaveBeenCalledWith(false);
});
