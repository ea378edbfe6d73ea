//! What an actor hears, and what follows from it at once.

use std::sync::Arc;

use goal_core::decision::PauseCause;
use goal_core::goal::{Goal, MessageId, Status};
use goal_core::memory::Memory;
use goal_core::message::ErrorKind;
use goal_core::signal::{GoalMark, Signal};
use goal_core::time::Wall;
use goal_core::watch::Ended;

use super::{Actor, Done, Intent, Msg, OWN_WRITES_MAX, SEEN_MAX, Work};
use crate::act;
use crate::ports::{Presence, ServerEvent, SessionRead};
use crate::shared::Stance;
use crate::stored::goal_of;
use crate::update::UpdateKind;
use crate::view::Phase;

impl Actor {
    pub(super) fn on_msg(&mut self, msg: Msg) {
        match msg {
            Msg::Heard(read) => {
                self.live.hear(&read);
                let moved = read.facts != self.read.facts;
                self.resume_seen |= self.is_resume(&read);
                self.refresh(read);
                if moved {
                    self.on_moved();
                }
                let acting = matches!(self.work, Work::Acting(_));
                if acting
                    && self
                        .goal
                        .as_ref()
                        .is_some_and(|goal| self.live.is_own(goal))
                {
                    self.show_continuing();
                }
                self.show_timer();
            }
            Msg::Resync(read) => self.on_resync(read),
            Msg::Event(event) => self.on_event(*event),
            Msg::FamilyRests | Msg::SettingsChanged => {
                self.signal(&Signal::LookAgain);
                self.show_timer();
            }
            Msg::Asked => self.signal(&Signal::Asked),
            Msg::Lost => {
                if let Some(sent) = &mut self.memory.sent {
                    sent.stream_broke = true;
                }
            }
            Msg::Intent(intent) => {
                if matches!(*intent, Intent::Pause(_)) {
                    // No reload undoes a pause that the user wants, too (X12).
                    self.stopped_at = None;
                }
                if matches!(self.work, Work::Acting(_)) {
                    self.live.halt();
                }
                self.intents.push_back(*intent);
            }
        }
    }

    /// The stream came up: whatever happened before is unknown, so the goal is looked at like
    /// after an idle; one untouched for long waits for a click (X10).
    fn on_resync(&mut self, read: Arc<SessionRead>) {
        self.presence = None;
        self.memory.stalled = false;
        self.memory.unconfirmed = 0;
        self.memory.touched();
        let before = self.memory.goal.clone();
        self.refresh(read);
        if self.memory.goal != before {
            self.memory.found();
        }
        self.look_due |= !self.is_active();
        if let Some(goal) = &self.goal {
            let now = self.shared.ports.clock.wall();
            let touched = goal.updated_at.max(self.read.updated);
            self.memory.stale = goal.status == Status::Active
                && now.since(touched) >= self.shared.ports.limits.stale_after;
        }
        self.signal(&Signal::Resync);
        self.show_timer();
    }

    /// The session was archived, rewound or restored: whatever was read of it is no longer so. An
    /// archived one pauses its goal, every other change may end a wait (X8, X9, X14).
    fn on_moved(&mut self) {
        let acting = matches!(self.work, Work::Acting(_));
        self.drop_cycle();
        if self.read.facts.archived && self.is_active() && !acting {
            self.pause_now(PauseCause::Archived);
        } else {
            self.signal(&Signal::LookAgain);
        }
    }

    fn on_event(&mut self, event: ServerEvent) {
        self.memory.touched();
        match event {
            ServerEvent::Idle(_) => self.on_idle(),
            ServerEvent::Busy(_, presence) => self.on_busy(presence),
            ServerEvent::Error { kind, text, .. } => self.on_error(kind, text),
            ServerEvent::Message {
                message,
                parent,
                aborted,
                ..
            } => {
                self.on_message(message, parent.as_ref(), aborted);
            }
            ServerEvent::Disposed { .. } => self.on_disposed(),
            ServerEvent::Deleted(_) => self.gone = true,
            // Routed as messages of their own.
            ServerEvent::Session(_)
            | ServerEvent::Request { .. }
            | ServerEvent::Connected
            | ServerEvent::Lost { .. } => {}
        }
    }

    fn on_idle(&mut self) {
        self.memory.retry_stopped |= self.presence == Some(Presence::Retry);
        self.presence = None;
        if let Some(sent) = &mut self.memory.sent
            && !sent.busy_seen
            && !sent.stream_broke
        {
            sent.stopped = true;
        }
        self.signal(&Signal::Idle);
        self.show_timer();
    }

