//! What the server says → what the engine works with. Parsed here once, then trusted.

use std::collections::BTreeMap;
use std::sync::Arc;

use goal_core::goal::{GoalId, MessageId, ModelRef, RevertId, SessionId};
use goal_core::message::{Author, ErrorKind, Finish, Message, Part, Step, ToolUse, TurnError};
use goal_core::snapshot::{Request, RequestKind, SessionFacts};
use goal_core::time::Wall;
use opencode_client as wire;
use serde_json::value::RawValue;

use crate::ports::{
    AgentRead, AuditMark, CallError, CallErrorKind, Catalogue, CommandRead, ModelRead, OpenRequest,
    Page, Presence, ServerEvent, SessionRead,
};

/// How OpenCode puts it when the user refuses a tool, without giving the agent a reason.
const REFUSED: &str = "The user rejected permission to use this specific tool call";

/// How OpenCode puts it when the user dismisses a question.
const DISMISSED: &str = "The user dismissed this question";

/// The `finish` of a reply that the provider withheld.
const CONTENT_FILTER: &str = "content-filter";

/// UTF-16 units of what a request is about: enough for one line.
const SUBJECT_UNITS_MAX: usize = 200;

/// A session.
pub(crate) fn session(session: wire::Session) -> SessionRead {
    let metadata = session.metadata.as_deref().map(RawValue::get);
    let parent = session.parent_id.filter(|id| !id.is_empty());
    // A fork copies the metadata, but not the parent: it is no audit, and nobody's to delete.
    let audit = metadata.filter(|_| parent.is_some()).and_then(audit_mark);
    SessionRead {
        audit,
        metadata: metadata.map(Arc::from),
        facts: SessionFacts {
            id: SessionId::new(session.id),
            parent: parent.map(SessionId::new),
            archived: session.time.archived.is_some(),
            revert: session
                .revert
                .map(|revert| RevertId::new(revert.message_id)),
        },
        title: session.title,
        directory: session.directory,
        created: Wall(session.time.created),
        updated: Wall(session.time.updated),
    }
}

/// The mark of an audit in a session's metadata. A damaged one still is a mark, of an audit that
/// never becomes a left-over: what cannot be read is not deleted.
pub(crate) fn audit_mark(metadata: &str) -> Option<AuditMark> {
    if !metadata.contains(AUDIT_KEY) {
        return None;
    }
    let mark = member(member(metadata, OPENCHAMBER_KEY)?, AUDIT_KEY)?;
    let mark: BTreeMap<String, &RawValue> = serde_json::from_str(mark).ok()?;
    let text = |key: &str| {
        let raw = mark.get(key)?.get();
        serde_json::from_str::<String>(raw).ok()
    };
    let until = mark
        .get("until")
        .and_then(|raw| serde_json::from_str::<f64>(raw.get()).ok())
        .filter(|until| *until > 0.0);
    Some(AuditMark {
        owner: text("owner").unwrap_or_default(),
        goal: GoalId::new(text("goalID").unwrap_or_default()),
        // `as` saturates, and the sign was looked at.
        until: Wall(until.map_or(u64::MAX, |until| until as u64)),
    })
}

/// The key of everything that is ours in a session's metadata.
pub(crate) const OPENCHAMBER_KEY: &str = "openchamber";

/// The key of the audit's mark inside it.
pub(crate) const AUDIT_KEY: &str = "goalAudit";

/// A message, or `None` if nothing can be read of it.
pub(crate) fn message(message: wire::Message) -> Option<Message> {
    let info = message.info;
    if info.id.is_empty() {
        return None;
    }
    let id = MessageId::new(info.id.clone());
    let created = Wall(info.created);
    let author = match info.role {
        wire::Role::User => Author::User,
        wire::Role::Assistant => Author::Assistant(Box::new(step(info))),
        wire::Role::Other => return None,
    };
    Some(Message {
        id,
        created,
        author,
        parts: message.parts.into_iter().map(part).collect(),
    })
}

/// A page of messages. Unreadable ones are left out.
pub(crate) fn messages(page: wire::Page<wire::Message>) -> Page<Message> {
    let total = page.items.len();
    let items: Vec<Message> = page.items.into_iter().filter_map(message).collect();
    if items.len() < total {
        tracing::warn!(unreadable = total - items.len(), total, "messages left out");
    }
    Page {
        items,
        next: page.next,
    }
}

/// A page of sessions.
pub(crate) fn sessions(page: wire::Page<wire::Session>) -> Page<SessionRead> {
    Page {
        items: page.items.into_iter().map(session).collect(),
        next: page.next,
    }
}

/// What a status says, `None` for idle. A kind of status nobody knows is work: whoever leaves a
/// session alone that rests loses minutes, whoever disturbs one that works loses the work.
pub(crate) fn presence(status: &wire::Status) -> Option<Presence> {
    match status {
        wire::Status::Idle => None,
        wire::Status::Busy | wire::Status::Other(_) => Some(Presence::Busy),
        wire::Status::Retry { .. } => Some(Presence::Retry),
    }
}

