//! Looking after runs: one lasts until its goal has settled, or, without a goal, until its prompt
//! was answered and the session rests.

use goal_core::goal::{Goal, Status};
use goal_core::schedule::RunState;

use super::run;
use crate::command::{self, Turn};
use crate::ports::{CallErrorKind, Ports, SessionRead};
use crate::store::{ServerKey, StoredRun};
use crate::stored::goal_of;

/// How a run stands now.
enum Standing {
    /// It goes on; its goal may be paused.
    Live { paused: bool },
    /// It ended.
    Ended(RunState, String),
    /// It cannot be told now.
    Unknown,
}

/// Looks at one run and writes down what became of it.
pub(super) async fn review(ports: &Ports, server: &ServerKey, stored: &StoredRun) {
    match standing(ports, server, stored).await {
        Standing::Live { paused } => {
            let now = ports.clock.wall();
            let seen = ports.store.run_seen(stored.clone(), paused, now).await;
            if let Err(error) = seen {
                tracing::debug!(run = stored.id, %error, "a run could not be marked as seen");
            }
        }
        Standing::Ended(state, reason) => {
            run::end(ports, stored.id, state, reason, None).await;
        }
        Standing::Unknown => {}
    }
}

async fn standing(ports: &Ports, server: &ServerKey, stored: &StoredRun) -> Standing {
    let Some(id) = &stored.session else {
        return Standing::Unknown;
    };
    let read = ports.sessions.session(id, Some(&stored.directory)).await;
    let read = match read {
        Ok(read) => read,
        // Another server may know it.
        Err(error) if error.kind == CallErrorKind::Gone && stored.is_on(server) => {
            return Standing::Ended(RunState::Removed, String::new());
        }
        Err(_) => return Standing::Unknown,
    };
    let Some(own) = &stored.goal else {
        return without_goal(ports, &read, stored).await;
    };
    let Some(goal) = goal_of(&read, ports) else {
        return Standing::Ended(RunState::Cleared, String::new());
    };
    if goal.id != *own {
        return Standing::Ended(RunState::Replaced, String::new());
    }
    let reason = goal.status_reason.clone();
    match goal.status {
        Status::Active => Standing::Live { paused: false },
        Status::Paused => Standing::Live { paused: true },
        Status::Blocked => Standing::Ended(RunState::Blocked, reason),
        Status::BudgetLimited => Standing::Ended(RunState::BudgetLimited, reason),
        Status::Complete => {
            let archived = archive(ports, &read, &goal, stored).await;
            Standing::Ended(RunState::Complete, archived.err().unwrap_or(reason))
        }
    }
}

async fn without_goal(ports: &Ports, read: &SessionRead, stored: &StoredRun) -> Standing {
    let Some(message) = &stored.message else {
        return Standing::Ended(RunState::Answered, String::new());
    };
    match command::turn(ports, read, message, /*began*/ false).await {
        Ok(Turn::Runs) => Standing::Live { paused: false },
        Ok(Turn::Rests { .. }) => Standing::Ended(RunState::Answered, String::new()),
        Err(_) => Standing::Unknown,
    }
}

/// Archives the session of a complete goal where that was asked for, and no other: one that works,
/// or whose goal was replaced meanwhile, stays (T11). The error is a sentence for the history.
async fn archive(
    ports: &Ports,
    read: &SessionRead,
    goal: &Goal,
    stored: &StoredRun,
) -> Result<(), String> {
    if !stored.archive || read.facts.archived {
        return Ok(());
    }
    let (id, directory) = (&read.facts.id, read.directory.as_str());
    let not = |why: &str| Err(format!("The session was not archived: {why}."));
    let statuses = match ports.sessions.statuses(directory).await {
        Ok(statuses) => statuses,
        Err(error) => return not(&error.message),
    };
    if statuses.contains_key(id) {
        return not("it is at work");
    }
    let fresh = match ports.sessions.session(id, Some(directory)).await {
        Ok(fresh) => fresh,
        Err(error) => return not(&error.message),
    };
    let still = goal_of(&fresh, ports).filter(|fresh| fresh.id == goal.id);
    if still.is_none_or(|fresh| fresh.status != Status::Complete) {
        return not("its goal is not complete any more");
    }
    let archived = ports
        .sessions
        .archive(id, directory, ports.clock.wall())
        .await;
    archived.or_else(|error| not(&error.message))
}
