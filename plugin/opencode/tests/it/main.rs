//! The client against recorded traces, against fakes that show every fault, and as a process.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the one case it looks at"
)]

mod client;
mod config;
mod discover;
mod envelope;
mod fake;
#[cfg(unix)]
mod process;
mod sse;
mod stream;
mod target;
mod traces;
