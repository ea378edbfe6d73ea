//! The heartbeat: what a driver does every few seconds, away from the loop. The loop hears of it
//! only if there is something to hear, so that a program in which everything rests hardly wakes up.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use goal_core::time::{Mono, Wall};
use tokio::sync::mpsc;

use super::Driver;
use crate::settings::{Settings, SettingsFile};
use crate::store::Store;

/// How often a driver says that it lives, and a passive engine asks whether it may drive.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(5);

/// A jump of the wall clock that means sleep, and not that somebody set the clock a little.
const SLEEP_MIN: Duration = Duration::from_secs(30);

/// News of heartbeats that may wait: one of each kind.
pub(super) const NEWS_MAX: usize = 4;

/// What a heartbeat found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The wall clock ran on while the monotonic one stood: the computer slept, and what the
    /// stream would have told is lost (H38).
    Slept,
    /// This engine drives nothing: it may ask for the lease.
    Due,
    /// The settings are others than at the heartbeat before.
    Settings,
    /// The lease with this fence belongs to another process.
    LeaseLost(u64),
}

/// The fence of the lease that this engine holds; 0 without a database. Read by heartbeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence(Arc<Mutex<Option<u64>>>);

impl Fence {
    /// The fence; `None`: this engine drives nothing.
    pub(super) fn get(&self) -> Option<u64> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, fence: Option<u64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fence;
    }
}

/// What heartbeats work with, and what they know of the one before.
pub(super) struct Pulse {
    pub(super) file: Arc<SettingsFile>,
    pub(super) store: Store,
    pub(super) driver: Driver,
    pub(super) fence: Fence,
    pub(super) tell: mpsc::Sender<News>,
    /// The settings as they were.
    pub(super) settings: Option<Settings>,
    /// Both clocks as they were.
    pub(super) clocks: Option<(Wall, Mono)>,
}

impl Pulse {
    /// One heartbeat. Blocks on files. News that finds no room is found again by the next one.
    pub(super) fn beat(&mut self, now: (Wall, Mono)) {
        if !self.slept(now) || self.tell.try_send(News::Slept).is_ok() {
            self.clocks = Some(now);
        }
        let fence = self.fence.get();
        if fence.is_none() {
            let _ = self.tell.try_send(News::Due);
        }
        let settings = self.file.read_here().settings;
        let others = self
            .settings
            .as_ref()
            .is_some_and(|known| *known != settings);
        if !others || self.tell.try_send(News::Settings).is_ok() {
            self.settings = Some(settings);
        }
        self.store.look_for_changes();
        if let Some(fence) = fence {
            self.say_alive(fence, now.0);
        }
    }

    fn slept(&self, now: (Wall, Mono)) -> bool {
        self.clocks.is_some_and(|(wall, mono)| {
            now.0.since(wall) >= now.1.since(mono).saturating_add(SLEEP_MIN)
        })
    }

