//! What becomes of an occurrence: every way has its name.

use std::fmt;

/// Names a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

impl TaskId {
    /// A task's id as it is stored.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id of a new task, made from random bytes.
    #[must_use]
    pub fn drawn(random: [u8; 16]) -> Self {
        let number = u128::from_be_bytes(random) >> 64;
        Self(format!("task_{number:016x}"))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a run stands, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It waits for others to end.
    Queued,
    /// Its session is being made.
    Starting,
    /// Its goal is pursued, or its prompt answered.
    Running,
    /// Its goal is paused: it goes on with a Resume.
    Paused,
    /// Its goal was found to be reached.
    Complete,
    /// Its goal was found to be blocked.
    Blocked,
    /// Its goal's budget is spent.
    BudgetLimited,
    /// Its goal was taken out of the session.
    Cleared,
    /// Another goal took the place of its own.
    Replaced,
    /// Without a goal: the prompt was answered, and the session rests.
    Answered,
    /// Its session was deleted.
    Removed,
    /// It could not be started.
    Failed,
    /// The process that had it ended before the session was there; it is not repeated.
    Interrupted,
    /// Nobody could look after it for too long.
    Lost,
    /// The task's last run had not ended: nothing was started.
    Skipped,
    /// Nobody was there when it was due: nothing was started.
    Missed,
}

impl RunState {
    /// Every one.
    pub const ALL: [Self; 16] = [
        Self::Queued,
        Self::Starting,
        Self::Running,
        Self::Paused,
        Self::Complete,
        Self::Blocked,
        Self::BudgetLimited,
        Self::Cleared,
        Self::Replaced,
        Self::Answered,
        Self::Removed,
        Self::Failed,
        Self::Interrupted,
        Self::Lost,
        Self::Skipped,
        Self::Missed,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Complete => "complete",
            Self::Blocked => "blocked",
            Self::BudgetLimited => "budgetLimited",
            Self::Cleared => "cleared",
            Self::Replaced => "replaced",
            Self::Answered => "answered",
            Self::Removed => "removed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Lost => "lost",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
        }
    }

    /// The one with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether it has not ended: the task's next occurrence is skipped.
    #[must_use]
    pub fn is_live(self) -> bool {
        match self {
            Self::Queued | Self::Starting | Self::Running | Self::Paused => true,
            Self::Complete
            | Self::Blocked
            | Self::BudgetLimited
            | Self::Cleared
            | Self::Replaced
            | Self::Answered
            | Self::Removed
            | Self::Failed
            | Self::Interrupted
            | Self::Lost
            | Self::Skipped
            | Self::Missed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_found_by_its_name_alone() {
        for state in RunState::ALL {
            assert_eq!(RunState::named(state.name()), Some(state));
        }
        assert_eq!(RunState::named("Queued"), None);
    }

    #[test]
    fn drawn_ids_follow_their_randomness() {
        let mut random = [0; 16];
        let first = TaskId::drawn(random);
        assert_eq!(first.as_str(), "task_0000000000000000");
        random[7] = 1;
        assert_eq!(TaskId::drawn(random).as_str(), "task_0000000000000001");
        random[0] = 255;
        assert_eq!(TaskId::drawn(random).as_str(), "task_ff00000000000001");
    }
}
