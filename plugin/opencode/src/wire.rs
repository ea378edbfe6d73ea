//! The server's JSON as values: what we read, tolerant, and what we send.
//!
//! Reading types are made by `read` functions from borrowed text. Every field that is missing or of
//! a wrong type takes the value its documentation names; no field can fail the object.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::fields::{self, Fields};

/// One page of a longer list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The elements, in the server's order.
    pub items: Vec<T>,
    /// What to pass for the next page; `None` after the last one.
    pub next: Option<String>,
}

/// What a healthy server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Its version, for example `1.18.33`.
    pub version: String,
}

/// A session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its id, `ses_…`; never empty in what the client returns.
    pub id: String,
    /// The session it is a child of.
    pub parent_id: Option<String>,
    /// Its title, possibly empty.
    pub title: String,
    /// The absolute path it works in, possibly empty.
    pub directory: String,
    /// When it was created, changed and archived.
    pub time: SessionTime,
    /// Set while the user is rewinding.
    pub revert: Option<Revert>,
    /// The agent of its last turn.
    pub agent: Option<String>,
    /// The model of its last turn.
    pub model: Option<ModelRef>,
    /// The variant of that model.
    pub variant: Option<String>,
    /// Everybody's metadata, byte for byte as the server sent it.
    pub metadata: Option<Box<RawValue>>,
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        let plain = |session: &Self| {
            Self {
                metadata: None,
                ..session.clone()
            }
            .identity()
        };
        plain(self) == plain(other) && same_raw(&self.metadata, &other.metadata)
    }
}

/// The times of a session in epoch milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionTime {
    /// Creation; 0 if unknown.
    pub created: u64,
    /// Last change of anything in it; 0 if unknown.
    pub updated: u64,
    /// Archived since; a 0 in the record means not archived and is `None` here.
    pub archived: Option<u64>,
}

/// The point a session is rewound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revert {
    /// The first message that is cut off; possibly empty.
    pub message_id: String,
    /// The first part of it that is cut off, if not the whole message.
    pub part_id: Option<String>,
}

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelRef {
    /// The provider's id.
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// The model's id within the provider.
    #[serde(rename = "modelID")]
    pub model_id: String,
}

/// What a session is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    Idle,
    /// A turn is running, or waits for an answer of the user.
    Busy,
    /// The provider failed and OpenCode waits before it tries again.
    Retry {
        /// Number of the try, from 1; 0 if unknown.
        attempt: u64,
        /// The provider's trouble.
        message: String,
        /// Time of the next try in epoch milliseconds; 0 if unknown.
        next: u64,
    },
    /// A kind of status this client does not know.
    Other(String),
}

/// A message with its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Everything but the content.
    pub info: MessageInfo,
    /// The content in order.
    pub parts: Vec<Part>,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A person, or a client in a person's name.
    User,
    /// The model.
    Assistant,
    /// Unknown or unreadable.
    #[default]
    Other,
}

/// A message without its content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageInfo {
    /// Its id, `msg_…`; empty if unreadable.
    pub id: String,
    /// The session it belongs to; empty if unreadable.
    pub session_id: String,
    /// Who wrote it.
    pub role: Role,
    /// For an assistant message: the user message it answers.
    pub parent_id: Option<String>,
    /// Creation in epoch milliseconds; 0 if unknown.
    pub created: u64,
    /// End of the step in epoch milliseconds; a 0 in the record is `None`.
    pub completed: Option<u64>,
    /// Whether it is the summary a compaction left behind.
    pub summary: bool,
    /// Why the model stopped: `stop`, `tool-calls`, `length`, `content-filter`, …
    pub finish: Option<String>,
    /// How it failed.
    pub error: Option<MessageError>,
    /// What it took; `None` where the record has none.
    pub tokens: Option<Tokens>,
    /// What it cost in US dollars; 0 if unknown.
    pub cost: f64,
    /// The provider asked, or to be asked.
    pub provider_id: Option<String>,
    /// The model asked, or to be asked.
    pub model_id: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The mode; `compaction` for a summary.
    pub mode: Option<String>,
    /// The variant of the model.
    pub variant: Option<String>,
}

/// A failure as OpenCode records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageError {
    /// Its kind, for example `APIError` or `MessageAbortedError`; empty if it has none.
    pub name: String,
    /// What was said, possibly empty.
    pub message: String,
    /// The provider's HTTP status, where there was one.
    pub status: Option<u64>,
}

