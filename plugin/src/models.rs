//! What pages and Rust callers send and get: plain camelCase values, made from the engine's.
//!
//! `guest-js/types.ts` is generated from this file; a test compares the two.

use goal_core::goal::{Goal as CoreGoal, ModelRef, SessionId};
use goal_core::time::Wall;
use goal_engine::command::{self, AuditorCopy, Choices};
use goal_engine::ports::{self, Address};
use goal_engine::settings::{self, Source};
use goal_engine::store::{NoticeState, StoredDecision, StoredNotice};
use goal_engine::view::GoalView as EngineView;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tauri::ipc::JavaScriptChannelId;

use crate::error::{Error, Result};

/// A goal as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct GoalView {
    /// The session.
    pub session_id: String,
    /// The session's title.
    pub title: String,
    /// The session's folder.
    pub directory: String,
    /// The goal.
    pub goal_id: String,
    /// The objective, where it stands in the session itself; else ask `objective`.
    pub objective: Option<String>,
    /// Where it stands.
    #[cfg_attr(test, ts(type = "Status"))]
    pub status: &'static str,
    /// Why it stands there, canonical English; `resumed` after a Resume.
    pub reason: String,
    /// The auditor's latest note.
    pub note: String,
    /// What it does now.
    #[cfg_attr(test, ts(type = "Phase"))]
    pub phase: &'static str,
    /// Why it rests, a code; empty where the phase says it all.
    pub why: String,
    /// What the wait is about: a sub-agent's id, what a request asks for, an error's text.
    pub detail: String,
    /// Since when it does this, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub since: u64,
    /// When it is looked at next, if a time is set.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub next: Option<u64>,
    /// Tokens used.
    #[cfg_attr(test, ts(type = "number"))]
    pub tokens_used: u64,
    /// Tokens it may use, if limited.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub token_budget: Option<u64>,
    /// Automatic continuations since the last Resume.
    pub turns_used: u32,
    /// How many there may be.
    pub turns_max: u32,
    /// Blocked verdicts in a row.
    pub blocked_streak: u32,
    /// Failed audits in a row.
    pub audit_fail_streak: u32,
    /// The model of the latest audit, `provider/model`.
    pub audited_by: Option<String>,
    /// When it was created, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub created_at: u64,
    /// When it was last written, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub updated_at: u64,
    /// Milliseconds spent active, up to `at`.
    #[cfg_attr(test, ts(type = "number"))]
    pub active_ms: u64,
    /// When this view was made, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The sequence number of the newest change that was told of this session; 0 if none was.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
}

impl GoalView {
    /// `view` as a page sees it at `now`; `turns_max` is the limit the loop obeys.
    #[must_use]
    pub fn of(view: &EngineView, turns_max: u32, now: Wall, seq: u64) -> Self {
        let goal: &CoreGoal = &view.goal;
        Self {
            session_id: view.session.to_string(),
            title: view.title.clone(),
            directory: view.directory.clone(),
            goal_id: goal.id.to_string(),
            objective: (!goal.objective.is_empty()).then(|| goal.objective.clone()),
            status: goal.status.name(),
            reason: goal.status_reason.clone(),
            note: goal.note.clone(),
            phase: view.phase.name(),
            why: view.why.clone(),
            detail: view.detail.clone(),
            since: view.since.0,
            next: view.next.map(|next| next.0),
            tokens_used: goal.tokens_used,
            token_budget: goal.token_budget,
            turns_used: goal.turns_used,
            turns_max,
            blocked_streak: goal.blocked_streak,
            audit_fail_streak: goal.audit_fail_streak,
            audited_by: goal.evaluation.as_ref().map(model),
            created_at: goal.created_at.0,
            updated_at: goal.updated_at.0,
            active_ms: goal.active_ms_at(now),
            at: now.0,
            seq,
        }
    }
}

/// A model as people write it.
fn model(model: &ModelRef) -> String {
    format!("{}/{}", model.provider, model.model)
}

/// Every goal as it is known at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Changes up to this number are in it, also of sessions that it does not list.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// The goals, in the order of their sessions' ids.
    pub goals: Vec<GoalView>,
}