/// The sessions that are not idle.
pub(crate) fn statuses(statuses: BTreeMap<String, wire::Status>) -> BTreeMap<SessionId, Presence> {
    statuses
        .into_iter()
        .filter_map(|(id, status)| Some((SessionId::new(id), presence(&status)?)))
        .collect()
}

/// A slash command.
pub(crate) fn command(command: wire::Command) -> CommandRead {
    let model = command.model.as_deref();
    CommandRead {
        name: command.name,
        template: command.template,
        agent: command.agent,
        model: model.and_then(|model| goal_core::fields::model("model", model).ok()),
    }
}

/// Who can be addressed.
pub(crate) fn catalogue(agents: Vec<wire::Agent>, providers: wire::Providers) -> Catalogue {
    let agents = agents.into_iter().map(|agent| AgentRead {
        is_subagent: agent.mode == "subagent",
        name: agent.name,
    });
    let models = providers.providers.into_iter().flat_map(|provider| {
        let named = move |model: wire::Model| ModelRead {
            model: ModelRef {
                provider: provider.id.clone(),
                model: model.id,
            },
            variants: model.variants,
        };
        provider.models.into_iter().map(named)
    });
    Catalogue {
        agents: agents.collect(),
        models: models.collect(),
    }
}

/// An open permission request.
pub(crate) fn permission(request: wire::PermissionRequest) -> OpenRequest {
    OpenRequest {
        session: SessionId::new(request.session_id),
        request: Request {
            kind: RequestKind::Permission,
            id: request.id,
            subject: subject(&request.permission),
        },
    }
}

/// An open question.
pub(crate) fn question(request: wire::QuestionRequest) -> OpenRequest {
    let subject = subject(&request.summary());
    OpenRequest {
        session: SessionId::new(request.session_id),
        request: Request {
            kind: RequestKind::Question,
            id: request.id,
            subject,
        },
    }
}

/// An event, or `None` for one that tells the engine nothing.
pub(crate) fn event(event: wire::Event) -> Option<ServerEvent> {
    Some(match event {
        wire::Event::ServerConnected => ServerEvent::Connected,
        wire::Event::InstanceDisposed { directory } => ServerEvent::Disposed { directory },
        wire::Event::SessionCreated(read) | wire::Event::SessionUpdated(read) => {
            ServerEvent::Session(Box::new(session(read)))
        }
        wire::Event::SessionDeleted { id } => ServerEvent::Deleted(SessionId::new(id)),
        wire::Event::SessionStatus { id, status } => match presence(&status) {
            Some(presence) => ServerEvent::Busy(SessionId::new(id), presence),
            None => ServerEvent::Idle(SessionId::new(id)),
        },
        wire::Event::SessionIdle { id } => ServerEvent::Idle(SessionId::new(id)),
        wire::Event::SessionError { id, error } => ServerEvent::Error {
            session: SessionId::new(id?),
            kind: error_kind(&error.name),
            text: error_text(&error),
        },
        wire::Event::MessageUpdated(info) => message_event(info)?,
        // Both show in what is read at the next wake-up.
        wire::Event::SessionCompacted { .. } | wire::Event::MessageRemoved { .. } => return None,
        wire::Event::PermissionAsked(wire::PermissionRequest { session_id, .. })
        | wire::Event::QuestionAsked(wire::QuestionRequest { session_id, .. }) => {
            request_event(session_id, /*open*/ true)
        }
        wire::Event::PermissionReplied { session_id, .. }
        | wire::Event::QuestionReplied { session_id, .. }
        | wire::Event::QuestionRejected { session_id, .. } => {
            request_event(session_id, /*open*/ false)
        }
    })
}

/// A failed call, told apart by what follows from it.
pub(crate) fn call_error(error: &wire::Error) -> CallError {
    CallError {
        kind: call_error_kind(error),
        message: error.message().to_owned(),
    }
}

/// Which kind of error a name stands for (R48).
pub(crate) fn error_kind(name: &str) -> ErrorKind {
    match name {
        "MessageAbortedError" => ErrorKind::Aborted,
        "MessageOutputLengthError" => ErrorKind::OutputLength,
        "ContextOverflowError" => ErrorKind::ContextOverflow,
        _ => ErrorKind::Failure,
    }
}

fn call_error_kind(error: &wire::Error) -> CallErrorKind {
    let effect = if error.maybe_sent() {
        CallErrorKind::Unknown
    } else {
        CallErrorKind::NotSent
    };
    match error.kind() {
        wire::Kind::NotFound => CallErrorKind::Gone,
        // Come again later, in two spellings.
        wire::Kind::Rejected { status: 408 | 429 } => effect,
        wire::Kind::Rejected { .. } | wire::Kind::MalformedId | wire::Kind::BadTarget => {
            CallErrorKind::Refused
        }
        wire::Kind::Unauthorized => CallErrorKind::Unauthorized,
        wire::Kind::NotOpenCode | wire::Kind::TooOld { .. } | wire::Kind::TooLarge => {
            CallErrorKind::NotOpenCode
        }
        wire::Kind::Unreachable
        | wire::Kind::Timeout
        | wire::Kind::Server { .. }
        | wire::Kind::Malformed => effect,
    }
}

