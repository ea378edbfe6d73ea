//! Everything that can keep a test from its footing, said so that the reader knows what to do.

use std::path::PathBuf;
use std::time::Duration;

/// Why a part of the test kit could not do its work.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no OpenCode binary where one is expected.
    #[error(
        "no OpenCode binary at {}: run `cargo xtask setup` (Linux x64), \
         or name a binary in OPENCODE_BINARY", path.display()
    )]
    OpenCodeMissing {
        /// The last place looked at.
        path: PathBuf,
    },
    /// The `openchamber` command was not built into the target folder of this test.
    #[error("no openchamber binary at {}: run `cargo build -p openchamber`", path.display())]
    OpenchamberMissing {
        /// The last place looked at.
        path: PathBuf,
    },
    /// A file, socket or process operation failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A request got no answer.
    #[error("{what}: {source}")]
    Http {
        /// Method and path.
        what: String,
        /// The client's reason.
        source: reqwest::Error,
    },
    /// A request was answered, but not with what the call expects.
    #[error("{what}: answered {status}: {body}")]
    Answer {
        /// Method and path.
        what: String,
        /// HTTP status.
        status: u16,
        /// The start of the body.
        body: String,
    },
    /// What was waited for did not happen in time.
    #[error("{what}: not within {after:?}\n{seen}")]
    Deadline {
        /// What was waited for.
        what: String,
        /// The time allowed.
        after: Duration,
        /// What had happened instead.
        seen: String,
    },
    /// A process ended although it was still needed.
    #[error("{what}: the process has ended\n{log}")]
    Ended {
        /// What it was needed for.
        what: String,
        /// The end of what it printed.
        log: String,
    },
    /// The message bus or the notification daemon on it did not do its part.
    #[error("{what}: {reason}")]
    Bus {
        /// Which part.
        what: &'static str,
        /// Its answer.
        reason: String,
    },
    /// A command that promises JSON lines printed something else.
    #[error("not a JSON line: {0:?}")]
    NotJson(String),
    /// A script holds a step that no request can reach.
    #[error("turn {turn}, step {step} can never be reached: the step before it always answers")]
    Unreachable {
        /// Counted from 1, audits apart from turns.
        turn: usize,
        /// Counted from 1.
        step: usize,
    },
}

/// As the message reads: this is what a failing `unwrap` in a test shows.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Error {
    /// For `map_err` on system calls: names what was tried.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
