//! What the user is told when a goal ends or waits: codes and arguments, no words (X17, X22).

use crate::decision::{PauseCause, Settlement, Why};
use crate::goal::Goal;
use crate::snapshot::RequestKind;
use crate::text;

/// UTF-16 units of the objective in a notice (§4.1).
pub const OBJECTIVE_MAX: usize = 140;

/// UTF-16 units of a notice's body in all (§4.1).
pub const BODY_MAX: usize = 240;

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub code: NoticeCode,
    /// The objective's beginning, as text.
    pub objective: String,
    /// The reason or note, as text; may be empty.
    pub detail: String,
}

/// The closed list of what is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeCode {
    /// Verified by the audit.
    GoalComplete,
    /// It cannot go on without the user.
    GoalBlocked,
    /// The budget is spent.
    GoalBudgetLimited,
    /// A brake of the loop paused it.
    GoalPaused,
    /// A tool asks for permission.
    WaitingForPermission,
    /// The agent asks a question.
    WaitingForAnswer,
    /// Prompts are not taken up.
    Stalled,
    /// A turn ended in a session without an active goal.
    TurnReady,
    /// A turn failed in such a session.
    TurnFailed,
}

/// Which setting silences a notice (X22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeGate {
    /// `notifyOnCompletion`.
    Completion,
    /// `notifyOnQuestion`.
    Question,
    /// `notifyOnError`.
    Error,
}

impl NoticeCode {
    /// Every code.
    pub const ALL: [Self; 9] = [
        Self::GoalComplete,
        Self::GoalBlocked,
        Self::GoalBudgetLimited,
        Self::GoalPaused,
        Self::WaitingForPermission,
        Self::WaitingForAnswer,
        Self::Stalled,
        Self::TurnReady,
        Self::TurnFailed,
    ];

    /// The code as text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GoalComplete => "goalComplete",
            Self::GoalBlocked => "goalBlocked",
            Self::GoalBudgetLimited => "goalBudgetLimited",
            Self::GoalPaused => "goalPaused",
            Self::WaitingForPermission => "waitingForPermission",
            Self::WaitingForAnswer => "waitingForAnswer",
            Self::Stalled => "stalled",
            Self::TurnReady => "turnReady",
            Self::TurnFailed => "turnFailed",
        }
    }

    /// The setting that silences it.
    #[must_use]
    pub fn gate(self) -> NoticeGate {
        match self {
            Self::GoalComplete
            | Self::GoalBlocked
            | Self::GoalBudgetLimited
            | Self::GoalPaused
            | Self::TurnReady => NoticeGate::Completion,
            Self::WaitingForPermission | Self::WaitingForAnswer | Self::Stalled => {
                NoticeGate::Question
            }
            Self::TurnFailed => NoticeGate::Error,
        }
    }
}

/// The one notice of an ending: the reason, unless it is the routine one; then the note (§4.1).
#[must_use]
pub fn of_settlement(settlement: &Settlement, written: &Goal, objective: &str) -> Notice {
    let (code, detail) = match settlement {
        Settlement::Complete => (NoticeCode::GoalComplete, written.note.as_str()),
        Settlement::Blocked(_) => (NoticeCode::GoalBlocked, written.status_reason.as_str()),
        Settlement::BudgetLimited => (
            NoticeCode::GoalBudgetLimited,
            written.status_reason.as_str(),
        ),
    };
    notice(code, objective, detail)
}

/// The notice of a pause that the loop made by itself; other pauses raise none.
#[must_use]
pub fn of_pause(cause: PauseCause, objective: &str) -> Option<Notice> {
    cause
        .is_told()
        .then(|| notice(NoticeCode::GoalPaused, objective, cause.reason()))
}

/// The notice of a wait that needs the user; other waits raise none.
#[must_use]
pub fn of_wait(why: &Why, objective: &str) -> Option<Notice> {
    let (code, detail) = match why {
        Why::WaitingForYou(request) => match request.kind {
            RequestKind::Permission => (NoticeCode::WaitingForPermission, request.subject.as_str()),
            RequestKind::Question => (NoticeCode::WaitingForAnswer, request.subject.as_str()),
        },
        Why::Stalled => (NoticeCode::Stalled, ""),
        Why::Disabled
        | Why::Gone
        | Why::NoGoal
        | Why::Inherited
        | Why::NotActive(_)
        | Why::NeedsClick
        | Why::Busy
        | Why::ProviderRetries
        | Why::SubagentBusy(_)
        | Why::FirstMessageMissing { .. }
        | Why::Rewound
        | Why::ObjectiveMissing
        | Why::NoAssistantYet
        | Why::UserPending
        | Why::WithinGrace { .. }
        | Why::Patience { .. } => return None,
    };
    Some(notice(code, objective, detail))
}

fn notice(code: NoticeCode, objective: &str, detail: &str) -> Notice {
    let objective = text::clamp(&text::collapse_whitespace(objective), OBJECTIVE_MAX).to_owned();
    let left = BODY_MAX.saturating_sub(text::utf16_len(&objective));
    let detail = text::clamp(&text::collapse_whitespace(detail), left).to_owned();
    Notice {
        code,
        objective,
        detail,
    }
}