/// `goal://changed`: what a session's goal looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Grows with every change.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// The session.
    pub session_id: String,
    /// Its goal; `null`: it has none any more.
    pub goal: Option<GoalView>,
}

/// `goal://settled`: a goal ended or was paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// Grows with every change.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// The goal as it then was.
    pub goal: GoalView,
}

/// How far the line to the server came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// It is being reached or started.
    Starting,
    /// The line is up.
    Connected,
    /// The line is down and is tried again.
    Away,
    /// It could not be reached or started; that is tried again.
    Failed,
    /// No server was named; `server_connect` names one.
    None,
    /// The app is ending.
    Ended,
}

/// Who drives the server's goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Driver {
    /// This app does.
    Driving,
    /// Another process of this machine does; this app watches and asks.
    Passive,
    /// It is not known yet.
    Unknown,
}

/// What became of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Database {
    /// It is read and written.
    Fine,
    /// A damaged one was put aside and a fresh one begun.
    PutAside,
    /// It is only read.
    ReadOnly,
    /// It lasts until the app ends.
    MemoryOnly,
}

/// How the server stands. Never a password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// Grows with every change.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// How far the line came.
    pub state: ServerState,
    /// Its address, without user name and password.
    pub url: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// It was started by this app.
    pub managed: bool,
    /// Why it could not be reached.
    #[cfg_attr(test, ts(type = "ErrorCode | null"))]
    pub code: Option<&'static str>,
    /// The same in words; empty while it is up.
    pub reason: String,
    /// Milliseconds until the next try, counted from the event.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub retry_in_ms: Option<u64>,
    /// Who drives.
    pub driver: Driver,
    /// The process that drives instead.
    pub driver_pid: Option<u32>,
    /// Every session was looked at once since the line came up.
    pub ready: bool,
    /// What became of the database.
    pub database: Database,
}

/// `goal://notice`, and a line of the in-app list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Its number; `null` where it could not be written down and lives in this event alone.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub id: Option<i64>,
    /// When, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The session.
    pub session_id: String,
    /// The session's folder.
    pub directory: String,
    /// The session's title.
    pub title: String,
    /// The goal, if it is about one.
    pub goal_id: Option<String>,
    /// What is told.
    #[cfg_attr(test, ts(type = "NoticeCode"))]
    pub code: String,
    /// The objective's beginning.
    pub objective: String,
    /// The reason or note.
    pub detail: String,
    /// How far it came outside the app.
    #[cfg_attr(test, ts(type = "NoticeState"))]
    pub state: &'static str,
    /// It was marked as read.
    pub read: bool,
}

impl From<StoredNotice> for Notice {
    fn from(stored: StoredNotice) -> Self {
        let text = |name: &str| {
            let value = stored.plan.args.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let goal = stored.plan.goal.to_string();
        Self {
            id: Some(stored.id),
            at: stored.plan.at.0,
            session_id: stored.plan.session.to_string(),
            directory: text("directory"),
            title: text("title"),
            goal_id: (!goal.is_empty()).then_some(goal),
            objective: text("objective"),
            detail: text("detail"),
            code: stored.plan.code,
            state: notice_state(stored.state),
            read: stored.read,
        }
    }
}

pub(crate) fn notice_state(state: NoticeState) -> &'static str {
    match state {
        NoticeState::Planned => "planned",
        NoticeState::Sent => "sent",
        NoticeState::Failed => "failed",
    }
}

/// `goal://open`: a native notification was clicked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// The session to show.
    pub session_id: String,
    /// Its folder.
    pub directory: String,
    /// The goal, if the notice was about one.
    pub goal_id: Option<String>,
    /// What was told.
    #[cfg_attr(test, ts(type = "NoticeCode"))]
    pub code: &'static str,
}

