//! Goals on the real OpenCode server with a scripted model behind it.
//!
//! A [`House`] is a whole installation in a scratch home: the scripted model, the real server, the
//! `openchamber` command with short limits. The tests in `tests/` live in it.

mod house;
mod proxy;
mod stream;
mod version;

pub use house::{
    House, PATIENCE, Setup, continued, events_of, in_phase, looked_again, notices, ready, settled,
};
pub use proxy::{Kind, Proxy, Way};
pub use stream::Stream;
pub use version::Version;
