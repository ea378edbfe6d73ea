import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import {
  decode,
  dequeue,
  encode,
  endedWell,
  enqueue,
  hold,
  QUEUE_MAX,
  queueOf,
  queues,
  resume,
  sendNow,
  startQueues,
} from '../../src/composer/queue';
import { drafts, flushDrafts } from '../../src/drafts';
import { server } from '../../src/server/store';
import { assistant, user } from '../server/fixtures';
import { done, fakeHost, Status, texts, work, type Fake } from './fake';

const message = (text: string): Parameters<typeof enqueue>[1] => ({ text, attachments: [], agent: null, model: null });
const waiting = (): string[] => queueOf('ses_a').entries.map(({ text }) => text);
const idOf = (text: string): number => queueOf('ses_a').entries.find((one) => one.text === text)?.id ?? -1;

let fake: Fake;
let end: () => void;
let last: unknown;

beforeEach(() => {
  vi.useFakeTimers();
  fake = fakeHost();
  last = done;
  fake.routes['GET /session/ses_a/message'] = () => [{ info: last, parts: [] }];
  end = startQueues();
  work(true);
});

afterEach(() => {
  end();
  vi.useRealTimers();
});

/** The turn ends, and what follows from it comes to rest. */
async function turnEnds(): Promise<void> {
  work(false);
  await vi.advanceTimersByTimeAsync(2_000);
}

describe('what waits', () => {
  it('is sent one at a time, in its order, each at the end of a turn', async () => {
    enqueue('ses_a', message('one'));
    enqueue('ses_a', message('two'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(texts(fake)).toEqual([]);
    await turnEnds();
    expect(texts(fake)).toEqual(['one']);
    expect(waiting()).toEqual(['two']);
    work(true);
    await turnEnds();
    expect(texts(fake)).toEqual(['one', 'two']);
    expect(waiting()).toEqual([]);
  });

  it('goes on after a turn that was too short to be seen', async () => {
    enqueue('ses_a', message('one'));
    enqueue('ses_a', message('two'));
    await turnEnds();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(texts(fake)).toEqual(['one', 'two']);
  });

  it('is not sent when the session works again at once', async () => {
    enqueue('ses_a', message('one'));
    work(false);
    await vi.advanceTimersByTimeAsync(500);
    work(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(texts(fake)).toEqual([]);
  });

  it('waits for the line, and is sent when it is back', async () => {
    enqueue('ses_a', message('one'));
    server.setState({ connection: { kind: 'away', since: 0, nextTryAt: null } });
    await turnEnds();
    expect(texts(fake)).toEqual([]);
    server.setState({ connection: { kind: 'live' } });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(texts(fake)).toEqual(['one']);
  });

  it('can be taken out, and sent at once into the turn that runs', async () => {
    for (const text of ['one', 'two', 'three']) enqueue('ses_a', message(text));
    expect(dequeue('ses_a', idOf('one'))?.text).toBe('one');
    await sendNow('ses_a', idOf('three'));
    expect(texts(fake)).toEqual(['three']);
    expect(waiting()).toEqual(['two']);
  });

  it('is bounded', () => {
    for (let n = 0; n < QUEUE_MAX; n += 1) expect(enqueue('ses_a', message(`${n}`))).toBe(true);
    expect(enqueue('ses_a', message('one more'))).toBe(false);
    expect(waiting()).toHaveLength(QUEUE_MAX);
    queues.setState({}, true);
    expect(enqueue('ses_a', message('a'.repeat(100_000)))).toBe(false);
  });
});

describe('what waits is held', () => {
  it('after a stop, until somebody says so', async () => {
    enqueue('ses_a', message('one'));
    enqueue('ses_a', message('two'));
    hold('ses_a');
    await turnEnds();
    expect(texts(fake)).toEqual([]);
    expect(queueOf('ses_a').held).toBe('stopped');
    resume('ses_a');
    await vi.advanceTimersByTimeAsync(0);
    expect(texts(fake)).toEqual(['one']);
    expect(queueOf('ses_a').held).toBeNull();
    work(true);
    await turnEnds();
    expect(texts(fake)).toEqual(['one', 'two']);
  });

  it('after a turn that another client stopped', async () => {
    enqueue('ses_a', message('one'));
    last = { ...done, error: { name: 'MessageAbortedError', data: { message: 'Aborted' } } };
    await turnEnds();
    expect(texts(fake)).toEqual([]);
    expect(queueOf('ses_a').held).toBe('stopped');
  });

  it('when it could not be sent, with the reason, and stands where it was', async () => {
    enqueue('ses_a', message('one'));
    enqueue('ses_a', message('two'));
    fake.routes['POST /session/ses_a/prompt_async'] = () => new Status(500);
    await turnEnds();
    expect(waiting()).toEqual(['one', 'two']);
    expect(queueOf('ses_a')).toMatchObject({ held: 'failed', failure: { message: 'the server would not' } });
  });

  it('after a reload', async () => {
    enqueue('ses_a', { ...message('see @a'), attachments: [{ name: 'a', mime: 'text/plain', url: 'file:///w/a' }] });
    enqueue('ses_a', { ...message('two'), agent: 'plan' });
    await flushDrafts();
    end();
    queues.setState({}, true);
    drafts.setState({ ...fake.kept }, true);
    end = startQueues();
    await turnEnds();
    expect(texts(fake)).toEqual([]);
    expect(queueOf('ses_a')).toMatchObject({
      held: 'restored',
      entries: [{ text: 'see @a', attachments: [{ url: 'file:///w/a' }] }, { text: 'two', agent: 'plan' }],
    });
  });
});

describe('the end of a turn', () => {
  it.each([
    ['an answer', done, true],
    ['a summary', { ...done, summary: true }, true],
    ['an error', { ...done, error: { name: 'APIError' as const, data: { message: '', isRetryable: false } } }, false],
    ['a stop in a retry', { ...assistant('msg_2', 2), time: { created: 2, completed: 3 } }, false],
    ['a crash', assistant('msg_2', 2), false],
    ['a refused permission', { ...done, finish: 'tool-calls' }, false],
    ['a message without an answer', user('msg_3', 3), false],
  ])('%s', (_, tail, well) => {
    expect(endedWell(tail)).toBe(well);
  });
});

describe('what is kept of a queue', () => {
  it('is nothing when nothing waits', async () => {
    enqueue('ses_a', message('one'));
    await flushDrafts();
    expect(Object.keys(fake.kept)).toEqual(['queue:ses_a']);
    dequeue('ses_a', idOf('one'));
    await flushDrafts();
    expect(fake.kept).toEqual({});
  });

  it('is read only as it was written', () => {
    const draft = encode([]);
    for (const text of ['', '{', '{}', 'null', '[1, null, {"text": 1}]']) expect(decode({ ...draft, text })).toEqual([]);
  });
});
