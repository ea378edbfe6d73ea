import { expect, test } from 'vitest';

import { GoalError, onChanged, pause, type GoalErrorCode } from '../index.js';
import { Backend } from './backend.js';

const REFUSALS: [unknown, GoalErrorCode][] = [
  [{ code: 'noGoal', message: 'There is none.' }, 'noGoal'],
  [{ code: 'internal', message: 'See the log.' }, 'internal'],
  ['goal.pause not allowed. Permissions associated with this command: goal:allow-pause', 'notAllowed'],
  ['Command plugin:goal|pause not allowed by ACL', 'notAllowed'],
  ['goal.pause explicitly denied on origin http://127.0.0.1', 'notAllowed'],
  ['plugin goal not found', 'unavailable'],
  ['Command plugin:goal|pause not found', 'unavailable'],
  [{ code: 'ofATimeToCome', message: 'New.' }, 'internal'],
  ['something else', 'internal'],
  [undefined, 'internal'],
  [new Error('broken'), 'internal'],
];

test.each(REFUSALS)('%o becomes a GoalError with code %s', async (refusal, code) => {
  const backend = new Backend().install();
  backend.answers['pause'] = () => {
    throw refusal;
  };
  const error = await pause({ sessionId: 'ses_a' }).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GoalError);
  expect(error).toMatchObject({ code, name: 'GoalError', cause: refusal });
});

test('the sentence of the Rust side is kept', () => {
  const error = GoalError.from({ code: 'noGoal', message: 'There is none.' });
  expect(error.message).toBe('There is none.');
  expect(GoalError.from(error)).toBe(error);
});

test('outside of Tauri everything is unavailable', async () => {
  await expect(pause({ sessionId: 'ses_a' })).rejects.toMatchObject({ code: 'unavailable' });
  await expect(onChanged(() => undefined)).rejects.toMatchObject({ code: 'unavailable' });
});

test('no code is the name of something every object has', () => {
  expect(GoalError.from({ code: 'toString', message: '' }).code).toBe('internal');
});
