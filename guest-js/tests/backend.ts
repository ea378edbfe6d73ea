import { emit } from '@tauri-apps/api/event';
import { mockIPC, mockWindows } from '@tauri-apps/api/mocks';

import type { Explanation, GoalView, ServerStatus, SettingsView } from '../types.js';
import { goalView, server, settingsView } from './fixtures.js';

type Arguments = Record<string, unknown>;
type Answer = (request: Arguments) => unknown;

/** What stands in for the Rust side: it remembers what it was asked, and answers from tables. */
export class Backend {
  readonly calls: { command: string; request: Arguments }[] = [];
  goals: GoalView[] = [];
  seq = 1;
  server: ServerStatus = server();
  settings: SettingsView = settingsView();
  /** Answers that differ from the usual ones. A thrown value is a refusal. */
  readonly answers: Record<string, Answer> = {};

  install(): this {
    mockWindows('main');
    mockIPC((command, request) => this.#answer(command, (request ?? {}) as Arguments), {
      shouldMockEvents: true,
    });
    return this;
  }

  /** The requests of one command, in order. */
  asked(command: string): Arguments[] {
    const full = `plugin:goal|${command}`;
    return this.calls.filter((call) => call.command === full).map((call) => call.request);
  }

  /** A change of a session's goal, and the event that tells of it. */
  async change(goal: GoalView): Promise<void> {
    this.seq += 1;
    const told = { ...goal, seq: this.seq };
    this.goals = [...this.goals.filter((other) => other.sessionId !== goal.sessionId), told];
    await emit('goal://changed', { seq: this.seq, sessionId: goal.sessionId, goal: told });
  }

  async remove(sessionId: string): Promise<void> {
    this.seq += 1;
    this.goals = this.goals.filter((goal) => goal.sessionId !== sessionId);
    await emit('goal://changed', { seq: this.seq, sessionId, goal: null });
  }

  #answer(command: string, request: Arguments): unknown {
    this.calls.push({ command, request });
    const name = command.replace('plugin:goal|', '');
    const answer = this.answers[name] ?? this.#usual[name];
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a refusal of Tauri is a text
    if (answer === undefined) throw `Command ${command} not found`;
    return answer(request);
  }

  #goal(request: Arguments): GoalView {
    const found = this.goals.find((goal) => goal.sessionId === request['sessionId']);
    return found ?? goalView({ sessionId: String(request['sessionId']) });
  }

  readonly #usual: Record<string, Answer> = {
    get: (request) => this.goals.find((goal) => goal.sessionId === request['sessionId']) ?? null,
    list: () => ({ seq: this.seq, goals: this.goals }),
    objective: () => ({ text: 'A long objective that is kept in a file.' }),
    why: (request) => explanation(this.#goal(request)),
    notices: () => [],
    settings_get: () => this.settings,
    server_status: () => this.server,
    auditor_check: () => ({ model: 'anthropic/claude-haiku-4-5', source: 'family-scan' }),
    watch: () => ({ id: 7 }),
    unwatch: () => null,
    start: (request) => ({
      goal: this.#goal(request),
      shortened: false,
      inline: false,
      auditor: { model: 'anthropic/claude-haiku-4-5', source: 'family-scan' },
      messageId: 'msg_1',
      waitsForFirstMessage: false,
    }),
    edit: (request) => ({ goal: this.#goal(request), shortened: false, inline: false }),
    pause: (request) => ({
      goal: { ...this.#goal(request), status: 'paused', phase: 'settled' },
      already: false,
      abortFailed: null,
    }),
    resume: (request) => ({ goal: { ...this.#goal(request), status: 'active' }, already: false }),
    complete: (request) => ({ goal: { ...this.#goal(request), status: 'complete' }, already: false }),
    clear: (request) => ({ goal: this.#goal(request), already: false, abortFailed: null }),
    pause_all: () => [],
    auditor_test: () => ({
      auditor: { model: 'anthropic/claude-haiku-4-5', source: 'family-scan' },
      verdict: 'complete',
      note: 'Done.',
      tookMs: 900,
    }),
    notices_mark_read: (request) => ({ marked: (request['ids'] as number[]).length }),
    settings_set: () => this.settings,
    server_connect: () => this.server,
  };
}

function explanation(goal: GoalView): Explanation {
  const line = { detail: {}, tokensUsed: goal.tokensUsed, turnsUsed: goal.turnsUsed };
  return {
    goal,
    look: { decision: 'rest', why: 'busy', detail: '', until: null },
    recent: [
      { at: goal.at - 60_000, decision: 'rest', why: 'busy', ...line },
      { at: goal.at - 120_000, decision: 'continue', why: 'progress', ...line },
      { at: goal.at - 600_000, decision: 'continue', why: 'interrupted', ...line },
    ],
  };
}
