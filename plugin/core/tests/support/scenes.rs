//! A session at rest, ready to be decided about.

use goal_core::decide::decide;
use goal_core::decision::Decision;
use goal_core::goal::{Goal, GoalId, RevertId, SessionId};
use goal_core::limits::Limits;
use goal_core::memory::Memory;
use goal_core::snapshot::{Activity, Reading, SessionFacts, Snapshot};
use goal_core::tail::{Tail, TailContext};
use goal_core::time::{Mono, Wall};
use goal_core::timeline::Timeline;

use super::goals;
use super::tails;

/// The moment of every decision here.
pub(crate) const NOW: Mono = Mono(10_000_000);

/// A session, its goal and what the engine remembers. Built by [`scene`], varied field by field.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) enabled: bool,
    pub(crate) parent: bool,
    pub(crate) archived: bool,
    pub(crate) inherited: bool,
    pub(crate) revert: Option<&'static str>,
    pub(crate) goal: Goal,
    pub(crate) activity: Activity,
    pub(crate) objective: bool,
    pub(crate) first_message_exists: bool,
    pub(crate) messages: String,
    pub(crate) memory: Memory,
    /// Milliseconds for which the tail has stood untouched.
    pub(crate) untouched: u64,
    pub(crate) limits: Limits,
}

/// A quiet session of which nothing happened for an hour.
pub(crate) fn scene(goal: &str, messages: &str) -> Scene {
    Scene {
        enabled: true,
        parent: false,
        archived: false,
        inherited: false,
        revert: None,
        goal: goals::goal(goal),
        activity: Activity::Quiet,
        objective: true,
        first_message_exists: true,
        messages: messages.to_owned(),
        memory: Memory::fresh(&GoalId::new("g1"), Wall(1)),
        untouched: 3_600_000,
        limits: Limits::DEFAULT,
    }
}

impl Scene {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The snapshot that the ladder sees.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let revert = self.revert.map(RevertId::new);
        let timeline = Timeline::new(tails::messages(&self.messages), revert.as_ref());
        let mut memory = self.memory.clone();
        let context = TailContext {
            goal: &self.goal,
            revert: revert.as_ref(),
            overflow_seen: memory.overflow_seen,
        };
        let began = Mono(NOW.0 - self.untouched);
        memory.observe(
            &Tail::read(&timeline, context),
            !self.first_message_exists,
            began,
        );
        let reading = Reading {
            enabled: self.enabled,
            session: SessionFacts {
                id: goals::session(),
                parent: self.parent.then(|| SessionId::new("ses_parent")),
                archived: self.archived,
                revert,
            },
            goal: self.goal.clone(),
            inherited: self.inherited,
            activity: self.activity.clone(),
            objective: self.objective.then(|| "Ship it".to_owned()),
            first_message_exists: self.first_message_exists,
            timeline,
        };
        Snapshot::take(reading, &mut memory, NOW)
    }

    /// What the ladder says.
    pub(crate) fn decide(&self) -> Decision {
        decide(&self.snapshot(), &self.limits)
    }
}
