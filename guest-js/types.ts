// Generated from plugin/src/models.rs; a test compares. Do not edit.

/** The commands. */
export const COMMANDS = [
  "get",
  "list",
  "objective",
  "why",
  "notices",
  "settings_get",
  "server_status",
  "auditor_check",
  "watch",
  "unwatch",
  "start",
  "edit",
  "pause",
  "resume",
  "complete",
  "clear",
  "pause_all",
  "auditor_test",
  "notices_mark_read",
  "settings_set",
  "server_connect",
] as const;

/** The commands. */
export type Command = (typeof COMMANDS)[number];

/** The events. */
export const EVENTS = [
  "goal://changed",
  "goal://settled",
  "goal://connection",
  "goal://notice",
  "goal://settings",
  "goal://open",
] as const;

/** The events. */
export type EventName = (typeof EVENTS)[number];

/** Where a goal stands. */
export const STATUSES = [
  "active",
  "paused",
  "blocked",
  "budgetLimited",
  "complete",
] as const;

/** Where a goal stands. */
export type Status = (typeof STATUSES)[number];

/** What a goal does. */
export const PHASES = [
  "quiet",
  "checking",
  "auditing",
  "continuing",
  "working",
  "waitingForSubagent",
  "waitingForYou",
  "rewound",
  "retrying",
  "needsClick",
  "objectiveMissing",
  "stalled",
  "settled",
] as const;

/** What a goal does. */
export type Phase = (typeof PHASES)[number];

/** What a cycle comes to. */
export const DECISIONS = [
  "rest",
  "recheck",
  "pause",
  "settle",
  "audit",
  "continue",
] as const;

/** What a cycle comes to. */
export type Decision = (typeof DECISIONS)[number];

/** What the user is told. */
export const NOTICE_CODES = [
  "goalComplete",
  "goalBlocked",
  "goalBudgetLimited",
  "goalPaused",
  "waitingForPermission",
  "waitingForAnswer",
  "stalled",
  "turnReady",
  "turnFailed",
] as const;

/** What the user is told. */
export type NoticeCode = (typeof NOTICE_CODES)[number];

/** How far a notice came outside the app. */
export const NOTICE_STATES = [
  "planned",
  "sent",
  "failed",
] as const;

/** How far a notice came outside the app. */
export type NoticeState = (typeof NOTICE_STATES)[number];

/** Why a request was not carried out. */
export const ERROR_CODES = [
  "invalidSession",
  "unknownSession",
  "unsuitableSession",
  "invalidObjective",
  "invalidBudget",
  "invalidPrompt",
  "invalidLimits",
  "noGoal",
  "goalExists",
  "wrongStatus",
  "budgetSpent",
  "noAuditor",
  "corruptMetadata",
  "conflict",
  "unreachable",
  "unauthorized",
  "notOpenCode",
  "server",
  "notDelivered",
  "openCodeMissing",
  "dataFolder",
  "invalidTask",
  "unknownTask",
  "taskRuns",
  "shuttingDown",
  "invalidArguments",
  "notConnected",
  "unknownSetting",
  "invalidSetting",
  "settingsUnwritable",
  "auditFailed",
  "internal",
] as const;

/** Why a request was not carried out. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The settings. */
export const SETTING_KEYS = [
  "sessionGoalEnabled",
  "sessionGoalDefaultBudgetEnabled",
  "sessionGoalDefaultBudget",
  "nativeNotificationsEnabled",
  "notificationMode",
  "notifyOnCompletion",
  "notifyOnError",
  "notifyOnQuestion",
  "notifyOnSubtasks",
  "notificationTemplates",
  "maxLastMessageLength",
  "smallModelUseDefault",
  "smallModelOverride",
  "opencodeBinary",
] as const;

/** The settings. */
export type SettingKey = (typeof SETTING_KEYS)[number];

/** Why an auditor does not answer. */
export const AUDIT_FAILURES = [
  "noModel",
  "connection",
  "timeout",
  "provider",
  "unparsable",
] as const;

/** Why an auditor does not answer. */
export type AuditFailure = (typeof AUDIT_FAILURES)[number];

/** Who names an auditor. */
export const AUDITOR_SOURCES = [
  "settings",
  "config",
  "family-scan",
  "session-model",
] as const;

/** Who names an auditor. */
export type AuditorSource = (typeof AUDITOR_SOURCES)[number];

/** A refused or failed request. */
export type GoalErrorBody = { /** What a program matches. */
code: ErrorCode, /** What a person reads. */
message: string, };

/**
 * A goal as a person sees it.
 */
