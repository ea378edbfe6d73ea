//! The scheduler of a host: looks when tasks are due, claims their occurrences, begins them as
//! there is room, and looks after what runs.
//!
//! While a task is enabled it sleeps until the next occurrence, but never longer than [`POLL`]: so
//! it keeps its appointments whatever the clock does and however long the computer slept (T5). What
//! other processes change is found by the engine's heartbeat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use goal_core::goal::Status;
use goal_core::schedule::{Look, RunState, TaskId, look};
use goal_core::time::{Wall, millis};
use tokio::sync::Notify;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{review, run};
use crate::engine::Driver;
use crate::ports::Ports;
use crate::store::{Claim, Claimed, StoreError, StoredRun, StoredTask};
use crate::update::{Update, UpdateKind};

/// How often the clock is looked at while a task is enabled or runs.
const POLL: Duration = Duration::from_secs(5);

/// How much later than its time an occurrence begins at most: hosts and tasks of one time do not
/// all begin at once (T5).
const JITTER_MAX: Duration = Duration::from_secs(2);

/// How often runs without a goal are looked after: nothing tells of their end.
const REVIEW_PLAIN: Duration = Duration::from_secs(15);

/// How often everything is read and looked after, changed or not.
const REVIEW_ALL: Duration = Duration::from_secs(5 * 60);

/// A clock that is so far behind what it should show was set back.
const SET_BACK: Duration = Duration::from_secs(1);

