import type { GoalView, ServerStatus, Settings, SettingsView } from '../types.js';

/** 30 November 2026, 14:00:00 in the time zone of the machine. */
export const NOON = new Date(2026, 10, 30, 14, 0, 0).getTime();

/** A goal at work, as it is at the moment `now`. */
export function goalView(change: Partial<GoalView> = {}, now = NOON): GoalView {
  return {
    sessionId: 'ses_a',
    title: 'Refactor the exporter',
    directory: '/home/ada/exporter',
    goalId: 'goal_1',
    objective: 'Add tests for the export module and make the whole suite pass.',
    status: 'active',
    reason: '',
    note: 'Quoting is done; the delimiter cases remain.',
    phase: 'working',
    why: '',
    detail: '',
    since: now - 4_000,
    next: null,
    tokensUsed: 34_200,
    tokenBudget: 200_000,
    turnsUsed: 3,
    turnsMax: 20,
    blockedStreak: 0,
    auditFailStreak: 0,
    auditedBy: 'anthropic/claude-haiku-4-5',
    createdAt: now - 3_600_000,
    updatedAt: now - 60_000,
    activeMs: 3_000_000,
    at: now,
    seq: 1,
    ...change,
  };
}

export function server(change: Partial<ServerStatus> = {}): ServerStatus {
  return {
    seq: 1,
    state: 'connected',
    url: 'http://127.0.0.1:4096',
    version: '1.18.33',
    managed: true,
    code: null,
    reason: '',
    retryInMs: null,
    driver: 'driving',
    driverPid: null,
    ready: true,
    database: 'fine',
    ...change,
  };
}

const EMPTY = { title: '', message: '' };

/** The settings as they are before anybody changes one. */
export const SETTINGS: Settings = {
  sessionGoalEnabled: true,
  sessionGoalDefaultBudgetEnabled: false,
  sessionGoalDefaultBudget: 200_000,
  nativeNotificationsEnabled: true,
  notificationMode: 'hidden-only',
  notifyOnCompletion: true,
  notifyOnError: true,
  notifyOnQuestion: true,
  notifyOnSubtasks: true,
  notificationTemplates: { completion: EMPTY, error: EMPTY, question: EMPTY, subtask: EMPTY },
  maxLastMessageLength: 250,
  smallModelUseDefault: true,
  smallModelOverride: null,
  opencodeBinary: null,
};

export function settingsView(change: Partial<Settings> = {}): SettingsView {
  return {
    settings: { ...SETTINGS, ...change },
    defaults: SETTINGS,
    source: 'file',
    complaint: null,
  };
}
