//! What the loop needs of the world. Each port has two implementations: the real one, and the
//! simulated one that tests play in memory under paused time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::evidence::{Evidence, Voice};
use goal_core::goal::{GoalId, MessageId, ModelRef, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::message::{ErrorKind, Message};
use goal_core::notice::NoticeCode;
use goal_core::snapshot::{Request, SessionFacts};
use goal_core::time::Wall;
use tokio_util::sync::CancellationToken;

use crate::objectives::Objectives;
use crate::settings::SettingsFile;
use crate::store::Store;

/// Everything the engine stands on.
#[derive(Clone)]
pub struct Ports {
    /// The server's sessions.
    pub sessions: Arc<dyn Sessions>,
    /// The independent auditor.
    pub auditor: Arc<dyn Auditor>,
    /// Where notices go.
    pub notices: Arc<dyn Notices>,
    /// The wall clock and randomness; monotonic time is tokio's.
    pub clock: Arc<dyn Clock>,
    /// Objective files.
    pub objectives: Objectives,
    /// The settings file, read when a cycle begins.
    pub settings: Arc<SettingsFile>,
    /// Decisions, notices, drivers.
    pub store: Store,
    /// The numbers the loop obeys.
    pub limits: Limits,
}

/// A session as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRead {
    /// What decisions look at.
    pub facts: SessionFacts,
    /// Its title.
    pub title: String,
    /// The project folder it belongs to; every call about it names this folder (E7, H11).
    pub directory: String,
    /// Its metadata as JSON text, byte for byte; `None` if it has none.
    pub metadata: Option<Arc<str>>,
    /// It is somebody's audit (X4): invisible to everything but the clean-up of left-overs.
    pub audit: Option<AuditMark>,
    /// When the server created it.
    pub created: Wall,
    /// When the server last changed it.
    pub updated: Wall,
}

/// The mark that an audit session carries, and one that condenses an objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditMark {
    /// The engine that made it.
    pub owner: String,
    /// The goal it is about.
    pub goal: GoalId,
    /// When it is a left-over at the latest.
    pub until: Wall,
}

/// What a session that is not idle does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It works.
    Busy,
    /// Its provider fails and OpenCode tries again.
    Retry,
}

/// An open permission request or question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// The session that asks; a sub-agent asks under its own id.
    pub session: SessionId,
    /// What it asks.
    pub request: Request,
}

/// One page of something, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The page's items.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A prompt to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptOut {
    /// Id of the user message.
    pub message: MessageId,
    /// Id of its first part; with both given, a repetition is an update (X6).
    pub part: Option<String>,
    /// Whom it addresses.
    pub to: Address,
    /// The visible text.
    pub text: String,
    /// The files that go along, after the text.
    pub attachments: Vec<Attachment>,
    /// A synthetic part at the end: the goal reminder of an armed prompt (O14).
    pub reminder: Option<String>,
}

/// Whom a prompt addresses; what is left out is the server's to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The model.
    pub model: Option<ModelRef>,
    /// The agent.
    pub agent: Option<String>,
    /// The variant of the model.
    pub variant: Option<String>,
}

impl Address {
    /// This one, with what it leaves out as `voice` has it. A variant belongs to its model: a model
    /// without one is asked as it is.
    #[must_use]
    pub fn before(self, voice: Option<Voice>) -> Self {
        let said = Self::from(voice);
        let agent = self.agent.or(said.agent);
        match self.model {
            Some(_) => Self { agent, ..self },
            None => Self {
                model: said.model,
                agent,
                variant: self.variant.or(said.variant),
            },
        }
    }

    /// Who will have spoken in the session, if the model is known.
    #[must_use]
    pub fn voice(&self) -> Option<Voice> {
        Some(Voice {
            model: self.model.clone()?,
            agent: self.agent.clone(),
            variant: self.variant.clone(),
        })
    }
}

impl From<Option<Voice>> for Address {
    fn from(voice: Option<Voice>) -> Self {
        voice.map_or_else(Self::default, |voice| Self {
            model: Some(voice.model),
            agent: voice.agent,
            variant: voice.variant,
        })
    }
}

/// A file that goes along with a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Where it is: a `data:` address with its content, or a `file:` address on the server.
    pub url: String,
}

/// A slash command that the server knows in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRead {
    /// Its name, without the slash.
    pub name: String,
    /// Its text with placeholders; `None` where the server gives none.
    pub template: Option<String>,
    /// The agent that it names itself; whoever calls it cannot choose another.
    pub agent: Option<String>,
    /// The model that it names itself, likewise.
    pub model: Option<ModelRef>,
}

