//! What one engine remembers of a session between cycles: nothing here survives a restart, and no
//! rule needs it to.

use std::time::Duration;

use crate::goal::{Goal, GoalId, MessageId};
use crate::message::ToolUse;
use crate::tail::{Tail, TailKind};
use crate::time::{Mono, Wall};

/// The memory of one session's watch (X10, X18, X20).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The goal it belongs to; another goal starts with an empty one.
    pub goal: Option<GoalId>,
    /// The server said `retry` and then `idle` with no `busy` between: a stop (X12).
    pub retry_stopped: bool,
    /// `ContextOverflowError` was seen in the running turn (X12).
    pub overflow_seen: bool,
    /// The goal was found untouched for too long and nobody clicked yet (X10).
    pub stale: bool,
    /// Nothing is sent until a Resume or a reconnection (X7).
    pub stalled: bool,
    /// Cycles in a row whose prompt was not confirmed.
    pub unconfirmed: u32,
    /// The latest prompt of ours.
    pub sent: Option<Sent>,
    /// When the latest continuation went out.
    pub continued_at: Option<Mono>,
    /// Since when the tail stands without a status entry and without an event.
    pub unbacked: Option<(Option<MessageId>, Mono)>,
    /// The prompt that starts the goal was there once: rewinding it is no reason to wait for it
    /// (X14, X21).
    pub first_seen: bool,
    /// Since when the prompt that starts the goal is missed.
    pub first_missed: Option<Mono>,
    /// Since when an empty turn stands as tail.
    pub hollow: Option<(MessageId, Mono)>,
    /// Empty turns nudged in a row.
    pub nudges: u32,
    /// The latest audit and how often it came out the same.
    pub repeat: Option<Repeat>,
    /// The newest prompt of a person that was seen; another one grants patience anew.
    pub human: Option<MessageId>,
    /// Compactions up to this moment of the server's clock do not count (X20); zero begins anew
    /// with the next observation.
    pub compactions_from: Wall,
    /// The goal was seen to begin: its first observation counts compactions from there on.
    pub seen_to_begin: bool,
}

/// A prompt of ours on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its message id.
    pub message: MessageId,
    /// How often it was sent again.
    pub resends: u32,
    /// The session was busy since, so somebody works on it.
    pub busy_seen: bool,
    /// `idle` came without `busy` before it, on a stream that never broke: somebody stopped it.
    pub stopped: bool,
    /// The stream broke since: an `idle` proves nothing.
    pub stream_broke: bool,
    /// The server reported an error for it before anything answered, as "name: text".
    pub error: Option<String>,
}

/// An audit's outcome, for the brake on standing still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The note.
    pub note: String,
    /// The recorded tool results it saw.
    pub tools: Vec<ToolUse>,
    /// How many audits in a row came out so; at least 1.
    pub count: u32,
}

impl Memory {
    /// A memory for `goal`, counting compactions from the newest message at `newest`; zero counts
    /// them from the newest message of the first observation.
    #[must_use]
    pub fn fresh(goal: &GoalId, newest: Wall) -> Self {
        Self {
            goal: Some(goal.clone()),
            compactions_from: newest,
            ..Self::default()
        }
    }

    /// A memory for a goal that is heard of while the engine watches. One for which nothing was
    /// done yet is seen to begin: the compactions of its first turn count, too (X20).
    #[must_use]
    pub fn of(goal: &Goal) -> Self {
        Self {
            seen_to_begin: goal.is_fresh(),
            ..Self::fresh(&goal.id, Wall(0))
        }
    }

    /// The goal was not seen to begin but found: at a start, or after a gap of the stream.
    pub fn found(&mut self) {
        self.seen_to_begin = false;
    }

    /// Compactions count from `floor` on, if nothing was said of that before: where the goal
    /// began if that was seen, else the newest message of the first observation.
    pub fn begin(&mut self, floor: Wall) {
        if self.compactions_from == Wall(0) {
            self.compactions_from = floor;
        }
    }

    /// A Resume or a new user message grants patience anew (X16, X20).
    pub fn grant_patience(&mut self, newest: Wall) {
        self.nudges = 0;
        self.hollow = None;
        self.repeat = None;
        self.compactions_from = self.compactions_from.max(newest);
    }

    /// A Resume goes over everything that waited for one; `newest` as for [`Memory::fresh`].
    pub fn resumed(&mut self, newest: Wall) {
        self.grant_patience(newest);
        self.compactions_from = newest;
        self.seen_to_begin = false;
        self.continued_at = None;
        self.stale = false;
        self.stalled = false;
        self.unconfirmed = 0;
        self.retry_stopped = false;
        self.unbacked = None;
        self.first_missed = None;
        self.sent = None;
    }

    /// Any event of the session, or a status entry: neither the tail nor a goal whose first
    /// message is missed stands untouched.
    pub fn touched(&mut self) {
        self.unbacked = None;
        self.first_missed = None;
    }

    /// Notes the newest prompt of a person; one that was not there before grants patience (X20).
    pub fn observe_human(&mut self, newest: Option<(&MessageId, Wall)>) {
        let Some((id, created)) = newest else {
            return;
        };
        if self.human.as_ref() != Some(id) {
            self.grant_patience(created);
        }
        self.human = Some(id.clone());
    }

    /// Notes the tail of a cycle that found the session quiet.
    pub fn observe(&mut self, tail: &Tail, first_missing: bool, now: Mono) {
        match &self.unbacked {
            Some((id, _)) if *id == tail.id => {}
            Some(_) | None => self.unbacked = Some((tail.id.clone(), now)),
        }
        self.first_seen |= !first_missing;
        self.first_missed = if first_missing {
            self.first_missed.or(Some(now))
        } else {
            None
        };
        match (&tail.kind, &tail.id) {
            (TailKind::Hollow, Some(id)) => {
                if self.hollow.as_ref().is_none_or(|(seen, _)| seen != id) {
                    self.hollow = Some((id.clone(), now));
                }
            }
            (TailKind::Finished, _) => {
                self.hollow = None;
                self.nudges = 0;
            }
            (
                TailKind::Hollow
                | TailKind::Empty
                | TailKind::UserPending
                | TailKind::OursUnanswered { .. }
                | TailKind::Unfinished
                | TailKind::Interrupted
                | TailKind::Aborted
                | TailKind::Declined
                | TailKind::Failed { .. }
                | TailKind::Truncated
                | TailKind::Compacted,
                _,
            ) => self.hollow = None,
        }
    }

    /// How long the tail has stood without a status entry and without an event (X10).
    #[must_use]
    pub fn unbacked_for(&self, now: Mono) -> Duration {
        self.unbacked
            .as_ref()
            .map_or(Duration::ZERO, |(_, since)| now.since(*since))
    }

    /// Counts an audit's outcome and says how often in a row it came out the same (X20).
    pub fn count_audit(&mut self, note: &str, tools: &[ToolUse]) -> u32 {
        let count = match &self.repeat {
            Some(last) if last.note == note && last.tools == tools => last.count.saturating_add(1),
            Some(_) | None => 1,
        };
        self.repeat = Some(Repeat {
            note: note.to_owned(),
            tools: tools.to_vec(),
            count,
        });
        count
    }
}