/// Token counts of one message. `input` leaves out what came from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Spent on reasoning.
    pub reasoning: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(TextPart),
    /// A tool call.
    Tool(ToolPart),
    /// The begin of a step.
    StepStart,
    /// The end of a step.
    StepFinish {
        /// Why it ended; the words of [`MessageInfo::finish`].
        reason: Option<String>,
    },
    /// What the model thought aloud.
    Reasoning {
        /// The text, possibly empty.
        text: String,
    },
    /// The request to compact the session.
    Compaction {
        /// Asked by OpenCode itself.
        auto: bool,
        /// After the provider had refused an overlong context.
        overflow: bool,
    },
    /// An attached file.
    File,
    /// A slash command that runs as a sub-agent.
    Subtask,
    /// Any other kind, or an unreadable part.
    Other {
        /// The kind; empty if unreadable.
        kind: String,
    },
}

/// A text part.
#[derive(Clone, Debug, Default)]
pub struct TextPart {
    /// Its id, `prt_…`; empty if unreadable.
    pub id: String,
    /// The text, possibly empty.
    pub text: String,
    /// Written by a program, not by the message's author.
    pub synthetic: bool,
    /// Shown, but not sent to the model.
    pub ignored: bool,
    /// Everybody's metadata, byte for byte.
    pub metadata: Option<Box<RawValue>>,
}

impl PartialEq for TextPart {
    fn eq(&self, other: &Self) -> bool {
        let plain = |part: &Self| {
            (
                part.id.clone(),
                part.text.clone(),
                part.synthetic,
                part.ignored,
            )
        };
        plain(self) == plain(other) && same_raw(&self.metadata, &other.metadata)
    }
}

/// A tool call and what became of it, without its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPart {
    /// Its id, `prt_…`; empty if unreadable.
    pub id: String,
    /// The tool's name; empty if unreadable.
    pub tool: String,
    /// The id of the call; empty if unreadable.
    pub call_id: String,
    /// How far it got.
    pub status: ToolStatus,
    /// OpenCode's short description of the call.
    pub title: Option<String>,
    /// Why it failed or was refused.
    pub error: Option<String>,
    /// What the tool recorded about itself.
    pub metadata: ToolMetadata,
}

/// How far a tool call got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolStatus {
    /// Announced by the model.
    Pending,
    /// Running, or cut off by the end of its server.
    Running,
    /// Ended; a command's exit code may still tell of failure.
    Completed,
    /// Failed, refused or interrupted.
    Error,
    /// Unknown or unreadable.
    #[default]
    Other,
}

/// The facts of a tool call that concern a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolMetadata {
    /// A command's exit code.
    pub exit: Option<i64>,
    /// The child session of a sub-agent.
    pub session_id: Option<String>,
    /// The sub-agent runs on while its parent is idle.
    pub background: bool,
    /// The user interrupted the call.
    pub interrupted: bool,
}

/// An open request for permission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionRequest {
    /// Its id, `per_…`.
    pub id: String,
    /// The session that waits; of a sub-agent, the child.
    pub session_id: String,
    /// What is asked for, for example `bash`.
    pub permission: String,
    /// The commands or paths concerned.
    pub patterns: Vec<String>,
}

impl PermissionRequest {
    /// One line for a person, for example `bash: echo hi`; made of foreign text.
    pub fn summary(&self) -> String {
        if self.patterns.is_empty() {
            return self.permission.clone();
        }
        format!("{}: {}", self.permission, self.patterns.join(", "))
    }
}

/// An open question of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionRequest {
    /// Its id, `que_…`.
    pub id: String,
    /// The session that waits; of a sub-agent, the child.
    pub session_id: String,
    /// The questions' texts in order.
    pub questions: Vec<String>,
}

impl QuestionRequest {
    /// One line for a person; made of foreign text.
    pub fn summary(&self) -> String {
        self.questions.join(" / ")
    }
}

/// A slash command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Its name without the slash.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The agent it runs with.
    pub agent: Option<String>,
    /// The model it runs with, `provider/model`.
    pub model: Option<String>,
    /// Where it comes from: `command`, `skill` or `mcp`.
    pub source: Option<String>,
    /// Its text with placeholders; `None` where the server gives none.
    pub template: Option<String>,
    /// Whether it runs as a sub-agent.
    pub subtask: bool,
    /// The placeholders of its text.
    pub hints: Vec<String>,
}

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// `primary`, `subagent` or `all`; empty if unreadable.
    pub mode: String,
    /// Built into OpenCode.
    pub native: bool,
    /// Not offered to people.
    pub hidden: bool,
}

