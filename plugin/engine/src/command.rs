//! What a user asks of a goal: plain functions over the ports, called by a running engine's actors
//! and by the command line alike. Each is safe to repeat, and a refused one changes nothing.

mod choices;
mod dispatch;
mod edit;
mod end;
mod fit;
mod look;
mod session;
mod start;
mod talk;

use goal_core::change::{self, Change};
use goal_core::fields;
use goal_core::goal::{Goal, ResumedOver, SessionId, Status};
use goal_core::inherit::is_inherited;
use goal_core::objective;
use goal_core::tail::{Tail, TailContext};
use goal_core::timeline::Timeline;

use crate::error::{Code, Error};
use crate::ports::{CallError, CallErrorKind, Ports, Presence, SessionRead};
use crate::stored::{Draft, WriteError, goal_of};
use crate::think;
use crate::view::GoalView;

pub use self::choices::Choices;
pub use self::edit::{EditRequest, Edited, edit};
pub(crate) use self::edit::{ReadyEdit, edit_prepared, prepare_edit};
pub use self::end::{Cleared, Completed, PausedOne, clear, complete, pause_all};
pub use self::fit::AuditorCopy;
pub use self::look::{Explanation, Look, list, objective, show, why};
pub use self::session::{
    CreateRequest, ForkRequest, GoalWish, Left, Note, Remains, SendRequest, Sent, Unsent, create,
    fork, send,
};
pub(crate) use self::start::{ReadyStart, prepare_start, start_prepared};
pub use self::start::{StartRequest, Started, start};
pub use self::talk::{Standing, Turn, messages, sessions, standing, turn};

/// A carried-out pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paused {
    /// The goal as it then is.
    pub view: GoalView,
    /// It was paused before: nothing was done.
    pub already: bool,
    /// The goal is paused, but what ran in the session could not be stopped, for this reason.
    pub abort_failed: Option<String>,
}

/// A carried-out Resume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The goal as it then is.
    pub view: GoalView,
    /// It was resumed before and nothing happened since: nothing was done.
    pub already: bool,
}

/// Pauses a goal: the pause is written first, then the session and its busy sub-agents are stopped
/// (R86, X8).
///
/// # Errors
/// [`Code::NoGoal`], [`Code::WrongStatus`] for a goal that has ended, [`Code::InvalidSession`],
/// [`Code::UnknownSession`], and the codes of a failed call.
pub async fn pause(ports: &Ports, session: &SessionId) -> Result<Paused, Error> {
    let (read, goal) = read_goal(ports, session).await?;
    match goal.status {
        Status::Active => {}
        Status::Paused => {
            let view = look::view_of(&read, goal);
            return Ok(Paused {
                view,
                already: true,
                abort_failed: None,
            });
        }
        Status::Blocked | Status::BudgetLimited | Status::Complete => {
            return Err(wrong_status(&goal, "only a running goal can be paused"));
        }
    }
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status == Status::Active;
    let written = write(ports, &read, guard, Change::Paused).await;
    let written = written.map_err(write_error)?;
    let abort_failed = abort_family(ports, &read)
        .await
        .err()
        .map(|error| error.message);
    let goal = keep(ports, &read, written, &Change::Paused).await?;
    Ok(Paused {
        view: look::view_of(&read, goal),
        already: false,
        abort_failed,
    })
}

