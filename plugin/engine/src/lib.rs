//! Drives session goals on an OpenCode server: tasks, files and a database around goal-core.
//!
//! [`Engine::start`] runs the loop for every session of one server until [`Engine::shutdown`]:
//!
//! ```text
//!  opencode-client ──▶ server (from_wire, to_wire) ──Events──▶ engine (supervisor)
//!        ▲                                                        │ one inbox per session
//!        │                                                        ▼
//!        │                    think ◀── session (actor: Watch of goal-core) ──▶ audit
//!        │                      │ Snapshot ▶ decide ▶ Decision        │ judge
//!        │                      ▼                                     ▼
//!        └──────────────────────────────── act ◀──────────────────────┘
//!                                           ├──▶ tell (notices) · store (journal)
//!                                           └──▶ shared (views) ──▶ updates
//! ```
//!
//! The same requests a host makes through the engine are plain functions in [`command`], which work
//! without a running loop.
//!
//! Beside the loop, [`schedule`] says prompts at set times: its scheduler makes a session for each,
//! and the loop pursues its goal like every other.

pub mod error;
pub mod ports;
pub mod update;
pub mod view;

mod act;
pub mod audit;
pub mod command;
mod engine;
mod listing;
mod live;
mod outbox;
mod session;
mod shared;
mod stored;
mod tell;
mod think;
pub mod turns;

pub mod schedule;

pub mod clock;
mod from_wire;
pub mod host;
pub mod server;
mod to_wire;

pub mod blocking;
mod files;
pub mod objectives;
pub mod paths;
mod processes;
pub mod settings;
pub mod store;

pub use engine::{Driver, Engine};
pub use error::{Code, Error};