/// The settings of goals and notices, by the names they have in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The loop runs.
    pub session_goal_enabled: bool,
    /// New goals get the default budget.
    pub session_goal_default_budget_enabled: bool,
    /// The default budget in tokens.
    #[cfg_attr(test, ts(type = "number"))]
    pub session_goal_default_budget: u64,
    /// Notices leave the app.
    pub native_notifications_enabled: bool,
    /// When notices of turns are shown: while no window has the focus, or always.
    #[cfg_attr(test, ts(type = "\"hidden-only\" | \"always\""))]
    pub notification_mode: &'static str,
    /// The end of a goal or of a turn raises a notice.
    pub notify_on_completion: bool,
    /// A failed turn raises a notice.
    pub notify_on_error: bool,
    /// Permission requests and questions raise a notice.
    pub notify_on_question: bool,
    /// The end of a sub-agent's turn raises a notice.
    pub notify_on_subtasks: bool,
    /// Texts in place of the usual ones in notices of turns.
    pub notification_templates: NotificationTemplates,
    /// Characters of a reply in such a text.
    pub max_last_message_length: u32,
    /// The audit's model is found by itself.
    pub small_model_use_default: bool,
    /// `provider/model` for the audit.
    pub small_model_override: Option<String>,
    /// The `opencode` program to start.
    pub opencode_binary: Option<String>,
}

impl From<settings::Settings> for Settings {
    fn from(settings: settings::Settings) -> Self {
        Self {
            session_goal_enabled: settings.session_goal_enabled,
            session_goal_default_budget_enabled: settings.session_goal_default_budget_enabled,
            session_goal_default_budget: settings.session_goal_default_budget,
            native_notifications_enabled: settings.native_notifications_enabled,
            notification_mode: settings.notification_mode.name(),
            notify_on_completion: settings.notify_on_completion,
            notify_on_error: settings.notify_on_error,
            notify_on_question: settings.notify_on_question,
            notify_on_subtasks: settings.notify_on_subtasks,
            notification_templates: settings.notification_templates.into(),
            max_last_message_length: settings.max_last_message_length,
            small_model_use_default: settings.small_model_use_default,
            small_model_override: settings.small_model_override,
            opencode_binary: settings
                .opencode_binary
                .map(|path| path.to_string_lossy().into_owned()),
        }
    }
}

/// The user's own texts in notices of turns, with placeholders such as `{session_name}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NotificationTemplates {
    /// A turn ended.
    pub completion: NotificationTemplate,
    /// A turn failed.
    pub error: NotificationTemplate,
    /// A question or a permission request waits.
    pub question: NotificationTemplate,
    /// A sub-agent's turn ended.
    pub subtask: NotificationTemplate,
}

/// The text of one kind of notice; an empty one means the usual text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct NotificationTemplate {
    /// The first line.
    pub title: String,
    /// The rest.
    pub message: String,
}

impl From<settings::Templates> for NotificationTemplates {
    fn from(templates: settings::Templates) -> Self {
        Self {
            completion: templates.completion.into(),
            error: templates.error.into(),
            question: templates.question.into(),
            subtask: templates.subtask.into(),
        }
    }
}

impl From<settings::Template> for NotificationTemplate {
    fn from(template: settings::Template) -> Self {
        Self {
            title: template.title,
            message: template.message,
        }
    }
}

/// Where the settings' values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SettingsSource {
    /// The file.
    File,
    /// The file cannot be read; these were read last.
    LastRead,
    /// The file cannot be read; these stand in the copy of its last good state.
    LastGood,
    /// Nothing was ever set, or neither file nor copy can be read.
    Defaults,
}

impl From<Source> for SettingsSource {
    fn from(source: Source) -> Self {
        match source {
            Source::File => Self::File,
            Source::LastRead => Self::LastRead,
            Source::LastGood => Self::LastGood,
            Source::Defaults => Self::Defaults,
        }
    }
}

/// `goal://settings`, and the answer of `settings_get` and `settings_set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// The values that hold.
    pub settings: Settings,
    /// The values of a fresh install.
    pub defaults: Settings,
    /// Where they come from.
    pub source: SettingsSource,
    /// What is wrong with the file, in words.
    pub complaint: Option<String>,
}

/// The objective for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ObjectiveText {
    /// The whole text; `null` where it is on another machine or missing.
    pub text: Option<String>,
}

