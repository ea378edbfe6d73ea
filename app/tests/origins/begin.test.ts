import { beforeEach, describe, expect, test, vi } from 'vitest';

import type { ServerEvent } from '../../src/host/contract';
import { begin, Left, MayHaveBegun, type Beginning } from '../../src/origins/begin';
import { hear } from '../../src/server/sync';
import { answered, Backend, know, refusal, session } from '../goal/backend';

const TREE = '/data/worktree/w/brave-otter';

interface Request {
  method: string;
  path: string;
  query: [string, string][];
  body: string | null;
}

let backend: Backend;
/** `POST /session` → its answer, where it is not the usual one. */
let routes: Record<string, () => unknown>;
/** What was asked of the server and of the plugin to change, in its order. */
let asked: string[];

beforeEach(() => {
  backend = new Backend();
  routes = {};
  asked = [];
  know(session());
  backend.answers['server_call'] = ({ request }) => {
    const { method, path } = request as Request;
    const route = `${method} ${path}`;
    if (method !== 'GET') asked.push(route);
    return (routes[route] ?? usual[route])?.() ?? answered(true);
  };
  const start = (): unknown => {
    asked.push('start');
    return { goal: { sessionId: 'ses_new', seq: 1 }, notDistilled: null };
  };
  backend.answers['start'] = start;
});

function tellTree(type: string, properties: Record<string, unknown> = {}): void {
  const event: ServerEvent = { directory: TREE, type, properties };
  hear({ kind: 'events', events: [event] });
}

const usual: Record<string, () => unknown> = {
  'POST /experimental/worktree': () => {
    setTimeout(() => { tellTree('worktree.ready'); });
    return answered({ name: 'brave-otter', branch: 'opencode/brave-otter', directory: TREE });
  },
  'POST /session': () => answered(session({ id: 'ses_new' })),
};

function beginning(change: Partial<Beginning> = {}): Beginning {
  return {
    directory: '/w',
    worktree: false,
    goal: false,
    agent: 'build',
    model: { providerId: 'fake', modelId: 'big', variant: 'high' },
    prompt: 'Go on with this.',
    instructions: null,
    objective: null,
    ...change,
  };
}

const run = (change: Partial<Beginning> = {}, signal = new AbortController().signal): Promise<string> =>
  begin(beginning(change), signal);

function requests(route: string): Request[] {
  const all = backend.asked('server_call').map(({ request }) => request as Request);
  return all.filter(({ method, path }) => `${method} ${path}` === route);
}

const bodyOf = (route: string): unknown => JSON.parse(requests(route)[0]?.body ?? 'null');

describe('the order', () => {
  test('without a goal is worktree, session, message', async () => {
    expect(await run({ worktree: true, instructions: 'Read it.' })).toBe('ses_new');
    expect(asked).toEqual(['POST /experimental/worktree', 'POST /session', 'POST /session/ses_new/prompt_async']);
    expect(requests('POST /experimental/worktree')[0]?.query).toEqual([['directory', '/w']]);
    expect(requests('POST /session')[0]?.query).toEqual([['directory', TREE]]);
    expect(bodyOf('POST /session/ses_new/prompt_async')).toEqual({
      agent: 'build',
      model: { providerID: 'fake', modelID: 'big' },
      variant: 'high',
      parts: [
        { type: 'text', text: 'Go on with this.' },
        { type: 'text', text: 'Read it.', synthetic: true },
      ],
    });
  });

  test('with a goal the plugin sends the message, with the usual budget', async () => {
    await run({ worktree: true, goal: true });
    expect(asked).toEqual(['POST /experimental/worktree', 'POST /session', 'start']);
    expect(backend.asked('start')).toEqual([
      {
        sessionId: 'ses_new',
        objective: 'Go on with this.',
        agent: 'build',
        model: { providerId: 'fake', modelId: 'big' },
        variant: 'high',
        requestId: expect.any(String) as string,
      },
    ]);
  });

  test('an objective of its own is judged, and the prompt is said in its place', async () => {
    await run({ goal: true, objective: 'The plan is implemented.', instructions: 'Read it.' });
    expect(backend.asked('start')[0]).toMatchObject({
      objective: 'The plan is implemented.',
      prompt: 'Go on with this.',
      instructions: 'Read it.',
    });
  });

  test('no session is made before the worktree is full', async () => {
    routes['POST /experimental/worktree'] = () => answered({ name: 'b', directory: TREE });
    const running = run({ worktree: true });
    await vi.waitFor(() => { expect(asked).toEqual(['POST /experimental/worktree']); });
    // Of another one that is made at the same time.
    hear({ kind: 'events', events: [{ directory: '/other', type: 'worktree.ready', properties: {} }] });
    await Promise.resolve();
    expect(asked).toEqual(['POST /experimental/worktree']);
    tellTree('worktree.ready');
    expect(await running).toBe('ses_new');
  });

  test('a worktree that is full before its answer is there is not waited for', async () => {
    routes['POST /experimental/worktree'] = () => {
      tellTree('worktree.ready');
      return answered({ name: 'b', directory: TREE });
    };
    expect(await run({ worktree: true })).toBe('ses_new');
  });
});

