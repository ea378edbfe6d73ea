//! Editing a goal: another objective, another budget, the same goal (R85).

use goal_core::change::Change;
use goal_core::goal::{Goal, SessionId, Status};

use super::fit::{self, AuditorCopy, Fitted, Standing};
use super::start::Kept;
use super::{
    check_budget, keep, lacks_first_message, look, objective_of, over_now, read_goal, write,
    write_error, wrong_status,
};
use crate::error::{Code, Error};
use crate::ports::{Ports, SessionRead};
use crate::view::GoalView;

/// What to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditRequest {
    /// The session.
    pub session: SessionId,
    /// The new objective, of any length; `None` keeps the old one.
    pub objective: Option<String>,
    /// The new budget; the outer `None` keeps it, the inner one takes it away.
    pub token_budget: Option<Option<u64>>,
}

/// An edited goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The goal as it then is: active again, unless its budget is spent.
    pub view: GoalView,
    /// What the auditor gets of the new objective; `None` if there is none. The agent is told the
    /// same copy by the next continuation (O12).
    pub copy: Option<AuditorCopy>,
    /// The objective stands in the metadata (O7, X1).
    pub inline: bool,
}

/// Edits a goal: id and counters stay, and it is active again, unless its budget is spent
/// (`docs/decisions/0005`). The next continuation announces a new objective; one over the limit is
/// condensed first, as [`start`](super::start()) does.
///
/// # Errors
/// [`Code::InvalidObjective`] if the new text is empty or nothing at all is to be changed,
/// [`Code::InvalidBudget`], [`Code::WrongStatus`] for a complete goal, [`Code::NoGoal`],
/// [`Code::InvalidSession`], [`Code::UnknownSession`], [`Code::Conflict`], and the codes of a
/// failed call.
pub async fn edit(ports: &Ports, request: EditRequest) -> Result<Edited, Error> {
    let ready = prepare_edit(ports, request).await?;
    edit_prepared(ports, ready).await
}

/// An edit whose objective fits.
#[derive(Debug)]
pub(crate) struct ReadyEdit {
    session: SessionId,
    fitted: Option<Fitted>,
    token_budget: Option<Option<u64>>,
    /// What stood there before the objective was condensed, if it had to be.
    standing: Option<Standing>,
}

/// Checks an edit and fits its objective. Writes nothing and may be dropped at any await.
pub(crate) async fn prepare_edit(ports: &Ports, request: EditRequest) -> Result<ReadyEdit, Error> {
    check_budget(request.token_budget.flatten())?;
    let text = request.objective.as_deref().map(objective_of).transpose()?;
    if text.is_none() && request.token_budget.is_none() {
        return Err(nothing());
    }
    let max = ports.limits.objective_max;
    let (fitted, standing) = match text.map(|text| (text, Fitted::whole(text, max))) {
        None => (None, None),
        Some((_, Some(whole))) => (Some(whole), None),
        Some((text, None)) => {
            let (read, goal) = read_editable(ports, &request.session).await?;
            let voice = fit::voice(ports, &read).await?;
            let standing = Standing::of(ports, &read, Some(goal.clone())).await;
            let fitted = Fitted::shortened(ports, &read, &goal.id, voice, text).await;
            (Some(fitted), Some(standing))
        }
    };
    Ok(ReadyEdit {
        session: request.session,
        fitted,
        token_budget: request.token_budget,
        standing,
    })
}

/// Carries a prepared edit out.
pub(crate) async fn edit_prepared(ports: &Ports, ready: ReadyEdit) -> Result<Edited, Error> {
    let (read, goal) = read_editable(ports, &ready.session).await?;
    if let Some(standing) = ready.standing {
        standing.check(ports, &read, Some(&goal)).await?;
    }
    let over = over_now(ports, &read, &goal).await?;
    let forget_first_message = lacks_first_message(ports, &read, &goal).await?;
    let (kept, copy, objective) = match ready.fitted {
        Some(Fitted { text, copy }) => {
            let kept = Kept::put(ports, &read, &text).await;
            let stored = kept.stored(text);
            (Some(kept), Some(copy), Some(stored))
        }
        None => (None, None, None),
    };
    let inline = kept
        .as_ref()
        .map_or(!goal.objective_file, |kept| kept.inline);
    let change = Change::Edited {
        objective,
        token_budget: ready.token_budget,
        over,
        forget_first_message,
    };
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status != Status::Complete;
    let written = match write(ports, &read, guard, change.clone()).await {
        Ok(written) => written,
        Err(error) => {
            if let Some(kept) = kept {
                kept.undo(ports, &read, error.is_certain()).await;
            }
            return Err(write_error(error));
        }
    };
    let goal = keep(ports, &read, written, &change).await?;
    Ok(Edited {
        view: look::view_of(&read, goal),
        copy,
        inline,
    })
}

/// Reads a session and its goal, which is not complete.
async fn read_editable(ports: &Ports, session: &SessionId) -> Result<(SessionRead, Goal), Error> {
    let (read, goal) = read_goal(ports, session).await?;
    if goal.status == Status::Complete {
        let hint = "a complete goal is not edited; start a new one";
        return Err(wrong_status(&goal, hint));
    }
    Ok((read, goal))
}

fn nothing() -> Error {
    let text = "Nothing was given to change: give an objective, a budget, or both.";
    Error::new(Code::InvalidObjective, text)
}
