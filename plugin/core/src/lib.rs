//! The session goal loop as pure functions: no clock, no I/O, no async.
//!
//! A *goal* is an objective that an OpenCode session works toward by itself. The loop, in order:
//!
//! 1. something happens to the session: a [`signal`];
//! 2. the [`watch`] turns it into at most one wake-up, after a quiet window;
//! 3. what the server says is gathered into a [`snapshot`]: [`message`]s in a [`timeline`], their
//!    [`tail`], the [`accounting`];
//! 4. the ladder in [`decide`] names the [`decision`]: rest, pause, settle, audit or continue;
//! 5. an audit's reply becomes a [`verdict`], which [`judge`] turns into a decision;
//! 6. the decision is written as a [`change`] of the [`goal`], under the ids of [`continuation`];
//! 7. how a goal ends, or what it waits for, becomes a [`notice`].
//!
//! Beside the loop stands the [`schedule`]: when a task is due, and what comes of that.
//!
//! What holds everywhere here: a function takes the time, the [`limits`] and any randomness as
//! arguments; it gives a value, also for "nothing"; it never fails on what a server, a model or
//! another program wrote.

pub mod goal;
pub mod limits;
pub mod time;

pub mod signal;
pub mod watch;

pub mod accounting;
pub mod evidence;
pub mod memory;
pub mod message;
pub mod snapshot;
pub mod tail;
pub mod timeline;

pub mod decide;
pub mod decision;
pub mod judge;
pub mod script_guard;
pub mod verdict;

pub mod change;
pub mod continuation;
pub mod inherit;
pub mod payload;

pub mod fields;
pub mod notice;
pub mod objective;
pub mod prompt;
pub mod reason;
pub mod schedule;
pub mod slash;
mod template;
pub mod text;
