//! Goals that a session only carries as a copy (X11).

use crate::goal::{Goal, GoalId, SessionId};
use crate::time::Wall;

/// A session that carries a goal, as far as its origin is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The session.
    pub session: SessionId,
    /// When the server created the session; only compared with other times of the server's.
    pub created: Wall,
    /// The goal it carries.
    pub goal: GoalId,
}

/// Whether `session`, created at `created`, only inherited `goal`: the goal names another session,
/// or names none and an older session among `others` carries the same one.
#[must_use]
pub fn is_inherited(goal: &Goal, session: &SessionId, created: Wall, others: &[Carrier]) -> bool {
    match &goal.session_id {
        Some(owner) => owner != session,
        None => others.iter().any(|other| {
            other.session != *session
                && other.goal == goal.id
                && (other.created, &other.session) < (created, session)
        }),
    }
}