export type GoalView = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The session's title.
 */
title: string, 
/**
 * The session's folder.
 */
directory: string, 
/**
 * The goal.
 */
goalId: string, 
/**
 * The objective, where it stands in the session itself; else ask `objective`.
 */
objective: string | null, 
/**
 * Where it stands.
 */
status: Status, 
/**
 * Why it stands there, canonical English; `resumed` after a Resume.
 */
reason: string, 
/**
 * The auditor's latest note.
 */
note: string, 
/**
 * What it does now.
 */
phase: Phase, 
/**
 * Why it rests, a code; empty where the phase says it all.
 */
why: string, 
/**
 * What the wait is about: a sub-agent's id, what a request asks for, an error's text.
 */
detail: string, 
/**
 * Since when it does this, epoch milliseconds.
 */
since: number, 
/**
 * When it is looked at next, if a time is set.
 */
next: number | null, 
/**
 * Tokens used.
 */
tokensUsed: number, 
/**
 * Tokens it may use, if limited.
 */
tokenBudget: number | null, 
/**
 * Automatic continuations since the last Resume.
 */
turnsUsed: number, 
/**
 * How many there may be.
 */
turnsMax: number, 
/**
 * Blocked verdicts in a row.
 */
blockedStreak: number, 
/**
 * Failed audits in a row.
 */
auditFailStreak: number, 
/**
 * The model of the latest audit, `provider/model`.
 */
auditedBy: string | null, 
/**
 * When it was created, epoch milliseconds.
 */
createdAt: number, 
/**
 * When it was last written, epoch milliseconds.
 */
updatedAt: number, 
/**
 * Milliseconds spent active, up to `at`.
 */
activeMs: number, 
/**
 * When this view was made, epoch milliseconds.
 */
at: number, 
/**
 * The sequence number of the newest change that was told of this session; 0 if none was.
 */
seq: number, };

/**
 * Every goal as it is known at one moment.
 */
export type Snapshot = { 
/**
 * Changes up to this number are in it, also of sessions that it does not list.
 */
seq: number, 
/**
 * The goals, in the order of their sessions' ids.
 */
goals: Array<GoalView>, };

/**
 * `goal://changed`: what a session's goal looks like.
 */
export type Changed = { 
/**
 * Grows with every change.
 */
seq: number, 
/**
 * The session.
 */
sessionId: string, 
/**
 * Its goal; `null`: it has none any more.
 */
goal: GoalView | null, };

/**
 * `goal://settled`: a goal ended or was paused.
 */
export type Settled = { 
/**
 * Grows with every change.
 */
seq: number, 
/**
 * The goal as it then was.
 */
goal: GoalView, };

/**
 * How far the line to the server came.
 */
export type ServerState = "starting" | "connected" | "away" | "failed" | "none" | "ended";

/**
 * Who drives the server's goals.
 */
export type Driver = "driving" | "passive" | "unknown";

/**
 * What became of the database.
 */
export type Database = "fine" | "putAside" | "readOnly" | "memoryOnly";

/**
 * How the server stands. Never a password.
 */
export type ServerStatus = { 
/**
 * Grows with every change.
 */
seq: number, 
/**
 * How far the line came.
 */
state: ServerState, 
/**
 * Its address, without user name and password.
 */
url: string | null, 
/**
 * Its version.
 */
version: string | null, 
/**
 * It was started by this app.
 */
managed: boolean, 
/**
 * Why it could not be reached.
 */
code: ErrorCode | null, 
/**
 * The same in words; empty while it is up.
 */
reason: string, 
/**
 * Milliseconds until the next try, counted from the event.
 */
retryInMs: number | null, 
/**
 * Who drives.
 */
driver: Driver, 
/**
 * The process that drives instead.
 */
driverPid: number | null, 
/**
 * Every session was looked at once since the line came up.
 */
ready: boolean, 
/**
 * What became of the database.
 */
database: Database, };

/**
 * `goal://notice`, and a line of the in-app list.
 */
export type Notice = { 
/**
 * Its number; `null` where it could not be written down and lives in this event alone.
 */
id: number | null, 
/**
 * When, epoch milliseconds.
 */
at: number, 
/**
 * The session.
 */
sessionId: string, 
/**
 * The session's folder.
 */
directory: string, 
/**
 * The session's title.
 */
title: string, 
/**
 * The goal, if it is about one.
 */
goalId: string | null, 
/**
 * What is told.
 */
code: NoticeCode, 
/**
 * The objective's beginning.
 */
objective: string, 
/**
 * The reason or note.
 */
detail: string, 
/**
 * How far it came outside the app.
 */
state: NoticeState, 
/**
 * It was marked as read.
 */
read: boolean, };

