//! Which call a request is.

use axum::http::Method;

/// The calls that the server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// `GET /global/health`
    Health,
    /// `GET /global/event`
    Events,
    /// `GET /experimental/session`
    List,
    /// `POST /session`
    Create,
    /// `GET /session/ID`
    Session,
    /// `PATCH /session/ID`
    Patch,
    /// `DELETE /session/ID`
    Delete,
    /// `GET /session/status`
    Status,
    /// `GET /session/ID/children`
    Children,
    /// `GET /session/ID/message`
    Messages,
    /// `GET /session/ID/message/ID`
    Message,
    /// `POST /session/ID/message`
    Ask,
    /// `POST /session/ID/prompt_async`
    Prompt,
    /// `POST /session/ID/abort`
    Abort,
    /// `GET /permission`
    Permissions,
    /// `GET /question`
    Questions,
    /// `GET /agent`
    Agents,
    /// `GET /config`
    Config,
    /// `GET /config/providers`
    Providers,
    /// Anything else: the server answers it with a web page.
    Other,
}

impl Endpoint {
    /// Every call that a client should know.
    pub const ALL: [Self; 19] = [
        Self::Health,
        Self::Events,
        Self::List,
        Self::Create,
        Self::Session,
        Self::Patch,
        Self::Delete,
        Self::Status,
        Self::Children,
        Self::Messages,
        Self::Message,
        Self::Ask,
        Self::Prompt,
        Self::Abort,
        Self::Permissions,
        Self::Questions,
        Self::Agents,
        Self::Config,
        Self::Providers,
    ];
}

/// A request's address, read.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) endpoint: Endpoint,
    /// The session in the path.
    pub(super) session: Option<String>,
    /// The message in the path.
    pub(super) message: Option<String>,
}

impl Call {
    pub(super) fn of(method: &Method, path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        let (endpoint, session, message) = match (method.as_str(), segments.as_slice()) {
            ("GET", ["global", "health"]) => (Endpoint::Health, None, None),
            ("GET", ["global", "event"]) => (Endpoint::Events, None, None),
            ("GET", ["experimental", "session"]) => (Endpoint::List, None, None),
            ("GET", ["permission"]) => (Endpoint::Permissions, None, None),
            ("GET", ["question"]) => (Endpoint::Questions, None, None),
            ("GET", ["agent"]) => (Endpoint::Agents, None, None),
            ("GET", ["config"]) => (Endpoint::Config, None, None),
            ("GET", ["config", "providers"]) => (Endpoint::Providers, None, None),
            ("POST", ["session"]) => (Endpoint::Create, None, None),
            ("GET", ["session", "status"]) => (Endpoint::Status, None, None),
            ("GET", ["session", id]) => (Endpoint::Session, Some(*id), None),
            ("PATCH", ["session", id]) => (Endpoint::Patch, Some(*id), None),
            ("DELETE", ["session", id]) => (Endpoint::Delete, Some(*id), None),
            ("GET", ["session", id, "children"]) => (Endpoint::Children, Some(*id), None),
            ("GET", ["session", id, "message"]) => (Endpoint::Messages, Some(*id), None),
            ("GET", ["session", id, "message", message]) => {
                (Endpoint::Message, Some(*id), Some(*message))
            }
            ("POST", ["session", id, "message"]) => (Endpoint::Ask, Some(*id), None),
            ("POST", ["session", id, "prompt_async"]) => (Endpoint::Prompt, Some(*id), None),
            ("POST", ["session", id, "abort"]) => (Endpoint::Abort, Some(*id), None),
            _ => (Endpoint::Other, None, None),
        };
        Self {
            endpoint,
            session: session.map(str::to_owned),
            message: message.map(str::to_owned),
        }
    }
}
