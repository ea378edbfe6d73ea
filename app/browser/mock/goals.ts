/** The simulated plugin: goals that live a short, believable life, notices, settings, the server's state. */
import { emit } from '@tauri-apps/api/event';
import type {
  Command,
  GoalView,
  Notice,
  NoticeCode,
  ServerStatus,
  Settings,
  SettingsView,
  Status,
} from 'tauri-plugin-goal-api';

import { goalView, server as connected, SETTINGS } from '../../../guest-js/tests/fixtures';
import { continuation, copy, MINUTE, SECOND } from './make';
import type { Turns } from './turns';
import { Refused, type World } from './world';

/** Quiet before an audit, and how long an audit takes; short, so that a life can be watched. */
const QUIET = 3 * SECOND;
const AUDIT = 1.5 * SECOND;

/** An audit's notes in turn; with the last one the goal is complete. */
const NOTES = ['Quoting is done; the delimiter cases remain.', 'The whole suite passes.'] as const;

const AUDITOR = { model: 'anthropic/claude-haiku-4-5', source: 'family-scan' } as const;

interface Args {
  sessionId: string;
  objective?: string;
  prompt?: string;
  instructions?: string;
  tokenBudget?: number | null;
  send?: boolean;
  replace?: boolean;
  limit?: number;
  ids?: number[];
  changes?: Record<string, unknown>;
  server?: unknown;
}

export class Goals {
  readonly #world: World;
  readonly #turns: Turns;
  readonly #goals = new Map<string, GoalView>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #notices: Notice[] = [];
  #settings = SETTINGS;
  #server: Omit<ServerStatus, 'seq'>;
  #seq = 1;

  constructor(world: World, turns: Turns) {
    this.#world = world;
    this.#turns = turns;
    this.#server = connected();
    world.onStatus = (sessionId, { type }) => {
      this.#hear(sessionId, type === 'idle');
    };
  }

