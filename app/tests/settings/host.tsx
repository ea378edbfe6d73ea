/** A host for the tests of settings, work status and welcome: what it is asked, and what it answers. */
import { mockIPC } from '@tauri-apps/api/mocks';
import { render, type RenderResult } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import { createGoalStore, type ServerStatus, type Settings, type SettingsView } from 'tauri-plugin-goal-api';
import { GoalProvider } from 'tauri-plugin-goal-api/react';
import { beforeEach } from 'vitest';

import { server as connected, SETTINGS } from '../../../guest-js/tests/fixtures';
import { navigation } from '../../src/navigation';
import { DEFAULTS, preferences } from '../../src/preferences';
import { EMPTY } from '../../src/server/state';
import { server } from '../../src/server/store';

export interface Asked {
  command: string;
  args: Record<string, unknown>;
}

export interface FakeHost {
  asked: Asked[];
  /** Answers by the command's name; a function that throws refuses. */
  answers: Record<string, (args: Record<string, unknown>) => unknown>;
  /** The arguments of every call of a command. */
  of: (command: string) => Record<string, unknown>[];
}

/** A refusal as the host sends it. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string, message = 'because of the test') {
    super(message);
    this.code = code;
  }
}

export const CONNECTED = connected({ seq: 3 });

export function failed(code: ServerStatus['code'], reason = 'the cause'): ServerStatus {
  return { ...CONNECTED, state: 'failed', url: null, version: null, managed: false, code, reason };
}

export { SETTINGS };

export function viewOf(settings: Settings): SettingsView {
  return { settings, defaults: SETTINGS, source: 'file', complaint: null };
}

/** A fresh host and a fresh page before each test of a file. */
export function fakeHost(): FakeHost {
  const host: FakeHost = {
    asked: [],
    answers: {},
    of: (command) => host.asked.filter((one) => one.command === command).map(({ args }) => args),
  };
  beforeEach(() => {
    let settings = SETTINGS;
    host.asked = [];
    host.answers = {
      list: () => ({ seq: 1, goals: [] }),
      server_status: () => CONNECTED,
      settings_get: () => viewOf(settings),
      settings_set: ({ changes }) => {
        settings = { ...settings, ...(changes as Partial<Settings>) };
        return viewOf(settings);
      },
      server_choice: () => ({ kind: 'managed', keyring: true }),
      preferences_set: ({ patch }) => ({ ...preferences.getState(), ...(patch as object) }),
      notices: () => [],
    };
    preferences.setState(DEFAULTS, true);
    server.setState(EMPTY, true);
    navigation.setState({ place: { kind: 'draft', directory: null }, overlay: null, sheet: null });
    // It stays until the next one: what is unmounted takes its listeners back a turn later.
    mockIPC(
      (command, args) => {
        const name = command.replace('plugin:goal|', '');
        const given = (args ?? {}) as Record<string, unknown>;
        host.asked.push({ command: name, args: given });
        const answer = host.answers[name];
        if (answer === undefined) throw new Refused('internal', `no answer to ${name}`);
        return answer(given);
      },
      { shouldMockEvents: true },
    );
  });
  return host;
}

/** Shows a part of the page with all that is around it. */
export function show(part: ReactNode): RenderResult {
  return render(
    <Tooltip.Provider>
      <GoalProvider store={createGoalStore()}>{part}</GoalProvider>
    </Tooltip.Provider>,
  );
}

/** An answer to `server_call`. */
export function answered(body: unknown, status = 200): ArrayBuffer {
  const head = JSON.stringify({ status, contentType: 'application/json' });
  return new TextEncoder().encode(`${head}\n${JSON.stringify(body)}`).buffer;
}
