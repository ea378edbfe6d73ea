//! Whatever happens, in whatever order: the loop among a user, clients, a server, a line, an
//! auditor, a database and a computer that do what they like.
//!
//! ```text
//!  seed ──plan──▶ Play (a list of steps) ──run──▶ World ──facts, looks──▶ Reference ──▶ Breach?
//!                   ▲                                                                      │
//!                   └────────────── shrink: the shortest play that fails alike ◀───────────┘
//! ```
//!
//! A *play* ([`steps`]) is data: how the world begins and what happens then. [`play_of`] draws one
//! from a seed. Half of the seeds aim at one moment of a cycle and do there what hurts (`aims`);
//! the others switch whole classes of faults off and weigh the rest anew, so that rare combinations
//! get deep instead of shallow everywhere. [`run`] plays it in `testkit::world` under paused time;
//! then nothing fails any more, the user resumes what waits for that, and the goal has to come to
//! its end. All work of a world is done on one thread, so a seed is the same run each time, which a
//! test compares.
//!
//! What must hold is said by a *reference model* (`reference`), which knows nothing of how an
//! engine works. The world tells it every fact in order: who read, wrote, sent, told, asked and was
//! answered; after each step it looks at the whole. Each invariant is a [`Law`]. What an engine can
//! know is the measure: where nothing but people and clients disturb it, it has a second; where
//! calls hang until their deadline and events are lost, half a minute.
//!
//! A play that fails is *shortened* (`shrink`): pieces are taken out, then pauses halved, as long
//! as the same law is broken. It is printed as a file of `tests/scenarios/cases` holds it; what was
//! a fault of the engine is kept there and played in each run.
//!
//! `cargo xtask test` plays 2,000 seeds that follow from a hash of all files under `plugin/` and
//! `tests/` ([`seeds`]): the same sources give the same run, other sources other seeds.
//! `cargo xtask simulate` plays as many as one likes.
//!
//! What is not real: the client's HTTP and its 45 s liveness are played by the world, which says
//! `Lost` when they would; the auditor's sessions are scripted. Their own tests are in
//! `plugin/opencode` and `plugin/engine/tests`. The database is SQLite, in memory.

mod aims;
mod chance;
mod metadata;
mod plan;
mod reference;
mod run;
mod seeds;
mod shrink;
pub mod steps;

pub use self::plan::play_of;
pub use self::reference::{Breach, Law};
pub use self::run::{Outcome, run};
pub use self::seeds::{fingerprint, seeds};
pub use self::shrink::{Failure, examine};
pub use self::steps::Play;