  /** Puts a goal there as it is, without a life. */
  place(sessionId: string, change: Partial<GoalView> = {}): GoalView {
    const { title, directory } = this.#world.session(sessionId);
    const own = { sessionId, title, directory, goalId: `goal_${sessionId}`, seq: this.#seq };
    const goal = goalView({ ...own, ...change }, Date.now());
    this.#goals.set(sessionId, goal);
    return goal;
  }

  isActive(sessionId: string): boolean {
    return this.#goals.get(sessionId)?.status === 'active';
  }

  /** The line changed, or there never was one. */
  setServer(change: Partial<Omit<ServerStatus, 'seq'>>): ServerStatus {
    this.#server = { ...this.#server, ...change };
    const status = { ...this.#server, seq: this.#next() };
    void emit('goal://connection', status);
    return status;
  }

  serverStatus(): ServerStatus {
    return { ...this.#server, seq: this.#seq };
  }

  addNotice(goal: GoalView, code: NoticeCode, read = false): void {
    const notice: Notice = {
      id: this.#notices.length + 1,
      at: Date.now() - this.#notices.length * MINUTE,
      sessionId: goal.sessionId,
      directory: goal.directory,
      title: goal.title,
      goalId: goal.goalId,
      code,
      objective: goal.objective ?? '',
      detail: goal.reason === '' ? goal.note : goal.reason,
      state: 'sent',
      read,
    };
    this.#notices.unshift(notice);
    void emit('goal://notice', notice);
  }

  #next(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** Changes a goal and tells. */
  #set(sessionId: string, change: Partial<GoalView>): GoalView {
    const before = this.#need(sessionId);
    const now = Date.now();
    const goal = { ...before, since: now, ...change, at: now, updatedAt: now, seq: this.#next() };
    this.#goals.set(sessionId, goal);
    void emit('goal://changed', { seq: goal.seq, sessionId, goal });
    return goal;
  }

  #need(sessionId: string): GoalView {
    const goal = this.#goals.get(sessionId);
    if (goal === undefined) throw new Refused('noGoal', `the session ${sessionId} has no goal`);
    return goal;
  }

  #later(sessionId: string, ms: number, run: () => void): void {
    clearTimeout(this.#timers.get(sessionId));
    this.#timers.set(sessionId, setTimeout(run, ms));
  }

  #hear(sessionId: string, idle: boolean): void {
    if (!this.isActive(sessionId) || !this.#timers.has(sessionId)) return;
    if (!idle) {
      clearTimeout(this.#timers.get(sessionId));
      this.#set(sessionId, { phase: 'working', why: '', next: null });
      return;
    }
    this.#set(sessionId, { phase: 'quiet', next: Date.now() + QUIET });
    this.#later(sessionId, QUIET, () => {
      this.#set(sessionId, { phase: 'auditing', next: null });
      this.#later(sessionId, AUDIT, () => {
        this.#judge(sessionId);
      });
    });
  }

  #judge(sessionId: string): void {
    const { turnsUsed, tokensUsed, objective } = this.#need(sessionId);
    const spent = { tokensUsed: tokensUsed + 12_400, auditedBy: AUDITOR.model };
    if (turnsUsed > 0) {
      this.#settle(sessionId, 'complete', 'verified by audit', { ...spent, note: NOTES[1] });
      return;
    }
    this.#set(sessionId, { ...spent, phase: 'continuing', turnsUsed: turnsUsed + 1, note: NOTES[0] });
    this.#turns.prompt(sessionId, { parts: [continuation(objective ?? '', NOTES[0], turnsUsed + 1)] });
  }

  #settle(
    sessionId: string,
    status: Status,
    reason: string,
    change: Partial<GoalView> = {},
  ): GoalView {
    clearTimeout(this.#timers.get(sessionId));
    const goal = this.#set(sessionId, { ...change, status, reason, phase: 'settled', next: null });
    void emit('goal://settled', { seq: goal.seq, goal });
    if (status === 'complete') this.addNotice(goal, 'goalComplete');
    return goal;
  }

  /** Answers one command of the plugin. */
  answer(command: Command, args: unknown): unknown {
    const given = args as Args;
    return copy(this.#read(command, given) ?? this.#act(command, given) ?? null);
  }

  #read(command: Command, args: Args): unknown {
    switch (command) {
      case 'get':
        return this.#goals.get(args.sessionId);
      case 'list':
        return { seq: this.#seq, goals: [...this.#goals.values()] };
      case 'objective':
        return { text: this.#need(args.sessionId).objective };
      case 'why':
        return this.#why(args.sessionId);
      case 'notices':
        return this.#notices.slice(0, args.limit ?? 50);
      case 'settings_get':
        return this.#settingsView();
      case 'server_status':
        return this.serverStatus();
      case 'auditor_check':
        return AUDITOR;
      default:
        return undefined;
    }
  }

  #act(command: Command, args: Args): unknown {
    switch (command) {
      case 'start':
        return this.#start(args);
      case 'edit':
        return { ...this.#edit(args), shortened: false, distilledBy: null, notDistilled: null, inline: true };
      case 'pause':
        return this.#pause(args.sessionId);
      case 'resume':
        return this.#resume(args);
      case 'complete':
        return { goal: this.#settle(args.sessionId, 'complete', 'marked by user'), already: false };
      case 'clear':
        return this.#clear(args.sessionId);
      case 'pause_all':
        return this.#pauseAll();
      case 'auditor_test':
        return { auditor: AUDITOR, verdict: 'complete', note: 'It is done.', tookMs: 840 };
      case 'notices_mark_read':
        return this.#markRead(args.ids ?? []);
      case 'settings_set':
        return this.#setSettings(args.changes ?? {});
      case 'server_connect':
        return this.setServer({ state: 'connected', code: null, reason: '', retryInMs: null });
      default:
        throw new Refused('internal', `the simulated plugin knows no ${command}`);
    }
  }

  #why(sessionId: string): unknown {
    const goal = this.#need(sessionId);
    const line = { decision: 'continue', why: 'verdictContinue', detail: { note: goal.note } };
    return {
      goal,
      look: { decision: 'rest', why: goal.why === '' ? 'busy' : goal.why, detail: '', until: null },
      recent: [1, 2, 3].map((n) => ({
        ...line,
        at: goal.at - n * 10 * MINUTE,
        tokensUsed: goal.tokensUsed - n * 8_000,
        turnsUsed: goal.turnsUsed - n,
      })),
    };
  }

  #start({ sessionId, objective = '', prompt, instructions, tokenBudget = null, ...rest }: Args): unknown {
    const { send = true, replace = false } = rest;
    this.#world.session(sessionId);
    const known = this.#goals.get(sessionId);
    if (known !== undefined && known.status !== 'complete' && !replace) {
      throw new Refused('goalExists', 'the session has a goal that is not complete');
    }
    if (objective.trim() === '') throw new Refused('invalidObjective', 'the objective is empty');
    const now = Date.now();
    const fresh = { tokensUsed: 0, turnsUsed: 0, note: '', auditedBy: null, activeMs: 0 };
    this.place(sessionId, { ...fresh, objective, tokenBudget, createdAt: now, since: now });
    this.#later(sessionId, 0, () => undefined);
    const goal = this.#set(sessionId, { goalId: `goal_${sessionId}_${this.#seq}` });
    const added = instructions === undefined ? [] : [{ type: 'text', text: instructions, synthetic: true } as const];
    const said = { type: 'text', text: prompt ?? objective } as const;
    const sent = send ? this.#turns.prompt(sessionId, { parts: [said, ...added] }) : null;
    if (sent === null) this.#hear(sessionId, true);
    return {
      goal,
      shortened: objective.length > 5_000,
      distilledBy: objective.length > 5_000 ? AUDITOR.model : null,
      notDistilled: null,
      inline: true,
      auditor: AUDITOR,
      messageId: sent?.info.id ?? null,
      waitsForFirstMessage: false,
    };
  }

  #edit({ sessionId, objective, tokenBudget }: Args): { goal: GoalView } {
    const goal = this.#set(sessionId, {
      ...(objective === undefined ? {} : { objective }),
      ...(tokenBudget === undefined ? {} : { tokenBudget }),
    });
    return { goal };
  }

  #pause(sessionId: string): { goal: GoalView; already: boolean; abortFailed: null } {
    const before = this.#need(sessionId);
    if (before.status === 'paused') return { goal: before, already: true, abortFailed: null };
    if (before.status === 'complete') throw new Refused('wrongStatus', 'the goal is complete');
    const goal = this.#settle(sessionId, 'paused', 'paused by user');
    this.#turns.abort(sessionId);
    return { goal, already: false, abortFailed: null };
  }

  #resume({ sessionId, tokenBudget }: Args): unknown {
    const { tokensUsed, tokenBudget: before } = this.#need(sessionId);
    const budget = tokenBudget === undefined ? before : tokenBudget;
    if (budget !== null && budget <= tokensUsed) {
      throw new Refused('budgetSpent', 'the budget is spent: resume with a larger one');
    }
    const fresh = { status: 'active', reason: 'resumed', turnsUsed: 0, tokenBudget: budget } as const;
    const goal = this.#set(sessionId, { ...fresh, phase: 'quiet' });
    this.#later(sessionId, 0, () => undefined);
    this.#hear(sessionId, true);
    return { goal, already: false };
  }

  #clear(sessionId: string): unknown {
    const goal = this.#goals.get(sessionId) ?? null;
    clearTimeout(this.#timers.get(sessionId));
    this.#timers.delete(sessionId);
    this.#goals.delete(sessionId);
    if (goal !== null) {
      void emit('goal://changed', { seq: this.#next(), sessionId, goal: null });
      if (goal.status === 'active') this.#turns.abort(sessionId);
    }
    return { goal, already: goal === null, abortFailed: null };
  }

  #pauseAll(): unknown {
    return [...this.#goals.values()]
      .filter(({ status }) => status === 'active')
      .map(({ sessionId }) => ({ sessionId, paused: this.#pause(sessionId), error: null }));
  }

  /** The host's stop of a session's turn. */
  stop(sessionId: string): void {
    if (this.isActive(sessionId)) this.#pause(sessionId);
    else this.#turns.abort(sessionId);
  }

  #markRead(ids: number[]): { marked: number } {
    const marked = this.#notices.filter(({ id }) => id !== null && ids.includes(id));
    for (const notice of marked) notice.read = true;
    return { marked: marked.length };
  }

  #settingsView(): SettingsView {
    return { settings: this.#settings, defaults: SETTINGS, source: 'file', complaint: null };
  }

  #setSettings(changes: Record<string, unknown>): SettingsView {
    const given = Object.entries(changes).map(([key, value]) => {
      if (!(key in SETTINGS)) throw new Refused('unknownSetting', key);
      return [key, value ?? SETTINGS[key as keyof Settings]] as const;
    });
    this.#settings = { ...this.#settings, ...Object.fromEntries(given) };
    const view = this.#settingsView();
    void emit('goal://settings', view);
    return view;
  }
}
