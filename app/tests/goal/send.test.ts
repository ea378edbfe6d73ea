import { goalStore } from 'tauri-plugin-goal-api';
import { beforeEach, expect, test } from 'vitest';

import { armedSend, type ArmedMessage } from '../../src/goal/send';
import { Told } from '../../src/ui/toasts';
import { answered, Backend, know, refusal, session } from './backend';

let backend: Backend;

beforeEach(() => {
  backend = new Backend();
  know(session());
  backend.answers['server_call'] = (call) => {
    const { method } = call['request'] as { method: string };
    return method === 'POST' ? answered(session({ id: 'ses_new' })) : answered(true);
  };
});

function message(change: Partial<ArmedMessage> = {}): ArmedMessage {
  return {
    sessionId: 'ses_a',
    directory: '/w',
    text: 'Make the tests pass.',
    agent: null,
    model: null,
    attachments: [],
    budget: null,
    ...change,
  };
}

/** What the server was asked to change: method and path. */
function changes(): string[] {
  return backend
    .asked('server_call')
    .map(({ request }) => request as { method: string; path: string })
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
}

test('in a session the plugin starts the goal, and the page sends no prompt of its own', async () => {
  expect(await armedSend(message({ budget: 50_000 }))).toEqual({ sessionId: 'ses_a' });
  expect(backend.asked('start')).toEqual([
    {
      sessionId: 'ses_a',
      objective: 'Make the tests pass.',
      tokenBudget: 50_000,
      requestId: expect.any(String) as string,
    },
  ]);
  expect(changes()).toEqual([]);
  expect(goalStore().goal('ses_a')?.status).toBe('active');
});

test('no budget is said to be none: the plugin adds no usual one', async () => {
  await armedSend(message());
  expect(backend.asked('start')[0]).toMatchObject({ tokenBudget: null });
});

test('a draft becomes a session first', async () => {
  expect(await armedSend(message({ sessionId: null }))).toEqual({ sessionId: 'ses_new' });
  expect(changes()).toEqual(['POST /session']);
  expect(backend.asked('start')[0]).toMatchObject({ sessionId: 'ses_new' });
});

test('where the goal does not start, the session that was made for it goes again', async () => {
  backend.answers['start'] = refusal('noAuditor', 'No model can be found to audit the goal.');
  const sent = armedSend(message({ sessionId: null }));
  await expect(sent).rejects.toThrow(new Told('No model can be found to audit the goal.'));
  expect(changes()).toEqual(['POST /session', 'DELETE /session/ses_new']);
});

test.each(['internal', 'notDelivered'])('after %s the new session stays: it may hold the goal', async (code) => {
  backend.answers['start'] = refusal(code, 'It is not known.');
  await expect(armedSend(message({ sessionId: null }))).rejects.toThrow('It is not known.');
  expect(changes()).toEqual(['POST /session']);
});

test('a session that was there before is never deleted', async () => {
  backend.answers['start'] = refusal('goalExists', 'The session has a goal already.');
  await expect(armedSend(message())).rejects.toThrow('The session has a goal already.');
  expect(changes()).toEqual([]);
});

test('without a folder there is no session to make', async () => {
  await expect(armedSend(message({ sessionId: null, directory: null }))).rejects.toThrow('folder');
  expect([changes(), backend.asked('start')]).toEqual([[], []]);
});

test('a slash command is started as it was typed: the plugin knows what to make of it', async () => {
  await armedSend(message({ text: '/review all' }));
  expect(backend.asked('start')[0]).toMatchObject({ objective: '/review all' });
  expect(backend.asked('server_call')).toEqual([]);
});

test('the first message goes with the agent, the model and the files that were chosen', async () => {
  const file = { name: 'a.png', mime: 'image/png', url: 'data:,' };
  const model = { providerId: 'fake', modelId: 'big', variant: 'high' };
  await armedSend(message({ agent: 'plan', model, attachments: [file] }));
  expect(backend.asked('start')[0]).toMatchObject({
    agent: 'plan',
    model: { providerId: 'fake', modelId: 'big' },
    variant: 'high',
    attachments: [file],
  });
});

test('a text with a slash that is no command is an objective, and may name files', async () => {
  const named = { name: 'src/a.ts', mime: 'text/plain', url: 'file:///w/src/a.ts' };
  await armedSend(message({ text: '/etc/hosts is wrong, see @src/a.ts', attachments: [named] }));
  expect(backend.asked('start')[0]).toMatchObject({ objective: '/etc/hosts is wrong, see @src/a.ts' });
});