/// What a look right now says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Look {
    /// What a cycle would do.
    #[cfg_attr(test, ts(type = "Decision"))]
    pub decision: String,
    /// Why, a code.
    pub why: String,
    /// What it is about.
    pub detail: String,
    /// When a wait ends by itself, if it does.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub until: Option<u64>,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct JournalLine {
    /// When, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// What was decided.
    #[cfg_attr(test, ts(type = "Decision"))]
    pub decision: String,
    /// Why, a code.
    pub why: String,
    /// Counters and codes that belong to it.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub detail: Value,
    /// Tokens the goal had used.
    #[cfg_attr(test, ts(type = "number"))]
    pub tokens_used: u64,
    /// Continuations the goal had used.
    pub turns_used: u32,
}

impl From<StoredDecision> for JournalLine {
    fn from(stored: StoredDecision) -> Self {
        let record = stored.record;
        Self {
            at: record.at.0,
            decision: record.kind,
            why: record.why,
            detail: record.detail,
            tokens_used: record.tokens_used,
            turns_used: record.turns_used,
        }
    }
}

/// Why a goal does what it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The goal.
    pub goal: GoalView,
    /// What a look right now says.
    pub look: Look,
    /// What the loop decided last, newest first, at most 10.
    pub recent: Vec<JournalLine>,
}

impl From<command::Look> for Look {
    fn from(look: command::Look) -> Self {
        Self {
            decision: look.decision.to_owned(),
            why: look.why,
            detail: look.detail,
            until: look.until.map(|until| until.0),
        }
    }
}

/// The model an audit uses, and why that one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuditorModel {
    /// `provider/model`.
    pub model: String,
    /// Who named it.
    #[cfg_attr(test, ts(type = "AuditorSource"))]
    pub source: &'static str,
}

impl From<goal_engine::ports::AuditorModel> for AuditorModel {
    fn from(found: goal_engine::ports::AuditorModel) -> Self {
        Self {
            model: model(&found.model),
            source: found.source,
        }
    }
}

/// What the auditor said of something that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuditorTest {
    /// The model that answered.
    pub auditor: AuditorModel,
    /// Its verdict; a fit auditor says `complete`.
    #[cfg_attr(test, ts(type = "\"continue\" | \"complete\" | \"blocked\""))]
    pub verdict: &'static str,
    /// Its note.
    pub note: String,
    /// How long it took.
    #[cfg_attr(test, ts(type = "number"))]
    pub took_ms: u64,
}

/// The answer of `start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// The goal.
    pub goal: GoalView,
    /// The objective is long: the auditor gets a shortened copy, a sent prompt holds all of it.
    pub shortened: bool,
    /// The model that condensed the copy to the criteria of the objective.
    pub distilled_by: Option<String>,
    /// Why it could not be condensed: the copy is the beginning and the end then.
    #[cfg_attr(test, ts(type = "AuditFailure | null"))]
    pub not_distilled: Option<&'static str>,
    /// The objective is kept in the session: the server is elsewhere, or a file could not be
    /// written.
    pub inline: bool,
    /// The model that will audit it.
    pub auditor: AuditorModel,
    /// The prompt that was sent.
    pub message_id: Option<String>,
    /// The session is empty and nothing was sent: the goal waits for its first message.
    pub waits_for_first_message: bool,
}

/// The answer of `edit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Edited {
    /// The goal: active again, unless its budget is spent.
    pub goal: GoalView,
    /// The objective is long: the auditor gets a shortened copy, and so does the agent.
    pub shortened: bool,
    /// The model that condensed the copy to the criteria of the objective.
    pub distilled_by: Option<String>,
    /// Why it could not be condensed: the copy is the beginning and the end then.
    #[cfg_attr(test, ts(type = "AuditFailure | null"))]
    pub not_distilled: Option<&'static str>,
    /// The objective is kept in the session.
    pub inline: bool,
}

/// What the auditor gets of an objective: shortened, by whom, why not.
pub(crate) fn copy_of(copy: Option<&AuditorCopy>) -> (bool, Option<String>, Option<&'static str>) {
    match copy {
        None | Some(AuditorCopy::Whole) => (false, None, None),
        Some(AuditorCopy::Distilled(by)) => (true, Some(model(by)), None),
        Some(AuditorCopy::Excerpt(why)) => (true, None, Some(why.code())),
    }
}

