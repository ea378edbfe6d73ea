//! A client of the OpenCode server as it is: HTTP calls, the event stream, and a managed process.
//!
//! The crate knows one foreign program and nothing of what it is used for. It promises that
//!
//! - every call has a deadline and a bound on what it will read;
//! - a `200` is believed only with the content type that belongs to it, because OpenCode answers
//!   unknown paths with its web page;
//! - foreign JSON is read field by field: one odd value spoils itself, never the list it stands in;
//! - the event stream reconnects for as long as somebody listens, and says when it was away;
//! - passwords and provider keys appear in no `Debug` output, no message and no log line.
//!
//! ```no_run
//! # async fn show() -> Result<(), opencode_client::Error> {
//! use opencode_client::{Client, DEFAULT_USERNAME, Target, Timeouts};
//!
//! let target = Target::parse("http://127.0.0.1:4096", DEFAULT_USERNAME, None)?;
//! let client = Client::new(target, Timeouts::DEFAULT)?;
//! let health = client.connect(std::time::Duration::from_secs(10)).await?;
//! tracing::info!(version = health.version, "connected");
//! # Ok(())
//! # }
//! ```

mod client;
mod target;

mod events;

mod envelope;
mod sse;

mod wire;

mod fields;

mod child_log;
mod process;

mod config;
mod discover;

mod error;

pub use child_log::{LOG_BYTES_MAX, LOG_FILES_KEPT};
pub use client::{
    BODY_BYTES_MAX, Client, Forward, Forwarded, Timeouts, VERSION_MIN, Verb, check_message_id,
    check_session_id, http_client, is_too_old, version_min,
};
pub use config::{ConfigError, merge_config};
pub use discover::usual_folders;
pub use discover::{
    Environment, Found, FoundBy, NotFound, find_binary, locate, process_environment,
};
pub use envelope::{Envelope, Event, Parsed, is_wanted, parse_frame};
pub use error::{Error, Kind};
pub use events::{EventOptions, EventStream, Kick, LostReason, RawItem, RawStream, StreamItem};
pub use process::{Managed, OnSpawn, PasswordSource, StartError, StartOptions, Stopped};
pub use sse::{Decoder, FRAME_BYTES_MAX, Frame, peek_type};
pub use target::{DEFAULT_USERNAME, Secret, Target};
pub use wire::{
    Agent, Command, CommandCall, Health, Message, MessageError, MessageInfo, Model, ModelRef,
    NewSession, Page, Part, PermissionRequest, PermissionRule, Prompt, PromptFile, PromptPart,
    PromptText, Provider, Providers, QuestionRequest, Revert, Role, Session, SessionTime, Status,
    TextPart, Tokens, ToolMetadata, ToolPart, ToolStatus,
};
