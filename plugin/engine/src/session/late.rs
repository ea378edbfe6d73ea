//! Prompts of ours whose turns must not run once the goal is stopped (X8).
//!
//! A prompt may reach the server long after its sender gave it up. As long as it is not known what
//! became of it, the session is watched; and after a start, or a gap of the stream, a working
//! session is asked whether one of them is what it works on.

use std::collections::VecDeque;
use std::time::Duration;

use goal_core::continuation;
use goal_core::goal::{Goal, MessageId, Status};
use goal_core::message::Message;
use goal_core::tail::TailContext;
use goal_core::time::Mono;
use goal_core::timeline::Timeline;

use crate::ports::{CallError, Ports, SessionRead};
use crate::stored::goal_of;

/// Prompts that are recognised at once; one goal has at most a few without a known fate.
const PROMPTS_MAX: usize = 16;

/// A prompt of which nothing was heard for so long will not arrive any more.
const FATE_MAX: Duration = Duration::from_hours(24);

/// Prompts of ours of which it is not known what became of them.
#[derive(Debug, Default)]
pub(super) struct Wire {
    prompts: VecDeque<OnWire>,
}

#[derive(Debug)]
struct OnWire {
    message: MessageId,
    /// When it was sent last, or found; `None` until it may have left.
    since: Option<Mono>,
    /// It is stored: that it is heard of again is no news.
    stored: bool,
}

impl Wire {
    /// A prompt is about to be sent.
    pub(super) fn plan(&mut self, message: &MessageId) {
        if self.holds(message) {
            return;
        }
        if self.prompts.len() >= PROMPTS_MAX {
            self.prompts.pop_front();
        }
        self.prompts.push_back(OnWire {
            message: message.clone(),
            since: None,
            stored: false,
        });
    }

    /// The step that meant to send it has ended: from `now` on it may arrive, or it did not leave.
    /// One of which an answer showed meanwhile is done with.
    pub(super) fn settle(&mut self, message: &MessageId, may_arrive: bool, now: Mono) {
        for prompt in &mut self.prompts {
            if may_arrive && prompt.message == *message {
                prompt.since = Some(now);
            }
        }
        self.prompts.retain(|prompt| prompt.since.is_some());
    }

    /// It is in the session.
    pub(super) fn found(&mut self, message: &MessageId, now: Mono) {
        self.plan(message);
        self.settle(message, true, now);
        let _ = self.shows(message);
    }

    /// The prompt itself is heard of. Says whether it is one of these, for the first time.
    pub(super) fn shows(&mut self, message: &MessageId) -> bool {
        let held = self.prompts.iter_mut().find(|p| p.message == *message);
        held.is_some_and(|prompt| !std::mem::replace(&mut prompt.stored, true))
    }

    /// An answer to it showed: what became of it is known.
    pub(super) fn forget(&mut self, message: &MessageId) {
        self.prompts.retain(|prompt| prompt.message != *message);
    }

    /// Whether this is one of them.
    pub(super) fn holds(&self, message: &MessageId) -> bool {
        self.prompts.iter().any(|prompt| prompt.message == *message)
    }

    /// How long from `now` on one of them may still arrive; zero if none may.
    pub(super) fn open_for(&self, now: Mono) -> Duration {
        let open = self.prompts.iter().filter_map(|prompt| prompt.since);
        open.max()
            .map_or(Duration::ZERO, |since| since.after(FATE_MAX).since(now))
    }

    /// All of them.
    pub(super) fn messages(&self) -> Vec<MessageId> {
        self.prompts
            .iter()
            .map(|prompt| prompt.message.clone())
            .collect()
    }
}

/// What a look for late prompts found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Late {
    /// Prompts of ours that are stored although the goal is stopped.
    pub(super) prompts: Vec<MessageId>,
    /// The session works on the newest of them.
    pub(super) running: bool,
}