/// How long runs that are just beginning may take at the end.
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// A running scheduler; goes on until [`Scheduler::shutdown`].
pub struct Scheduler {
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Scheduler {
    /// Starts it for the tasks of the ports' store. `driver` names this host and its server,
    /// `updates` are those of the engine beside it. Must be called within a tokio runtime.
    #[must_use]
    pub fn start(ports: Ports, driver: Driver, updates: Receiver<Update>) -> Self {
        let shutdown = CancellationToken::new();
        let tasks = TaskTracker::new();
        let host = Host {
            ports,
            driver,
            begun: tasks.clone(),
            shutdown: shutdown.clone(),
            again: Arc::new(Notify::new()),
            watched: Vec::new(),
            live: Vec::new(),
            stale: true,
            clock: None,
            reviewed: None,
            settled: false,
        };
        tasks.spawn(host.run(updates));
        Self { shutdown, tasks }
    }

    /// Ends it: nothing more is begun, what is just beginning has a while to get there. Sessions
    /// that run go on; the next host looks after them.
    pub async fn shutdown(self) {
        self.shutdown.cancel();
        self.tasks.close();
        if timeout(SHUTDOWN_MAX, self.tasks.wait()).await.is_err() {
            tracing::warn!("a run that was just beginning is left; it counts as interrupted");
        }
    }
}

struct Host {
    ports: Ports,
    driver: Driver,
    /// The runs that are beginning.
    begun: TaskTracker,
    shutdown: CancellationToken,
    /// Something of ours changed the store.
    again: Arc<Notify>,
    /// The enabled tasks.
    watched: Vec<Watched>,
    live: Vec<StoredRun>,
    /// What is known of the store is old.
    stale: bool,
    /// Both clocks at the latest look.
    clock: Option<(Wall, Instant)>,
    /// When the runs were last looked after.
    reviewed: Option<Instant>,
    /// A goal has settled since.
    settled: bool,
}

struct Watched {
    task: StoredTask,
    taken: BTreeSet<Wall>,
    /// How much later than its time it begins.
    jitter: Duration,
}

impl Watched {
    /// When its next occurrence is begun.
    fn begins(&self) -> Option<Wall> {
        self.task.next.map(|next| next.after(self.jitter))
    }
}

impl Host {
    async fn run(mut self, mut updates: Receiver<Update>) {
        let again = Arc::clone(&self.again);
        let shutdown = self.shutdown.clone();
        let store = self.ports.store.clone();
        let mut failing = false;
        loop {
            let turned = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                turned = self.turn() => turned,
            };
            // The next turn tries again; what is late by then was missed. It is told once.
            if let Err(error) = &turned
                && !failing
            {
                tracing::warn!(%error, "the tasks cannot be looked at; this is tried again");
            }
            failing = turned.is_err();
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                () = again.notified() => self.stale = true,
                () = store.tasks_changed() => self.stale = true,
                () = settled(&mut updates) => self.settled = true,
                () = sleep(self.patience(failing)) => {}
            }
        }
        self.give_back().await;
    }

    /// How long there is nothing to do.
    fn patience(&self, failing: bool) -> Duration {
        if !failing && self.watched.is_empty() && self.live.is_empty() {
            // What changes that is told.
            return REVIEW_ALL;
        }
        let now = self.ports.clock.wall();
        let next = self.watched.iter().filter_map(Watched::begins).min();
        let wait = next.map_or(POLL, |next| next.since(now));
        // One that could not be claimed is due all the time.
        if wait.is_zero() { POLL } else { wait.min(POLL) }
    }

    async fn turn(&mut self) -> Result<(), StoreError> {
        let old = self.reviewed.is_none_or(|at| at.elapsed() >= REVIEW_ALL);
        let set_back = self.was_set_back();
        let whole = self.stale || old || set_back;
        if whole {
            self.read().await?;
        }
        // Each look at a task may change what is waited for; a second one sees what is due by then.
        let mut changed = self.look(whole).await?;
        if changed {
            self.read().await?;
            changed = self.look(/*all*/ true).await?;
        }
        if changed {
            self.read().await?;
        }
        self.admit().await?;
        self.review().await;
        Ok(())
    }

    fn was_set_back(&mut self) -> bool {
        let now = (self.ports.clock.wall(), Instant::now());
        let before = self.clock.replace(now);
        before.is_some_and(|(wall, at)| {
            let expected = wall.after(now.1.duration_since(at));
            expected.since(now.0) > SET_BACK
        })
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let store = &self.ports.store;
        let tasks = store.tasks().await?;
        let mut taken = store.taken_occurrences().await?;
        self.live = store.live_runs().await?;
        let jitters: BTreeMap<TaskId, Duration> = std::mem::take(&mut self.watched)
            .into_iter()
            .map(|watched| (watched.task.id, watched.jitter))
            .collect();
        let clock = &self.ports.clock;
        let enabled = tasks.into_iter().filter(|task| task.enabled);
        self.watched = enabled
            .map(|task| Watched {
                taken: taken.remove(&task.id).unwrap_or_default(),
                jitter: jitters
                    .get(&task.id)
                    .copied()
                    .unwrap_or_else(|| jitter(clock.random())),
                task,
            })
            .collect();
        self.stale = false;
        Ok(())
    }

    /// Does what is to be done for each task that is due, or for all; says whether anything was.
    async fn look(&self, all: bool) -> Result<bool, StoreError> {
        let mut changed = false;
        for watched in &self.watched {
            let now = self.ports.clock.wall();
            let begins = watched.begins();
            if !all && begins.is_none_or(|begins| begins > now) {
                continue;
            }
            let (task, store) = (&watched.task, &self.ports.store);
            match look(&task.task.schedule, task.next, &watched.taken, now) {
                Look::Wait(_) => {}
                Look::Due { .. } if begins.is_some_and(|begins| begins > now) => {}
                Look::Due { occurrence, next } => {
                    self.claim(task, occurrence, next, now).await?;
                    changed = true;
                }
                Look::Arm(next) => {
                    changed |= store.arm_task(task.id.clone(), task.next, next).await?;
                }
                Look::Missed { first, count, next } => {
                    let owner = self.driver.owner.clone();
                    let id = task.id.clone();
                    tracing::info!(task = %id, count, "occurrences of a task were missed");
                    store.miss_runs(id, first, count, next, owner, now).await?;
                    changed = true;
                }
            }
        }
        Ok(changed)
    }

    async fn claim(
        &self,
        task: &StoredTask,
        occurrence: Wall,
        next: Option<Wall>,
        now: Wall,
    ) -> Result<(), StoreError> {
        let claim = Claim {
            task: task.id.clone(),
            occurrence,
            next,
            owner: self.driver.owner.clone(),
            now,
        };
        let task = &task.id;
        match self.ports.store.claim_run(claim).await? {
            Claimed::Mine(run) => tracing::info!(%task, run, "a task is due"),
            Claimed::Skipped => tracing::info!(%task, "a task is due, but its last run goes on"),
            Claimed::Taken => tracing::debug!(%task, "another process runs a task"),
            Claimed::Disabled | Claimed::Gone => tracing::debug!(%task, "a task runs no more"),
        }
        Ok(())
    }

    /// Begins what there is room for.
    async fn admit(&mut self) -> Result<(), StoreError> {
        let begins = |run: &StoredRun| matches!(run.state, RunState::Queued | RunState::Starting);
        if !self.live.iter().any(begins) {
            return Ok(());
        }
        let (owner, now) = (self.driver.owner.clone(), self.ports.clock.wall());
        for admitted in self.ports.store.admit_runs(owner, now).await? {
            let found = self.ports.store.task(admitted.task.clone()).await?;
            // One that was deleted has no runs any more, either.
            let Some(task) = found else { continue };
            let (ports, server) = (self.ports.clone(), self.driver.key.clone());
            let again = Arc::clone(&self.again);
            self.begun.spawn(async move {
                let moment = admitted.occurrence.unwrap_or(admitted.claimed);
                // What came of it is in the history.
                let _ = run::dispatch(&ports, &server, &task.task, admitted.id, moment).await;
                again.notify_one();
            });
        }
        self.live = self.ports.store.live_runs().await?;
        Ok(())
    }

    /// Looks after the runs whose sessions are there, when that is due.
    async fn review(&mut self) {
        let since = self.reviewed.map(|at| at.elapsed());
        let plain = |run: &StoredRun| run.session.is_some() && run.goal.is_none();
        let every = match self.live.iter().any(plain) {
            true => REVIEW_PLAIN,
            false => REVIEW_ALL,
        };
        if !self.settled && since.is_some_and(|since| since < every) {
            return;
        }
        self.settled = false;
        self.reviewed = Some(Instant::now());
        for run in &self.live {
            review::review(&self.ports, &self.driver.key, run).await;
        }
        // Those that ended make room for others.
        self.stale |= !self.live.is_empty();
    }

    /// What waits for room is not begun by anybody else.
    async fn give_back(&self) {
        let mine = self.ports.store.live_runs().await.unwrap_or_default();
        let mine = mine
            .into_iter()
            .filter(|run| run.state == RunState::Queued && run.is_of(&self.driver.owner));
        for queued in mine {
            let reason = "the host ended before there was room for it".to_owned();
            run::end(&self.ports, queued.id, RunState::Interrupted, reason, None).await;
        }
    }
}