/**
 * `goal://open`: a native notification was clicked.
 */
export type Open = { 
/**
 * The session to show.
 */
sessionId: string, 
/**
 * Its folder.
 */
directory: string, 
/**
 * The goal, if the notice was about one.
 */
goalId: string | null, 
/**
 * What was told.
 */
code: NoticeCode, };

/**
 * The text of one kind of notice; an empty one means the usual text.
 */
export type NotificationTemplate = { 
/**
 * The first line.
 */
title: string, 
/**
 * The rest.
 */
message: string, };

/**
 * The user's own texts in notices of turns, with placeholders such as `{session_name}`.
 */
export type NotificationTemplates = { 
/**
 * A turn ended.
 */
completion: NotificationTemplate, 
/**
 * A turn failed.
 */
error: NotificationTemplate, 
/**
 * A question or a permission request waits.
 */
question: NotificationTemplate, 
/**
 * A sub-agent's turn ended.
 */
subtask: NotificationTemplate, };

/**
 * The settings of goals and notices, by the names they have in the file.
 */
export type Settings = { 
/**
 * The loop runs.
 */
sessionGoalEnabled: boolean, 
/**
 * New goals get the default budget.
 */
sessionGoalDefaultBudgetEnabled: boolean, 
/**
 * The default budget in tokens.
 */
sessionGoalDefaultBudget: number, 
/**
 * Notices leave the app.
 */
nativeNotificationsEnabled: boolean, 
/**
 * When notices of turns are shown: while no window has the focus, or always.
 */
notificationMode: "hidden-only" | "always", 
/**
 * The end of a goal or of a turn raises a notice.
 */
notifyOnCompletion: boolean, 
/**
 * A failed turn raises a notice.
 */
notifyOnError: boolean, 
/**
 * Permission requests and questions raise a notice.
 */
notifyOnQuestion: boolean, 
/**
 * The end of a sub-agent's turn raises a notice.
 */
notifyOnSubtasks: boolean, 
/**
 * Texts in place of the usual ones in notices of turns.
 */
notificationTemplates: NotificationTemplates, 
/**
 * Characters of a reply in such a text.
 */
maxLastMessageLength: number, 
/**
 * The audit's model is found by itself.
 */
smallModelUseDefault: boolean, 
/**
 * `provider/model` for the audit.
 */
smallModelOverride: string | null, 
/**
 * The `opencode` program to start.
 */
opencodeBinary: string | null, };

/**
 * Where the settings' values come from.
 */
export type SettingsSource = "file" | "lastRead" | "lastGood" | "defaults";

/**
 * `goal://settings`, and the answer of `settings_get` and `settings_set`.
 */
export type SettingsView = { 
/**
 * The values that hold.
 */
settings: Settings, 
/**
 * The values of a fresh install.
 */
defaults: Settings, 
/**
 * Where they come from.
 */
source: SettingsSource, 
/**
 * What is wrong with the file, in words.
 */
complaint: string | null, };

/**
 * The objective for display.
 */
export type ObjectiveText = { 
/**
 * The whole text; `null` where it is on another machine or missing.
 */
text: string | null, };

/**
 * What a look right now says.
 */
export type Look = { 
/**
 * What a cycle would do.
 */
decision: Decision, 
/**
 * Why, a code.
 */
why: string, 
/**
 * What it is about.
 */
detail: string, 
/**
 * When a wait ends by itself, if it does.
 */
until: number | null, };

/**
 * One line of the journal.
 */
export type JournalLine = { 
/**
 * When, epoch milliseconds.
 */
at: number, 
/**
 * What was decided.
 */
decision: Decision, 
/**
 * Why, a code.
 */
why: string, 
/**
 * Counters and codes that belong to it.
 */
detail: unknown, 
/**
 * Tokens the goal had used.
 */
tokensUsed: number, 
/**
 * Continuations the goal had used.
 */
turnsUsed: number, };

/**
 * Why a goal does what it does.
 */
export type Explanation = { 
/**
 * The goal.
 */
goal: GoalView, 
/**
 * What a look right now says.
 */
look: Look, 
/**
 * What the loop decided last, newest first, at most 10.
 */
recent: Array<JournalLine>, };

/**
 * The model an audit uses, and why that one.
 */
export type AuditorModel = { 
/**
 * `provider/model`.
 */
model: string, 
/**
 * Who named it.
 */
source: AuditorSource, };

/**
 * What the auditor said of something that is done.
 */
