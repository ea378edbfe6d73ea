import { expect, test } from 'vitest';

import { costOf, costText } from '../../src/goal/cost';
import { session } from './backend';

test('a session costs what it and everything below it cost', () => {
  const sessions = Object.fromEntries(
    [
      session({ cost: 1 }),
      session({ id: 'ses_child', parentID: 'ses_a', cost: 0.5 }),
      session({ id: 'ses_grandchild', parentID: 'ses_child', cost: 0.25 }),
      session({ id: 'ses_other', cost: 10 }),
      session({ id: 'ses_free' }),
    ].map((one) => [one.id, one]),
  );
  expect(costOf(sessions, 'ses_a')).toBe(1.75);
  expect(costOf(sessions, 'ses_free')).toBe(0);
  expect(costOf(sessions, 'ses_unknown')).toBe(0);
  // Another list is another sum.
  expect(costOf({ ...sessions, ses_a: session({ cost: 2 }) }, 'ses_a')).toBe(2.75);
});

test('an amount is told in cents, and none is told where no price is known', () => {
  expect([0, 0.004, 0.42, 12.5].map((dollars) => costText(dollars, 'en'))).toEqual(['', '< $0.01', '$0.42', '$12.50']);
  expect(costText(0.42, 'fr').replace(/\s/u, ' ')).toBe('0,42 $');
});