    fn on_busy(&mut self, presence: Presence) {
        if self.presence.is_none() {
            self.memory.overflow_seen = false;
        }
        self.presence = Some(presence);
        self.memory.retry_stopped = false;
        self.memory.stale = false;
        if let Some(sent) = &mut self.memory.sent {
            sent.busy_seen = true;
            sent.stopped = false;
        }
        self.live.delivery(|delivery| delivery.busy = true);
        if matches!(self.work, Work::Thinking(_) | Work::Auditing(_)) {
            self.drop_cycle();
        }
        self.signal(&Signal::Busy);
        if matches!(self.work, Work::Idle) {
            let why = match presence {
                Presence::Busy => String::new(),
                Presence::Retry => "providerRetries".to_owned(),
            };
            if self.is_active() {
                self.show(&Stance {
                    why,
                    ..Stance::of(Phase::Working)
                });
            }
        }
    }

    fn on_error(&mut self, kind: ErrorKind, text: String) {
        match kind {
            ErrorKind::Aborted => self.stopped_by_somebody(),
            ErrorKind::ContextOverflow => self.memory.overflow_seen = true,
            ErrorKind::OutputLength => {}
            ErrorKind::Failure => {
                if let Some(sent) = &mut self.memory.sent {
                    sent.error.get_or_insert_with(|| text.clone());
                }
                self.live.delivery(|delivery| {
                    delivery.error.get_or_insert((kind, text));
                });
            }
        }
    }

    fn on_message(&mut self, message: MessageId, parent: Option<&MessageId>, aborted: bool) {
        let first = self
            .goal
            .as_ref()
            .and_then(|goal| goal.first_message.as_ref());
        self.memory.first_seen |= first.is_some_and(|first| *first == message);
        let is_ours = self.is_latest_of_ours(&message);
        if let Some(parent) = parent {
            self.live.delivery(|delivery| {
                delivery.answered |= delivery.message.as_ref() == Some(parent);
            });
        }
        if aborted && self.stopped_at.is_some() {
            // A reload is told right behind the last trace of the stop, which may come late.
            self.stopped_at = Some(self.now());
        }
        let new = self.is_new(&message);
        let late = match parent {
            None => self.wire.shows(&message),
            Some(parent) => new && !aborted && self.is_unwanted(parent),
        };
        if late && !self.is_active() {
            self.abort_late();
        }
        if let Some(parent) = parent
            && self.is_active()
        {
            self.wire.forget(parent);
        }
        self.see(&message);
        if aborted && new && !self.went_over(&message) {
            self.stopped_by_somebody();
        } else if parent.is_none() && new && !is_ours {
            // A prompt of a person ends a cycle at once (X8); the next idle decides.
            if matches!(self.work, Work::Thinking(_) | Work::Auditing(_)) {
                self.drop_cycle();
            }
        }
    }

    fn is_latest_of_ours(&self, message: &MessageId) -> bool {
        let latest = self.memory.sent.as_ref();
        latest.is_some_and(|sent| sent.message == *message)
    }

    /// Whether answers to `prompt` are not wanted once the goal is not active (X8): those to a
    /// prompt of ours, only that a turn which ran already when the goal was marked complete goes
    /// on.
    fn is_unwanted(&self, prompt: &MessageId) -> bool {
        let complete = self
            .goal
            .as_ref()
            .is_some_and(|goal| goal.status == Status::Complete);
        self.wire.holds(prompt) || (self.is_latest_of_ours(prompt) && !complete)
    }

    fn is_new(&self, message: &MessageId) -> bool {
        !self.seen.contains(message)
    }

    fn see(&mut self, message: &MessageId) {
        if self.is_new(message) {
            if self.seen.len() >= SEEN_MAX {
                self.seen.pop_front();
            }
            self.seen.push_back(message.clone());
        }
    }

    /// A late trace of a stop that a Resume went over (R46).
    fn went_over(&self, message: &MessageId) -> bool {
        self.goal
            .as_ref()
            .and_then(|goal| goal.resumed_over.as_ref())
            .is_some_and(|over| over.tail.as_ref() == Some(message))
    }

    /// A stop pauses at once, before any cycle could continue over it (R42). Stops of our own come
    /// only after the goal is no longer active.
    fn stopped_by_somebody(&mut self) {
        if !self.is_active() {
            return;
        }
        self.stopped_at = Some(self.now());
        match self.work {
            Work::Acting(_) => {
                self.live.halt();
                self.stop_after_acting = true;
            }
            Work::Idle | Work::Thinking(_) | Work::Auditing(_) => {
                self.drop_cycle();
                self.pause_now(PauseCause::Aborted);
            }
        }
    }

    /// The server reloaded right after a stop: nobody stopped anything, so the pause is undone and
    /// the cut-off turn is gone over (X12).
    fn on_disposed(&mut self) {
        let window = self.shared.ports.limits.disposal_window;
        let recent = self
            .stopped_at
            .take()
            .is_some_and(|at| self.now().since(at) <= window);
        if !recent {
            return;
        }
        // A step that was under way when the turn ended is no longer to be followed by a pause.
        self.stop_after_acting = false;
        self.drop_cycle();
        if matches!(self.work, Work::Acting(_)) {
            self.undo_after_acting = true;
        } else {
            self.undo_reload();
        }
    }

