//! The only place that makes a new [`Goal`] (R83-R90, X16, X17).

use crate::accounting::Ledger;
use crate::decision::{PauseCause, Settlement};
use crate::goal::{
    ContinuedAfter, Goal, GoalId, MessageId, RESUMED, ResumedOver, SessionId, Status, Unknown,
};
use crate::judge::Audited;
use crate::limits::Limits;
use crate::text;
use crate::time::Wall;

/// The reason of a goal that its user marked complete (R87).
pub const MARKED: &str = "marked by user";

/// What a new goal is made of (R84, X21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGoal {
    /// A fresh id.
    pub id: GoalId,
    /// The session it is for.
    pub session: SessionId,
    /// Where its text is.
    pub objective: StoredObjective,
    /// Tokens it may use, if limited.
    pub token_budget: Option<u64>,
    /// The prompt that starts it, where one does.
    pub first_message: Option<MessageId>,
    /// Starting without a prompt goes over the session's tail as Resume does (X12).
    pub over: Option<ResumedOver>,
}

/// Where an objective's text is stored (O7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredObjective {
    /// In the file that belongs to the session.
    File,
    /// In the metadata: the file could not be written, or the server is on another machine.
    Inline(String),
}

/// A change of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A continuation is about to be sent (R74): the step record of X6.
    Continued {
        /// Accounting up to the tail.
        ledger: Ledger,
        /// The tail it answers.
        tail: MessageId,
        /// The audit before it, if there was one.
        audited: Option<Audited>,
    },
    /// The goal ended (R79).
    Settled {
        /// How.
        settlement: Settlement,
        /// Accounting up to the tail.
        ledger: Ledger,
        /// The audit before it, if there was one.
        audited: Option<Audited>,
    },
    /// The loop paused it.
    LoopPaused {
        /// Why.
        cause: PauseCause,
        /// Accounting up to the tail, where the messages were read.
        ledger: Option<Ledger>,
        /// The audit before it, if there was one.
        audited: Option<Audited>,
    },
    /// A counted continuation never ran; the turn is given back, once: only as long as the step
    /// record stands, which this ends (X7).
    Refunded,
    /// The pause came from the server's reload, not from the user (X12).
    ReloadUndone {
        /// The message that the reload cut off.
        over: ResumedOver,
    },
    /// The user changed objective or budget (R85).
    Edited {
        /// The new text's place; `None` keeps the objective.
        objective: Option<StoredObjective>,
        /// The new budget; the outer `None` keeps it.
        token_budget: Option<Option<u64>>,
        /// The tail it goes over.
        over: Option<ResumedOver>,
        /// The prompt that should start the goal does not exist (X21).
        forget_first_message: bool,
    },
    /// The user paused it (R86).
    Paused,
    /// The user resumed it (R88, X16), perhaps with another budget.
    Resumed {
        /// The new budget; the outer `None` keeps it.
        token_budget: Option<Option<u64>>,
        /// The tail it goes over, if the session is idle.
        over: Option<ResumedOver>,
        /// The prompt that should start the goal does not exist (X21).
        forget_first_message: bool,
    },
    /// The user marked it complete (R87).
    MarkedComplete,
}

/// Makes a new, active goal with zeroed accounting (R84).
#[must_use]
pub fn create(new: NewGoal, now: Wall, limits: &Limits) -> Goal {
    let (objective, objective_file) = stored(new.objective, limits);
    Goal {
        id: new.id,
        objective,
        objective_file,
        status: Status::Active,
        token_budget: new.token_budget,
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
        created_at: now,
        updated_at: now,
        session_id: Some(new.session),
        continued_after: None,
        resumed_over: new.over,
        first_message: new.first_message,
        active_ms: 0,
        unknown: Unknown::default(),
    }
}

