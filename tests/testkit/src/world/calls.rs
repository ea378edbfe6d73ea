//! Calls to the simulated server: recorded, late, and failing on demand.

use std::time::Duration;

use goal_core::goal::SessionId;
use goal_engine::ports::{CallError, CallErrorKind};

/// A call of the engine to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Reads a session.
    Session,
    /// Writes the metadata.
    Write,
    /// Reads the status map.
    Status,
    /// Reads the sub-agents.
    Children,
    /// Reads the open requests.
    Requests,
    /// Reads messages.
    Messages,
    /// Asks whether a message is stored.
    MessageExists,
    /// Sends a prompt.
    Prompt,
    /// Reads the slash commands.
    Commands,
    /// Runs a slash command.
    Command,
    /// Makes a session.
    Create,
    /// Copies a session.
    Fork,
    /// Reads agents and models.
    Catalogue,
    /// Stops a session.
    Abort,
    /// Reads a page of all sessions.
    List,
    /// Archives a session.
    Archive,
    /// Deletes an audit.
    DeleteAudit,
}

/// A call as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// How long the world had existed.
    pub at: Duration,
    /// Which engine made it, counted from 1; 0 is a command without a running loop.
    pub engine: usize,
    /// The call.
    pub call: Call,
    /// The session it is about; empty for calls about a folder or everything.
    pub session: String,
}

/// What happens to a call instead of a plain answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// How long the request is on its way.
    pub(crate) before: Duration,
    /// Whether it reaches the server.
    pub(crate) effect: Effect,
    /// How long the answer is on its way.
    pub(crate) after: Duration,
    /// The answer, if not the server's own.
    pub(crate) error: Option<CallError>,
}

/// What a faulty call does on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Full,
    None,
    /// A prompt is stored and nothing ever runs it.
    StoredOnly,
    /// A prompt is answered well, and what comes of it is an error of the session; `stored`: its
    /// message is there all the same.
    ErrorInstead {
        stored: bool,
    },
    /// A prompt arrives so long after its call began, when the caller has given up.
    Late(Duration),
}

impl Fault {
    /// The server answers 500 and did nothing.
    #[must_use]
    pub fn status_500() -> Self {
        Self::failing(CallErrorKind::Unknown, "Unexpected server error.")
    }

    /// No connection came about.
    #[must_use]
    pub fn not_sent() -> Self {
        Self::failing(CallErrorKind::NotSent, "connection refused")
    }

    /// The server refuses with a 4xx.
    #[must_use]
    pub fn refused(text: &str) -> Self {
        Self::failing(CallErrorKind::Refused, text)
    }

    /// The password is wrong.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::failing(CallErrorKind::Unauthorized, "wrong password")
    }

    /// A healthy server says that it does not exist.
    #[must_use]
    pub fn gone() -> Self {
        Self::failing(CallErrorKind::Gone, "Session not found")
    }

    /// It never reaches the server; the caller learns nothing until its deadline.
    #[must_use]
    pub fn lost() -> Self {
        Self {
            after: Duration::from_secs(10),
            ..Self::failing(CallErrorKind::Unknown, "timed out")
        }
    }

    /// It takes effect, and its answer is lost until the caller's deadline.
    #[must_use]
    pub fn answer_lost() -> Self {
        Self {
            effect: Effect::Full,
            ..Self::lost()
        }
    }

    /// A prompt reaches the server so long after its call began; the caller has given up by then.
    #[must_use]
    pub fn late(by: Duration) -> Self {
        Self {
            effect: Effect::Late(by),
            ..Self::lost()
        }
    }

    /// It takes effect, and the server answers 500 all the same.
    #[must_use]
    pub fn effective_500() -> Self {
        Self {
            effect: Effect::Full,
            ..Self::status_500()
        }
    }

    /// It is answered well and has no effect.
    #[must_use]
    pub fn swallowed() -> Self {
        Self {
            effect: Effect::None,
            ..Self::slow(Duration::ZERO)
        }
    }

    /// A prompt is stored and answered well, and nothing ever runs it.
    #[must_use]
    pub fn stored_only() -> Self {
        Self {
            effect: Effect::StoredOnly,
            ..Self::slow(Duration::ZERO)
        }
    }

    /// A prompt is answered well, and instead of a turn comes an error of the session, as for a
    /// model (`stored`) or an agent that does not exist.
    #[must_use]
    pub fn error_instead(stored: bool) -> Self {
        Self {
            effect: Effect::ErrorInstead { stored },
            ..Self::slow(Duration::ZERO)
        }
    }

    /// The request is long on its way; then it works.
    #[must_use]
    pub fn slow(by: Duration) -> Self {
        Self {
            before: by,
            effect: Effect::Full,
            after: Duration::ZERO,
            error: None,
        }
    }

    /// It works at once, and its answer is long on its way.
    #[must_use]
    pub fn slow_answer(by: Duration) -> Self {
        Self {
            after: by,
            ..Self::slow(Duration::ZERO)
        }
    }

    fn failing(kind: CallErrorKind, message: &str) -> Self {
        Self {
            before: Duration::ZERO,
            effect: Effect::None,
            after: Duration::ZERO,
            error: Some(CallError {
                kind,
                message: message.to_owned(),
            }),
        }
    }
}

pub(crate) fn gone(id: &SessionId) -> CallError {
    CallError {
        kind: CallErrorKind::Gone,
        message: format!("Session not found: {id}"),
    }
}
