//! What a cycle comes to: a value, never a bare return.

use crate::goal::{SessionId, Status};
use crate::prompt::Occasion;
use crate::snapshot::Request;
use crate::tail::UNNAMED_FAILURE;
use crate::time::Mono;

/// What to do about a session now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing, for this reason.
    Rest(Why),
    /// Something could not be read or written; unknown is not empty (R26).
    Recheck(Unknown),
    /// Pause the goal.
    Pause(PauseCause),
    /// End the goal.
    Settle(Settlement),
    /// Ask the auditor.
    Audit,
    /// Prompt the agent.
    Continue(Prompting),
}

/// Why nothing is done (the named waits of X9 and the rungs of X23).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Session goals are switched off.
    Disabled,
    /// A healthy server does not know the session.
    Gone,
    /// The session has no goal.
    NoGoal,
    /// The goal was made for another session, or sits on a sub-agent.
    Inherited,
    /// The goal is not active.
    NotActive(Status),
    /// Untouched for long: a click is asked for.
    NeedsClick,
    /// The session works.
    Busy,
    /// The session's provider fails and OpenCode tries again.
    ProviderRetries,
    /// A sub-agent works.
    SubagentBusy(SessionId),
    /// A permission or an answer of the user is asked for.
    WaitingForYou(Request),
    /// The prompt that starts the goal does not exist yet.
    FirstMessageMissing {
        /// When the wait ends in a pause.
        until: Mono,
    },
    /// The session is rewound.
    Rewound,
    /// There is no objective text.
    ObjectiveMissing,
    /// No assistant message yet: there is no model to go on with.
    NoAssistantYet,
    /// A person's message was not answered.
    UserPending,
    /// The newest message never ended; perhaps it still will.
    WithinGrace {
        /// When it counts as cut off.
        until: Mono,
    },
    /// The distance between continuations, or the wait over an empty turn.
    Patience {
        /// When it ends.
        until: Mono,
    },
    /// Prompts are not taken up; nothing is sent until a Resume or a reconnection.
    Stalled,
}

/// What could not be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The session.
    Session,
    /// The status map.
    Status,
    /// The sub-agents.
    Children,
    /// Open permission requests and questions.
    Requests,
    /// The messages.
    Messages,
    /// Whether a write took effect.
    Write,
    /// Whether a prompt took effect.
    Prompt,
}

/// Why the loop pauses a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseCause {
    /// Somebody stopped the turn.
    Aborted,
    /// The user refused a request.
    Declined,
    /// The session was archived.
    Archived,
    /// The prompt that starts the goal never came.
    FirstMessageMissing,
    /// One compaction after another without work between.
    ContextTooSmall,
    /// The audit says the same again and again.
    NoProgress,
}

/// How a goal ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The audit verified it.
    Complete,
    /// It cannot go on.
    Blocked(BlockedCause),
    /// The token budget is spent.
    BudgetLimited,
}

/// Why a goal cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockedCause {
    /// The turn failed: "name: provider's text".
    TurnFailed {
        /// The error as recorded; may be empty.
        reason: String,
    },
    /// The automatic continuations are used up.
    Cap,
    /// The reply was cut off twice in a row.
    RepeatedTruncation,
    /// The auditor said so three times in a row.
    ByAudit {
        /// Its note.
        note: String,
    },
    /// The audit failed twice in a row.
    AuditUnavailable,
    /// The agent answered with nothing, again and again.
    EmptyReplies,
    /// No assistant message names a model to continue with.
    NoModel,
    /// The server refused the prompt.
    PromptRefused {
        /// Its text.
        text: String,
    },
}

/// Which prompt is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompting {
    /// A new continuation: counted and persisted first.
    New(Occasion),
    /// The persisted continuation that was never sent (X6).
    Finish,
    /// The sent continuation that nothing answered, under the same ids (X18).
    Resend,
}

impl Prompting {
    /// Its code: why the agent is prompted.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::New(occasion) => match occasion {
                Occasion::Progress => "progress",
                Occasion::Interrupted => "interrupted",
                Occasion::Truncated => "truncated",
                Occasion::Compacted => "compacted",
                Occasion::Resumed => "resumed",
                Occasion::ObjectiveEdited => "objectiveEdited",
                Occasion::EmptyReply => "emptyReply",
                Occasion::Unaudited => "unaudited",
            },
            Self::Finish => "finish",
            Self::Resend => "resend",
        }
    }
}

