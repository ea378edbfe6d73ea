//! Why a request was not carried out: a code for programs, a sentence for people.

use goal_core::fields::Broken;

/// A refused or failed request. Nothing was changed unless the code says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    message: String,
}

/// The closed list of error codes. A user interface matches these, never the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The session id is not one that OpenCode makes.
    InvalidSession,
    /// The server does not know the session.
    UnknownSession,
    /// The session is archived, a sub-agent or an audit: no goal runs there.
    UnsuitableSession,
    /// The objective is empty, or its file cannot be read.
    InvalidObjective,
    /// The token budget is not a whole number from 1 to 2^53 - 1.
    InvalidBudget,
    /// What was chosen for the first prompt breaks a rule.
    InvalidPrompt,
    /// A limit is out of range, or two limits contradict each other.
    InvalidLimits,
    /// The session has no goal.
    NoGoal,
    /// The session has a goal that is not complete; replacing it must be asked for.
    GoalExists,
    /// What was asked does not fit the goal's status.
    WrongStatus,
    /// The goal's budget is spent; a larger one is needed.
    BudgetSpent,
    /// No model can be found for the audit.
    NoAuditor,
    /// The session's metadata is not what a goal can be written into.
    CorruptMetadata,
    /// Another program changed the goal at the same moment; the request can be repeated.
    Conflict,
    /// The server cannot be reached or does not answer in time.
    Unreachable,
    /// The server refused the user name or password.
    Unauthorized,
    /// What answers is not an OpenCode server, or one that is too old.
    NotOpenCode,
    /// The server refused or failed.
    Server,
    /// The prompt was not taken up; the goal was paused.
    NotDelivered,
    /// OpenCode is not installed, or did not start.
    OpenCodeMissing,
    /// The data folder, a file in it or the database cannot be used.
    DataFolder,
    /// A field of a task breaks its rule.
    InvalidTask,
    /// There is no such task, or several with that name.
    UnknownTask,
    /// A run of the task has not ended.
    TaskRuns,
    /// The engine is shutting down.
    ShuttingDown,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 25] = [
        Self::InvalidSession,
        Self::UnknownSession,
        Self::UnsuitableSession,
        Self::InvalidObjective,
        Self::InvalidBudget,
        Self::InvalidPrompt,
        Self::InvalidLimits,
        Self::NoGoal,
        Self::GoalExists,
        Self::WrongStatus,
        Self::BudgetSpent,
        Self::NoAuditor,
        Self::CorruptMetadata,
        Self::Conflict,
        Self::Unreachable,
        Self::Unauthorized,
        Self::NotOpenCode,
        Self::Server,
        Self::NotDelivered,
        Self::OpenCodeMissing,
        Self::DataFolder,
        Self::InvalidTask,
        Self::UnknownTask,
        Self::TaskRuns,
        Self::ShuttingDown,
    ];

    /// The code as text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidSession => "invalidSession",
            Self::UnknownSession => "unknownSession",
            Self::UnsuitableSession => "unsuitableSession",
            Self::InvalidObjective => "invalidObjective",
            Self::InvalidBudget => "invalidBudget",
            Self::InvalidPrompt => "invalidPrompt",
            Self::InvalidLimits => "invalidLimits",
            Self::NoGoal => "noGoal",
            Self::GoalExists => "goalExists",
            Self::WrongStatus => "wrongStatus",
            Self::BudgetSpent => "budgetSpent",
            Self::NoAuditor => "noAuditor",
            Self::CorruptMetadata => "corruptMetadata",
            Self::Conflict => "conflict",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::NotOpenCode => "notOpenCode",
            Self::Server => "server",
            Self::NotDelivered => "notDelivered",
            Self::OpenCodeMissing => "openCodeMissing",
            Self::DataFolder => "dataFolder",
            Self::InvalidTask => "invalidTask",
            Self::UnknownTask => "unknownTask",
            Self::TaskRuns => "taskRuns",
            Self::ShuttingDown => "shuttingDown",
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
}

impl From<Broken> for Error {
    fn from(broken: Broken) -> Self {
        Self::new(Code::InvalidPrompt, broken.to_string())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
