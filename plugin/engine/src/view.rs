//! What a person is shown of a goal: where it stands, what it does now, and until when.

use goal_core::decision::Why;
use goal_core::goal::{Goal, SessionId};
use goal_core::time::Wall;

/// A goal as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalView {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Its folder.
    pub directory: String,
    /// The goal as stored.
    pub goal: Goal,
    /// What it does now.
    pub phase: Phase,
    /// Why it rests, as a code; empty where the phase says it all.
    pub why: String,
    /// What the wait is about: a sub-agent's id, what a request asks for, an error's text.
    pub detail: String,
    /// Since when it does this.
    pub since: Wall,
    /// When it is looked at next, if a time is set.
    pub next: Option<Wall>,
    /// Grows with every change of the view.
    pub seq: u64,
}

/// The closed list of phases (X9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The quiet window runs, or a short wait that ends by itself.
    Quiet,
    /// The server is being asked how the session stands.
    Checking,
    /// The auditor judges.
    Auditing,
    /// A continuation is written and sent.
    Continuing,
    /// The session works.
    Working,
    /// A sub-agent works.
    WaitingForSubagent,
    /// Something only the user can do is missing.
    WaitingForYou,
    /// The session is rewound.
    Rewound,
    /// The server cannot be asked; it is tried again.
    Retrying,
    /// Untouched for long: a click is asked for.
    NeedsClick,
    /// There is no objective text.
    ObjectiveMissing,
    /// Prompts are not taken up.
    Stalled,
    /// The goal is not active.
    Settled,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 13] = [
        Self::Quiet,
        Self::Checking,
        Self::Auditing,
        Self::Continuing,
        Self::Working,
        Self::WaitingForSubagent,
        Self::WaitingForYou,
        Self::Rewound,
        Self::Retrying,
        Self::NeedsClick,
        Self::ObjectiveMissing,
        Self::Stalled,
        Self::Settled,
    ];

    /// The phase's name on every wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Checking => "checking",
            Self::Auditing => "auditing",
            Self::Continuing => "continuing",
            Self::Working => "working",
            Self::WaitingForSubagent => "waitingForSubagent",
            Self::WaitingForYou => "waitingForYou",
            Self::Rewound => "rewound",
            Self::Retrying => "retrying",
            Self::NeedsClick => "needsClick",
            Self::ObjectiveMissing => "objectiveMissing",
            Self::Stalled => "stalled",
            Self::Settled => "settled",
        }
    }

    /// The phase of a rest.
    #[must_use]
    pub fn of_rest(why: &Why) -> Self {
        match why {
            Why::Busy | Why::ProviderRetries => Self::Working,
            Why::SubagentBusy(_) => Self::WaitingForSubagent,
            Why::Disabled
            | Why::WaitingForYou(_)
            | Why::FirstMessageMissing { .. }
            | Why::NoAssistantYet
            | Why::UserPending => Self::WaitingForYou,
            Why::Rewound => Self::Rewound,
            Why::NeedsClick => Self::NeedsClick,
            Why::ObjectiveMissing => Self::ObjectiveMissing,
            Why::Stalled => Self::Stalled,
            Why::WithinGrace { .. } | Why::Patience { .. } => Self::Quiet,
            Why::Gone | Why::NoGoal | Why::Inherited | Why::NotActive(_) => Self::Settled,
        }
    }
}

/// What a rest is about, for people: a sub-agent, a request's subject.
#[must_use]
pub fn detail_of(why: &Why) -> String {
    match why {
        Why::SubagentBusy(child) => child.to_string(),
        Why::WaitingForYou(request) => request.subject.clone(),
        Why::Disabled
        | Why::Gone
        | Why::NoGoal
        | Why::Inherited
        | Why::NotActive(_)
        | Why::NeedsClick
        | Why::Busy
        | Why::ProviderRetries
        | Why::FirstMessageMissing { .. }
        | Why::Rewound
        | Why::ObjectiveMissing
        | Why::NoAssistantYet
        | Why::UserPending
        | Why::WithinGrace { .. }
        | Why::Patience { .. }
        | Why::Stalled => String::new(),
    }
}