/// The connected providers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Providers {
    /// Each with its models.
    pub providers: Vec<Provider>,
    /// Provider id → id of its default model.
    pub default: BTreeMap<String, String>,
}

/// A connected provider. The server sends its key along; it is never read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provider {
    /// Its id.
    pub id: String,
    /// Its name; empty if unreadable.
    pub name: String,
    /// Its models in the order of their ids.
    pub models: Vec<Model>,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Its id within the provider.
    pub id: String,
    /// Its name; empty if unreadable.
    pub name: String,
    /// The family it belongs to.
    pub family: Option<String>,
    /// `YYYY-MM-DD`.
    pub release_date: Option<String>,
    /// `active`, `beta`, `deprecated`, …
    pub status: Option<String>,
    /// Tokens that fit in; `None` if unknown.
    pub context: Option<u64>,
    /// Tokens it writes at most; `None` if unknown.
    pub output: Option<u64>,
    /// US dollars for a million tokens read; `None` if unknown.
    pub cost_input: Option<f64>,
    /// US dollars for a million tokens written; `None` if unknown.
    pub cost_output: Option<f64>,
    /// The names of its variants.
    pub variants: Vec<String>,
}

/// A session to be made. Empty fields are left to the server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewSession {
    /// The session it becomes a child of.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Its title; with one OpenCode makes no model call to find one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its metadata: a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
    /// Its permission rules; later ones win.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission: Vec<PermissionRule>,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "session_model"
    )]
    pub model: Option<ModelRef>,
}

/// A permission rule of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionRule {
    /// What it is about, `*` for everything.
    pub permission: String,
    /// Which commands or paths, `*` for all.
    pub pattern: String,
    /// `allow`, `ask` or `deny`.
    pub action: String,
}

impl PermissionRule {
    /// The rule that denies everything.
    pub fn deny_all() -> Self {
        Self {
            permission: "*".to_owned(),
            pattern: "*".to_owned(),
            action: "deny".to_owned(),
        }
    }
}

/// A prompt. Empty fields are left to the server, which takes the default agent and the model used
/// last.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Prompt {
    /// The id the user message gets, `msg…`; with the same id and part ids again it is idempotent
    /// while it is the last user message.
    #[serde(rename = "messageID", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The model to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The agent to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The variant of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Text added to the system prompt, for this message only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Only store the message.
    #[serde(rename = "noReply", skip_serializing_if = "is_false")]
    pub no_reply: bool,
    /// The content. An empty list makes OpenCode run a turn all the same.
    pub parts: Vec<PromptPart>,
}

/// A part of a prompt.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum PromptPart {
    /// Text.
    Text(PromptText),
    /// A file.
    File(PromptFile),
}

/// A text part of a prompt.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "type", rename = "text")]
pub struct PromptText {
    /// The id the part gets, `prt…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text.
    pub text: String,
    /// Marks it as written by a program.
    #[serde(skip_serializing_if = "is_false")]
    pub synthetic: bool,
    /// Metadata stored with it: a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
}

/// A file part of a prompt.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "type", rename = "file")]
pub struct PromptFile {
    /// The id the part gets, `prt…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The media type.
    pub mime: String,
    /// The name.
    pub filename: String,
    /// A `data:` address with the content, or a `file:` address that the server reads.
    pub url: String,
}

/// A call of a slash command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CommandCall {
    /// Its name without the slash.
    pub command: String,
    /// All that stands behind the name, unsplit.
    pub arguments: String,
    /// The id the user message gets, `msg…`.
    #[serde(rename = "messageID", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The agent to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model to ask, `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The variant of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The files that go along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PromptFile>,
}

impl Health {
    /// `None` unless the server calls itself healthy and names a version.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        let version = fields.string("version")?;
        fields.flag("healthy").then_some(Self { version })
    }
}

