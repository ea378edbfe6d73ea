//! A value whose changes can be waited for, from any thread and any runtime.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// A value behind a lock, with a bell that rings after every change.
#[derive(Debug)]
pub(crate) struct Watched<T> {
    value: Mutex<T>,
    bell: watch::Sender<()>,
}

impl<T> Watched<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: Mutex::new(value),
            bell: watch::Sender::new(()),
        }
    }

    pub(crate) fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.lock())
    }

    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.lock());
        self.bell.send_replace(());
        result
    }

    /// Rings after every change from here on.
    pub(crate) fn bell(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    /// Waits until `look` gives a value; `look` sees the state now and after every change.
    pub(crate) async fn until<R>(&self, mut look: impl FnMut(&mut T) -> Option<R>) -> R {
        // Subscribed before the first look: a change in between still rings.
        let mut bell = self.bell.subscribe();
        loop {
            if let Some(found) = look(&mut self.lock()) {
                return found;
            }
            // The sender lives in `self`, so the bell cannot be gone while we wait.
            let _ = bell.changed().await;
        }
    }

    /// As [`Watched::until`], but gives `None` after `deadline`.
    pub(crate) async fn within<R>(
        &self,
        deadline: Duration,
        look: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        tokio::time::timeout(deadline, self.until(look)).await.ok()
    }

    /// A panic of a test thread leaves data that is still worth reading.
    fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