/// The answer of `pause`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    /// The goal.
    pub goal: GoalView,
    /// It was paused before: nothing was done.
    pub already: bool,
    /// The goal is paused, but what ran could not be stopped, for this reason.
    pub abort_failed: Option<String>,
}

/// The answer of `resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// The goal.
    pub goal: GoalView,
    /// It was resumed before and nothing happened since: nothing was done.
    pub already: bool,
}

/// The answer of `complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// The goal.
    pub goal: GoalView,
    /// It was complete before: nothing was done.
    pub already: bool,
}

/// The answer of `clear`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Cleared {
    /// The goal as it was; `null` if there was none.
    pub goal: Option<GoalView>,
    /// There was none: nothing was done.
    pub already: bool,
    /// The goal is gone, but what ran could not be stopped, for this reason.
    pub abort_failed: Option<String>,
}

/// What became of one goal in `pause_all`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PausedOne {
    /// The session.
    pub session_id: String,
    /// The paused goal; `null` if it could not be paused.
    pub paused: Option<Paused>,
    /// Why it could not be.
    #[cfg_attr(test, ts(type = "GoalErrorBody | null"))]
    pub error: Option<Error>,
}

/// The answer of `notices_mark_read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MarkedRead {
    /// How many of them exist.
    pub marked: u32,
}

/// The answer of `watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Watching {
    /// What `unwatch` ends.
    pub id: u32,
}

/// A cycle came to a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct DecisionMade {
    /// When, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The session.
    pub session_id: String,
    /// The goal.
    pub goal_id: String,
    /// What was decided.
    #[cfg_attr(test, ts(type = "Decision"))]
    pub decision: &'static str,
    /// Why, a code.
    pub why: String,
}

/// The auditor answered, or failed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct VerdictGiven {
    /// When, epoch milliseconds.
    #[cfg_attr(test, ts(type = "number"))]
    pub at: u64,
    /// The session.
    pub session_id: String,
    /// The goal.
    pub goal_id: String,
    /// Its verdict, or that it failed.
    #[cfg_attr(
        test,
        ts(type = "\"continue\" | \"complete\" | \"blocked\" | \"failed\"")
    )]
    pub verdict: &'static str,
    /// The note, or the failure's code.
    pub note: String,
    /// The model that answered, `provider/model`.
    pub model: Option<String>,
}

/// What `watch` sends, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum WatchMessage {
    /// Everything as it is: the first message, and whenever some were missed.
    Snapshot {
        /// The goals.
        snapshot: Snapshot,
        /// The server.
        server: ServerStatus,
    },
    /// A goal changed.
    Changed {
        /// How it looks.
        changed: Changed,
    },
    /// A goal ended or was paused.
    Settled {
        /// The goal.
        settled: Settled,
    },
    /// The line to the server changed.
    Connection {
        /// How it stands.
        server: ServerStatus,
    },
    /// The user was told something.
    Notice {
        /// What.
        notice: Notice,
    },
    /// A cycle came to a decision.
    Decision {
        /// Which.
        decision: DecisionMade,
    },
    /// The auditor answered.
    Verdict {
        /// What.
        verdict: VerdictGiven,
    },
}

/// One session, to be read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfSession {
    /// The session.
    pub session_id: String,
}

/// Nothing is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// One session, to be acted on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnSession {
    /// The session.
    pub session_id: String,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

impl<T: Into<String>> From<T> for OnSession {
    fn from(session_id: T) -> Self {
        Self {
            session_id: session_id.into(),
            request_id: None,
        }
    }
}

/// All sessions, to be acted on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnAll {
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// A token budget in a request: left out, taken away (`null`), or a number of tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Budget(Option<Value>);

impl Budget {
    /// The request says nothing of it.
    #[must_use]
    pub fn unsaid() -> Self {
        Self(None)
    }

    /// No budget.
    #[must_use]
    pub fn unlimited() -> Self {
        Self(Some(Value::Null))
    }

