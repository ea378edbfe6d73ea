//! Why the demo did not end as it should.

use std::fmt;

/// The reason, for the person at the terminal.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A signal asked to stop.
    Interrupted,
    /// A sentence that says what is not as it should be.
    Failed(String),
}

impl Trouble {
    /// Something is not as it should be.
    pub(crate) fn failed(sentence: impl Into<String>) -> Self {
        Self::Failed(sentence.into())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => formatter.write_str("stopped by you before the goal was reached"),
            Self::Failed(sentence) => formatter.write_str(sentence),
        }
    }
}

impl From<testkit::Error> for Trouble {
    fn from(error: testkit::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