impl Session {
    /// `None` if there is no object with an id.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        let id = fields.string("id").filter(|id| !id.is_empty())?;
        let time = fields.object("time");
        let revert = fields.raw("revert").and_then(Fields::of);
        let model = fields.object("model");
        Some(Self {
            id,
            parent_id: fields.string("parentID"),
            title: fields.text("title"),
            directory: fields.text("directory"),
            time: SessionTime {
                created: time.count("created").unwrap_or(0),
                updated: time.count("updated").unwrap_or(0),
                archived: time.count("archived").filter(|archived| *archived > 0),
            },
            revert: revert.map(|revert| Revert {
                message_id: revert.text("messageID"),
                part_id: revert.string("partID"),
            }),
            agent: fields.string("agent"),
            model: model_ref(model.string("providerID"), model.string("id")),
            variant: model.string("variant"),
            metadata: fields.boxed("metadata"),
        })
    }

    /// Everything that is comparable by itself.
    fn identity(self) -> impl PartialEq {
        let texts = (self.id, self.parent_id, self.title, self.directory);
        (
            texts,
            self.time,
            self.revert,
            self.agent,
            self.model,
            self.variant,
        )
    }
}

impl Status {
    /// From `{"type": …}`; an unreadable one is [`Status::Other`] with an empty word.
    pub(crate) fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let kind = fields.text("type");
        match kind.as_str() {
            "idle" => Self::Idle,
            "busy" => Self::Busy,
            "retry" => Self::Retry {
                attempt: fields.count("attempt").unwrap_or(0),
                message: fields.text("message"),
                next: fields.count("next").unwrap_or(0),
            },
            _ => Self::Other(kind),
        }
    }
}

impl Message {
    /// An unreadable message is an empty one of [`Role::Other`].
    pub(crate) fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        Self {
            info: fields
                .raw("info")
                .map(MessageInfo::read)
                .unwrap_or_default(),
            parts: fields.list("parts").into_iter().map(Part::read).collect(),
        }
    }
}

impl MessageInfo {
    /// An unreadable one is empty and of [`Role::Other`].
    pub(crate) fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let time = fields.object("time");
        // A user message names its model in an object, an assistant message in two flat fields.
        let model = fields.object("model");
        let role = match fields.text("role").as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Other,
        };
        Self {
            id: fields.text("id"),
            session_id: fields.text("sessionID"),
            role,
            parent_id: fields.string("parentID"),
            created: time.count("created").unwrap_or(0),
            completed: time.count("completed").filter(|completed| *completed > 0),
            summary: fields.flag("summary"),
            finish: fields.string("finish"),
            error: fields.raw("error").map(MessageError::read),
            tokens: fields.raw("tokens").map(Tokens::read),
            cost: fields.number("cost").unwrap_or(0.0),
            provider_id: fields
                .string("providerID")
                .or_else(|| model.string("providerID")),
            model_id: fields.string("modelID").or_else(|| model.string("modelID")),
            agent: fields.string("agent"),
            mode: fields.string("mode"),
            variant: fields.string("variant").or_else(|| model.string("variant")),
        }
    }
}

impl MessageError {
    /// Whatever stands there is an error; an odd one keeps what can be read of it.
    pub(crate) fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let data = fields.object("data");
        let said = data.string("message").or_else(|| fields.string("message"));
        Self {
            name: fields.string("name").unwrap_or_default(),
            message: said.or_else(|| fields::string(raw)).unwrap_or_default(),
            status: data.count("statusCode"),
        }
    }
}

impl Tokens {
    fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let cache = fields.object("cache");
        Self {
            input: fields.count("input").unwrap_or(0),
            output: fields.count("output").unwrap_or(0),
            reasoning: fields.count("reasoning").unwrap_or(0),
            cache_read: cache.count("read").unwrap_or(0),
            cache_write: cache.count("write").unwrap_or(0),
        }
    }
}

impl Part {
    fn read(raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let kind = fields.text("type");
        match kind.as_str() {
            "text" => Self::Text(TextPart {
                id: fields.text("id"),
                text: fields.text("text"),
                synthetic: fields.flag("synthetic"),
                ignored: fields.flag("ignored"),
                metadata: fields.boxed("metadata"),
            }),
            "tool" => Self::Tool(ToolPart::read(&fields)),
            "step-start" => Self::StepStart,
            "step-finish" => Self::StepFinish {
                reason: fields.string("reason"),
            },
            "reasoning" => Self::Reasoning {
                text: fields.text("text"),
            },
            "compaction" => Self::Compaction {
                auto: fields.flag("auto"),
                overflow: fields.flag("overflow"),
            },
            "file" => Self::File,
            "subtask" => Self::Subtask,
            _ => Self::Other { kind },
        }
    }
}