    /// So many tokens, 1 to 2^53 - 1.
    #[must_use]
    pub fn tokens(tokens: u64) -> Self {
        Self(Some(tokens.into()))
    }

    fn is_unsaid(&self) -> bool {
        self.0.is_none()
    }

    /// The outer `None`: nothing is said; the inner one: no budget.
    ///
    /// # Errors
    /// `invalidBudget` for anything but a whole number of tokens.
    pub(crate) fn check(&self) -> Result<Option<Option<u64>>> {
        match &self.0 {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(None)),
            Some(value) => value
                .as_u64()
                .map(|tokens| Some(Some(tokens)))
                .ok_or_else(Error::invalid_budget),
        }
    }
}

impl<'de> Deserialize<'de> for Budget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self(Some(value)))
    }
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    /// The session.
    pub session_id: String,
    /// The objective, of any length; the auditor sees at most 5,000 characters of it.
    pub objective: String,
    /// Tokens it may use; `null`: without a limit; left out: the default budget, if that is on.
    #[serde(default, skip_serializing_if = "Budget::is_unsaid")]
    #[cfg_attr(test, ts(optional, type = "number | null"))]
    pub token_budget: Budget,
    /// Send the objective as a prompt (default), or begin with an audit of the session's last turn.
    #[serde(default = "yes")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub send: bool,
    /// Take the place of a goal that is not complete. Default: no.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub replace: bool,
    /// The agent that the prompt addresses; left out: the one that spoke last. Continuations stay
    /// with whoever answers the prompt, and so with the model and its variant.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub agent: Option<String>,
    /// The model that the prompt addresses; left out: the one that spoke last.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub model: Option<ChosenModel>,
    /// The variant of the model; left out: that of the model that spoke last, if no other is
    /// chosen.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub variant: Option<String>,
    /// Files that go along with the prompt: at most 20, of 28 MB of addresses together.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Attachment>>"))]
    pub attachments: Vec<Attachment>,
    /// What is said to the agent in the objective's place, as it is and never as a slash command:
    /// the objective is then what the auditor judges by and continuations hold.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub prompt: Option<String>,
    /// What goes along with `prompt` without being shown as typed.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub instructions: Option<String>,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// A model, by its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChosenModel {
    /// Its provider's.
    pub provider_id: String,
    /// Its own.
    pub model_id: String,
}

/// A file that goes along with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attachment {
    /// Its name, at most 255 characters.
    pub name: String,
    /// Its media type without parameters, such as `image/png`.
    pub mime: String,
    /// A `data:` address with its content, or a `file:` address that the server can read.
    pub url: String,
}

impl Start {
    /// A goal whose objective is sent as a prompt, with the default budget.
    #[must_use]
    pub fn new(session_id: impl Into<String>, objective: impl Into<String>) -> Self {
        Self {
            session_id: session_id.into(),
            objective: objective.into(),
            token_budget: Budget::unsaid(),
            send: true,
            replace: false,
            agent: None,
            model: None,
            variant: None,
            attachments: Vec::new(),
            prompt: None,
            instructions: None,
            request_id: None,
        }
    }

    /// What was chosen for the prompt; `None`: none is sent.
    ///
    /// # Errors
    /// `invalidPrompt` for a choice that breaks a rule, or that is made for no prompt.
    pub(crate) fn choices(&self) -> Result<Option<Choices>> {
        let given = [
            ("agent", self.agent.is_some()),
            ("model", self.model.is_some()),
            ("variant", self.variant.is_some()),
            ("attachments", !self.attachments.is_empty()),
            ("prompt", self.prompt.is_some()),
            ("instructions", self.instructions.is_some()),
        ];
        if !self.send {
            let needless = given.iter().find(|(_, given)| *given);
            return needless.map_or(Ok(None), |(field, _)| Err(Error::no_prompt(field)));
        }
        let to = Address {
            model: self.model.as_ref().map(|model| ModelRef {
                provider: model.provider_id.clone(),
                model: model.model_id.clone(),
            }),
            agent: self.agent.clone(),
            variant: self.variant.clone(),
        };
        let attachments = self
            .attachments
            .iter()
            .cloned()
            .map(|file| ports::Attachment {
                name: file.name,
                mime: file.mime,
                url: file.url,
            });
        let choices = Choices::new(to, attachments.collect())?;
        let instructions = self.instructions.as_deref();
        match (&self.prompt, instructions) {
            (Some(prompt), _) => Ok(Some(choices.saying(prompt, instructions)?)),
            (None, Some(_)) => Err(Error::no_own_prompt("instructions")),
            (None, None) => Ok(Some(choices)),
        }
    }
}

