//! What happened in a world, in its order: what a reference model judges an engine by.

use std::sync::Arc;
use std::time::Duration;

use goal_core::goal::{GoalId, MessageId, Status};
use goal_core::notice::NoticeCode;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// How long the world had existed.
    pub at: Duration,
    /// Which engine did it, counted from 1; 0 is a command without a running loop; `None`: a
    /// person, another client, or the server.
    pub engine: Option<usize>,
    /// The session it is about; empty where it is about none.
    pub session: String,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A session was read; its metadata as the server gave it.
    Read(Option<Arc<str>>),
    /// Metadata was replaced.
    Wrote {
        /// As it was.
        before: Option<Arc<str>>,
        /// As it is.
        after: Option<Arc<str>>,
    },
    /// A call that sends a prompt began.
    Sent {
        /// The prompt.
        message: MessageId,
        /// Since when the session or a sub-agent of it had been working then, if one was.
        busy_since: Option<Duration>,
    },
    /// A notice was shown.
    Told {
        /// The goal.
        goal: GoalId,
        /// What was told.
        code: NoticeCode,
    },
    /// An engine was killed.
    Killed,
    /// An engine started.
    Started,
    /// The user asked for something, and has no answer yet.
    Asked(Wish),
    /// The user was answered; the goal's status then, `None` for a refusal.
    Answered(Wish, Option<Status>),
    /// The user stopped a turn.
    Stopped,
    /// The user said something.
    Said,
    /// The server stopped every turn and read its folder anew.
    Reloaded,
}

/// What a user asks of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Pause it.
    Pause,
    /// Go on.
    Resume,
    /// Another objective.
    Edit,
    /// Mark it complete.
    Complete,
    /// Take it out.
    Clear,
    /// Begin another one in its place.
    Start,
}
