/**
 * A simulated host with a simulated OpenCode, for a plain browser. Query: `scene` (see `mock/scenes.ts`), `theme`, `lang`,
 * `now` (epoch milliseconds: the clock stands still), `word` (milliseconds between two streamed words).
 */
import { mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import type { Command } from 'tauri-plugin-goal-api';

import type { Preferences, ServerRequest } from '../src/host/contract';
import { App } from './mock/app';
import { Goals } from './mock/goals';
import { copy } from './mock/make';
import { makeServerCall } from './mock/routes';
import { flood, SCENES } from './mock/scenes';
import { Turns } from './mock/turns';
import { World, type Hearer } from './mock/world';

declare global {
  interface Window {
    /** The line is lost, or comes back. */
    __line?: (up: boolean) => void;
    /** Ten thousand deltas of a running answer, as fast as the host passes them on. */
    __flood?: () => Promise<void>;
    /** What was opened in the system's browser. */
    __opened?: string[];
  }
}

export function install(): void {
  const query = new URLSearchParams(location.search);
  const now = query.get('now');
  if (now !== null) stopClock(Number(now));
  const world = new World();
  world.wordTime = Number(query.get('word') ?? world.wordTime);
  const turns = new Turns(world);
  const goals = new Goals(world, turns);
  const call = makeServerCall({
    world,
    turns,
    stop: (sessionId) => {
      goals.stop(sessionId);
    },
  });
  mockWindows('main');
  mockIPC(
    async (command, args) => {
      const given = (args ?? {}) as Record<string, unknown>;
      const [, own] = /^plugin:goal\|(.*)$/.exec(command) ?? [];
      if (own !== undefined) return goals.answer(own as Command, given);
      if (command === 'server_call') return call(given['request'] as ServerRequest);
      if (command === 'server_events') {
        world.hear(given['events'] as Hearer);
        return null;
      }
      return copy(app.answer(command, given));
    },
    { shouldMockEvents: true },
  );
  const scene = SCENES[query.get('scene') ?? 'tour'] ?? SCENES['tour'];
  scene?.({ world, turns, goals });
  const app = new App(world, goals, wanted(query, world));
  window.__line = (up) => {
    setLine(world, goals, up);
  };
  window.__flood = () => flood(world);
  window.__opened = app.opened;
}

function wanted(
  query: URLSearchParams,
  world: World,
): Record<'usual' | 'asked', Partial<Preferences>> {
  const theme = query.get('theme');
  const language = query.get('lang');
  const directory = world.main === null ? null : world.session(world.main).directory;
  return {
    usual: { closeHintSeen: true, lastSession: world.main, lastDirectory: directory },
    asked: {
      ...(theme === 'light' || theme === 'dark' ? { theme } : {}),
      ...(language === 'en' || language === 'fr' ? { language } : {}),
    },
  };
}

function setLine(world: World, goals: Goals, up: boolean): void {
  if (up) world.comeBack();
  else world.goDown();
  goals.setServer(
    up
      ? { state: 'connected', code: null, reason: '', retryInMs: null }
      : {
          state: 'away',
          code: 'unreachable',
          reason: 'OpenCode did not answer for 45 s',
          retryInMs: 8_000,
        },
  );
}

/** Pictures show the same times whenever they are taken; timers go on. */
function stopClock(now: number): void {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given: [] | [value: number | string | Date]) {
      super(...(given.length === 0 ? ([now] as [number]) : given));
    }

    static override now(): number {
      return now;
    }
  } as DateConstructor;
}