/// Applies a change to the freshly read goal. Everything the change does not speak of stays,
/// unknown fields included; `tokensUsed` never falls; `updatedAt` always grows.
#[must_use]
pub fn apply(goal: &Goal, change: Change, session: &SessionId, now: Wall, limits: &Limits) -> Goal {
    let mut next = touched(goal, session, now);
    match change {
        Change::Continued {
            ledger,
            tail,
            audited,
        } => {
            account(&mut next, ledger, audited, limits);
            next.turns_used = next.turns_used.saturating_add(1);
            next.status_reason.clear();
            next.continued_after = Some(ContinuedAfter {
                tail,
                at: next.updated_at,
            });
        }
        Change::Settled {
            settlement,
            ledger,
            audited,
        } => {
            account(&mut next, ledger, audited, limits);
            stop(&mut next, settlement.status(), &settlement.reason(), limits);
            next.audit_fail_streak = 0;
        }
        Change::LoopPaused {
            cause,
            ledger,
            audited,
        } => {
            let ledger = ledger.unwrap_or_else(|| Ledger::of(goal));
            account(&mut next, ledger, audited, limits);
            stop(&mut next, Status::Paused, cause.reason(), limits);
        }
        Change::Refunded => {
            if next.continued_after.take().is_some() {
                next.turns_used = next.turns_used.saturating_sub(1);
            }
        }
        Change::ReloadUndone { over } => {
            next.status = Status::Active;
            next.status_reason.clear();
            next.resumed_over = Some(over);
        }
        Change::Edited {
            objective,
            token_budget,
            over,
            forget_first_message,
        } => {
            if let Some(objective) = objective {
                (next.objective, next.objective_file) = stored(objective, limits);
            }
            go_on(&mut next, token_budget, over, forget_first_message);
        }
        Change::Paused => stop(&mut next, Status::Paused, "", limits),
        Change::Resumed {
            token_budget,
            over,
            forget_first_message,
        } => {
            next.turns_used = 0;
            next.audit_fail_streak = 0;
            go_on(&mut next, token_budget, over, forget_first_message);
        }
        Change::MarkedComplete => stop(&mut next, Status::Complete, MARKED, limits),
    }
    next
}

/// Whether a budget is spent: such a goal cannot be active (X16).
#[must_use]
pub fn budget_spent(goal: &Goal, token_budget: Option<Option<u64>>) -> bool {
    token_budget
        .unwrap_or(goal.token_budget)
        .is_some_and(|budget| goal.tokens_used >= budget)
}

/// What every write changes: times, the owner, and the step record, which is carried along by all
/// writes but those that end or begin it (X6, X11, X17).
fn touched(goal: &Goal, session: &SessionId, now: Wall) -> Goal {
    let mut next = goal.clone();
    next.active_ms = goal.active_ms_at(now);
    next.updated_at = Wall(now.0.max(goal.updated_at.0.saturating_add(1)));
    next.session_id.get_or_insert_with(|| session.clone());
    next.continued_after = goal.valid_step().map(|step| ContinuedAfter {
        tail: step.tail.clone(),
        at: next.updated_at,
    });
    next
}

fn account(next: &mut Goal, ledger: Ledger, audited: Option<Audited>, limits: &Limits) {
    next.tokens_baseline = ledger.baseline;
    next.tokens_committed = ledger.committed;
    next.tokens_used = next.tokens_used.max(ledger.used);
    next.last_accounted = ledger.cursor;
    if let Some(audited) = audited {
        next.blocked_streak = audited.blocked_streak;
        next.audit_fail_streak = audited.audit_fail_streak;
        if let Some(note) = audited.note {
            next.note = text::clamp_owned(note, limits.note_max);
        }
        next.evaluation = audited.evaluation.or(next.evaluation.take());
    }
}

fn stop(next: &mut Goal, status: Status, reason: &str, limits: &Limits) {
    next.status = status;
    next.status_reason = text::clamp(reason, limits.reason_max).to_owned();
    next.blocked_streak = 0;
    next.continued_after = None;
    next.resumed_over = None;
}

fn go_on(
    next: &mut Goal,
    token_budget: Option<Option<u64>>,
    over: Option<ResumedOver>,
    forget_first_message: bool,
) {
    next.token_budget = token_budget.unwrap_or(next.token_budget);
    next.blocked_streak = 0;
    next.continued_after = None;
    next.resumed_over = over;
    if forget_first_message {
        next.first_message = None;
    }
    if budget_spent(next, None) {
        next.status = Status::BudgetLimited;
        next.status_reason = Settlement::BudgetLimited.reason();
        next.resumed_over = None;
    } else {
        next.status = Status::Active;
        RESUMED.clone_into(&mut next.status_reason);
    }
}

fn stored(objective: StoredObjective, limits: &Limits) -> (String, bool) {
    match objective {
        StoredObjective::File => (String::new(), true),
        StoredObjective::Inline(text) => (text::clamp_owned(text, limits.objective_max), false),
    }
}
