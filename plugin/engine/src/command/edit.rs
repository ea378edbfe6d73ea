//! Editing a goal: another objective, another budget, the same goal (R85).

use goal_core::change::{Change, StoredObjective};
use goal_core::goal::{Goal, SessionId, Status};
use goal_core::objective::{self, Fitting};

use super::start::Kept;
use super::{
    check_budget, keep, lacks_first_message, look, over_now, read_goal, write, wrong_status,
};
use crate::error::{Code, Error};
use crate::ports::Ports;
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
    /// The objective is long: the auditor gets a shortened copy (O12).
    pub shortened: bool,
    /// The objective stands in the metadata (O7, X1).
    pub inline: bool,
}

/// Edits a goal: id and counters stay, and it is active again, unless its budget is spent
/// (`docs/decisions/0005`). The next continuation announces a new objective.
///
/// # Errors
/// [`Code::InvalidObjective`] if the new text is empty or nothing at all is to be changed,
/// [`Code::InvalidBudget`], [`Code::WrongStatus`] for a complete goal, [`Code::NoGoal`],
/// [`Code::InvalidSession`], [`Code::UnknownSession`], [`Code::Conflict`], and the codes of a
/// failed call.
pub async fn edit(ports: &Ports, request: EditRequest) -> Result<Edited, Error> {
    check_budget(request.token_budget.flatten())?;
    let text = match &request.objective {
        Some(text) => Some(objective::validate(text).map_err(|_| empty())?),
        None if request.token_budget.is_none() => return Err(nothing()),
        None => None,
    };
    let (read, goal) = read_goal(ports, &request.session).await?;
    if goal.status == Status::Complete {
        return Err(wrong_status(
            &goal,
            "a complete goal is not edited; start a new one",
        ));
    }
    let over = over_now(ports, &read, &goal).await?;
    let forget_first_message = lacks_first_message(ports, &read, &goal).await?;
    let most = ports.limits.objective_max;
    let (fitted, shortened) = match text.map(|text| objective::fit(text, most)) {
        None => (None, false),
        Some(Fitting::Whole(whole)) => (Some(whole), false),
        Some(Fitting::TooLong { .. }) => (text.map(|text| objective::excerpt(text, most)), true),
    };
    let kept = match &fitted {
        Some(fitted) => Some(Kept::put(ports, &read, fitted).await),
        None => None,
    };
    let inline = kept
        .as_ref()
        .map_or(!goal.objective_file, |kept| kept.inline);
    let change = Change::Edited {
        objective: fitted.map(|fitted| match inline {
            true => StoredObjective::Inline(fitted),
            false => StoredObjective::File,
        }),
        token_budget: request.token_budget,
        over,
        forget_first_message,
    };
    let guard = |fresh: &Goal| fresh.id == goal.id && fresh.status != Status::Complete;
    let written = match write(ports, &read, guard, change.clone()).await {
        Ok(written) => written,
        Err(error) => {
            if let Some(kept) = kept {
                kept.undo(ports, &read).await;
            }
            return Err(error);
        }
    };
    let goal = keep(ports, &read, written, &change).await?;
    Ok(Edited {
        view: look::view_of(&read, goal),
        shortened,
        inline,
    })
}

fn empty() -> Error {
    let text = "The objective is empty: say what shall be reached.";
    Error::new(Code::InvalidObjective, text)
}

fn nothing() -> Error {
    let text = "Nothing was given to change: give an objective, a budget, or both.";
    Error::new(Code::InvalidObjective, text)
}