/// Waits until a goal may have settled; forever once the engine has ended.
async fn settled(updates: &mut Receiver<Update>) {
    loop {
        let update = match updates.recv().await {
            Ok(update) => update,
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        };
        match update.kind {
            UpdateKind::Settled(_) | UpdateKind::Cleared(_) => return,
            UpdateKind::Phase(view) if view.goal.status != Status::Active => return,
            UpdateKind::Phase(_)
            | UpdateKind::Ready { .. }
            | UpdateKind::Decision { .. }
            | UpdateKind::Verdict { .. }
            | UpdateKind::Connection { .. }
            | UpdateKind::Notice { .. }
            | UpdateKind::Driver(_) => {}
        }
    }
}

/// A delay of at most [`JITTER_MAX`], from random bytes.
fn jitter(random: [u8; 16]) -> Duration {
    let number = u128::from_be_bytes(random) % u128::from(millis(JITTER_MAX) + 1);
    Duration::from_millis(u64::try_from(number).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t5_an_occurrence_begins_at_most_two_seconds_late() {
        assert_eq!(jitter([0; 16]), Duration::ZERO);
        for byte in 0..=255 {
            assert!(jitter([byte; 16]) <= JITTER_MAX);
        }
        let most = 2_000_u128.to_be_bytes();
        assert_eq!(jitter(most), JITTER_MAX);
    }
}
