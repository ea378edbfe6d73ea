//! What can go wrong between us and the server, told apart by what a caller would do about it.

use std::fmt;

/// Longest piece of a server's answer that is repeated in a message, in characters.
const SERVER_TEXT_MAX: usize = 1_000;

/// A failed call: its [`Kind`], a sentence for a person, and whether it may have had an effect.
///
/// Messages never hold a password, an `Authorization` header or a URL with user information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
    maybe_sent: bool,
}

/// The kinds of failure a caller tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No connection, or the connection broke.
    Unreachable,
    /// The deadline of the call passed.
    Timeout,
    /// 401: the user name or the password is wrong.
    Unauthorized,
    /// OpenCode's own JSON `NotFoundError`: the thing does not exist.
    NotFound,
    /// Any other refusal with a 4xx status; the message carries the server's text.
    Rejected {
        /// The HTTP status.
        status: u16,
    },
    /// The server failed (5xx); the message carries its text.
    Server {
        /// The HTTP status.
        status: u16,
    },
    /// Something else answers there: a web page, a redirect, another program.
    NotOpenCode,
    /// JSON came, but not in the promised shape.
    Malformed,
    /// The answer is longer than the client is willing to read.
    TooLarge,
    /// An OpenCode that is too old to work with.
    TooOld {
        /// The version it gave.
        version: String,
    },
    /// An id that no OpenCode makes; nothing was sent.
    MalformedId,
    /// The address given for the server cannot be used; nothing was sent.
    BadTarget,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// One or two sentences for a person.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the request may have had an effect on the server.
    ///
    /// `false` only where it is certain that it had none: no connection came about, or the server
    /// refused. After a timeout, a broken connection, a 5xx or an unreadable answer it is `true`.
    pub fn maybe_sent(&self) -> bool {
        self.maybe_sent
    }

    /// A failure of which it is certain that nothing happened on the server.
    pub(crate) fn without_effect(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            maybe_sent: false,
        }
    }

    /// A failure that leaves open whether the server acted.
    pub(crate) fn maybe_effective(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            maybe_sent: true,
        }
    }

    /// Sorts what the HTTP library reports.
    pub(crate) fn from_transport(error: &reqwest::Error) -> Self {
        if error.is_connect() {
            return Self::without_effect(
                Kind::Unreachable,
                format!(
                    "no connection to the OpenCode server ({})",
                    root_cause(error)
                ),
            );
        }
        if error.is_timeout() {
            return Self::maybe_effective(
                Kind::Timeout,
                "the OpenCode server did not answer in time",
            );
        }
        Self::maybe_effective(
            Kind::Unreachable,
            format!(
                "the connection to the OpenCode server broke ({})",
                root_cause(error)
            ),
        )
    }

    /// A refusal or failure answered with `status` and `text`.
    pub(crate) fn from_status(status: u16, text: &str) -> Self {
        let text = clip(text);
        if status >= 500 {
            let message = format!("the OpenCode server failed with status {status}: {text}");
            return Self::maybe_effective(Kind::Server { status }, message);
        }
        let message = format!("the OpenCode server refused with status {status}: {text}");
        Self::without_effect(Kind::Rejected { status }, message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The innermost cause: the outer layers repeat the URL, which may carry what a log must not.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(std::ptr::from_ref(cause), std::ptr::from_ref(error)) {
        return "no further detail".to_owned();
    }
    cause.to_string()
}

/// Keeps a server's text short enough for a message.
fn clip(text: &str) -> &str {
    match text.char_indices().nth(SERVER_TEXT_MAX) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
