//! The closed list of what can happen to a session, as far as its timing is concerned.

use crate::goal::{Goal, GoalId, Status};
use crate::time::Wall;

/// Something happened that may wake the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The session became idle (R12).
    Idle,
    /// The session became busy, or retries its provider (R13).
    Busy,
    /// The session's goal was read or heard of (R14).
    Goal(GoalMark),
    /// Something that a wait depends on changed: a sub-agent rests, a request was answered, the
    /// settings were written (X9).
    LookAgain,
    /// A request of the session or of a sub-agent was asked or answered: the wait is named at once,
    /// also while the session is busy (X15).
    Asked,
    /// The engine started or the stream is back: events may be lost, so it counts as idle (X10).
    Resync,
}

/// What timing needs to know of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalMark {
    /// Which goal.
    pub id: GoalId,
    /// Which write of it: an event that repeats a known write is no new trigger.
    pub updated_at: Wall,
    /// What the write asks for.
    pub kick: Kick,
}

/// What a goal's state asks of the timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kick {
    /// It is active and was resumed: start almost at once.
    Resumed,
    /// It is active and nothing was continued yet: start soon.
    Fresh,
    /// It is active and under way: the next idle decides.
    Running,
    /// It is not active: nothing must be armed.
    Stopped,
}

impl GoalMark {
    /// The mark of a goal as read. `resumed` wins over fresh (R14).
    #[must_use]
    pub fn of(goal: &Goal) -> Self {
        let kick = match goal.status {
            Status::Active if goal.is_resumed() => Kick::Resumed,
            Status::Active if goal.turns_used == 0 => Kick::Fresh,
            Status::Active => Kick::Running,
            Status::Paused | Status::Blocked | Status::BudgetLimited | Status::Complete => {
                Kick::Stopped
            }
        };
        Self {
            id: goal.id.clone(),
            updated_at: goal.updated_at,
            kick,
        }
    }
}