/// Resumes a goal, perhaps with another budget: fresh turns, streaks and tolerance (R88, X16). The
/// outer `None` of `token_budget` keeps the budget, the inner one takes it away.
///
/// # Errors
/// [`Code::BudgetSpent`] if the budget is used up and no larger one is given,
/// [`Code::WrongStatus`] for a complete goal, and those of [`pause`].
pub async fn resume(
    ports: &Ports,
    session: &SessionId,
    token_budget: Option<Option<u64>>,
) -> Result<Resumed, Error> {
    check_budget(token_budget.flatten())?;
    let (read, goal) = read_goal(ports, session).await?;
    if goal.status == Status::Complete {
        return Err(wrong_status(
            &goal,
            "a complete goal cannot be resumed; start a new one",
        ));
    }
    if change::budget_spent(&goal, token_budget) {
        return Err(budget_spent(&goal));
    }
    let unchanged = token_budget.is_none_or(|budget| budget == goal.token_budget);
    let over = over_now(ports, &read, &goal).await?;
    // A Resume that another client made, or that was made before the tail moved, goes over nothing.
    let covers = over.is_none() || over == goal.resumed_over;
    if goal.status == Status::Active && goal.is_resumed() && unchanged && covers {
        return Ok(Resumed {
            view: look::view_of(&read, goal),
            already: true,
        });
    }
    let forget_first_message = lacks_first_message(ports, &read, &goal).await?;
    let change = Change::Resumed {
        token_budget,
        over,
        forget_first_message,
    };
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status == goal.status;
    let written = write(ports, &read, guard, change.clone()).await;
    let written = written.map_err(write_error)?;
    let goal = keep(ports, &read, written, &change).await?;
    Ok(Resumed {
        view: look::view_of(&read, goal),
        already: false,
    })
}

/// What a Resume that another client just made goes over, and whether the prompt that should start
/// the goal is missing (X12, X21).
pub(crate) async fn scene_of_resume(
    ports: &Ports,
    read: &SessionRead,
    goal: &Goal,
) -> Result<(Option<ResumedOver>, bool), Error> {
    let over = over_now(ports, read, goal).await?;
    let forget_first_message = lacks_first_message(ports, read, goal).await?;
    Ok((over, forget_first_message))
}

/// The session's tail and revert point now: what a Resume goes over (X12).
pub(crate) async fn tail_now(
    ports: &Ports,
    read: &SessionRead,
    goal: &Goal,
) -> Result<ResumedOver, CallError> {
    let page = ports
        .sessions
        .messages(
            &read.facts.id,
            &read.directory,
            None,
            ports.limits.page_messages,
        )
        .await?;
    let revert = read.facts.revert.as_ref();
    let timeline = Timeline::new(page.items, revert);
    let context = TailContext {
        goal,
        revert,
        overflow_seen: false,
    };
    Ok(ResumedOver {
        tail: Tail::read(&timeline, context).id,
        revert: revert.cloned(),
    })
}

/// What a Resume made now goes over; nothing while the session works (X12).
async fn over_now(
    ports: &Ports,
    read: &SessionRead,
    goal: &Goal,
) -> Result<Option<ResumedOver>, Error> {
    let statuses = ports
        .sessions
        .statuses(&read.directory)
        .await
        .map_err(call_error)?;
    if statuses.contains_key(&read.facts.id) {
        return Ok(None);
    }
    tail_now(ports, read, goal)
        .await
        .map(Some)
        .map_err(call_error)
}

async fn lacks_first_message(
    ports: &Ports,
    read: &SessionRead,
    goal: &Goal,
) -> Result<bool, Error> {
    let Some(first) = &goal.first_message else {
        return Ok(false);
    };
    let sessions = &ports.sessions;
    let exists = sessions
        .message_exists(&read.facts.id, &read.directory, first)
        .await;
    exists.map(|exists| !exists).map_err(call_error)
}

/// Stops a session, then its busy sub-agents, then those that appeared meanwhile (G46). Audits are
/// nobody's sub-agents. A failure leaves nobody else running: the rest is stopped all the same, and
/// a list that could not be read is read once more.
///
/// # Errors
/// The first failure, after everything was tried.
pub(crate) async fn abort_family(ports: &Ports, read: &SessionRead) -> Result<(), CallError> {
    let sessions = &ports.sessions;
    let mut outcome = sessions.abort(&read.facts.id, &read.directory).await;
    let mut listed = Ok(());
    for _ in 0..2 {
        let busy = match busy_descendants(ports, read).await {
            Ok(busy) => busy,
            Err(error) => {
                listed = Err(error);
                continue;
            }
        };
        listed = Ok(());
        if busy.is_empty() {
            break;
        }
        for child in busy {
            let stopped = sessions.abort(&child.facts.id, &child.directory).await;
            outcome = outcome.and(stopped);
        }
    }
    outcome.and(listed)
}

