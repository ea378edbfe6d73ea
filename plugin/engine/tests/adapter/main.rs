//! The ports over HTTP, against a server that a test makes misbehave.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failed set-up fails the test"
)]

mod audit;
mod distill;
mod fake;
mod host;
#[cfg(target_os = "linux")]
mod life;
mod server;