/// Looks whether a working session whose goal is not active has prompts of ours: those in `known`,
/// and continuations of the goal that the server stored no earlier than the goal was last written.
/// The newest prompt counts alone: where a person said something since, what runs is theirs.
pub(super) async fn look(
    ports: &Ports,
    read: &SessionRead,
    known: &[MessageId],
) -> Result<Late, CallError> {
    let (id, directory) = (&read.facts.id, read.directory.as_str());
    let sessions = &ports.sessions;
    if !sessions.statuses(directory).await?.contains_key(id) {
        return Ok(Late::default());
    }
    let page = sessions
        .messages(id, directory, None, ports.limits.page_messages)
        .await?;
    let fresh = sessions.session(id, Some(directory)).await?;
    let goal = goal_of(&fresh, ports);
    if goal.as_ref().is_some_and(|g| g.status == Status::Active) {
        return Ok(Late::default());
    }
    let timeline = Timeline::new(page.items, fresh.facts.revert.as_ref());
    let ours = |message: &Message| {
        known.contains(&message.id)
            || goal
                .as_ref()
                .is_some_and(|goal| made_after_the_stop(&timeline, message, goal, &fresh))
    };
    let prompts = || timeline.messages().iter().filter(|m| m.is_prompt());
    let newest = prompts().next_back().filter(|message| ours(message));
    let turn = timeline.messages().iter().rev().find_map(Message::step);
    let running = newest
        .is_some_and(|newest| turn.is_some_and(|turn| turn.parent.as_ref() == Some(&newest.id)));
    Ok(Late {
        prompts: prompts()
            .filter(|message| ours(message))
            .map(|message| message.id.clone())
            .collect(),
        running,
    })
}

/// Both times are compared only to leave alone what ran before a goal was marked complete or its
/// session archived; a clock that goes wrong hides a late prompt, or stops what a pause stops.
fn made_after_the_stop(
    timeline: &Timeline,
    message: &Message,
    goal: &Goal,
    read: &SessionRead,
) -> bool {
    let context = TailContext {
        goal,
        revert: read.facts.revert.as_ref(),
        overflow_seen: false,
    };
    message.created >= goal.updated_at
        && continuation::ids_sent(timeline, &message.id, context).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> MessageId {
        MessageId::new(name)
    }

    /// A wire with this prompt on it since time zero.
    fn with(name: &str) -> Wire {
        let mut wire = Wire::default();
        wire.plan(&id(name));
        wire.settle(&id(name), true, Mono(0));
        wire
    }

    #[test]
    fn a_prompt_that_did_not_leave_is_forgotten_and_an_earlier_try_of_it_is_not() {
        let mut wire = Wire::default();
        wire.plan(&id("a"));
        assert!(wire.holds(&id("a")), "what is heard meanwhile may be of it");
        assert_eq!(wire.open_for(Mono(0)), Duration::ZERO);
        wire.settle(&id("a"), false, Mono(0));
        assert!(!wire.holds(&id("a")));

        let mut wire = with("a");
        wire.plan(&id("a"));
        wire.settle(&id("a"), false, Mono(9));
        assert!(wire.holds(&id("a")));
    }

    #[test]
    fn a_prompt_that_was_answered_before_its_step_ended_is_done_with() {
        let mut wire = Wire::default();
        wire.plan(&id("a"));
        wire.forget(&id("a"));
        wire.settle(&id("a"), true, Mono(0));
        assert_eq!(wire.messages(), []);
    }

    #[test]
    fn a_prompt_shows_once() {
        let mut wire = with("a");
        assert!(!wire.shows(&id("b")));
        assert!(wire.shows(&id("a")));
        assert!(!wire.shows(&id("a")));
        assert!(wire.holds(&id("a")), "its answer is still to come");
        wire.found(&id("c"), Mono(0));
        assert!(!wire.shows(&id("c")));
    }

    #[test]
    fn a_prompt_may_arrive_for_a_day_and_only_so_many_are_known() {
        let mut wire = with("a");
        let day = Duration::from_hours(24);
        assert_eq!(wire.open_for(Mono(0)), day);
        wire.plan(&id("a"));
        wire.settle(&id("a"), true, Mono(1_000));
        assert_eq!(wire.open_for(Mono(1_000)), day);
        assert_eq!(wire.open_for(Mono(90_000_000)), Duration::ZERO);
        for n in 0..PROMPTS_MAX {
            wire.found(&id(&n.to_string()), Mono(0));
        }
        assert_eq!(wire.messages().len(), PROMPTS_MAX);
        assert!(!wire.holds(&id("a")));
    }
}
