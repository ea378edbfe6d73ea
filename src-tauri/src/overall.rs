//! How all goals stand, in one word and one line. Pure.

use tauri_plugin_goal::models::GoalView;

use crate::words::Words;

/// How all goals stand: what a person would want to know first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// None is pursued.
    Idle,
    /// Some are pursued.
    Active,
    /// One that is pursued waits for the user.
    Waiting,
    /// One is blocked, and none waits.
    Blocked,
}

/// How many goals stand how. Each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overall {
    active: usize,
    waiting: usize,
    blocked: usize,
}

impl Overall {
    /// How `goals` stand.
    pub(crate) fn of(goals: &[GoalView]) -> Self {
        let mut overall = Self::default();
        for goal in goals {
            match (goal.status, goal.phase) {
                ("active", "waitingForYou" | "needsClick") => overall.waiting += 1,
                ("active", _) => overall.active += 1,
                ("blocked", _) => overall.blocked += 1,
                (_, _) => {}
            }
        }
        overall
    }

    /// In one word.
    pub(crate) fn state(self) -> State {
        match self {
            Self { waiting: 1.., .. } => State::Waiting,
            Self { blocked: 1.., .. } => State::Blocked,
            Self { active: 1.., .. } => State::Active,
            Self { .. } => State::Idle,
        }
    }

    /// In one line.
    pub(crate) fn line(self, words: &Words) -> String {
        let counts = [
            ("tray.waiting", self.waiting),
            ("tray.active", self.active),
            ("tray.blocked", self.blocked),
        ];
        let parts: Vec<String> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(key, count)| words.counted(key, count))
            .collect();
        if parts.is_empty() {
            words.text("tray.idle")
        } else {
            parts.join(" · ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(status: &'static str, phase: &'static str) -> GoalView {
        GoalView {
            session_id: String::new(),
            title: String::new(),
            directory: String::new(),
            goal_id: String::new(),
            objective: None,
            status,
            reason: String::new(),
            note: String::new(),
            phase,
            why: String::new(),
            detail: String::new(),
            since: 0,
            next: None,
            tokens_used: 0,
            token_budget: None,
            turns_used: 0,
            turns_max: 0,
            blocked_streak: 0,
            audit_fail_streak: 0,
            audited_by: None,
            created_at: 0,
            updated_at: 0,
            active_ms: 0,
            at: 0,
            seq: 0,
        }
    }

    #[test]
    fn what_wants_the_user_comes_before_what_goes_on() {
        let (working, waiting) = (goal("active", "working"), goal("active", "waitingForYou"));
        let (blocked, done) = (goal("blocked", "settled"), goal("complete", "settled"));
        let words = Words::of("en");
        for (goals, state, line) in [
            (vec![], State::Idle, "No active goals"),
            (vec![done.clone()], State::Idle, "No active goals"),
            (
                vec![working.clone(), working.clone(), done],
                State::Active,
                "2 active",
            ),
            (
                vec![working.clone(), blocked.clone()],
                State::Blocked,
                "1 active · 1 blocked",
            ),
            (
                vec![blocked, working, waiting, goal("active", "needsClick")],
                State::Waiting,
                "2 waiting for you · 1 active · 1 blocked",
            ),
        ] {
            let overall = Overall::of(&goals);
            assert_eq!(overall.state(), state, "{line}");
            assert_eq!(overall.line(&words), line);
        }
    }
}
