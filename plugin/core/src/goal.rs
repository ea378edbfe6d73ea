//! A session goal: what is pursued, how far it came, and what each status allows.

use std::fmt;

use crate::time::Wall;

/// The largest integer that a JSON number carries exactly on every client (2^53 - 1).
pub const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

macro_rules! opaque_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes any text as an id; what it may hold is checked where it enters.
            #[must_use]
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as the server writes it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

opaque_id! {
    /// Identifies one *logical* goal. A replacement gets a new id; an edit keeps it (R5). Every
    /// late write names the id it was computed for and is dropped when the stored one differs.
    GoalId
}
opaque_id! {
    /// Identifies an OpenCode session.
    SessionId
}
opaque_id! {
    /// Identifies an OpenCode message.
    MessageId
}
opaque_id! {
    /// Identifies the point a session is rewound to, as the session names it.
    RevertId
}

/// Where a goal stands (R2). The spelling on the wire is [`Status::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The loop works on it.
    Active,
    /// The user, or a brake of ours, stopped it; Resume goes on.
    Paused,
    /// It cannot go on without the user; Resume tries again.
    Blocked,
    /// The token budget is spent; a larger one goes on.
    BudgetLimited,
    /// Verified by the audit, or marked by the user. Final.
    Complete,
}

impl Status {
    /// Every status, in the order a person meets them.
    pub const ALL: [Self; 5] = [
        Self::Active,
        Self::Paused,
        Self::Blocked,
        Self::BudgetLimited,
        Self::Complete,
    ];

    /// The exact spelling in the payload.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Blocked => "blocked",
            Self::BudgetLimited => "budgetLimited",
            Self::Complete => "complete",
        }
    }

    /// The status that is spelled so, or `None` for any other text (R3).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether Resume means something here: everything that stopped short of complete.
    #[must_use]
    pub fn can_resume(self) -> bool {
        match self {
            Self::Paused | Self::Blocked | Self::BudgetLimited => true,
            Self::Active | Self::Complete => false,
        }
    }
}

/// A model as OpenCode addresses it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRef {
    /// The provider's id, such as `anthropic`.
    pub provider: String,
    /// The model's id inside that provider.
    pub model: String,
}

/// The step record of X6: which tail the persisted continuation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuedAfter {
    /// The tail that the continuation follows.
    pub tail: MessageId,
    /// `updatedAt` of the write that recorded it. When the goal's own `updatedAt` is another,
    /// somebody wrote in between and the record no longer counts.
    pub at: Wall,
}

/// What an explicit Resume was made over (X12): it counts only while both ids still match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedOver {
    /// The tail at that moment, if there was one.
    pub tail: Option<MessageId>,
    /// The revert point at that moment, if the session was rewound.
    pub revert: Option<RevertId>,
}

/// Fields of the stored goal that this version does not know, as JSON text by name, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown(pub Vec<(String, String)>);

/// A session goal as stored in `session.metadata.openchamber.goal` (R2, X17).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Identity of the logical goal.
    pub id: GoalId,
    /// Inline objective; empty when the text lives in a file.
    pub objective: String,
    /// The objective lives in the file that belongs to the session.
    pub objective_file: bool,
    /// Where it stands.
    pub status: Status,
    /// Tokens it may use, if limited; at least 1.
    pub token_budget: Option<u64>,
    /// Committed tokens plus the current segment; never falls.
    pub tokens_used: u64,
    /// Snapshot at the start of the current segment.
    pub tokens_baseline: u64,
    /// Sum of the closed segments, one per compaction.
    pub tokens_committed: u64,
    /// Automatic continuations sent since the last Resume.
    pub turns_used: u32,
    /// Blocked verdicts in a row.
    pub blocked_streak: u32,
    /// Failed audits in a row.
    pub audit_fail_streak: u32,
    /// Latest progress note of the audit; at most 280 UTF-16 units.
    pub note: String,
    /// Why it stands where it stands, canonical English; at most 200 UTF-16 units.
    /// The literal [`RESUMED`] asks the loop to start.
    pub status_reason: String,
    /// Model of the latest successful audit.
    pub evaluation: Option<ModelRef>,
    /// The newest message whose tokens are accounted.
    pub last_accounted: Option<MessageId>,
    /// When it was created.
    pub created_at: Wall,
    /// When it was last written.
    pub updated_at: Wall,
    /// The session it was made for; missing in goals of other clients.
    pub session_id: Option<SessionId>,
    /// The persisted continuation, until it is known to be sent.
    pub continued_after: Option<ContinuedAfter>,
    /// What the latest Resume was made over.
    pub resumed_over: Option<ResumedOver>,
    /// The prompt that starts the goal, where one does (X21).
    pub first_message: Option<MessageId>,
    /// Milliseconds spent active up to the latest write (X17).
    pub active_ms: u64,
    /// Everything else that stood in the payload.
    pub unknown: Unknown,
}

/// The `statusReason` by which any client asks a running loop to start at once (R2).
pub const RESUMED: &str = "resumed";

impl Goal {
    /// Whether the latest write was a Resume that no continuation has consumed yet.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.status_reason == RESUMED
    }

    /// The persisted step, if no other write came after it (X6).
    #[must_use]
    pub fn valid_step(&self) -> Option<&ContinuedAfter> {
        self.continued_after
            .as_ref()
            .filter(|step| step.at == self.updated_at && self.status_reason.is_empty())
    }

    /// The prompt that has to exist before anything is done for the goal (X21). Where a turn was
    /// accounted or continued it did exist: that it is rewound later takes nothing back (X14).
    #[must_use]
    pub fn awaited_prompt(&self) -> Option<&MessageId> {
        let begun = self.last_accounted.is_some() || self.turns_used > 0;
        self.first_message.as_ref().filter(|_| !begun)
    }

    /// Whether nothing was done for the goal yet: no turn is accounted or continued, and nobody
    /// resumed it.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.last_accounted.is_none() && self.turns_used == 0 && !self.is_resumed()
    }

    /// Whether Resume was made over exactly this tail and revert point (X12).
    #[must_use]
    pub fn resumed_over(&self, tail: Option<&MessageId>, revert: Option<&RevertId>) -> bool {
        self.resumed_over
            .as_ref()
            .is_some_and(|over| over.tail.as_ref() == tail && over.revert.as_ref() == revert)
    }

    /// Milliseconds the goal was active up to `now`: the stored sum and, while it is active, the
    /// span since the latest write (X17), if that is known.
    #[must_use]
    pub fn active_ms_at(&self, now: Wall) -> u64 {
        match self.status {
            Status::Active if self.updated_at > Wall(0) => self
                .active_ms
                .saturating_add(now.0.saturating_sub(self.updated_at.0)),
            Status::Active
            | Status::Paused
            | Status::Blocked
            | Status::BudgetLimited
            | Status::Complete => self.active_ms,
        }
    }
}
