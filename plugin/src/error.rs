//! Why a request was not carried out, as pages get it: `{ code, message }`.

use goal_engine::settings::SettingsError;
use goal_engine::store::StoreError;
use goal_engine::{Code as EngineCode, Error as EngineError};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refused or failed request. Nothing was changed unless the code says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    code: Code,
    message: String,
}

/// The closed list of error codes. A page matches these, never the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// What the engine says.
    Engine(EngineCode),
    /// An argument is missing, of the wrong type, or not known.
    InvalidArguments,
    /// There is no server at the moment.
    NotConnected,
    /// No setting has this name.
    UnknownSetting,
    /// The setting does not take this value.
    InvalidSetting,
    /// The settings file cannot be written.
    SettingsUnwritable,
    /// The auditor was asked and could not judge.
    AuditFailed,
    /// A fault of this program; the request may have been carried out.
    Internal,
}

impl Code {
    /// The codes that are not the engine's.
    const OWN: [Self; 7] = [
        Self::InvalidArguments,
        Self::NotConnected,
        Self::UnknownSetting,
        Self::InvalidSetting,
        Self::SettingsUnwritable,
        Self::AuditFailed,
        Self::Internal,
    ];

    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        EngineCode::ALL
            .into_iter()
            .map(Self::Engine)
            .chain(Self::OWN)
    }

    /// The code as text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine(code) => code.name(),
            Self::InvalidArguments => "invalidArguments",
            Self::NotConnected => "notConnected",
            Self::UnknownSetting => "unknownSetting",
            Self::InvalidSetting => "invalidSetting",
            Self::SettingsUnwritable => "settingsUnwritable",
            Self::AuditFailed => "auditFailed",
            Self::Internal => "internal",
        }
    }
}

impl Error {
    /// An error with its sentence: what happened, what still holds, what to do.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The sentence. It never carries a secret, an objective or a reply.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArguments, message)
    }

    pub(crate) fn invalid_budget() -> Self {
        Self::new(
            Code::Engine(EngineCode::InvalidBudget),
            "A token budget is a whole number from 1 to 9007199254740991, or null for none.",
        )
    }

    pub(crate) fn no_prompt(field: &str) -> Self {
        Self::new(
            Code::Engine(EngineCode::InvalidPrompt),
            format!("`{field}` is for a prompt, and `send` is false: leave one of them out."),
        )
    }

    pub(crate) fn no_own_prompt(field: &str) -> Self {
        Self::new(
            Code::Engine(EngineCode::InvalidPrompt),
            format!("`{field}` goes along with `prompt`: give both or neither."),
        )
    }

    pub(crate) fn invalid_session(id: &str) -> Self {
        let shown: String = id.chars().take(80).collect();
        Self::new(
            Code::Engine(EngineCode::InvalidSession),
            format!("`{shown}` is no session id; those look like ses_0123abcd."),
        )
    }

    pub(crate) fn shutting_down() -> Self {
        Self::new(
            Code::Engine(EngineCode::ShuttingDown),
            "The app is ending; nothing was done.",
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            Code::Internal,
            "Something went wrong inside the app; see its log. Look whether it was done before \
             you try again.",
        )
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Self::new(Code::Engine(error.code()), error.message())
    }
}

impl From<SettingsError> for Error {
    fn from(error: SettingsError) -> Self {
        let code = match error {
            SettingsError::UnknownKey { .. } => Code::UnknownSetting,
            SettingsError::InvalidValue { .. } => Code::InvalidSetting,
            SettingsError::Ending => Code::Engine(EngineCode::ShuttingDown),
            SettingsError::NewerVersion { .. }
            | SettingsError::Busy { .. }
            | SettingsError::TooLarge
            | SettingsError::Io { .. } => Code::SettingsUnwritable,
            // Whatever else may come concerns the file, too.
            _ => Code::SettingsUnwritable,
        };
        Self::new(code, error.to_string())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(Code::Engine(EngineCode::DataFolder), error.to_string())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_gets_code_and_message() {
        let error = Error::from(EngineError::new(EngineCode::NoGoal, "There is none."));
        let body = serde_json::to_value(&error).unwrap();
        assert_eq!(
            body,
            json!({ "code": "noGoal", "message": "There is none." })
        );
    }

    #[test]
    fn no_two_codes_share_a_name() {
        let names: BTreeSet<_> = Code::all().map(Code::name).collect();
        assert_eq!(names.len(), Code::all().count());
    }
}
