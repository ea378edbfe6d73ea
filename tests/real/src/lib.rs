//! Goals on the real OpenCode server with a scripted model behind it.
//!
//! A [`House`] is a whole installation in a scratch home: the scripted model, the real server, the
//! `openchamber` command with short limits. The tests in `tests/` live in it.

mod house;
mod proxy;

pub use house::{House, PATIENCE, Setup};
pub use proxy::Proxy;
