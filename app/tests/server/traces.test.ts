/** Recorded streams of a real server: hearing all of one gives what the server itself would answer at its end. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { ServerEvent } from '../../src/host/contract';
import { apply } from '../../src/server/apply';
import { EMPTY, isAudit, type Message, type Part, type ServerState, type Session } from '../../src/server/state';
import { transcript } from './fixtures';

const FOLDER = join(import.meta.dirname, '../../../tests/fixtures/traces');

interface Line {
  directory?: string;
  payload: { type: string; properties?: unknown; syncEvent?: { type: string; data: unknown } };
}

function lines(name: string): Line[] {
  return readFileSync(join(FOLDER, name), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Line);
}

/** What the host passes on: no twins. */
function events(all: Line[]): ServerEvent[] {
  return all.flatMap(({ directory, payload: { type, properties } }) =>
    type === 'sync' ? [] : [{ directory: directory ?? null, type, properties }],
  );
}

/** The final state by another way: the server's own log of what it stored, which the twins carry. */
interface Stored {
  sessions: Map<string, Session>;
  messages: Map<string, Message>;
  parts: Map<string, Part>;
}

function stored(all: Line[]): Stored {
  const kept: Stored = { sessions: new Map(), messages: new Map(), parts: new Map() };
  for (const { payload } of all) {
    if (payload.syncEvent !== undefined) store(kept, payload.syncEvent);
  }
  return kept;
}

function store(kept: Stored, { type, data }: { type: string; data: unknown }): void {
  const told = data as { sessionID: string; info: Session & Message; part: Part; messageID: string; partID: string };
  switch (type) {
    case 'session.created.1':
    case 'session.updated.1':
      kept.sessions.set(told.info.id, told.info);
      break;
    case 'session.deleted.1':
      kept.sessions.delete(told.sessionID);
      break;
    case 'message.updated.1':
      kept.messages.set(told.info.id, told.info);
      break;
    case 'message.removed.1':
      kept.messages.delete(told.messageID);
      break;
    case 'message.part.updated.1':
      kept.parts.set(told.part.id, told.part);
      break;
    case 'message.part.removed.1':
      kept.parts.delete(told.partID);
      break;
    default:
      throw new Error(`a durable event that this test does not know: ${type}`);
  }
}

/** All transcripts of the trace are open from the beginning. */
function begin({ sessions, messages }: Stored): ServerState {
  const ids = new Set([...sessions.keys(), ...[...messages.values()].map(({ sessionID }) => sessionID)]);
  return { ...EMPTY, transcripts: Object.fromEntries([...ids].map((id) => [id, transcript()])) };
}

/** Batches as a fast and as a slow host would send them. */
function inBatches(all: readonly ServerEvent[], size: number): ServerEvent[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.sse'));

describe('a recorded stream', () => {
  it('is there', () => {
    expect(NAMES.length).toBeGreaterThanOrEqual(20);
  });

  describe.each(NAMES)('%s', (name) => {
    const all = lines(name);
    const kept = stored(all);
    const hear = (size: number): ServerState => inBatches(events(all), size).reduce(apply, begin(kept));

    it('gives the messages and parts that the server stored', () => {
      const { transcripts, sessions } = hear(7);
      for (const [id, { messages, parts }] of Object.entries(transcripts)) {
        const own = [...kept.messages.values()].filter(({ sessionID }) => sessionID === id);
        own.sort((a, b) => a.time.created - b.time.created || (a.id < b.id ? -1 : 1));
        expect(messages).toEqual(own);
        for (const message of own) {
          const its = [...kept.parts.values()].filter(({ messageID }) => messageID === message.id);
          its.sort((a, b) => (a.id < b.id ? -1 : 1));
          expect(parts[message.id] ?? []).toEqual(its);
        }
      }
      const shown = [...kept.sessions.values()].filter((session) => !isAudit(session));
      expect(Object.values(sessions).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
        shown.sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
    });

    it('leaves nothing working and nothing waiting', () => {
      const { status, permissions, questions } = hear(1);
      expect({ status, permissions, questions }).toEqual({ status: {}, permissions: {}, questions: {} });
    });

    it('gives the same however it is cut', () => {
      expect(hear(1)).toEqual(hear(10_000));
    });
  });

  it('shows the words of an answer before the server has stored them', () => {
    const all = lines('normal_turn.sse');
    const heard = events(all);
    const last = heard.findLastIndex(({ type }) => type === 'message.part.delta');
    const { transcripts } = apply(begin(stored(all)), heard.slice(0, last + 1));
    const { partID } = heard[last]?.properties as { partID: string };
    const shown = Object.values(transcripts).flatMap(({ parts }) => Object.values(parts).flat());
    const part = shown.find(({ id }) => id === partID);
    const whole = stored(all).parts.get(partID);
    expect(part?.type === 'text' ? part.text : null).toBe(whole?.type === 'text' ? whole.text : undefined);
  });
});