impl ToolPart {
    fn read(fields: &Fields<'_>) -> Self {
        let state = fields.object("state");
        let metadata = state.object("metadata");
        let status = match state.text("status").as_str() {
            "pending" => ToolStatus::Pending,
            "running" => ToolStatus::Running,
            "completed" => ToolStatus::Completed,
            "error" => ToolStatus::Error,
            _ => ToolStatus::Other,
        };
        Self {
            id: fields.text("id"),
            tool: fields.text("tool"),
            call_id: fields.text("callID"),
            status,
            title: state.string("title"),
            error: state.string("error"),
            metadata: ToolMetadata {
                exit: metadata.integer("exit"),
                session_id: metadata.string("sessionId"),
                background: metadata.flag("background"),
                interrupted: metadata.flag("interrupted"),
            },
        }
    }
}

impl PermissionRequest {
    /// `None` without an id or a session.
    pub(crate) fn read(fields: &Fields<'_>) -> Option<Self> {
        Some(Self {
            id: fields.string("id")?,
            session_id: fields.string("sessionID")?,
            permission: fields.text("permission"),
            patterns: fields.strings("patterns"),
        })
    }
}

impl QuestionRequest {
    /// `None` without an id or a session.
    pub(crate) fn read(fields: &Fields<'_>) -> Option<Self> {
        let questions = fields.list("questions").into_iter().filter_map(Fields::of);
        Some(Self {
            id: fields.string("id")?,
            session_id: fields.string("sessionID")?,
            questions: questions
                .map(|question| question.text("question"))
                .collect(),
        })
    }
}

impl Command {
    /// `None` without a name.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        Some(Self {
            name: fields.string("name")?,
            description: fields.string("description"),
            agent: fields.string("agent"),
            model: fields.string("model"),
            source: fields.string("source"),
            template: fields.string("template"),
            subtask: fields.flag("subtask"),
            hints: fields.strings("hints"),
        })
    }
}

impl Agent {
    /// `None` without a name.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        Some(Self {
            name: fields.string("name")?,
            description: fields.string("description"),
            mode: fields.text("mode"),
            native: fields.flag("native"),
            hidden: fields.flag("hidden"),
        })
    }
}

impl Providers {
    /// `None` if there is no object with a list of providers.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        let providers = fields.raw("providers").and_then(fields::list)?;
        let default = fields.object("default");
        Some(Self {
            providers: providers.into_iter().filter_map(Provider::read).collect(),
            default: default
                .iter()
                .filter_map(|(provider, model)| Some((provider.to_owned(), fields::string(model)?)))
                .collect(),
        })
    }
}

impl Provider {
    fn read(raw: &RawValue) -> Option<Self> {
        let fields = Fields::of(raw)?;
        let models = fields.object("models");
        Some(Self {
            id: fields.string("id")?,
            name: fields.text("name"),
            models: models
                .iter()
                .map(|(id, raw)| Model::read(id, raw))
                .collect(),
        })
    }
}

impl Model {
    fn read(id: &str, raw: &RawValue) -> Self {
        let fields = Fields::of(raw).unwrap_or_default();
        let limit = fields.object("limit");
        let cost = fields.object("cost");
        Self {
            id: id.to_owned(),
            name: fields.text("name"),
            family: fields.word("family"),
            release_date: fields.word("release_date"),
            status: fields.word("status"),
            context: limit.count("context"),
            output: limit.count("output"),
            cost_input: cost.number("input"),
            cost_output: cost.number("output"),
            variants: fields
                .object("variants")
                .iter()
                .map(|(name, _)| name.to_owned())
                .collect(),
        }
    }
}

/// A model, if both halves of its name are there.
fn model_ref(provider_id: Option<String>, model_id: Option<String>) -> Option<ModelRef> {
    Some(ModelRef {
        provider_id: provider_id?,
        model_id: model_id?,
    })
}

/// `POST /session` names the two halves otherwise than a prompt does.
fn session_model<S: serde::Serializer>(
    model: &Option<ModelRef>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct SessionModel<'a> {
        id: &'a str,
        #[serde(rename = "providerID")]
        provider_id: &'a str,
    }
    model
        .as_ref()
        .map(|model| SessionModel {
            id: &model.model_id,
            provider_id: &model.provider_id,
        })
        .serialize(serializer)
}

fn same_raw(left: &Option<Box<RawValue>>, right: &Option<Box<RawValue>>) -> bool {
    left.as_ref().map(|raw| raw.get()) == right.as_ref().map(|raw| raw.get())
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[cfg(test)]
mod tests;
