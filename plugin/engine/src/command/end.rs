//! Ending a goal by hand: marking it complete, taking it out, pausing all of them.

use goal_core::change::Change;
use goal_core::goal::{Goal, SessionId, Status};

use super::{Paused, abort_family, call_error, keep, look, pause, read_goal, write, write_error};
use crate::error::Error;
use crate::ports::{Ports, SessionRead};
use crate::stored::{Removal, goal_of};
use crate::view::GoalView;

/// A goal that was marked complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The goal as it then is.
    pub view: GoalView,
    /// It was complete before: nothing was done.
    pub already: bool,
}

/// A goal that was taken out of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// The goal as it was.
    pub view: GoalView,
    /// The goal is gone, but what ran in the session could not be stopped, for this reason.
    pub abort_failed: Option<String>,
}

/// What became of one goal when all were paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PausedOne {
    /// The session.
    pub session: SessionId,
    /// The outcome for this goal.
    pub result: Result<Paused, Error>,
}

/// Marks a goal complete, whatever its status (R87). What runs in the session goes on.
///
/// # Errors
/// [`crate::Code::NoGoal`], [`crate::Code::InvalidSession`], [`crate::Code::UnknownSession`],
/// [`crate::Code::Conflict`], and the codes of a failed call.
pub async fn complete(ports: &Ports, session: &SessionId) -> Result<Completed, Error> {
    let (read, goal) = read_goal(ports, session).await?;
    if goal.status == Status::Complete {
        let view = look::view_of(&read, goal);
        return Ok(Completed {
            view,
            already: true,
        });
    }
    let guard = |fresh: &Goal| fresh.id == goal.id;
    let written = write(ports, &read, guard, Change::MarkedComplete).await;
    let written = written.map_err(write_error)?;
    let goal = keep(ports, &read, written, &Change::MarkedComplete).await?;
    Ok(Completed {
        view: look::view_of(&read, goal),
        already: false,
    })
}

/// Takes a goal out of its session: the goal first, then its objective file, then, if it was
/// active, whatever runs is stopped (R89, X8).
///
/// # Errors
/// Those of [`complete`], and [`crate::Code::CorruptMetadata`].
pub async fn clear(ports: &Ports, session: &SessionId) -> Result<Cleared, Error> {
    let (read, goal) = read_goal(ports, session).await?;
    let objectives = &ports.objectives;
    let text = objectives.read(session.as_str()).await;
    remove(ports, &read, &goal).await?;
    // Whoever starts a goal at this moment may have put another text there.
    if objectives.read(session.as_str()).await == text {
        objectives.delete(session.as_str()).await;
    }
    let abort_failed = match goal.status {
        Status::Active => abort_family(ports, &read)
            .await
            .err()
            .map(|error| error.message),
        Status::Paused | Status::Blocked | Status::BudgetLimited | Status::Complete => None,
    };
    keep_removed(ports, &read, &goal).await?;
    Ok(Cleared {
        view: look::view_of(&read, goal),
        abort_failed,
    })
}

/// Pauses every active goal of the server, one after the other; a failure leaves the others be.
///
/// # Errors
/// Only if the goals could not be listed.
pub async fn pause_all(ports: &Ports) -> Result<Vec<PausedOne>, Error> {
    let mut outcomes = Vec::new();
    for view in look::list(ports).await? {
        if view.goal.status == Status::Active {
            let result = pause(ports, &view.session).await;
            outcomes.push(PausedOne {
                session: view.session,
                result,
            });
        }
    }
    Ok(outcomes)
}

async fn remove(ports: &Ports, read: &SessionRead, goal: &Goal) -> Result<(), Error> {
    let removal = Removal::prepare(ports, read, |fresh| fresh.id == goal.id).await;
    match removal {
        Ok(removal) => removal.write(ports).await.map_err(write_error),
        Err(error) => Err(write_error(error)),
    }
}

/// A write of the loop may have brought the goal back: it is read back after a moment and taken
/// out again if so (X17).
async fn keep_removed(ports: &Ports, read: &SessionRead, goal: &Goal) -> Result<(), Error> {
    tokio::time::sleep(ports.limits.write_echo).await;
    let id = &read.facts.id;
    let fresh = ports
        .sessions
        .session(id, Some(&read.directory))
        .await
        .map_err(call_error)?;
    match goal_of(&fresh, ports) {
        Some(back) if back.id == goal.id => remove(ports, read, goal).await,
        Some(_) | None => Ok(()),
    }
}