export type AuditorTest = { 
/**
 * The model that answered.
 */
auditor: AuditorModel, 
/**
 * Its verdict; a fit auditor says `complete`.
 */
verdict: "continue" | "complete" | "blocked", 
/**
 * Its note.
 */
note: string, 
/**
 * How long it took.
 */
tookMs: number, };

/**
 * The answer of `start`.
 */
export type Started = { 
/**
 * The goal.
 */
goal: GoalView, 
/**
 * The objective is long: the auditor gets a shortened copy, a sent prompt holds all of it.
 */
shortened: boolean, 
/**
 * The model that condensed the copy to the criteria of the objective.
 */
distilledBy: string | null, 
/**
 * Why it could not be condensed: the copy is the beginning and the end then.
 */
notDistilled: AuditFailure | null, 
/**
 * The objective is kept in the session: the server is elsewhere, or a file could not be
 * written.
 */
inline: boolean, 
/**
 * The model that will audit it.
 */
auditor: AuditorModel, 
/**
 * The prompt that was sent.
 */
messageId: string | null, 
/**
 * The session is empty and nothing was sent: the goal waits for its first message.
 */
waitsForFirstMessage: boolean, };

/**
 * The answer of `edit`.
 */
export type Edited = { 
/**
 * The goal: active again, unless its budget is spent.
 */
goal: GoalView, 
/**
 * The objective is long: the auditor gets a shortened copy, and so does the agent.
 */
shortened: boolean, 
/**
 * The model that condensed the copy to the criteria of the objective.
 */
distilledBy: string | null, 
/**
 * Why it could not be condensed: the copy is the beginning and the end then.
 */
notDistilled: AuditFailure | null, 
/**
 * The objective is kept in the session.
 */
inline: boolean, };

/**
 * The answer of `pause`.
 */
export type Paused = { 
/**
 * The goal.
 */
goal: GoalView, 
/**
 * It was paused before: nothing was done.
 */
already: boolean, 
/**
 * The goal is paused, but what ran could not be stopped, for this reason.
 */
abortFailed: string | null, };

/**
 * The answer of `resume`.
 */
export type Resumed = { 
/**
 * The goal.
 */
goal: GoalView, 
/**
 * It was resumed before and nothing happened since: nothing was done.
 */
already: boolean, };

/**
 * The answer of `complete`.
 */
export type Completed = { 
/**
 * The goal.
 */
goal: GoalView, 
/**
 * It was complete before: nothing was done.
 */
already: boolean, };

/**
 * The answer of `clear`.
 */
export type Cleared = { 
/**
 * The goal as it was; `null` if there was none.
 */
goal: GoalView | null, 
/**
 * There was none: nothing was done.
 */
already: boolean, 
/**
 * The goal is gone, but what ran could not be stopped, for this reason.
 */
abortFailed: string | null, };

/**
 * What became of one goal in `pause_all`.
 */
export type PausedOne = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The paused goal; `null` if it could not be paused.
 */
paused: Paused | null, 
/**
 * Why it could not be.
 */
error: GoalErrorBody | null, };

/**
 * The answer of `notices_mark_read`.
 */
export type MarkedRead = { 
/**
 * How many of them exist.
 */
marked: number, };

/**
 * The answer of `watch`.
 */
export type Watching = { 
/**
 * What `unwatch` ends.
 */
id: number, };

/**
 * A cycle came to a decision.
 */
export type DecisionMade = { 
/**
 * When, epoch milliseconds.
 */
at: number, 
/**
 * The session.
 */
sessionId: string, 
/**
 * The goal.
 */
goalId: string, 
/**
 * What was decided.
 */
decision: Decision, 
/**
 * Why, a code.
 */
why: string, };

/**
 * The auditor answered, or failed to.
 */
export type VerdictGiven = { 
/**
 * When, epoch milliseconds.
 */
at: number, 
/**
 * The session.
 */
sessionId: string, 
/**
 * The goal.
 */
goalId: string, 
/**
 * Its verdict, or that it failed.
 */
verdict: "continue" | "complete" | "blocked" | "failed", 
/**
 * The note, or the failure's code.
 */
note: string, 
/**
 * The model that answered, `provider/model`.
 */
model: string | null, };

/**
 * What `watch` sends, in order.
 */
