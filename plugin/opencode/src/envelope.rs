//! One frame's JSON → the event in it, or the reason why there is none.

use crate::fields::Fields;
use crate::sse::peek_type;
use crate::wire::{MessageError, MessageInfo, PermissionRequest, QuestionRequest, Session, Status};

/// An event and the directory it happened in.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The project directory; `None` where the event does not belong to one or does not tell.
    pub directory: Option<String>,
    /// What happened.
    pub event: Event,
}

/// The events a client needs; every other kind is dropped unparsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The stream begins.
    ServerConnected,
    /// All sessions of a directory were unloaded, running turns aborted.
    InstanceDisposed {
        /// The directory; `None` if it does not tell.
        directory: Option<String>,
    },
    /// A session was made.
    SessionCreated(Session),
    /// A session's record changed: title, metadata, totals, …
    SessionUpdated(Session),
    /// A session is gone.
    SessionDeleted {
        /// Its id.
        id: String,
    },
    /// A session began, ended or delayed something. The same status may come repeatedly.
    SessionStatus {
        /// Its id.
        id: String,
        /// What it is doing.
        status: Status,
    },
    /// A session became idle; comes right after the status.
    SessionIdle {
        /// Its id.
        id: String,
    },
    /// A turn failed or was aborted.
    SessionError {
        /// The session, where the event tells.
        id: Option<String>,
        /// How.
        error: MessageError,
    },
    /// A session was compacted.
    SessionCompacted {
        /// Its id.
        id: String,
    },
    /// A message was added or changed; its content is not in the event.
    MessageUpdated(MessageInfo),
    /// A message was removed.
    MessageRemoved {
        /// The session.
        session_id: String,
        /// The message.
        message_id: String,
    },
    /// A session waits for permission.
    PermissionAsked(PermissionRequest),
    /// The request was answered.
    PermissionReplied {
        /// The session.
        session_id: String,
        /// The request.
        request_id: String,
        /// `once`, `always` or `reject`; empty if it does not tell.
        reply: String,
    },
    /// A session waits for an answer.
    QuestionAsked(QuestionRequest),
    /// The question was answered.
    QuestionReplied {
        /// The session.
        session_id: String,
        /// The request.
        request_id: String,
    },
    /// The question was dismissed.
    QuestionRejected {
        /// The session.
        session_id: String,
        /// The request.
        request_id: String,
    },
}

/// What a frame holds.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value at a time, never stored in bulk"
)]
pub enum Parsed {
    /// An event.
    Event(Envelope),
    /// An event of a kind nobody here wants.
    Unwanted,
    /// No event, or a wanted one without what makes it one.
    Malformed,
}

/// Whether events of type `kind` are parsed at all.
pub fn is_wanted(kind: &str) -> bool {
    matches!(
        kind,
        "server.connected"
            | "server.instance.disposed"
            | "session.created"
            | "session.updated"
            | "session.deleted"
            | "session.status"
            | "session.idle"
            | "session.error"
            | "session.compacted"
            | "message.updated"
            | "message.removed"
            | "permission.asked"
            | "permission.replied"
            | "question.asked"
            | "question.replied"
            | "question.rejected"
    )
}

/// Reads the event in a frame's data: `{directory, payload: {type, properties}}`, or the payload
/// alone.
pub fn parse_frame(data: &str) -> Parsed {
    let Some(kind) = peek_type(data) else {
        return Parsed::Malformed;
    };
    if !is_wanted(&kind) {
        return Parsed::Unwanted;
    }
    parse_wanted(&kind, data).map_or(Parsed::Malformed, Parsed::Event)
}

fn parse_wanted(kind: &str, data: &str) -> Option<Envelope> {
    let outer = Fields::of_text(data)?;
    let payload = outer.object("payload");
    let properties = if payload.string("type").is_some() {
        payload.object("properties")
    } else {
        outer.object("properties")
    };
    let known = |directory: &String| !directory.is_empty() && directory != "global";
    let directory = [&properties, &properties.object("info"), &outer]
        .into_iter()
        .find_map(|fields| fields.string("directory").filter(known));
    let event = read_event(kind, &properties)?;
    Some(Envelope { directory, event })
}

fn read_event(kind: &str, properties: &Fields<'_>) -> Option<Event> {
    let session = || properties.raw("info").and_then(Session::read);
    let session_id = || properties.string("sessionID").filter(|id| !id.is_empty());
    Some(match kind {
        "server.connected" => Event::ServerConnected,
        "server.instance.disposed" => Event::InstanceDisposed {
            directory: properties.string("directory"),
        },
        "session.created" => Event::SessionCreated(session()?),
        "session.updated" => Event::SessionUpdated(session()?),
        "session.deleted" => Event::SessionDeleted {
            id: session_id().or_else(|| session().map(|it| it.id))?,
        },
        "session.status" => {
            let status = properties
                .raw("status")
                .or_else(|| properties.raw("info"))?;
            Event::SessionStatus {
                id: session_id()?,
                status: Status::read(status),
            }
        }
        "session.idle" => Event::SessionIdle { id: session_id()? },
        "session.error" => Event::SessionError {
            id: session_id(),
            error: MessageError::read(properties.raw("error")?),
        },
        "session.compacted" => Event::SessionCompacted { id: session_id()? },
        "message.updated" => {
            let mut info = properties.raw("info").map(MessageInfo::read)?;
            if info.session_id.is_empty() {
                info.session_id = session_id()?;
            }
            Event::MessageUpdated(info)
        }
        "message.removed" => Event::MessageRemoved {
            session_id: session_id()?,
            message_id: properties.string("messageID")?,
        },
        "permission.asked" | "question.asked" => read_asked(kind, properties)?,
        _ => read_answered(kind, session_id()?, properties)?,
    })
}

fn read_asked(kind: &str, properties: &Fields<'_>) -> Option<Event> {
    match kind {
        "permission.asked" => PermissionRequest::read(properties).map(Event::PermissionAsked),
        _ => QuestionRequest::read(properties).map(Event::QuestionAsked),
    }
}

fn read_answered(kind: &str, session_id: String, properties: &Fields<'_>) -> Option<Event> {
    let request_id = properties.string("requestID")?;
    Some(match kind {
        "permission.replied" => {
            let reply = properties.text("reply");
            Event::PermissionReplied {
                session_id,
                request_id,
                reply,
            }
        }
        "question.replied" => Event::QuestionReplied {
            session_id,
            request_id,
        },
        "question.rejected" => Event::QuestionRejected {
            session_id,
            request_id,
        },
        _ => return None,
    })
}