impl PauseCause {
    /// The canonical English reason that is stored (X17).
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Aborted => "paused after the turn was stopped",
            Self::Declined => "paused after you declined a request",
            Self::Archived => "session archived",
            Self::FirstMessageMissing => "the first message of the goal never arrived",
            Self::ContextTooSmall => "context too small",
            Self::NoProgress => "no progress",
        }
    }

    /// Its code, for texts in the user's language.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::Declined => "declined",
            Self::Archived => "archived",
            Self::FirstMessageMissing => "firstMessageMissing",
            Self::ContextTooSmall => "contextTooSmall",
            Self::NoProgress => "noProgress",
        }
    }

    /// Whether the loop made it by itself and the user hears of it (X22).
    #[must_use]
    pub fn is_told(self) -> bool {
        match self {
            Self::ContextTooSmall | Self::NoProgress | Self::FirstMessageMissing => true,
            Self::Aborted | Self::Declined | Self::Archived => false,
        }
    }
}

impl Settlement {
    /// The status it leads to.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Complete => Status::Complete,
            Self::Blocked(_) => Status::Blocked,
            Self::BudgetLimited => Status::BudgetLimited,
        }
    }

    /// The canonical English reason that is stored, not clamped yet (R49-R51, R55, R66-R69).
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Complete => "verified by audit".to_owned(),
            Self::BudgetLimited => "token budget reached".to_owned(),
            Self::Blocked(cause) => cause.reason(),
        }
    }

    /// Its code, for texts in the user's language.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::BudgetLimited => "budgetLimited",
            Self::Blocked(cause) => cause.code(),
        }
    }
}

impl BlockedCause {
    fn reason(&self) -> String {
        let or = |text: &str, generic: &str| {
            if text.trim().is_empty() {
                generic.to_owned()
            } else {
                text.trim().to_owned()
            }
        };
        match self {
            Self::TurnFailed { reason } => or(reason, UNNAMED_FAILURE),
            Self::Cap => "auto-continuation limit reached".to_owned(),
            Self::RepeatedTruncation => "repeated output truncation".to_owned(),
            Self::ByAudit { note } => or(note, "the audit found the goal blocked"),
            Self::AuditUnavailable => "progress audit unavailable".to_owned(),
            Self::EmptyReplies => "empty replies".to_owned(),
            Self::NoModel => "no model to continue with".to_owned(),
            Self::PromptRefused { text } => or(text, "the server refused the prompt"),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::TurnFailed { .. } => "turnFailed",
            Self::Cap => "cap",
            Self::RepeatedTruncation => "repeatedTruncation",
            Self::ByAudit { .. } => "blockedByAudit",
            Self::AuditUnavailable => "auditUnavailable",
            Self::EmptyReplies => "emptyReplies",
            Self::NoModel => "noModel",
            Self::PromptRefused { .. } => "promptRefused",
        }
    }
}

impl Why {
    /// Its code: the answer to "why does nothing happen?".
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Gone => "gone",
            Self::NoGoal => "noGoal",
            Self::Inherited => "inherited",
            Self::NotActive(status) => status.name(),
            Self::NeedsClick => "needsClick",
            Self::Busy => "busy",
            Self::ProviderRetries => "providerRetries",
            Self::SubagentBusy(_) => "subagentBusy",
            Self::WaitingForYou(_) => "waitingForYou",
            Self::FirstMessageMissing { .. } => "firstMessageMissing",
            Self::Rewound => "rewound",
            Self::ObjectiveMissing => "objectiveMissing",
            Self::NoAssistantYet => "noAssistantYet",
            Self::UserPending => "userPending",
            Self::WithinGrace { .. } => "withinGrace",
            Self::Patience { .. } => "patience",
            Self::Stalled => "stalled",
        }
    }

    /// When the wait ends by itself, if it does.
    #[must_use]
    pub fn until(&self) -> Option<Mono> {
        match self {
            Self::FirstMessageMissing { until }
            | Self::WithinGrace { until }
            | Self::Patience { until } => Some(*until),
            Self::Disabled
            | Self::Gone
            | Self::NoGoal
            | Self::Inherited
            | Self::NotActive(_)
            | Self::NeedsClick
            | Self::Busy
            | Self::ProviderRetries
            | Self::SubagentBusy(_)
            | Self::WaitingForYou(_)
            | Self::Rewound
            | Self::ObjectiveMissing
            | Self::NoAssistantYet
            | Self::UserPending
            | Self::Stalled => None,
        }
    }
}

impl Unknown {
    /// Its code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Session => "sessionUnknown",
            Self::Status => "statusUnknown",
            Self::Children => "childrenUnknown",
            Self::Requests => "requestsUnknown",
            Self::Messages => "messagesUnknown",
            Self::Write => "writeUnknown",
            Self::Prompt => "promptUnknown",
        }
    }
}
