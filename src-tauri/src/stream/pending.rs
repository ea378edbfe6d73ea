//! What waits for one page: in order, without what is superfluous, bounded. Pure.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::event::{About, Event};

/// Events that wait at most; a page that is so far behind reads anew in less time.
pub(crate) const EVENTS_MAX: usize = 5_000;

/// Bytes that wait at most.
pub(crate) const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The line to the server is lost. Epoch milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Away {
    pub(crate) since: u64,
    pub(crate) next_try_at: Option<u64>,
}

/// A `resync` first, then events, then an `away`: what came before a `resync` need not be told, and
/// nothing comes after an `away` but a `resync`.
#[derive(Default)]
pub(crate) struct Pending {
    resync: bool,
    events: BTreeMap<u64, Arc<str>>,
    away: Option<Away>,
    made: u64,
    bytes: usize,
    /// The latest word on each part that no growth of it follows.
    parts: HashMap<String, u64>,
}

impl Pending {
    /// An event came. Beyond the bounds all that waits goes, and the page is to read anew.
    pub(crate) fn event(&mut self, event: &Event) {
        self.made += 1;
        match &event.about {
            About::Other => {}
            About::Whole(part) => {
                if let Some(before) = self.parts.insert(part.clone(), self.made) {
                    let gone = self.events.remove(&before);
                    self.bytes -= gone.map_or(0, |event| event.len());
                }
            }
            About::Growth(part) => {
                self.parts.remove(part);
            }
        }
        self.bytes += event.json.len();
        self.events.insert(self.made, Arc::clone(&event.json));
        if self.events.len() > EVENTS_MAX || self.bytes > BYTES_MAX {
            self.resync();
        }
    }

    /// The page is to read anew.
    pub(crate) fn resync(&mut self) {
        *self = Self {
            resync: true,
            made: self.made,
            ..Self::default()
        };
    }

    /// The line is lost.
    pub(crate) fn away(&mut self, away: Away) {
        self.away = Some(away);
    }

    /// All that waits, as messages; nothing waits then.
    pub(crate) fn take(&mut self) -> Vec<String> {
        let taken = std::mem::take(self);
        self.made = taken.made;
        let mut messages = Vec::new();
        if taken.resync {
            messages.push(r#"{"kind":"resync"}"#.to_owned());
        }
        if !taken.events.is_empty() {
            messages.push(batch(&taken.events, taken.bytes));
        }
        if let Some(Away { since, next_try_at }) = taken.away {
            let next = next_try_at.map_or_else(|| "null".to_owned(), |at| at.to_string());
            messages.push(format!(
                r#"{{"kind":"away","since":{since},"nextTryAt":{next}}}"#
            ));
        }
        messages
    }
}

fn batch(events: &BTreeMap<u64, Arc<str>>, bytes: usize) -> String {
    let mut message = String::with_capacity(bytes + events.len() + 32);
    message.push_str(r#"{"kind":"events","events":["#);
    for (index, event) in events.values().enumerate() {
        if index > 0 {
            message.push(',');
        }
        message.push_str(event);
    }
    message.push_str("]}");
    message
}
