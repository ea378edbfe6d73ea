//! What servers of different versions do differently; `docs/compatibility.md` has it as a table.

use reqwest::Method;
use testkit::{Error, OpenCode};

/// A server's version: major, minor and patch number. What is no release is a build of somebody's
/// own, and newer than any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u64; 3]);

impl Version {
    /// The version that the server tells.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn of(server: &OpenCode) -> Result<Self, Error> {
        let health = server.call(Method::GET, "/global/health", None).await?;
        Ok(Self::read(health["version"].as_str().unwrap_or_default()))
    }

    /// The newest message is the one that was stored last. Before: the one with the greatest id.
    #[must_use]
    pub fn orders_messages_by_time(self) -> bool {
        self >= Self([1, 18, 15])
    }

    /// A provider that fails is asked six times. Before: for ever, after pauses that double.
    #[must_use]
    pub fn gives_a_provider_up(self) -> bool {
        self >= Self([1, 18, 17])
    }

    /// An error inside an answer's stream is repeated like any other. Before: it ends the turn.
    #[must_use]
    pub fn repeats_after_an_error_in_the_stream(self) -> bool {
        self >= Self([1, 18, 14])
    }

    /// A reply that the provider's filter withheld carries an error. In 1.17.0 only its `finish`
    /// tells.
    #[must_use]
    pub fn records_a_filtered_reply_as_an_error(self) -> bool {
        self >= Self([1, 17, 9])
    }

    fn read(text: &str) -> Self {
        let mut numbers = text.split(['.', '-', '+']).map(str::parse::<u64>);
        let mut next = || numbers.next().and_then(Result::ok);
        match (next(), next(), next()) {
            (Some(major), Some(minor), patch) if (major, minor) != (0, 0) => {
                Self([major, minor, patch.unwrap_or(0)])
            }
            (Some(_) | None, Some(_) | None, Some(_) | None) => Self([u64::MAX; 3]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let ordered = [
            "1.9.40",
            "1.15.13",
            "1.18.9",
            "1.18.33",
            "2.0.0-beta.1",
            "0.0.0-dev",
        ];
        let read: Vec<Version> = ordered.iter().map(|text| Version::read(text)).collect();
        assert!(read.is_sorted(), "{read:?}");
        assert!(!Version::read("1.18.14").orders_messages_by_time());
        assert!(Version::read("1.18.15").orders_messages_by_time());
        assert!(Version::read("of my own").orders_messages_by_time());
    }
}
