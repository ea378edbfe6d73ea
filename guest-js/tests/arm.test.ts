import { expect, test, vi } from 'vitest';

import {
  arming,
  createArmStore,
  DISARMED,
  draftKey,
  objectiveOf,
  sessionKey,
  type Outgoing,
} from '../index.js';

const ARMED = { armed: true, objective: null };
const A = sessionKey('ses_a');
const B = sessionKey('ses_b');

test('arming, disarming and toggling', () => {
  expect(arming(DISARMED, { type: 'arm' })).toEqual(ARMED);
  expect(arming(DISARMED, { type: 'toggle' })).toEqual(ARMED);
  expect(arming(ARMED, { type: 'toggle' })).toEqual(DISARMED);
  expect(arming(ARMED, { type: 'arm', objective: 'x' })).toEqual({ armed: true, objective: 'x' });
  expect(arming({ armed: true, objective: 'x' }, { type: 'disarm' })).toEqual(DISARMED);
});

test('the override is the objective, unless it is blank', () => {
  expect(objectiveOf({ armed: true, objective: 'the plan' }, 'do it')).toBe('the plan');
  expect(objectiveOf({ armed: true, objective: ' \n' }, 'do it')).toBe('do it');
  expect(objectiveOf(ARMED, 'do it')).toBe('do it');
});

test('an arming belongs to its session or draft alone', () => {
  const arm = createArmStore();
  arm.send(A, { type: 'arm' });
  expect([A, B, draftKey('ses_a'), sessionKey('ses_a', 'other')].map((key) => arm.get(key).armed)).toEqual(
    [true, false, false, false],
  );
  expect(arm.consume(B, { text: 'hello' })).toBeNull();
  expect(arm.get(A)).toEqual(ARMED);
});

test('it is consumed once', () => {
  const arm = createArmStore();
  arm.send(A, { type: 'arm', objective: 'the plan' });
  expect(arm.consume(A, { text: 'go' })).toEqual({ armed: true, objective: 'the plan' });
  expect(arm.consume(A, { text: 'go' })).toBeNull();
  expect(arm.get(A)).toEqual(DISARMED);
});

test.each<[string, Outgoing]>([
  ['a blank text', { text: ' \n ' }],
  ['a shell line', { text: 'ls', kind: 'shell' }],
  ['the crafting of a goal', { text: '/craft-goal tests', kind: 'craft' }],
])('%s does not consume it', (_, message) => {
  const arm = createArmStore();
  arm.send(A, { type: 'arm' });
  expect(arm.consume(A, message)).toBeNull();
  expect(arm.get(A)).toEqual(ARMED);
});

test('what could not be started is armed again with the same objective', () => {
  const arm = createArmStore();
  arm.send(A, { type: 'arm', objective: 'the plan' });
  const taken = arm.consume(A, { text: 'go' });
  if (taken !== null) arm.restore(A, taken);
  expect(arm.get(A)).toEqual({ armed: true, objective: 'the plan' });
});

test('a draft hands it to the session it becomes', () => {
  const arm = createArmStore();
  arm.send(draftKey('1'), { type: 'arm' });
  arm.move(draftKey('1'), A);
  expect([arm.get(draftKey('1')), arm.get(A)]).toEqual([DISARMED, ARMED]);
  arm.move(draftKey('2'), A);
  expect(arm.get(A)).toEqual(ARMED);
});

test('readers are told of changes, and of nothing else', () => {
  const arm = createArmStore();
  const reader = vi.fn();
  const leave = arm.subscribe(reader);
  arm.send(A, { type: 'disarm' });
  expect(reader).toHaveBeenCalledTimes(0);
  arm.send(A, { type: 'arm' });
  expect(reader).toHaveBeenCalledTimes(1);
  leave();
  arm.send(A, { type: 'disarm' });
  expect(reader).toHaveBeenCalledTimes(1);
});

test('the oldest is forgotten beyond 500', () => {
  const arm = createArmStore();
  for (let n = 0; n <= 500; n += 1) arm.send(draftKey(String(n)), { type: 'arm' });
  expect([0, 1, 500].map((n) => arm.get(draftKey(String(n))).armed)).toEqual([false, true, true]);
});
