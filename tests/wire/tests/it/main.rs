//! The engine over real sockets: every fault is survived, the goal goes on, nothing foreign is
//! lost, and no call waits for ever. Nothing here is timed: a test waits for what must happen and
//! fails when it does not.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failed set-up fails the test"
)]

mod faults;
mod house;
mod moves;
mod sizes;
mod streams;