async fn busy_descendants(
    ports: &Ports,
    read: &SessionRead,
) -> Result<Vec<SessionRead>, CallError> {
    let mut busy = Vec::new();
    for child in think::descendants(ports, read).await? {
        match ports.sessions.statuses(&child.directory).await {
            Ok(statuses) => match statuses.get(&child.facts.id) {
                Some(Presence::Busy | Presence::Retry) => busy.push(child),
                None => {}
            },
            // What it does is not known: stopping one that rests is harmless.
            Err(_) => busy.push(child),
        }
    }
    Ok(busy)
}

/// Reads a session and its goal. A goal that only came along with a fork, or that sits on a
/// sub-agent, is none (X11).
pub(crate) async fn read_goal(
    ports: &Ports,
    session: &SessionId,
) -> Result<(SessionRead, Goal), Error> {
    let read = read_session(ports, session).await?;
    match own_goal(ports, &read).await? {
        Some(goal) => Ok((read, goal)),
        None => Err(Error::new(
            Code::NoGoal,
            format!("Session {session} has no goal."),
        )),
    }
}

/// The session's own goal (X11). Only one that names no owner takes a look at the other sessions.
pub(crate) async fn own_goal(ports: &Ports, read: &SessionRead) -> Result<Option<Goal>, Error> {
    let Some(goal) = goal_of(read, ports).filter(|_| read.facts.parent.is_none()) else {
        return Ok(None);
    };
    let carriers = match goal.session_id {
        Some(_) => Vec::new(),
        None => look::carriers(&look::all_goals(ports).await?),
    };
    let (id, created) = (&read.facts.id, read.created);
    Ok(Some(goal).filter(|goal| !is_inherited(goal, id, created, &carriers)))
}

/// Reads a session, after its id was checked.
pub(crate) async fn read_session(ports: &Ports, session: &SessionId) -> Result<SessionRead, Error> {
    let malformed = || {
        Error::new(
            Code::InvalidSession,
            format!("`{session}` is no session id; those look like ses_0123abcd."),
        )
    };
    if !objective::valid_session_id(session.as_str()) {
        return Err(malformed());
    }
    let read = ports.sessions.session(session, None).await;
    read.map_err(|error| match error.kind {
        CallErrorKind::Gone => Error::new(
            Code::UnknownSession,
            format!("The server does not know session {session}. Nothing was changed."),
        ),
        // Only an id that no server would make is refused when a session is merely read.
        CallErrorKind::Refused => malformed(),
        CallErrorKind::Unauthorized
        | CallErrorKind::NotOpenCode
        | CallErrorKind::NotSent
        | CallErrorKind::Unknown => call_error(error),
    })
}

/// Writes one change of a user, whatever else was changed meanwhile, as long as `guard` holds.
async fn write(
    ports: &Ports,
    read: &SessionRead,
    guard: impl Fn(&Goal) -> bool + Send,
    change: Change,
) -> Result<Goal, WriteError> {
    let id = &read.facts.id;
    let draft = Draft::prepare(ports, id, &read.directory, guard, vec![change]).await?;
    draft.write_surely(ports).await.map(|written| written.goal)
}

/// A write cannot be made conditional, so a loop's write may have replaced the user's: it is read
/// back after a moment and written again if so (X17).
async fn keep(
    ports: &Ports,
    read: &SessionRead,
    written: Goal,
    change: &Change,
) -> Result<Goal, Error> {
    tokio::time::sleep(ports.limits.write_echo).await;
    let Ok(fresh) = ports
        .sessions
        .session(&read.facts.id, Some(&read.directory))
        .await
    else {
        // The write itself was confirmed; only the look back failed.
        return Ok(written);
    };
    let Some(goal) = goal_of(&fresh, ports) else {
        return Ok(written);
    };
    if !is_replaced(&goal, &written, change) {
        return Ok(if goal.id == written.id { goal } else { written });
    }
    let guard = |fresh: &Goal| is_replaced(fresh, &written, change);
    match write(ports, read, guard, change.clone()).await {
        // What somebody else wanted meanwhile is newer.
        Err(WriteError::Guarded) => Ok(goal),
        again => again.map_err(write_error),
    }
}

