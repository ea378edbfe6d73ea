//! Completed turns folded into a ledger (R31-R41, X21).
//!
//! A turn's snapshot already carries all earlier turns (they sit in its cache), so snapshots are
//! compared, not summed. A compaction breaks that chain: it closes a segment.

use crate::goal::{Goal, MessageId};
use crate::message::{Message, Step};
use crate::time::Wall;
use crate::timeline::Timeline;

/// The accounting of a goal after the newest completed turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Snapshot at the start of the current segment.
    pub baseline: u64,
    /// Sum of the closed segments.
    pub committed: u64,
    /// What the goal has used; never below what it had used before (R37).
    pub used: u64,
    /// The newest message folded in.
    pub cursor: Option<MessageId>,
}

impl Ledger {
    /// What the goal's own fields say.
    #[must_use]
    pub fn of(goal: &Goal) -> Self {
        Self {
            baseline: goal.tokens_baseline,
            committed: goal.tokens_committed,
            used: goal.tokens_used,
            cursor: goal.last_accounted.clone(),
        }
    }
}

/// Folds every completed assistant message newer than the cursor into the goal's ledger.
#[must_use]
pub fn fold(goal: &Goal, timeline: &Timeline) -> Ledger {
    let mut ledger = Ledger::of(goal);
    let start = match Start::find(goal, timeline) {
        Start::After(position) => position,
        Start::First { position, baseline } => {
            ledger.baseline = baseline;
            position
        }
        Start::CursorGone { position } => position,
    };
    let mut latest = 0;
    for (message, step) in completed(timeline.messages().get(start..).unwrap_or_default()) {
        if step.summary {
            ledger.close_segment(latest, step.tokens);
            latest = 0;
        } else if step.tokens > 0 {
            latest = step.tokens;
        }
        ledger.used = ledger.used.max(ledger.total_with(latest));
        ledger.cursor = Some(message.id.clone());
    }
    ledger
}

/// Whether older messages are needed before [`fold`] can be right: the cursor, or without one the
/// newest pre-goal message with tokens, is not among these (X21).
#[must_use]
pub fn needs_older(goal: &Goal, timeline: &Timeline) -> bool {
    match &goal.last_accounted {
        Some(cursor) => timeline.position(cursor).is_none(),
        None if goal.tokens_baseline > 0 => false,
        None => {
            let split = first_goal_position(goal, timeline);
            let older = timeline.messages().get(..split).unwrap_or_default();
            !completed(older).any(|(_, step)| step.summary || step.tokens > 0)
        }
    }
}

impl Ledger {
    /// A summary read the whole context, so its own snapshot prices the compaction; the real server
    /// may report none, so the total never closes below what is known already (R35, R36).
    fn close_segment(&mut self, latest: u64, summary: u64) {
        self.committed = self
            .used
            .max(self.total_with(latest))
            .max(self.total_with(summary));
        self.baseline = 0;
        self.used = self.committed;
    }

    fn total_with(&self, snapshot: u64) -> u64 {
        self.committed
            .saturating_add(snapshot.saturating_sub(self.baseline))
    }
}

/// Where folding begins.
enum Start {
    After(usize),
    First {
        position: usize,
        baseline: u64,
    },
    /// A revert removed the cursor: everything up to the newest summary may be counted already.
    CursorGone {
        position: usize,
    },
}

impl Start {
    fn find(goal: &Goal, timeline: &Timeline) -> Self {
        match &goal.last_accounted {
            Some(cursor) => match timeline.position(cursor) {
                Some(at) => Self::After(at + 1),
                None => Self::CursorGone {
                    position: after_newest_summary(timeline)
                        .max(first_goal_position(goal, timeline)),
                },
            },
            None => {
                let position = first_goal_position(goal, timeline);
                if goal.tokens_baseline > 0 {
                    Self::After(position)
                } else {
                    let older = timeline.messages().get(..position).unwrap_or_default();
                    Self::First {
                        position,
                        baseline: pre_goal_snapshot(older),
                    }
                }
            }
        }
    }
}

/// When the newest message before the goal was created; zero if there is none among these.
#[must_use]
pub(crate) fn pre_goal_end(goal: &Goal, timeline: &Timeline) -> Wall {
    let split = first_goal_position(goal, timeline);
    let older = timeline.messages().get(..split).unwrap_or_default();
    older.last().map_or(Wall(0), |message| message.created)
}

/// The first message that belongs to the goal: the prompt that starts it, else what completed
/// after the goal was created (R33, X21).
fn first_goal_position(goal: &Goal, timeline: &Timeline) -> usize {
    let messages = timeline.messages();
    if let Some(at) = goal
        .first_message
        .as_ref()
        .and_then(|id| timeline.position(id))
    {
        return at;
    }
    let pre_goal = |message: &Message| {
        message
            .step()
            .and_then(|step| step.completed)
            .is_some_and(|at| at <= goal.created_at)
    };
    messages.iter().rposition(pre_goal).map_or(0, |at| at + 1)
}

/// The newest pre-goal snapshot; a compaction after it makes the baseline zero (X21).
fn pre_goal_snapshot(older: &[Message]) -> u64 {
    completed(older)
        .rev()
        .find(|(_, step)| step.summary || step.tokens > 0)
        .map_or(0, |(_, step)| if step.summary { 0 } else { step.tokens })
}

fn after_newest_summary(timeline: &Timeline) -> usize {
    let summary = |message: &Message| {
        message
            .step()
            .is_some_and(|step| step.summary && step.completed.is_some())
    };
    timeline
        .messages()
        .iter()
        .rposition(summary)
        .map_or(0, |at| at + 1)
}

fn completed(messages: &[Message]) -> impl DoubleEndedIterator<Item = (&Message, &Step)> {
    messages
        .iter()
        .filter_map(|message| Some((message, message.step()?)))
        .filter(|(_, step)| step.completed.is_some())
}