fn yes() -> bool {
    true
}

/// What to change in a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Edit {
    /// The session.
    pub session_id: String,
    /// The new objective; left out: the old one stays.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub objective: Option<String>,
    /// The new budget; `null`: none; left out: the old one stays.
    #[serde(default, skip_serializing_if = "Budget::is_unsaid")]
    #[cfg_attr(test, ts(optional, type = "number | null"))]
    pub token_budget: Budget,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// What to resume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// The session.
    pub session_id: String,
    /// The new budget; `null`: none; left out: the old one stays.
    #[serde(default, skip_serializing_if = "Budget::is_unsaid")]
    #[cfg_attr(test, ts(optional, type = "number | null"))]
    pub token_budget: Budget,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

impl<T: Into<String>> From<T> for Resume {
    fn from(session_id: T) -> Self {
        Self {
            session_id: session_id.into(),
            ..Self::default()
        }
    }
}

/// How many notices to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListNotices {
    /// 1 to 200; left out: 50.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub limit: Option<u32>,
}

/// Which notices were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MarkRead {
    /// Their numbers, at most 200.
    #[cfg_attr(test, ts(type = "Array<number>"))]
    pub ids: Vec<i64>,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// What to set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetSettings {
    /// The new values by key; `null` takes a key back to its default. All of them or none.
    #[cfg_attr(test, ts(type = "{ [K in SettingKey]?: Settings[K] | null }"))]
    pub changes: Map<String, Value>,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// A server to use, named by a page.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum ServerRequest {
    /// One that this app starts and ends.
    Managed {
        /// The folder it runs in; left out: the configured one.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        directory: Option<String>,
    },
    /// One that runs.
    Attached {
        /// Its address.
        url: String,
        /// The user name, if it is not `opencode`.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        username: Option<String>,
        /// The password; it is kept in memory and never given back.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        password: Option<String>,
    },
    /// None, until one is named.
    None {},
}

impl std::fmt::Debug for ServerRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Managed { directory } => f
                .debug_struct("Managed")
                .field("directory", directory)
                .finish(),
            // The password stays out, and so does an address, which may hold one.
            Self::Attached { .. } => f.debug_struct("Attached").finish_non_exhaustive(),
            Self::None {} => f.write_str("None"),
        }
    }
}

/// Which server to connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerConnect {
    /// The server; `null`: the latest one again, at once.
    pub server: Option<ServerRequest>,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// Whose auditor is meant: a session's, or that of an empty session of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditorCheck {
    /// The session.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub session_id: Option<String>,
    /// The folder, where no session is named.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub directory: Option<String>,
}

/// As [`AuditorCheck`], to be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestAuditor {
    /// The session.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub session_id: Option<String>,
    /// The folder, where no session is named.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub directory: Option<String>,
    /// What makes a repetition the same request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    pub request_id: Option<String>,
}

/// What to watch, and where to.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WatchSession {
    /// The session; left out: all.
    #[serde(default)]
    pub(crate) session_id: Option<String>,
    /// The page's channel.
    pub(crate) channel: JavaScriptChannelId,
}

/// Which watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unwatch {
    /// The number that `watch` gave.
    pub id: u32,
}

/// A session id that OpenCode could have made.
///
/// # Errors
/// `invalidSession` for any other text.
pub(crate) fn session(id: &str) -> Result<SessionId> {
    if goal_core::objective::valid_session_id(id) {
        Ok(SessionId::new(id))
    } else {
        Err(Error::invalid_session(id))
    }
}
