//! What an acting step can hear while it runs: the user's intent, and the echo of what it did.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use goal_core::goal::{Goal, GoalId, MessageId};
use goal_core::message::ErrorKind;
use goal_core::time::Wall;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::ports::SessionRead;

/// States of the session kept since the current step began; more is only ever a storm of writes.
const HEARD_MAX: usize = 32;

/// Shared between an actor, which hears, and the step that it polls.
#[derive(Debug, Default)]
pub(crate) struct Live {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    halted: bool,
    /// The engine ends: nothing more will be heard.
    deaf: bool,
    /// Writes of this step that are on their way or done: their echoes are no news.
    own: Vec<(GoalId, Wall)>,
    heard: VecDeque<Arc<SessionRead>>,
    delivery: Delivery,
    /// Prompts that this step sent and that were not certainly refused.
    sent: u32,
}

/// What was heard of a prompt since it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// The prompt.
    pub(crate) message: Option<MessageId>,
    /// The session became busy.
    pub(crate) busy: bool,
    /// An assistant message answers the prompt.
    pub(crate) answered: bool,
    /// The session reported an error, as its kind and "name: text".
    pub(crate) error: Option<(ErrorKind, String)>,
}

impl Live {
    /// Begins a step: nothing was heard yet, and nobody wants it to stop.
    pub(crate) fn begin(&self) {
        *self.lock() = Inner::default();
    }

    /// The user wants something else: the step stops before its next effect (X8).
    pub(crate) fn halt(&self) {
        self.lock().halted = true;
        self.changed.notify_waiters();
    }

    /// The engine ends: the step stops before its next effect, and as nobody passes on any more
    /// what the server says, no wait for it goes on. The step still asks the server for itself.
    /// Only where the user wanted something else before, the waits last: an abort that comes
    /// together with the prompt is lost (X8).
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.deaf |= !inner.halted;
        inner.halted = true;
        drop(inner);
        self.changed.notify_waiters();
    }

    /// Whether the user wants something else, or the engine ends.
    pub(crate) fn halted(&self) -> bool {
        self.lock().halted
    }

    /// This step is about to write `goal`.
    pub(crate) fn writing(&self, goal: &Goal) {
        self.lock().own.push((goal.id.clone(), goal.updated_at));
    }

    /// Whether `goal` is a write of this step.
    pub(crate) fn is_own(&self, goal: &Goal) -> bool {
        let inner = self.lock();
        inner
            .own
            .iter()
            .any(|(id, at)| *id == goal.id && *at == goal.updated_at)
    }

    /// The session was heard to be so.
    pub(crate) fn hear(&self, read: &Arc<SessionRead>) {
        let mut inner = self.lock();
        if inner.heard.len() >= HEARD_MAX {
            inner.heard.pop_front();
        }
        inner.heard.push_back(Arc::clone(read));
        drop(inner);
        self.changed.notify_waiters();
    }

    /// No step runs: states of the session are nobody's, and each is as large as its metadata.
    pub(crate) fn forget(&self) {
        self.lock().heard = VecDeque::new();
    }

    /// Everything heard since the step began.
    pub(crate) fn heard(&self) -> Vec<Arc<SessionRead>> {
        self.lock().heard.iter().cloned().collect()
    }

    /// A prompt is about to be sent: what is heard from here on may be about it.
    pub(crate) fn expect(&self, message: &MessageId) {
        let mut inner = self.lock();
        inner.sent += 1;
        inner.delivery = Delivery {
            message: Some(message.clone()),
            ..Delivery::default()
        };
    }

    /// The prompt that was just sent is certain not to arrive.
    pub(crate) fn not_taken(&self) {
        let mut inner = self.lock();
        inner.sent = inner.sent.saturating_sub(1);
    }

    /// Whether a prompt of this step may have arrived, or still may.
    pub(crate) fn may_arrive(&self) -> bool {
        self.lock().sent > 0
    }

    /// Something was heard that may be about the expected prompt.
    pub(crate) fn delivery(&self, change: impl FnOnce(&mut Delivery)) {
        change(&mut self.lock().delivery);
        self.changed.notify_waiters();
    }

    /// What was heard of the expected prompt.
    pub(crate) fn delivered(&self) -> Delivery {
        self.lock().delivery.clone()
    }

    /// Waits until `done` gives something, at most `within` and until the engine ends.
    pub(crate) async fn wait<T>(
        &self,
        within: Duration,
        done: impl Fn(&Self) -> Option<T> + Send,
    ) -> Option<T> {
        let deadline = Instant::now() + within;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so that a change between the two is not missed.
            changed.as_mut().enable();
            if let Some(found) = done(self) {
                return Some(found);
            }
            if self.lock().deaf {
                return None;
            }
            if timeout_at(deadline, changed).await.is_err() {
                return done(self);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // The data is plain values, whole after every statement: a panic elsewhere harms nothing.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
