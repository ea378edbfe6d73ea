//! Which sessions work, overheard from the events that pass by: to know it costs no call, and it
//! is known when the server does not answer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use goal_core::goal::SessionId;

use crate::ports::{Events, ServerEvent};

/// Sessions remembered as busy; far more than a machine can run at once.
const BUSY_MAX: usize = 1_024;

/// The sessions that work.
#[derive(Debug, Default)]
pub(super) struct Busy(Mutex<BTreeSet<SessionId>>);

impl Busy {
    /// Whether one does.
    pub(super) fn any(&self) -> bool {
        !self.sessions().is_empty()
    }

    /// The server has ended, and with it all work.
    pub(super) fn clear(&self) {
        self.sessions().clear();
    }

    fn hear(&self, event: &ServerEvent) {
        match event {
            ServerEvent::Busy(id, _) => {
                let mut sessions = self.sessions();
                if sessions.len() < BUSY_MAX {
                    sessions.insert(id.clone());
                }
            }
            ServerEvent::Idle(id) | ServerEvent::Deleted(id) => {
                self.sessions().remove(id);
            }
            // A folder that is reloaded stops what runs there; nobody waits for it then.
            ServerEvent::Disposed { .. } => self.clear(),
            ServerEvent::Connected
            | ServerEvent::Lost { .. }
            | ServerEvent::Session(_)
            | ServerEvent::Error { .. }
            | ServerEvent::Message { .. }
            | ServerEvent::Request { .. } => {}
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events on their way to the engine.
pub(super) struct Overheard<E> {
    events: E,
    busy: Arc<Busy>,
}

impl<E: Events> Overheard<E> {
    /// The same events; `busy` learns from them.
    pub(super) fn new(events: E, busy: Arc<Busy>) -> Self {
        Self { events, busy }
    }
}

#[async_trait]
impl<E: Events> Events for Overheard<E> {
    async fn next(&mut self) -> ServerEvent {
        let event = self.events.next().await;
        self.busy.hear(&event);
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Presence;

    fn id(id: &str) -> SessionId {
        SessionId::new(id.to_owned())
    }

    #[test]
    fn a_session_is_busy_until_it_is_idle_gone_or_reloaded() {
        let busy = Busy::default();
        let ends = [
            ServerEvent::Idle(id("ses_1")),
            ServerEvent::Deleted(id("ses_1")),
            ServerEvent::Disposed { directory: None },
        ];
        for end in ends {
            busy.hear(&ServerEvent::Busy(id("ses_1"), Presence::Busy));
            busy.hear(&ServerEvent::Busy(id("ses_1"), Presence::Retry));
            busy.hear(&ServerEvent::Idle(id("ses_2")));
            assert!(busy.any());
            busy.hear(&end);
            assert!(!busy.any(), "{end:?}");
        }
    }

    #[test]
    fn a_lost_connection_ends_no_work_and_a_dead_server_all() {
        let busy = Busy::default();
        busy.hear(&ServerEvent::Busy(id("ses_1"), Presence::Busy));
        busy.hear(&ServerEvent::Connected);
        assert!(busy.any());
        busy.clear();
        assert!(!busy.any());
    }
}
