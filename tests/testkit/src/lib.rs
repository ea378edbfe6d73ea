//! What the tests stand on: a scripted model, a real OpenCode in a scratch home, the command.
//!
//! ```text
//! test ──► Openchamber ──► OpenCode (real, scratch home) ──► ScriptedModel (127.0.0.1)
//!   └────────── scripts, gates, recorded requests ───────────────┘
//! ```
//!
//! Everything listens on 127.0.0.1 only. Every process started here carries a scratch `HOME` of
//! its own, by which it and all it started are found and ended when the scratch folder goes away.

mod error;
pub mod fake;
pub mod model;
pub mod notifyd;
pub mod openchamber;
pub mod opencode;
mod process;
pub mod scratch;
pub mod tray;
mod watched;
#[cfg(target_os = "linux")]
pub mod window;
pub mod world;

pub use error::Error;
pub use model::{ScriptedModel, Step};
pub use openchamber::{Openchamber, Serve, openchamber_binary};
pub use opencode::{OpenCode, OpenCodeOptions, opencode_binary};
pub use scratch::Scratch;
