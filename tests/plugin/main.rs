//! The plugin in an app without a screen: Tauri's mock runtime with the permission files that ship.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

mod ipc;
mod life;
mod permissions;
mod support;
mod tasks;