/// A slash command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOut {
    /// Id of the user message. Its parts get ids of the server's, so it is sent once only.
    pub message: MessageId,
    /// The command's name, without the slash.
    pub name: String,
    /// All that stands behind it.
    pub arguments: String,
    /// Whom it addresses.
    pub to: Address,
    /// The files that go along.
    pub attachments: Vec<Attachment>,
}

/// Who can be addressed in a folder. A list that could not be read is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The agents.
    pub agents: Vec<AgentRead>,
    /// The models.
    pub models: Vec<ModelRead>,
}

/// An agent of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRead {
    /// Its name.
    pub name: String,
    /// It works for other agents only.
    pub is_subagent: bool,
}

/// A model of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRead {
    /// Its names.
    pub model: ModelRef,
    /// Its variants' names.
    pub variants: Vec<String>,
}

/// A failed call, told apart by what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// What follows from it.
    pub kind: CallErrorKind,
    /// A sentence for people, without secrets.
    pub message: String,
}

/// What follows from a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    /// A healthy server says that it does not exist.
    Gone,
    /// The server refused it and will again (4xx but 401, 408, 429).
    Refused,
    /// The user name or password is wrong.
    Unauthorized,
    /// What answers is not a usable OpenCode server.
    NotOpenCode,
    /// It certainly had no effect; it can be tried again.
    NotSent,
    /// Nobody knows whether it had an effect (X7).
    Unknown,
}

/// The server's sessions. Every call has a deadline of its own.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Reads a session.
    async fn session(
        &self,
        id: &SessionId,
        directory: Option<&str>,
    ) -> Result<SessionRead, CallError>;
    /// Replaces the whole metadata of a session (H1) and gives the session as it then is.
    async fn write_metadata(
        &self,
        id: &SessionId,
        directory: &str,
        metadata: &str,
    ) -> Result<SessionRead, CallError>;
    /// The sessions of a folder that are not idle.
    async fn statuses(&self, directory: &str) -> Result<BTreeMap<SessionId, Presence>, CallError>;
    /// The direct sub-agents of a session.
    async fn children(
        &self,
        id: &SessionId,
        directory: &str,
    ) -> Result<Vec<SessionRead>, CallError>;
    /// The open permission requests and questions of a folder.
    async fn requests(&self, directory: &str) -> Result<Vec<OpenRequest>, CallError>;
    /// The newest messages before `before`, at most `limit` of them, in the server's order.
    async fn messages(
        &self,
        id: &SessionId,
        directory: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Page<Message>, CallError>;
    /// Whether a message is stored.
    async fn message_exists(
        &self,
        id: &SessionId,
        directory: &str,
        message: &MessageId,
    ) -> Result<bool, CallError>;
    /// Sends a prompt. Success is no delivery (X7).
    async fn prompt(
        &self,
        id: &SessionId,
        directory: &str,
        prompt: &PromptOut,
    ) -> Result<(), CallError>;
    /// The slash commands of a folder.
    async fn commands(&self, directory: &str) -> Result<Vec<CommandRead>, CallError>;
    /// Runs a slash command. Comes back when its turn has ended, so whoever asks has a bound of
    /// their own; dropping it stops nothing.
    async fn command(
        &self,
        id: &SessionId,
        directory: &str,
        command: &CommandOut,
    ) -> Result<(), CallError>;
    /// Makes a session in a folder; without a title the server finds one.
    async fn create(&self, directory: &str, title: Option<&str>) -> Result<SessionRead, CallError>;
    /// Copies a session with what stands before `before`, or with all of it; its metadata come
    /// along.
    async fn fork(
        &self,
        id: &SessionId,
        directory: &str,
        before: Option<&MessageId>,
    ) -> Result<SessionRead, CallError>;
    /// Who can be addressed in a folder.
    async fn catalogue(&self, directory: &str) -> Catalogue;
    /// Stops whatever runs in a session; harmless when nothing does.
    async fn abort(&self, id: &SessionId, directory: &str) -> Result<(), CallError>;
    /// A page of the sessions of all folders, archived ones included, the most recently changed
    /// first, at most `limit` of them: from the top, or those changed before `cursor`. That is the
    /// server's time of the last session of an earlier page, which is its `next`, or any other in
    /// milliseconds; a page's `next` that is no number is passed on as it is.
    async fn list(&self, cursor: Option<&str>, limit: u32) -> Result<Page<SessionRead>, CallError>;
    /// Archives a session; only ever one whose goal is complete.
    async fn archive(&self, id: &SessionId, directory: &str, at: Wall) -> Result<(), CallError>;
    /// Deletes a session; only ever an audit's.
    async fn delete_audit(&self, id: &SessionId, directory: &str) -> Result<(), CallError>;
    /// Whether the server runs on this machine: only then can it share our files (X1).
    fn is_local(&self) -> bool;
}