export type WatchMessage = { "type": "snapshot", 
/**
 * The goals.
 */
snapshot: Snapshot, 
/**
 * The server.
 */
server: ServerStatus, } | { "type": "changed", 
/**
 * How it looks.
 */
changed: Changed, } | { "type": "settled", 
/**
 * The goal.
 */
settled: Settled, } | { "type": "connection", 
/**
 * How it stands.
 */
server: ServerStatus, } | { "type": "notice", 
/**
 * What.
 */
notice: Notice, } | { "type": "decision", 
/**
 * Which.
 */
decision: DecisionMade, } | { "type": "verdict", 
/**
 * What.
 */
verdict: VerdictGiven, };

/**
 * One session, to be read.
 */
export type OfSession = { 
/**
 * The session.
 */
sessionId: string, };

/**
 * One session, to be acted on.
 */
export type OnSession = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * All sessions, to be acted on.
 */
export type OnAll = { 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * A model, by its names.
 */
export type ChosenModel = { 
/**
 * Its provider's.
 */
providerId: string, 
/**
 * Its own.
 */
modelId: string, };

/**
 * A file that goes along with a prompt.
 */
export type Attachment = { 
/**
 * Its name, at most 255 characters.
 */
name: string, 
/**
 * Its media type without parameters, such as `image/png`.
 */
mime: string, 
/**
 * A `data:` address with its content, or a `file:` address that the server can read.
 */
url: string, };

/**
 * What to start.
 */
export type Start = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The objective, of any length; the auditor sees at most 5,000 characters of it.
 */
objective: string, 
/**
 * Tokens it may use; `null`: without a limit; left out: the default budget, if that is on.
 */
tokenBudget?: number | null, 
/**
 * Send the objective as a prompt (default), or begin with an audit of the session's last turn.
 */
send?: boolean, 
/**
 * Take the place of a goal that is not complete. Default: no.
 */
replace?: boolean, 
/**
 * The agent that the prompt addresses; left out: the one that spoke last. Continuations stay
 * with whoever answers the prompt, and so with the model and its variant.
 */
agent?: string, 
/**
 * The model that the prompt addresses; left out: the one that spoke last.
 */
model?: ChosenModel, 
/**
 * The variant of the model; left out: that of the model that spoke last, if no other is
 * chosen.
 */
variant?: string, 
/**
 * Files that go along with the prompt: at most 20, of 28 MB of addresses together.
 */
attachments?: Array<Attachment>, 
/**
 * What is said to the agent in the objective's place, as it is and never as a slash command:
 * the objective is then what the auditor judges by and continuations hold.
 */
prompt?: string, 
/**
 * What goes along with `prompt` without being shown as typed.
 */
instructions?: string, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * What to change in a goal.
 */
export type Edit = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The new objective; left out: the old one stays.
 */
objective?: string, 
/**
 * The new budget; `null`: none; left out: the old one stays.
 */
tokenBudget?: number | null, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * What to resume.
 */
export type Resume = { 
/**
 * The session.
 */
sessionId: string, 
/**
 * The new budget; `null`: none; left out: the old one stays.
 */
tokenBudget?: number | null, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * How many notices to list.
 */
export type ListNotices = { 
/**
 * 1 to 200; left out: 50.
 */
limit?: number, };

/**
 * Which notices were read.
 */
export type MarkRead = { 
/**
 * Their numbers, at most 200.
 */
ids: Array<number>, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * What to set.
 */
export type SetSettings = { 
/**
 * The new values by key; `null` takes a key back to its default. All of them or none.
 */
changes: { [K in SettingKey]?: Settings[K] | null }, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * A server to use, named by a page.
 */
export type ServerRequest = { "kind": "managed", 
/**
 * The folder it runs in; left out: the configured one.
 */
directory?: string, } | { "kind": "attached", 
/**
 * Its address.
 */
url: string, 
/**
 * The user name, if it is not `opencode`.
 */
username?: string, 
/**
 * The password; it is kept in memory and never given back.
 */
password?: string, } | { "kind": "none", };

/**
 * Which server to connect to.
 */
export type ServerConnect = { 
/**
 * The server; `null`: the latest one again, at once.
 */
server: ServerRequest | null, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * Whose auditor is meant: a session's, or that of an empty session of a folder.
 */
export type AuditorCheck = { 
/**
 * The session.
 */
sessionId?: string, 
/**
 * The folder, where no session is named.
 */
directory?: string, };

/**
 * As [`AuditorCheck`], to be asked.
 */
export type TestAuditor = { 
/**
 * The session.
 */
sessionId?: string, 
/**
 * The folder, where no session is named.
 */
directory?: string, 
/**
 * What makes a repetition the same request.
 */
requestId?: string, };

/**
 * Which watch ends.
 */
export type Unwatch = { 
/**
 * The number that `watch` gave.
 */
id: number, };