describe('what was made goes again', () => {
  const GONE = ['DELETE /session/ses_new', 'DELETE /experimental/worktree'];

  test('where the worktree cannot be made there is nothing to take away', async () => {
    routes['POST /experimental/worktree'] = () => answered({ data: { message: 'no git' } }, 400);
    await expect(run({ worktree: true })).rejects.toThrow('no git');
    expect(asked).toEqual(['POST /experimental/worktree']);
  });

  test('where it cannot be filled it goes, and no session is made', async () => {
    routes['POST /experimental/worktree'] = () => {
      setTimeout(() => { tellTree('worktree.failed', { message: 'no space left' }); });
      return answered({ name: 'b', directory: TREE });
    };
    await expect(run({ worktree: true })).rejects.toThrow('no space left');
    expect(asked).toEqual(['POST /experimental/worktree', 'DELETE /experimental/worktree']);
    expect(bodyOf('DELETE /experimental/worktree')).toEqual({ directory: TREE });
  });

  test('where it is not full within a minute it goes', async () => {
    vi.useFakeTimers();
    try {
      routes['POST /experimental/worktree'] = () => answered({ name: 'b', directory: TREE });
      const running = run({ worktree: true });
      const refused = expect(running).rejects.toMatchObject({ code: 'timedOut' });
      await vi.advanceTimersByTimeAsync(60_000);
      await refused;
      expect(asked.at(-1)).toBe('DELETE /experimental/worktree');
    } finally {
      vi.useRealTimers();
    }
  });

  test('where no session can be made the worktree goes', async () => {
    routes['POST /session'] = () => answered({ data: { message: 'no room' } }, 500);
    await expect(run({ worktree: true })).rejects.toThrow('no room');
    expect(asked.slice(1)).toEqual(['POST /session', 'DELETE /experimental/worktree']);
  });

  test('where the goal does not start both go', async () => {
    backend.answers['start'] = refusal('noAuditor', 'No model can be found to audit the goal.');
    await expect(run({ worktree: true, goal: true })).rejects.toThrow('No model can be found');
    expect(asked.slice(2)).toEqual(GONE);
  });

  test('where the server refuses the message both go', async () => {
    routes['POST /session/ses_new/prompt_async'] = () => answered({ data: { message: 'no such agent' } }, 400);
    await expect(run({ worktree: true })).rejects.toThrow('no such agent');
    expect(asked.slice(3)).toEqual(GONE);
  });

  test('given up while the worktree is filled, it goes', async () => {
    const wanted = new AbortController();
    routes['POST /experimental/worktree'] = () => {
      setTimeout(() => { wanted.abort(); });
      return answered({ name: 'b', directory: TREE });
    };
    await expect(run({ worktree: true }, wanted.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked).toEqual(['POST /experimental/worktree', 'DELETE /experimental/worktree']);
  });

  test('a worktree that stays is named', async () => {
    routes['POST /session'] = () => answered({ data: { message: 'no room' } }, 500);
    routes['DELETE /experimental/worktree'] = () => answered({ data: { message: 'busy' } }, 400);
    const failed = await run({ worktree: true }).catch((thrown: unknown) => thrown);
    expect(failed).toBeInstanceOf(Left);
    expect(failed).toMatchObject({ worktree: TREE, cause: { message: 'no room' } });
  });
});

describe('what may have begun stays', () => {
  test.each(['internal', 'notDelivered'])('a goal after %s', async (code) => {
    backend.answers['start'] = refusal(code, 'It is not known.');
    const failed = await run({ worktree: true, goal: true }).catch((thrown: unknown) => thrown);
    expect(failed).toBeInstanceOf(MayHaveBegun);
    expect(failed).toMatchObject({ sessionId: 'ses_new', cause: { message: 'It is not known.' } });
    expect(asked).toEqual(['POST /experimental/worktree', 'POST /session']);
  });

  test.each(['timedOut', 'unreachable'])('a message after %s', async (code) => {
    routes['POST /session/ses_new/prompt_async'] = refusal(code, 'no answer') as () => unknown;
    await expect(run()).rejects.toBeInstanceOf(MayHaveBegun);
    expect(asked).toEqual(['POST /session', 'POST /session/ses_new/prompt_async']);
  });
});