/// What the auditor is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditJob {
    /// The session it judges.
    pub session: SessionId,
    /// Its folder.
    pub directory: String,
    /// The goal it judges.
    pub goal: GoalId,
    /// The effective objective.
    pub objective: String,
    /// The last turn.
    pub evidence: Evidence,
    /// Who speaks in the session: its provider is the auditor's, too (R63).
    pub voice: Voice,
}

/// The model an audit would use, and why that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditorModel {
    /// The model.
    pub model: ModelRef,
    /// `settings`, `config`, `family-scan` or `session-model` (§3.1).
    pub source: &'static str,
}

/// What the auditor's model is to condense (O10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistillJob {
    /// The session whose goal it is for.
    pub session: SessionId,
    /// Its folder.
    pub directory: String,
    /// The goal it is for; a new one need not be written yet.
    pub goal: GoalId,
    /// The whole objective.
    pub objective: String,
    /// Who speaks in the session: its provider condenses, as it audits (R63); `None`: nobody did
    /// yet.
    pub voice: Option<Voice>,
    /// How long it may take.
    pub within: Duration,
}

/// What a distillation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distillation {
    /// The model's reply as it is: it may be empty or too long.
    Said {
        /// The reply.
        text: String,
        /// Who replied.
        model: ModelRef,
    },
    /// There is no reply that can be used.
    Failed(AuditFailure),
}

/// The independent auditor.
#[async_trait]
pub trait Auditor: Send + Sync {
    /// Audits. Ends within the audit's deadline, or soon after `cancel`; however it ends, the audit
    /// session is stopped and deleted (X4). A cancelled audit's outcome is not looked at.
    async fn audit(&self, job: AuditJob, cancel: CancellationToken) -> AuditOutcome;
    /// Condenses an objective, on the model that would audit it. Ends within the job's time, and
    /// may be dropped at any await; however it ends, its session is stopped and deleted as an
    /// audit's.
    async fn distill(&self, job: DistillJob) -> Distillation;
    /// Which model an audit of a session that speaks with `voice` would use; asks no model.
    /// `Ok(None)`: there is none.
    async fn resolve(
        &self,
        directory: &str,
        voice: Option<&Voice>,
    ) -> Result<Option<AuditorModel>, CallError>;
}

/// A notice on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeOut {
    /// The session it is about.
    pub session: SessionId,
    /// Its folder.
    pub directory: String,
    /// Its title.
    pub title: String,
    /// The goal it is about.
    pub goal: GoalId,
    /// What is told.
    pub code: NoticeCode,
    /// The objective's beginning.
    pub objective: String,
    /// The reason or note.
    pub detail: String,
}

/// Where notices go.
#[async_trait]
pub trait Notices: Send + Sync {
    /// Tells the user. One notice at a time; the loop waits for none of them, and one that takes
    /// longer than ten seconds is given up.
    ///
    /// # Errors
    /// A sentence for the journal; the goal is not affected (R80).
    async fn deliver(&self, notice: &NoticeOut) -> Result<(), String>;
}

/// The wall clock and randomness.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn wall(&self) -> Wall;
    /// 16 random bytes.
    fn random(&self) -> [u8; 16];
}

/// Something the server said, or the state of the line to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// The stream is up: what happened before is not known.
    Connected,
    /// The stream is down.
    Lost {
        /// Why, for people.
        reason: String,
        /// The server refused the password.
        unauthorized: bool,
        /// Until the next try.
        retry_in: Duration,
    },
    /// A session was made or changed.
    Session(Box<SessionRead>),
    /// A session is gone.
    Deleted(SessionId),
    /// A session became idle.
    Idle(SessionId),
    /// A session became busy, or retries.
    Busy(SessionId, Presence),
    /// A turn failed or was stopped.
    Error {
        /// The session.
        session: SessionId,
        /// Which kind of error.
        kind: ErrorKind,
        /// "name: text".
        text: String,
    },
    /// A message was added or changed.
    Message {
        /// The session.
        session: SessionId,
        /// The message.
        message: MessageId,
        /// The prompt it answers; `None` for a prompt.
        parent: Option<MessageId>,
        /// It was stopped.
        aborted: bool,
    },
    /// A permission request or question was asked or answered.
    Request {
        /// The session that asks.
        session: SessionId,
        /// It is still open.
        open: bool,
    },
    /// The server reloaded a folder and stopped what ran there.
    Disposed {
        /// The folder, where it is named.
        directory: Option<String>,
    },
}

/// The server's events, endless.
#[async_trait]
pub trait Events: Send {
    /// The next event; may be dropped while waiting without losing one.
    async fn next(&mut self) -> ServerEvent;
    /// Gives the connection up for a new one, for example after the computer slept. The next event
    /// is then about the line. A source that cannot lose events has nothing to give up.
    fn reconnect(&mut self) {}
}
