//! The event stream: whole, or with events that are lost, late, doubled or out of order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use goal_engine::ports::ServerEvent;
use tokio::sync::mpsc::UnboundedSender;

/// What happens to the next events on every line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(VecDeque<Fate>);

/// What becomes of one event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Lost,
    Doubled,
    /// It arrives so much later; what follows may overtake it.
    Late(Duration),
}

impl Trouble {
    pub(crate) fn next(&mut self, count: usize, fate: Fate) {
        self.0.extend(std::iter::repeat_n(fate, count));
    }

    pub(crate) fn fate(&mut self) -> Option<Fate> {
        self.0.pop_front()
    }

    pub(crate) fn ends(&mut self) {
        self.0.clear();
    }
}

/// Who hears the events.
pub(crate) struct Listener {
    sender: UnboundedSender<ServerEvent>,
    connected: bool,
    /// The line is down, and whoever listens was told so.
    broken: bool,
    /// Grows with every new connection: what is late on an old one never arrives.
    connection: Arc<AtomicU64>,
}

impl Listener {
    pub(crate) fn new(sender: UnboundedSender<ServerEvent>, connected: bool) -> Self {
        Self {
            sender,
            connected,
            broken: !connected,
            connection: Arc::default(),
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    /// Which connection this is, to notice that there is another one.
    pub(crate) fn connection(&self) -> u64 {
        self.connection.load(Ordering::SeqCst)
    }

    /// Nothing arrives any more, and nobody says so.
    pub(crate) fn falls_silent(&mut self) {
        self.connected = false;
        self.connection.fetch_add(1, Ordering::SeqCst);
    }

    /// The line breaks, until it comes back.
    pub(crate) fn breaks(&mut self) {
        self.falls_silent();
        self.broken = true;
    }

    /// Whether a new connection would not come about either.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn reconnects(&mut self) {
        self.falls_silent();
        self.connected = true;
        self.broken = false;
        self.says(&ServerEvent::Connected);
    }

    /// Deaf for a moment: gives what it was.
    pub(crate) fn is_deaf(&mut self, deaf: bool) -> bool {
        std::mem::replace(&mut self.connected, !deaf)
    }

    /// Tells it something about the line itself, however that is.
    pub(crate) fn says(&self, event: &ServerEvent) {
        // A listener that is gone has ended or crashed.
        let _ = self.sender.send(event.clone());
    }

    pub(crate) fn hears(&self, event: &ServerEvent, fate: Option<Fate>) {
        match fate {
            None => self.says(event),
            Some(Fate::Lost) => {}
            Some(Fate::Doubled) => {
                self.says(event);
                self.says(event);
            }
            Some(Fate::Late(by)) => {
                let (sender, event) = (self.sender.clone(), event.clone());
                let (connection, then) = (Arc::clone(&self.connection), self.connection());
                tokio::spawn(async move {
                    tokio::time::sleep(by).await;
                    if connection.load(Ordering::SeqCst) == then {
                        let _ = sender.send(event);
                    }
                });
            }
        }
    }
}