/// One member of the object written in `json`, as JSON.
fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(json).ok()?;
    members.get(key).map(|raw| raw.get())
}

fn step(info: wire::MessageInfo) -> Step {
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let model = filled(info.provider_id)
        .zip(filled(info.model_id))
        .map(|(provider, model)| ModelRef { provider, model });
    let finish_word = filled(info.finish);
    let completed = info.completed.map(Wall);
    let filtered = completed.is_some() && finish_word.as_deref() == Some(CONTENT_FILTER);
    Step {
        parent: filled(info.parent_id).map(MessageId::new),
        completed,
        summary: info.summary,
        finish: finish_word.as_deref().map(finish),
        error: info
            .error
            .map(turn_error)
            .or_else(|| filtered.then(filter_error)),
        model,
        agent: filled(info.agent).or(filled(info.mode)),
        variant: filled(info.variant),
        tokens: info.tokens.map_or(0, tokens),
    }
}

fn finish(word: &str) -> Finish {
    match word {
        "stop" => Finish::Stop,
        "tool-calls" => Finish::ToolCalls,
        "length" => Finish::Length,
        _ => Finish::Other,
    }
}

/// What newer servers record for a reply that the provider withheld; older ones only say so in
/// `finish`.
fn filter_error() -> TurnError {
    TurnError {
        kind: ErrorKind::Failure,
        name: "ContentFilterError".to_owned(),
        text: "The provider's content filter blocked the reply".to_owned(),
    }
}

fn turn_error(error: wire::MessageError) -> TurnError {
    TurnError {
        kind: error_kind(&error.name),
        name: error.name,
        text: error.message,
    }
}

/// The snapshot of R31: reasoning and what was written to the cache are not counted.
fn tokens(tokens: wire::Tokens) -> u64 {
    tokens
        .input
        .saturating_add(tokens.cache_read)
        .saturating_add(tokens.output)
}

fn part(part: wire::Part) -> Part {
    match part {
        wire::Part::Text(text) => Part::Text {
            text: text.text,
            unseen: text.synthetic || text.ignored,
        },
        wire::Part::Tool(tool) => Part::Tool(tool_use(tool)),
        wire::Part::StepStart => Part::StepStart,
        wire::Part::Compaction { overflow, auto: _ } => Part::Compaction { overflow },
        wire::Part::File | wire::Part::Subtask => Part::Other { prompt: true },
        wire::Part::StepFinish { .. } | wire::Part::Reasoning { .. } => {
            Part::Other { prompt: false }
        }
        // An agent is named by a person; everything else OpenCode has is bookkeeping.
        wire::Part::Other { kind } => Part::Other {
            prompt: kind == "agent",
        },
    }
}

fn tool_use(tool: wire::ToolPart) -> ToolUse {
    let failed = tool.status == wire::ToolStatus::Error;
    let status = match tool.status {
        wire::ToolStatus::Pending => "pending",
        wire::ToolStatus::Running => "running",
        wire::ToolStatus::Completed => "completed",
        wire::ToolStatus::Error => "error",
        wire::ToolStatus::Other => "unknown",
    };
    ToolUse {
        tool: tool.tool,
        title: tool.title.unwrap_or_default(),
        status: status.to_owned(),
        exit: tool.metadata.exit,
        declined: failed && tool.error.as_deref().is_some_and(is_declined),
        child: tool
            .metadata
            .session_id
            .filter(|id| !id.is_empty())
            .map(SessionId::new),
    }
}

/// A refusal with a reason goes on behind these words: the agent reads it and works on.
fn is_declined(error: &str) -> bool {
    let error = error.trim().trim_end_matches('.');
    error == REFUSED || error == DISMISSED
}

fn message_event(info: wire::MessageInfo) -> Option<ServerEvent> {
    if info.id.is_empty() {
        return None;
    }
    let aborted = info
        .error
        .is_some_and(|error| error_kind(&error.name) == ErrorKind::Aborted);
    let parent = match info.role {
        wire::Role::Assistant => info.parent_id.filter(|id| !id.is_empty()),
        wire::Role::User | wire::Role::Other => None,
    };
    Some(ServerEvent::Message {
        session: SessionId::new(info.session_id),
        message: MessageId::new(info.id),
        parent: parent.map(MessageId::new),
        aborted,
    })
}

fn request_event(session: String, open: bool) -> ServerEvent {
    ServerEvent::Request {
        session: SessionId::new(session),
        open,
    }
}

fn error_text(error: &wire::MessageError) -> String {
    let said = [error.name.trim(), error.message.trim()];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    said.join(": ")
}

fn subject(text: &str) -> String {
    goal_core::text::clamp(text.trim(), SUBJECT_UNITS_MAX).to_owned()
}

#[cfg(test)]
mod tests;