    pub(super) fn undo_reload(&mut self) {
        let Some(goal) = self.goal.clone() else {
            return;
        };
        self.live.begin();
        let shared = Arc::clone(&self.shared);
        let live = Arc::clone(&self.live);
        let read = Arc::clone(&self.read);
        self.work = Work::Acting(Box::pin(async move {
            let undone = act::undo_reload(&shared.ports, &live, &read, &goal).await;
            Done::Asked(undone.map(Box::new))
        }));
    }

    /// Takes the session as it is: what changed in its goal decides what becomes of the cycle.
    pub(super) fn refresh(&mut self, read: Arc<SessionRead>) {
        let goal = goal_of(&read, &self.shared.ports);
        self.shared.learn(&read, goal.as_ref());
        self.read = read;
        let Some(goal) = goal else {
            if self.goal.take().is_some() {
                self.drop_cycle();
                self.ended(Ended::Stopped);
                self.shared.hide(&self.id);
            }
            return;
        };
        let known = self.goal.as_ref().is_some_and(|old| {
            old.id == goal.id && old.updated_at >= goal.updated_at && old.status == goal.status
        });
        let own = self.own_writes.contains(&goal.updated_at) || self.live.is_own(&goal);
        if !known && !own {
            self.drop_cycle();
        }
        if own
            && self
                .goal
                .as_ref()
                .is_some_and(|old| old.updated_at > goal.updated_at)
        {
            // The echo of a write that a newer one of ours has overtaken.
            return;
        }
        self.adopt(goal);
    }

    /// Another client just resumed the goal: only a change that is seen live grants going over a
    /// stop (X12).
    fn is_resume(&self, read: &SessionRead) -> bool {
        let Some(new) = goal_of(read, &self.shared.ports) else {
            return false;
        };
        let resumes = |goal: &Goal| goal.status == Status::Active && goal.is_resumed();
        let changes = self.goal.as_ref().is_some_and(|old| {
            old.id == new.id && !resumes(old) && old.resumed_over == new.resumed_over
        });
        // A request of ours, which acts now, records it by itself.
        changes && resumes(&new) && !matches!(self.work, Work::Acting(_))
    }

    pub(super) fn record_resume(&mut self) {
        let Some(goal) = self.goal.clone().filter(|goal| goal.is_resumed()) else {
            return;
        };
        self.drop_cycle();
        self.live.begin();
        let shared = Arc::clone(&self.shared);
        let live = Arc::clone(&self.live);
        let read = Arc::clone(&self.read);
        self.work = Work::Acting(Box::pin(async move {
            let recorded = act::record_resume(&shared.ports, &live, &read, &goal).await;
            Done::Asked(recorded.map(Box::new))
        }));
    }

    /// The goal as this actor, or a request of the user, just wrote it.
    pub(super) fn wrote(&mut self, goal: Goal) {
        if self.own_writes.len() >= OWN_WRITES_MAX {
            self.own_writes.pop_front();
        }
        self.own_writes.push_back(goal.updated_at);
        let overtaken = self
            .goal
            .as_ref()
            .is_some_and(|old| old.id != goal.id || old.updated_at > goal.updated_at);
        if !overtaken {
            self.adopt(goal);
        }
    }

    fn adopt(&mut self, goal: Goal) {
        let before = self.goal.replace(goal.clone());
        if self.memory.goal.as_ref() != Some(&goal.id) {
            self.memory = Memory::of(&goal);
        }
        let newly_resumed = goal.is_resumed()
            && before
                .as_ref()
                .is_none_or(|old| old.updated_at != goal.updated_at);
        if newly_resumed {
            self.memory.resumed(Wall(0));
        }
        self.signal(&Signal::Goal(GoalMark::of(&goal)));
        self.deliver_planned(&goal);
        let stopped =
            before.is_some_and(|old| old.status == Status::Active) && goal.status != Status::Active;
        if stopped {
            self.show_timer();
            if let Some(view) = self.shared.view(&self.id) {
                self.shared.tell(UpdateKind::Settled(Box::new(view)));
            }
        }
    }

    /// A write of unknown outcome took effect after all, or another took its place.
    fn deliver_planned(&mut self, goal: &Goal) {
        for planned in std::mem::take(&mut self.planned) {
            if planned.is_true_of(goal) {
                self.shared.deliver(planned);
                continue;
            }
            let shared = Arc::clone(&self.shared);
            self.shared.tasks.spawn(async move {
                crate::tell::withdraw(&shared.ports, Some(planned)).await;
            });
        }
    }

    /// The echo of a write may come before its failure is known.
    pub(super) fn deliver_come_true(&mut self) {
        if let Some(goal) = self.goal.clone()
            && self.planned.iter().any(|planned| planned.is_true_of(&goal))
        {
            self.deliver_planned(&goal);
        }
    }

    fn signal(&mut self, signal: &Signal) {
        let now = self.now();
        self.watch.signal(signal, now, &self.shared.ports.limits);
    }
}