/// Whether a write of the loop that began before the user's took its place (X17): it does not hold
/// what the user's gave the goal. One that began behind it holds that.
fn is_replaced(stored: &Goal, written: &Goal, change: &Change) -> bool {
    let goes_on = stored.status == Status::Active && !stored.is_resumed();
    let text = |goal: &Goal| {
        (
            goal.objective.clone(),
            goal.objective_file,
            goal.token_budget,
        )
    };
    let same_text = text(stored) == text(written);
    let same_start = same_text && stored.resumed_over == written.resumed_over;
    let lost = match change {
        // The end of the old objective is none of the new one's.
        Change::Edited { .. } => match stored.status {
            Status::Active => goes_on && !same_start,
            Status::Blocked => !same_text,
            Status::Complete => stored.status_reason != change::MARKED,
            Status::Paused | Status::BudgetLimited => false,
        },
        Change::Resumed { .. } => {
            goes_on && !(same_start && stored.turns_used <= written.turns_used.saturating_add(1))
        }
        Change::Paused
        | Change::MarkedComplete
        | Change::Continued { .. }
        | Change::Settled { .. }
        | Change::LoopPaused { .. }
        | Change::Refunded
        | Change::ReloadUndone { .. } => goes_on && stored.status != written.status,
    };
    lost && stored.id == written.id && stored.updated_at != written.updated_at
}

/// The objective in a text.
fn objective_of(text: &str) -> Result<&str, Error> {
    objective::validate(text).map_err(|_| {
        let message = "The objective is empty: say what shall be reached.";
        Error::new(Code::InvalidObjective, message)
    })
}

pub(crate) fn check_budget(budget: Option<u64>) -> Result<(), Error> {
    let checked = budget.map(|budget| fields::budget("tokenBudget", budget));
    let checked = checked.transpose().map(drop);
    checked.map_err(|broken| Error::new(Code::InvalidBudget, broken.to_string()))
}

fn budget_spent(goal: &Goal) -> Error {
    let used = goal.tokens_used;
    let budget = goal.token_budget.unwrap_or_default();
    Error::new(
        Code::BudgetSpent,
        format!(
            "The goal has used {used} of {budget} tokens. Resume it with a larger budget, for \
             example --token-budget {}.",
            used.saturating_mul(2).max(1_000)
        ),
    )
}

fn wrong_status(goal: &Goal, hint: &str) -> Error {
    Error::new(
        Code::WrongStatus,
        format!("The goal is {}: {hint}.", goal.status.name()),
    )
}

pub(crate) fn write_error(error: WriteError) -> Error {
    match error {
        WriteError::Guarded => Error::new(
            Code::Conflict,
            "Another program changed the goal at the same moment. Nothing was written; try again.",
        ),
        WriteError::Corrupt => corrupt(),
        WriteError::Call(error) => call_error(error),
    }
}

pub(crate) fn corrupt() -> Error {
    Error::new(
        Code::CorruptMetadata,
        "The session's metadata is damaged: `openchamber` in it is not an object. It was left \
         alone, since writing would lose what another program keeps there.",
    )
}

/// The error of a failed call.
#[must_use]
pub fn call_error(error: CallError) -> Error {
    let code = match error.kind {
        CallErrorKind::Gone => Code::UnknownSession,
        CallErrorKind::Refused => Code::Server,
        CallErrorKind::Unauthorized => Code::Unauthorized,
        CallErrorKind::NotOpenCode => Code::NotOpenCode,
        CallErrorKind::NotSent | CallErrorKind::Unknown => Code::Unreachable,
    };
    Error::new(code, error.message)
}
