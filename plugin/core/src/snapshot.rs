//! All that one decision may look at, gathered at one moment.

use crate::accounting::{self, Ledger};
use crate::evidence::Voice;
use crate::goal::{Goal, RevertId, SessionId};
use crate::memory::Memory;
use crate::tail::{self, Tail, TailContext};
use crate::time::Mono;
use crate::timeline::Timeline;

/// A session as the server describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFacts {
    /// Its id.
    pub id: SessionId,
    /// The session it is a sub-agent of.
    pub parent: Option<SessionId>,
    /// It was put away.
    pub archived: bool,
    /// The point it is rewound to.
    pub revert: Option<RevertId>,
}

/// Whether anybody works in the session, or waits for the user (R24, R25, X15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nobody does.
    Quiet,
    /// The session itself works.
    Busy,
    /// The session's provider fails and OpenCode tries again.
    Retrying,
    /// A sub-agent works.
    SubagentBusy(SessionId),
    /// A permission request or a question is open while its session is busy.
    WaitingForYou(Request),
}

/// What the user is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Permission or question.
    pub kind: RequestKind,
    /// Its id, so that it is told once.
    pub id: String,
    /// What it is about, as the server puts it: a tool's name or a question's text.
    pub subject: String,
}

/// The two kinds of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A tool wants to run.
    Permission,
    /// The agent asks something.
    Question,
}

/// What the gates between the reads may look at; the rungs of [`crate::decide`] before activity.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    /// The setting `sessionGoalEnabled`.
    pub enabled: bool,
    /// The session; `None` when a healthy server says that there is none.
    pub session: Option<&'a SessionFacts>,
    /// Its goal, if it has one.
    pub goal: Option<&'a Goal>,
    /// The goal was made for another session (X11).
    pub inherited: bool,
    /// The goal waits for a click after a long sleep (X10).
    pub stale: bool,
}

/// Everything a decision looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The setting `sessionGoalEnabled`.
    pub enabled: bool,
    /// The session.
    pub session: SessionFacts,
    /// Its goal.
    pub goal: Goal,
    /// The goal was made for another session (X11).
    pub inherited: bool,
    /// Who works.
    pub activity: Activity,
    /// The effective objective (R9), if there is one.
    pub objective: Option<String>,
    /// The prompt that starts the goal exists, did so once, or none is expected (X21).
    pub first_message_exists: bool,
    /// The messages.
    pub timeline: Timeline,
    /// How the session came to rest.
    pub tail: Tail,
    /// The accounting including the newest turn.
    pub ledger: Ledger,
    /// Whom a continuation addresses.
    pub voice: Option<Voice>,
    /// What the engine remembers, the tail's observation included.
    pub memory: Memory,
    /// The moment of the observation.
    pub now: Mono,
}

/// What was read for a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The setting `sessionGoalEnabled`.
    pub enabled: bool,
    /// The session.
    pub session: SessionFacts,
    /// Its goal.
    pub goal: Goal,
    /// The goal was made for another session (X11).
    pub inherited: bool,
    /// Who works.
    pub activity: Activity,
    /// The effective objective (R9), if there is one.
    pub objective: Option<String>,
    /// The prompt that starts the goal exists, or none is expected (X21).
    pub first_message_exists: bool,
    /// The messages.
    pub timeline: Timeline,
}

impl Snapshot {
    /// Classifies and accounts what was read, and lets `memory` observe it.
    #[must_use]
    pub fn take(reading: Reading, memory: &mut Memory, now: Mono) -> Self {
        let context = TailContext {
            goal: &reading.goal,
            revert: reading.session.revert.as_ref(),
            overflow_seen: memory.overflow_seen,
        };
        let tail = Tail::read(&reading.timeline, context);
        if let Some(newest) = reading.timeline.messages().last() {
            memory.begin(if memory.seen_to_begin {
                accounting::pre_goal_end(&reading.goal, &reading.timeline)
            } else {
                newest.created
            });
        }
        memory.observe_human(tail::newest_human_prompt(&reading.timeline, context));
        let first_message_exists = reading.first_message_exists || memory.first_seen;
        memory.observe(&tail, !first_message_exists, now);
        Self {
            tail,
            ledger: accounting::fold(&reading.goal, &reading.timeline),
            voice: Voice::of(&reading.timeline),
            memory: memory.clone(),
            now,
            enabled: reading.enabled,
            session: reading.session,
            goal: reading.goal,
            inherited: reading.inherited,
            activity: reading.activity,
            objective: reading.objective,
            first_message_exists,
            timeline: reading.timeline,
        }
    }

    /// The gates' view of it.
    #[must_use]
    pub fn gate(&self) -> Gate<'_> {
        Gate {
            enabled: self.enabled,
            session: Some(&self.session),
            goal: Some(&self.goal),
            inherited: self.inherited,
            stale: self.memory.stale,
        }
    }

    /// Whether an explicit Resume was made over exactly this tail and revert point (X12).
    #[must_use]
    pub fn resumed_over_tail(&self) -> bool {
        self.goal
            .resumed_over(self.tail.id.as_ref(), self.session.revert.as_ref())
    }
}
