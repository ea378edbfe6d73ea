//! The app in its real window, on the real OpenCode with a scripted model behind it.
//!
//! ```text
//! test ──▶ WebKitWebDriver ──▶ openchamber-desktop ──▶ opencode serve (its own) ──▶ scripted model
//!   └──▶ notification daemon ◀────────────┘
//! ```

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

mod chat;
mod desktop;
mod goals;
mod life;
mod notices;
mod origins;
mod password;
mod phases;
mod stops;
mod system;
mod tray;
mod waits;