    fn say_alive(&self, fence: u64, now: Wall) {
        let Driver { key, owner } = self.driver.clone();
        match self.store.heartbeat(key, owner, fence, now) {
            Ok(true) => {}
            Ok(false) => {
                let _ = self.tell.try_send(News::LeaseLost(fence));
            }
            Err(error) => tracing::warn!(%error, "the heartbeat could not be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::DRIVER_STALE;
    use crate::store::{Lease, Owner, ServerKey};

    const BEGIN: Wall = Wall(1_000);

    struct Given {
        pulse: Pulse,
        news: mpsc::Receiver<News>,
        _folder: tempfile::TempDir,
    }

    /// A pulse that knows the settings as they are, for the lease with `fence`.
    fn given(store: &Store, fence: Option<u64>, room: usize) -> Given {
        let folder = tempfile::tempdir().unwrap();
        let (tell, news) = mpsc::channel(room);
        let held = Fence::default();
        held.set(fence);
        let pulse = Pulse {
            file: Arc::new(SettingsFile::new(folder.path().join("settings.json"))),
            store: store.clone(),
            driver: Driver {
                key: key(),
                owner: Owner::this_process("ours"),
            },
            fence: held,
            tell,
            settings: None,
            clocks: None,
        };
        Given {
            pulse,
            news,
            _folder: folder,
        }
    }

    fn key() -> ServerKey {
        ServerKey::attached("http://127.0.0.1:4096").unwrap()
    }

    fn told(news: &mut mpsc::Receiver<News>) -> Vec<News> {
        std::iter::from_fn(|| news.try_recv().ok()).collect()
    }

    /// So long after the begin, on both clocks.
    fn at(wall: Duration, mono: Duration) -> (Wall, Mono) {
        (BEGIN.after(wall), Mono(0).after(mono))
    }

    #[tokio::test]
    async fn a_lost_lease_arrives_as_news() {
        let store = Store::in_memory("this is a test");
        let (ours, theirs) = (Owner::this_process("ours"), Owner::this_process("theirs"));
        let lease = store.acquire(key(), ours.clone(), BEGIN, DRIVER_STALE);
        assert_eq!(lease.await.unwrap(), Lease::Mine(1));
        let mut given = given(&store, Some(1), NEWS_MAX);
        given.pulse.beat(at(HEARTBEAT, HEARTBEAT));
        assert_eq!(told(&mut given.news), [], "it is still ours");
        store.release(key(), ours, 1).await.unwrap();
        let later = at(HEARTBEAT + DRIVER_STALE, HEARTBEAT + DRIVER_STALE);
        let lease = store.acquire(key(), theirs, later.0, DRIVER_STALE);
        assert_eq!(lease.await.unwrap(), Lease::Mine(2));
        given.pulse.beat(later);
        assert_eq!(told(&mut given.news), [News::LeaseLost(1)]);
    }

    #[test]
    fn who_drives_nothing_is_told_each_time_that_it_may_ask() {
        let store = Store::in_memory("this is a test");
        let mut given = given(&store, None, NEWS_MAX);
        given.pulse.beat(at(HEARTBEAT, HEARTBEAT));
        given.pulse.beat(at(HEARTBEAT * 2, HEARTBEAT * 2));
        assert_eq!(told(&mut given.news), [News::Due, News::Due]);
    }

    #[test]
    fn a_sleep_is_told_once_and_again_only_if_there_was_no_room() {
        let store = Store::in_memory("this is a test");
        let mut given = given(&store, None, 1);
        given.pulse.beat(at(HEARTBEAT, HEARTBEAT));
        assert_eq!(told(&mut given.news), [News::Due]);
        let asleep = Duration::from_secs(3_600);
        given.pulse.tell.try_send(News::Due).unwrap();
        given.pulse.beat(at(asleep, HEARTBEAT * 2));
        assert_eq!(told(&mut given.news), [News::Due], "there was no room");
        given.pulse.beat(at(asleep + HEARTBEAT, HEARTBEAT * 3));
        assert_eq!(told(&mut given.news), [News::Slept]);
        given.pulse.beat(at(asleep + HEARTBEAT * 2, HEARTBEAT * 4));
        assert_eq!(told(&mut given.news), [News::Due]);
    }

    #[tokio::test]
    async fn settings_are_told_when_they_became_others() {
        let store = Store::in_memory("this is a test");
        let lease = store.acquire(key(), Owner::this_process("ours"), BEGIN, DRIVER_STALE);
        assert_eq!(lease.await.unwrap(), Lease::Mine(1));
        let mut given = given(&store, Some(1), NEWS_MAX);
        given.pulse.beat(at(HEARTBEAT, HEARTBEAT));
        given.pulse.beat(at(HEARTBEAT * 2, HEARTBEAT * 2));
        assert_eq!(told(&mut given.news), [], "nobody wrote them");
        let changes = serde_json::json!({ "notifyOnError": false });
        let changes = changes.as_object().unwrap().clone();
        given.pulse.file.update(changes).await.unwrap();
        given.pulse.beat(at(HEARTBEAT * 3, HEARTBEAT * 3));
        given.pulse.beat(at(HEARTBEAT * 4, HEARTBEAT * 4));
        assert_eq!(told(&mut given.news), [News::Settings]);
    }
}
