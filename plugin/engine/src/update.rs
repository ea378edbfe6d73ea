//! What the engine tells whoever listens: hints, never the only copy of a fact.

use std::time::Duration;

use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::notice::NoticeCode;
use goal_core::time::Wall;

use crate::view::GoalView;

/// Something changed or happened. A listener that missed some is right again after
/// [`crate::Engine::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// When.
    pub at: Wall,
    /// What.
    pub kind: UpdateKind,
}

/// What changed or happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// Connected, and every session was looked at once.
    Ready {
        /// Who drives the server's goals.
        driver: DriverState,
        /// Active goals found.
        active: usize,
    },
    /// A goal's view changed.
    Phase(Box<GoalView>),
    /// A cycle came to a decision.
    Decision {
        /// The session.
        session: SessionId,
        /// The goal.
        goal: GoalId,
        /// `rest`, `recheck`, `pause`, `settle`, `audit` or `continue`.
        decision: &'static str,
        /// Why, as a code.
        why: String,
    },
    /// The auditor answered, or failed to.
    Verdict {
        /// The session.
        session: SessionId,
        /// The goal.
        goal: GoalId,
        /// `continue`, `complete`, `blocked` or `failed`.
        verdict: &'static str,
        /// The note, or the failure's code.
        note: String,
        /// The model that answered.
        model: Option<ModelRef>,
    },
    /// The goal ended or was paused; told once for each such write.
    Settled(Box<GoalView>),
    /// The session has no goal of its own any more; the goal as it was last shown.
    Cleared(Box<GoalView>),
    /// The line to the server changed.
    Connection {
        /// It is up.
        connected: bool,
        /// Why it is down; empty when up.
        reason: String,
        /// Until the next try.
        retry_in: Option<Duration>,
    },
    /// The user was told something.
    Notice {
        /// The session.
        session: SessionId,
        /// The goal.
        goal: GoalId,
        /// What.
        code: NoticeCode,
        /// The objective's beginning.
        objective: String,
        /// The reason or note.
        detail: String,
    },
    /// Who drives changed.
    Driver(DriverState),
}

/// Whether this engine drives the server's goals (H28, G17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// This engine does.
    Driving,
    /// Another process on this machine does; this one only watches.
    Passive {
        /// Its process id.
        pid: u32,
    },
}
