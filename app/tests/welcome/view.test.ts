import { expect, test } from 'vitest';

import type { ServerChoice } from '../../src/host/contract';
import { viewOf } from '../../src/welcome/view';
import { CONNECTED, failed } from '../settings/host';

const OWN: ServerChoice = { kind: 'managed', keyring: true };
const OTHER: ServerChoice = {
  kind: 'attached',
  url: 'http://10.0.0.2:4096',
  username: null,
  passwordKept: false,
  needsPassword: false,
  keyring: true,
};

test('while nothing is known it is looked for; silence of the plugin is said', () => {
  expect(viewOf(undefined, false, OWN)).toBe('looking');
  expect(viewOf(undefined, true, OWN)).toBe('broken');
  expect(viewOf({ ...CONNECTED, state: 'starting' }, false, OWN)).toBe('looking');
});

test('a line that is up is found, whatever the choice still says', () => {
  expect(viewOf(CONNECTED, false, { ...OTHER, needsPassword: true })).toBe('found');
});

test.each([
  ['openCodeMissing', OWN, 'missing'],
  ['notOpenCode', OWN, 'tooOld'],
  ['notOpenCode', OTHER, 'unusable'],
  ['unauthorized', OTHER, 'password'],
  ['unauthorized', OWN, 'broken'],
  ['unreachable', OTHER, 'unreachable'],
  ['dataFolder', OWN, 'broken'],
] as const)('%s means what it means for whose server it is', (code, choice, view) => {
  expect(viewOf(failed(code), false, choice)).toBe(view);
});

test('whose server it is is waited for', () => {
  expect(viewOf(failed('unauthorized'), false, undefined)).toBe('looking');
  expect(viewOf(failed('openCodeMissing'), false, undefined)).toBe('missing');
});

test('a chosen server whose password is not kept asks for it before anything was tried', () => {
  const none = { ...CONNECTED, state: 'none' } as const;
  expect(viewOf(none, false, { ...OTHER, needsPassword: true })).toBe('password');
  expect(viewOf(none, false, OWN)).toBe('missing');
});
