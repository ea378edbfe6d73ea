import { emit } from '@tauri-apps/api/event';
import { expect, test } from 'vitest';

import * as goal from '../index.js';
import { Backend } from './backend.js';

type Listen = (handler: (payload: unknown) => void) => Promise<() => void>;

const EVENTS: [string, Listen][] = [
  ['goal://changed', goal.onChanged],
  ['goal://settled', goal.onSettled],
  ['goal://connection', goal.onConnection],
  ['goal://notice', goal.onNotice],
  ['goal://settings', goal.onSettings],
  ['goal://open', goal.onOpen],
];

test.each(EVENTS)('%s reaches its listener until that is taken away', async (event, listen) => {
  new Backend().install();
  const heard: unknown[] = [];
  const unlisten = await listen((payload) => heard.push(payload));
  await emit(event, { seq: 1 });
  unlisten();
  await new Promise((resolve) => setTimeout(resolve));
  await emit(event, { seq: 2 });
  expect(heard).toEqual([{ seq: 1 }]);
});

test('there is a function for every event', () => {
  expect(EVENTS.map(([event]) => event)).toEqual([...goal.EVENTS]);
});
