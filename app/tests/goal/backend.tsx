/** What stands in for the Rust side: it remembers what it was asked, and answers from tables. */
import { emit } from '@tauri-apps/api/event';
import { mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';
import type { GoalView, Notice, Settings, SettingsView } from 'tauri-plugin-goal-api';

import { goalView as usualGoal, settingsView } from '../../../guest-js/tests/fixtures';
import { drafts } from '../../src/drafts';
import { Goals } from '../../src/goal';
import { closeGoal } from '../../src/goal/manage';
import { notices } from '../../src/goal/notices';
import { navigation } from '../../src/navigation';
import { EMPTY, type Session } from '../../src/server/state';
import { server } from '../../src/server/store';
import { Toasts } from '../../src/ui/toasts';

type Request = Record<string, unknown>;
type Answer = (request: Request) => unknown;

/** The page's one store lives longer than a test: it takes only what is newer. */
let seq = 0;

export class Backend {
  readonly calls: { command: string; request: Request }[] = [];
  goals: GoalView[] = [];
  settings: SettingsView = settingsView();
  readonly answers: Record<string, Answer> = {};

  constructor() {
    seq += 1;
    mockWindows('main');
    mockIPC((command, request) => this.#answer(command, (request ?? {}) as Request), {
      shouldMockEvents: true,
    });
    server.setState(EMPTY, true);
    drafts.setState({}, true);
    notices.setState({ all: null, error: null });
    navigation.setState({ place: { kind: 'draft', directory: '/w' }, overlay: null, sheet: null });
    closeGoal();
  }

  asked(command: string): Request[] {
    return this.calls
      .filter((call) => call.command.replace('plugin:goal|', '') === command)
      .map(({ request }) => request);
  }

  /** A change of a session's goal, and the event that tells of it. */
  async change(goal: GoalView): Promise<void> {
    seq += 1;
    const told = { ...goal, seq };
    this.goals = [...this.goals.filter(({ sessionId }) => sessionId !== goal.sessionId), told];
    await emit('goal://changed', { seq, sessionId: goal.sessionId, goal: told });
  }

  #answer(command: string, request: Request): unknown {
    this.calls.push({ command, request });
    const name = command.replace('plugin:goal|', '');
    const answer = this.answers[name] ?? this.#usual[name];
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a refusal of Tauri is a text
    if (answer === undefined) throw `Command ${command} not found`;
    return answer(request);
  }

  #goal({ sessionId }: Request): GoalView {
    const found = this.goals.find((goal) => goal.sessionId === sessionId);
    return found ?? goalView({ sessionId: String(sessionId) });
  }

  readonly #usual: Record<string, Answer> = {
    list: () => ({ seq, goals: this.goals.map((goal) => ({ ...goal, seq })) }),
    server_status: () => ({ seq, state: 'connected', driver: 'driving', ready: true }),
    settings_get: () => this.settings,
    settings_set: ({ changes }) => {
      const settings = { ...this.settings.settings, ...(changes as Partial<Settings>) };
      return (this.settings = { ...this.settings, settings });
    },
    objective: () => ({ text: 'A long objective that is kept in a file.' }),
    why: (request) => ({ goal: this.#goal(request), look: null, recent: [] }),
    auditor_check: () => AUDITOR,
    notices: () => [],
    notices_mark_read: ({ ids }) => ({ marked: (ids as number[]).length }),
    start: (request) => ({ goal: { ...this.#goal(request), seq }, notDistilled: null }),
    pause: (request) => ({
      goal: { ...this.#goal(request), status: 'paused', phase: 'settled', seq },
      already: false,
      abortFailed: null,
    }),
    resume: (request) => ({ goal: { ...this.#goal(request), status: 'active', seq }, already: false }),
    edit: (request) => ({ goal: { ...this.#goal(request), seq }, notDistilled: null }),
    models: () => ({
      providers: [{ id: 'acme', name: 'Acme', models: [{ id: 'tiny', name: 'Tiny' }] }],
      configured: null,
      agents: [],
    }),
    draft_set: () => null,
    server_call: () => answered([]),
  };
}

export const AUDITOR = { model: 'anthropic/claude-haiku-4-5', source: 'family-scan' } as const;

/** How the host gives an answer of the server. */
export function answered(body: unknown, status = 200): ArrayBuffer {
  const head = JSON.stringify({ status, contentType: 'application/json' });
  return new TextEncoder().encode(`${head}\n${JSON.stringify(body)}`).buffer;
}

export function refusal(code: string, message: string): Answer {
  return () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- as the plugin refuses
    throw { code, message };
  };
}

export function goalView(change: Partial<GoalView> = {}): GoalView {
  const here = { directory: '/w', objective: 'Add tests for the export module.', note: 'Quoting is done.' };
  return usualGoal({ ...here, auditedBy: null, ...change }, Date.now());
}

export function notice(change: Partial<Notice> = {}): Notice {
  return {
    id: 1,
    at: Date.now() - 60_000,
    sessionId: 'ses_a',
    directory: '/w',
    title: 'Refactor the exporter',
    goalId: 'goal_1',
    code: 'goalComplete',
    objective: 'Add tests for the export module.',
    detail: 'verified by audit',
    state: 'sent',
    read: false,
    ...change,
  };
}

export function session(change: Partial<Session> = {}): Session {
  return {
    id: 'ses_a',
    slug: 'a',
    projectID: 'prj',
    directory: '/w',
    title: 'Refactor the exporter',
    version: '1.18.33',
    time: { created: 1, updated: 1 },
    ...change,
  };
}

/** The page knows these sessions. */
export function know(...sessions: Session[]): void {
  server.setState({
    connection: { kind: 'live' },
    sessions: Object.fromEntries(sessions.map((one) => [one.id, one])),
  });
}


/** A part of the page, with all that stands around it. */
export function show(part: ReactNode): ReturnType<typeof render> {
  return render(
    <Tooltip.Provider>
      <Goals>{part}</Goals>
      <Toasts />
    </Tooltip.Provider>,
  );
}
