//! How a command ends: exit codes, and errors with a code for programs and a way on for people.

use goal_core::goal::Status;
use goal_engine::error::{Code, Error};
use serde_json::Value;

/// The exit codes, each with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for `watch`, the goal is complete.
    Fine,
    /// It failed.
    Failed,
    /// The line is wrong, or a value in it.
    Usage,
    /// The user name or password is wrong.
    Unauthorized,
    /// Nothing answers, or something that is not a usable OpenCode server.
    Unreachable,
    /// `watch`: the goal is blocked.
    Blocked,
    /// `watch`: the token budget is spent.
    BudgetLimited,
    /// `watch`: the goal is paused.
    Paused,
    /// `watch`: there is no goal, or none any more.
    NoGoal,
    /// `watch`: the time is up.
    Timeout,
    /// Stopped by a signal before the end that was waited for.
    Interrupted,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unauthorized => 4,
            Self::Unreachable => 5,
            Self::Blocked => 10,
            Self::BudgetLimited => 11,
            Self::Paused => 12,
            Self::NoGoal => 13,
            Self::Timeout => 124,
            Self::Interrupted => 130,
        }
    }

    /// What `watch` ends with when a goal stands so; `None` while it is active.
    pub(crate) fn of_status(status: Status) -> Option<Self> {
        match status {
            Status::Active => None,
            Status::Complete => Some(Self::Fine),
            Status::Blocked => Some(Self::Blocked),
            Status::BudgetLimited => Some(Self::BudgetLimited),
            Status::Paused => Some(Self::Paused),
        }
    }

    fn of_code(code: Code) -> Self {
        match code {
            Code::InvalidSession
            | Code::UnknownSession
            | Code::InvalidObjective
            | Code::InvalidBudget
            | Code::InvalidPrompt
            | Code::InvalidLimits
            | Code::InvalidTask
            | Code::UnknownTask => Self::Usage,
            Code::Unauthorized => Self::Unauthorized,
            Code::Unreachable | Code::NotOpenCode => Self::Unreachable,
            Code::UnsuitableSession
            | Code::NoGoal
            | Code::GoalExists
            | Code::WrongStatus
            | Code::BudgetSpent
            | Code::NoAuditor
            | Code::CorruptMetadata
            | Code::Conflict
            | Code::Server
            | Code::NotDelivered
            | Code::OpenCodeMissing
            | Code::DataFolder
            | Code::TaskRuns
            | Code::ShuttingDown => Self::Failed,
        }
    }
}

/// Error codes that only this command has, beside those of the engine.
#[cfg(test)]
pub(crate) const OWN_CODES: [&str; 7] = [
    "usage",
    "noServer",
    "output",
    "system",
    "notAllPaused",
    "checksFailed",
    "auditFailed",
];

/// A command that was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What the process ends with.
    pub(crate) exit: Exit,
    /// For programs: [`Code::name`], or a code of this command alone.
    pub(crate) code: &'static str,
    /// For people: what happened.
    pub(crate) message: String,
    /// For programs: an object whose fields stand beside the error, or nothing.
    pub(crate) details: Value,
}

impl Failure {
    /// A refused value, under one of the engine's codes.
    pub(crate) fn of(code: Code, message: impl Into<String>) -> Self {
        Error::new(code, message).into()
    }

    /// A line that cannot be understood.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            code: "usage",
            message: message.into(),
            details: Value::Null,
        }
    }

    /// No server was named to a verb that needs one.
    pub(crate) fn no_server() -> Self {
        Self {
            exit: Exit::Usage,
            code: "noServer",
            message: say!("error.noServer"),
            details: Value::Null,
        }
    }

    /// A verb did its work, and found or left something that is not as it should be.
    pub(crate) fn found(code: &'static str, message: String, details: Value) -> Self {
        Self {
            exit: Exit::Failed,
            code,
            message,
            details,
        }
    }

    /// Standard output cannot be written.
    pub(crate) fn output(error: &std::io::Error) -> Self {
        Self {
            exit: Exit::Failed,
            code: "output",
            message: say!("error.output", error = error),
            details: Value::Null,
        }
    }

    /// The operating system refused what every program needs.
    pub(crate) fn system(error: &std::io::Error) -> Self {
        Self {
            exit: Exit::Failed,
            code: "system",
            message: say!("error.system", error = error),
            details: Value::Null,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            exit: Exit::of_code(error.code()),
            code: error.code().name(),
            message: error.message().to_owned(),
            details: Value::Null,
        }
    }
}

/// Why a verb stops before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It failed.
    Failure(Failure),
    /// Whoever read the output is gone, as `head` is after its last line: no failure.
    OutputClosed,
}

impl Stop {
    /// Why standard output takes no more.
    pub(crate) fn of_output(error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::Failure(Failure::output(error))
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failure(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_is_its_own() {
        let mut codes: Vec<u8> = [
            Exit::Fine,
            Exit::Failed,
            Exit::Usage,
            Exit::Unauthorized,
            Exit::Unreachable,
            Exit::Blocked,
            Exit::BudgetLimited,
            Exit::Paused,
            Exit::NoGoal,
            Exit::Timeout,
            Exit::Interrupted,
        ]
        .map(Exit::code)
        .to_vec();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_no_failure() {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert_eq!(Stop::of_output(&closed), Stop::OutputClosed);
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(matches!(Stop::of_output(&full), Stop::Failure(failure)
            if failure.code == "output" && failure.exit == Exit::Failed));
    }

    #[test]
    fn own_codes_are_none_of_the_engine() {
        assert!(
            Code::ALL
                .iter()
                .all(|code| !OWN_CODES.contains(&code.name()))
        );
    }
}
