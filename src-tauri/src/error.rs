//! Why a command was not carried out, as the page gets it: `{ code, message }`.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// The result of a command.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// A refused or failed command. Its sentence carries no secret and nothing of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Error {
    code: Code,
    message: String,
}

/// The closed list of codes. A page matches these, never the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The page may not make this call.
    NotAllowed,
    /// There is no server at the moment.
    NotConnected,
    /// A request or an answer is larger than the bound.
    TooBig,
    /// The deadline passed; the server may go on with what it began.
    TimedOut,
    /// The server cannot be reached, or the connection broke.
    Unreachable,
    /// The server wants another password.
    Unauthorized,
    /// An argument is not what it must be, or the answer is not OpenCode's.
    Invalid,
    /// The system has no keyring that can be used.
    KeyringUnavailable,
    /// The system does not do what was asked of it.
    Unavailable,
    /// What is to be kept could not be written.
    Unwritable,
    /// The page or the app went away meanwhile.
    Ended,
    /// What the goals' plugin says.
    Goal(tauri_plugin_goal::Code),
}

impl Code {
    /// The code as text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NotAllowed => "notAllowed",
            Self::NotConnected => "notConnected",
            Self::TooBig => "tooBig",
            Self::TimedOut => "timedOut",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::Invalid => "invalid",
            Self::KeyringUnavailable => "keyringUnavailable",
            Self::Unavailable => "unavailable",
            Self::Unwritable => "unwritable",
            Self::Ended => "ended",
            Self::Goal(code) => code.name(),
        }
    }
}

impl Error {
    /// An error with its sentence.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// An argument that is not what it must be.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// The code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }
}

impl From<tauri_plugin_goal::Error> for Error {
    fn from(error: tauri_plugin_goal::Error) -> Self {
        let code = error.code();
        let code = if code == tauri_plugin_goal::Code::NotConnected {
            Code::NotConnected
        } else {
            Code::Goal(code)
        };
        Self::new(code, error.message())
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_struct("Error", 2)?;
        body.serialize_field("code", self.code.name())?;
        body.serialize_field("message", &self.message)?;
        body.end()
    }
}
