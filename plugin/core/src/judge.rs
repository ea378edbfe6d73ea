//! After the audit: streaks, and what the verdict leads to (R64-R73, X20).

use crate::decision::{BlockedCause, Decision, PauseCause, Prompting, Settlement};
use crate::evidence::Evidence;
use crate::goal::{Goal, ModelRef};
use crate::limits::Limits;
use crate::memory::Memory;
use crate::prompt::Occasion;
use crate::verdict::{Verdict, VerdictKind};

/// What the auditor came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditOutcome {
    /// A verdict, its note already guarded, and the model that gave it.
    Verdict {
        /// The verdict.
        verdict: Verdict,
        /// The model that gave it.
        model: ModelRef,
    },
    /// No verdict (R69).
    Failed(AuditFailure),
}

/// Why an audit gave no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditFailure {
    /// No auditor model could be resolved.
    NoModel,
    /// The server could not be reached, even on the last try.
    Connection,
    /// The deadline passed.
    Timeout,
    /// The provider failed and OpenCode gave up.
    Provider,
    /// Two replies in a row were no verdict.
    Unparsable,
}

impl AuditFailure {
    /// Its code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NoModel => "noModel",
            Self::Connection => "connection",
            Self::Timeout => "timeout",
            Self::Provider => "provider",
            Self::Unparsable => "unparsable",
        }
    }
}

/// What an audit changes in the goal, whatever is decided from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Blocked verdicts in a row.
    pub blocked_streak: u32,
    /// Failed audits in a row.
    pub audit_fail_streak: u32,
    /// The new note; `None` keeps the stored one (R73).
    pub note: Option<String>,
    /// The model of a successful audit; `None` keeps the stored one (R72).
    pub evaluation: Option<ModelRef>,
}

/// Turns an audit's outcome into a decision, and counts it in `memory`.
#[must_use]
pub fn judge(
    goal: &Goal,
    evidence: &Evidence,
    outcome: &AuditOutcome,
    memory: &mut Memory,
    limits: &Limits,
) -> (Decision, Audited) {
    match outcome {
        AuditOutcome::Failed(_) => failed(goal, limits),
        AuditOutcome::Verdict { verdict, model } => {
            let repeats = memory.count_audit(&verdict.note, &evidence.tools);
            let blocked_streak = match verdict.kind {
                VerdictKind::Blocked => goal.blocked_streak.saturating_add(1),
                VerdictKind::Continue | VerdictKind::Complete => 0,
            };
            let audited = Audited {
                blocked_streak,
                audit_fail_streak: 0,
                note: Some(verdict.note.clone()).filter(|note| !note.is_empty()),
                evaluation: Some(model.clone()),
            };
            let stuck = limits.repeat_max > 0 && repeats >= limits.repeat_max;
            let decision = match verdict.kind {
                VerdictKind::Complete => Decision::Settle(Settlement::Complete),
                VerdictKind::Blocked if blocked_streak >= limits.blocked_max => {
                    let cause = BlockedCause::ByAudit {
                        note: verdict.note.clone(),
                    };
                    Decision::Settle(Settlement::Blocked(cause))
                }
                VerdictKind::Blocked | VerdictKind::Continue if stuck => {
                    Decision::Pause(PauseCause::NoProgress)
                }
                VerdictKind::Blocked | VerdictKind::Continue => {
                    Decision::Continue(Prompting::New(Occasion::Progress))
                }
            };
            (decision, audited)
        }
    }
}

/// One failed audit is tolerated; a failure is no blocked verdict (R68, R69).
fn failed(goal: &Goal, limits: &Limits) -> (Decision, Audited) {
    let audit_fail_streak = goal.audit_fail_streak.saturating_add(1);
    let audited = Audited {
        blocked_streak: 0,
        audit_fail_streak,
        note: None,
        evaluation: None,
    };
    let decision = if audit_fail_streak >= limits.audit_fail_max {
        Decision::Settle(Settlement::Blocked(BlockedCause::AuditUnavailable))
    } else {
        Decision::Continue(Prompting::New(Occasion::Unaudited))
    };
    (decision, audited)
}
