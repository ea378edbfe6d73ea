//! A goal as one line.

use goal_core::goal::{
    ContinuedAfter, Goal, GoalId, MessageId, ModelRef, ResumedOver, RevertId, SessionId, Status,
    Unknown,
};
use goal_core::time::Wall;

use super::{number, words};

/// The session that every goal here belongs to.
pub(crate) fn session() -> SessionId {
    SessionId::new("ses_1")
}

/// An untouched active goal: id `g1`, session `ses_1`, created at 1000 and written at 2000.
pub(crate) fn plain_goal() -> Goal {
    Goal {
        id: GoalId::new("g1"),
        objective: "Ship it".to_owned(),
        objective_file: false,
        status: Status::Active,
        token_budget: None,
        tokens_used: 0,
        tokens_baseline: 0,
        tokens_committed: 0,
        turns_used: 0,
        blocked_streak: 0,
        audit_fail_streak: 0,
        note: String::new(),
        status_reason: String::new(),
        evaluation: None,
        last_accounted: None,
        created_at: Wall(1_000),
        updated_at: Wall(2_000),
        session_id: Some(session()),
        continued_after: None,
        resumed_over: None,
        first_message: None,
        active_ms: 0,
        unknown: Unknown::default(),
    }
}

/// [`plain_goal`] with what the words say:
///
/// - a status, or `name=value` for a field; `model=provider/model`; `text=file` or the text;
/// - `over=tail/revert` for what a Resume was made over, either side may be empty;
/// - `step=tail` for a step record of the goal's own latest write, `step=tail@at` for another.
pub(crate) fn goal(line: &str) -> Goal {
    let mut goal = plain_goal();
    let mut step = None;
    for word in words(line) {
        if let Some(status) = Status::parse(&word) {
            goal.status = status;
            continue;
        }
        let (name, value) = word.split_once('=').expect("name=value");
        if name == "step" {
            step = Some(value.to_owned());
        } else {
            set(&mut goal, name, value);
        }
    }
    goal.continued_after = step.map(|step| {
        let (tail, at) = step
            .split_once('@')
            .map_or((step.as_str(), goal.updated_at), |(tail, at)| {
                (tail, Wall(number(at)))
            });
        ContinuedAfter {
            tail: MessageId::new(tail),
            at,
        }
    });
    goal
}

fn set(goal: &mut Goal, name: &str, value: &str) {
    let small = || u32::try_from(number(value)).expect("small");
    match name {
        "id" => goal.id = GoalId::new(value),
        "text" if value == "file" => {
            goal.objective_file = true;
            goal.objective.clear();
        }
        "text" => value.clone_into(&mut goal.objective),
        "budget" => goal.token_budget = Some(number(value)),
        "used" => goal.tokens_used = number(value),
        "baseline" => goal.tokens_baseline = number(value),
        "committed" => goal.tokens_committed = number(value),
        "turns" => goal.turns_used = small(),
        "blocked" => goal.blocked_streak = small(),
        "fails" => goal.audit_fail_streak = small(),
        "note" => value.clone_into(&mut goal.note),
        "reason" => value.clone_into(&mut goal.status_reason),
        "model" => goal.evaluation = Some(model(value)),
        "cursor" => goal.last_accounted = Some(MessageId::new(value)),
        "created" => goal.created_at = Wall(number(value)),
        "updated" => goal.updated_at = Wall(number(value)),
        "owner" => goal.session_id = Some(SessionId::new(value)).filter(|_| !value.is_empty()),
        "over" => goal.resumed_over = Some(over(value)),
        "first" => goal.first_message = Some(MessageId::new(value)),
        "active_ms" => goal.active_ms = number(value),
        other => panic!("a goal has no {other:?}"),
    }
}

/// `provider/model`.
pub(crate) fn model(text: &str) -> ModelRef {
    let (provider, model) = text.split_once('/').expect("provider/model");
    ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

/// `tail/revert`; either side may be empty, and the slash may be left out.
pub(crate) fn over(text: &str) -> ResumedOver {
    let (tail, revert) = text.split_once('/').unwrap_or((text, ""));
    ResumedOver {
        tail: Some(MessageId::new(tail)).filter(|_| !tail.is_empty()),
        revert: Some(RevertId::new(revert)).filter(|_| !revert.is_empty()),
    }
}
