//! The life of a server of ours: it is watched, started again when it ends or falls silent, and
//! ended with us.
//!
//! ```text
//!            ended, or no answer for too long            pause over, healthy
//!   Running ─────────────────────────────────▶ Away ─────────────────────────▶ Running
//!      │                                         │ ▲                       at another address,
//!      │                                         └─┘ did not start:         all clients follow
//!      └──────── stop ──────▶ ended               a longer pause
//! ```

use std::io;
use std::sync::Arc;
use std::time::Duration;

use opencode_client::{Client, Managed, StartError, StartOptions, Stopped};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::RunningServer;
use super::busy::Busy;
use super::servers::{NONCE_VARIABLE, Note, Servers};
use crate::clock::{SystemClock, hex};
use crate::ports::Clock as _;

/// When a server of ours is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeLimits {
    /// How often its health is asked for.
    pub probe_every: Duration,
    /// How long an answer may take.
    pub probe_timeout: Duration,
    /// After so many unanswered questions in a row it is started again.
    pub probe_failures: u32,
    /// How much longer it may be silent while sessions work: a restart would end their turns.
    pub busy_patience: Duration,
    /// First pause before it is started again; doubled by each start that fails and by each end
    /// soon after a start.
    pub restart_min: Duration,
    /// Longest pause before it is started again.
    pub restart_max: Duration,
    /// A server that ran for so long earns the first pause again.
    pub ran_well: Duration,
}

impl LifeLimits {
    /// A question every 15 s with 5 s for the answer, 20 failures and up to 2 min more for work
    /// that runs: a server under heavy load is given time, one that hangs is replaced within
    /// minutes. Pauses of 1 s to 60 s: a crash is over before anybody notices, and a server that
    /// cannot start costs nothing. Two longest pauses without an end count as running well.
    pub const DEFAULT: Self = Self {
        probe_every: Duration::from_secs(15),
        probe_timeout: Duration::from_secs(5),
        probe_failures: 20,
        busy_patience: Duration::from_secs(120),
        restart_min: Duration::from_secs(1),
        restart_max: Duration::from_secs(60),
        ran_well: Duration::from_secs(120),
    };
}

/// How a server of ours stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It runs. Each start gives it another address, and another password unless the user chose it.
    Running(RunningServer),
    /// It does not run; it is started again after `retry_in`.
    Away {
        /// Why, for people.
        why: String,
        /// From then until the next start.
        retry_in: Duration,
    },
}

/// A server of ours with the task that keeps it running. [`ManagedServer::stop`] ends both in
/// order; dropping it ends them, too, without waiting.
#[derive(Debug)]
pub struct ManagedServer {
    state: watch::Receiver<ServerState>,
    stop: CancellationToken,
    keeper: JoinHandle<io::Result<Option<Stopped>>>,
}

impl ManagedServer {
    /// How it stands, now and after every change. A new address is told here before any client
    /// connects to it.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.state.clone()
    }

    /// Ends the server with its process group: asks, waits for 3 s, kills. `None`: none ran just
    /// then. The engine is shut down before (E14): what runs in a session dies with the server.
    ///
    /// # Errors
    /// If the system cannot tell that it ended.
    pub async fn stop(mut self) -> io::Result<Option<Stopped>> {
        self.stop.cancel();
        (&mut self.keeper).await.map_err(io::Error::other)?
    }

    /// Watches over a server that was just started.
    pub(super) fn keep(keeping: Keeping, started: Started) -> Self {
        let running = ServerState::Running(keeping.running(&started));
        let (sender, state) = watch::channel(running);
        let stop = CancellationToken::new();
        let keeper = Keeper {
            keeping,
            state: sender,
            stop: stop.clone(),
        };
        Self {
            state,
            stop,
            keeper: tokio::spawn(keeper.run(started)),
        }
    }
}

impl Drop for ManagedServer {
    fn drop(&mut self) {
        // The task owns the process, which is killed when the task is dropped.
        self.keeper.abort();
    }
}

/// What it takes to start servers.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) options: StartOptions,
    pub(super) servers: Servers,
}

/// A server that was started and written down. Dropped in this order: first it ends, then its
/// note goes.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) managed: Managed,
    note: Arc<Note>,
}

impl Starter {
    /// Starts one. Nothing is left running if it fails or is given up.
    ///
    /// # Errors
    /// [`StartError`].
    pub(super) async fn start(&self) -> Result<Started, StartError> {
        let nonce = hex(SystemClock.random());
        let note = Arc::new(self.servers.note(&nonce));
        let writer = Arc::clone(&note);
        let mut options = StartOptions {
            on_spawn: Some(Arc::new(move |pid| writer.write(pid))),
            ..self.options.clone()
        };
        let (name, value) = (NONCE_VARIABLE.into(), nonce.into());
        options.environment.insert(name, value);
        let managed = Managed::start(&options).await?;
        Ok(Started { managed, note })
    }
}

impl Started {
    /// Ends it. One of which nobody can tell whether it ended stays written down.
    async fn end(self) -> io::Result<Stopped> {
        let Self { managed, note } = self;
        let ended = managed.stop().await;
        if ended.is_err() {
            std::mem::forget(note);
        }
        ended
    }
}

/// What a keeper works with.
#[derive(Debug)]
pub(super) struct Keeping {
    pub(super) starter: Starter,
    /// Whose clones follow the server.
    pub(super) client: Client,
    pub(super) busy: Arc<Busy>,
    pub(super) limits: LifeLimits,
}

impl Keeping {
    fn running(&self, started: &Started) -> RunningServer {
        RunningServer {
            version: started.managed.version().to_owned(),
            url: started.managed.target().url.to_string(),
            managed: true,
        }
    }

    /// Asks for the server's health until it has been silent for too long; then says so. Looks for
    /// orphans as often: a host that takes over from a crashed one ends that one's server before
    /// it continues what still runs there.
    async fn silence(&self) -> String {
        let limits = &self.limits;
        let mut ticks = interval_at(Instant::now() + limits.probe_every, limits.probe_every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut failures = 0_u32;
        let mut busy_until = None;
        loop {
            ticks.tick().await;
            self.starter.servers.sweep().await;
            let answer = timeout(limits.probe_timeout, self.client.health()).await;
            if matches!(answer, Ok(Ok(_))) {
                failures = 0;
                busy_until = None;
                continue;
            }
            failures = failures.saturating_add(1);
            tracing::debug!(failures, "the server did not answer a health probe");
            if failures < limits.probe_failures {
                continue;
            }
            let now = Instant::now();
            let until = *busy_until.get_or_insert(now + limits.busy_patience);
            if now >= until || !self.busy.any() {
                return format!("it left {failures} health probes in a row unanswered");
            }
        }
    }
}

struct Keeper {
    keeping: Keeping,
    state: watch::Sender<ServerState>,
    stop: CancellationToken,
}

impl Keeper {
    async fn run(self, mut started: Started) -> io::Result<Option<Stopped>> {
        let mut pauses = Pauses::new(&self.keeping.limits);
        loop {
            let since = Instant::now();
            let why = tokio::select! {
                biased;
                () = self.stop.cancelled() => return started.end().await.map(Some),
                status = started.managed.wait_exit() => match status {
                    Ok(status) => format!("it ended ({status})"),
                    Err(error) => format!("the system lost track of it ({error})"),
                },
                why = self.keeping.silence() => why,
            };
            let pause = pauses.after(since.elapsed());
            self.tell_away(&why, pause);
            // Whatever listens at its address from now on is a stranger.
            self.keeping.client.suspend();
            self.keeping.busy.clear();
            if let Err(error) = started.end().await {
                tracing::warn!(%error, "the OpenCode server could not be ended");
            }
            match self.start_again(pause, &mut pauses).await {
                Some(next) => started = next,
                None => return Ok(None),
            }
        }
    }

    /// Starts a server, however often that takes; `None` once we are to stop.
    async fn start_again(&self, mut pause: Duration, pauses: &mut Pauses) -> Option<Started> {
        loop {
            let attempt = async {
                sleep(pause).await;
                self.keeping.starter.start().await
            };
            let outcome = tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                outcome = attempt => outcome,
            };
            let why = match outcome {
                Ok(started) => match self.move_to(&started) {
                    Ok(()) => return Some(started),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            pause = pauses.next();
            self.tell_away(&why, pause);
        }
    }

    /// Tells of the new address, then leads every client there.
    fn move_to(&self, started: &Started) -> Result<(), opencode_client::Error> {
        let running = self.keeping.running(started);
        tracing::info!(url = running.url, "the OpenCode server runs again");
        self.state.send_replace(ServerState::Running(running));
        let target = started.managed.target().clone();
        self.keeping.client.rebind(target)
    }

    fn tell_away(&self, why: &str, retry_in: Duration) {
        tracing::warn!(
            why,
            ?retry_in,
            "the OpenCode server is away; it is started again"
        );
        self.state.send_replace(ServerState::Away {
            why: why.to_owned(),
            retry_in,
        });
    }
}

/// The pauses before starts.
struct Pauses {
    next: Duration,
    min: Duration,
    max: Duration,
    ran_well: Duration,
}

impl Pauses {
    fn new(limits: &LifeLimits) -> Self {
        Self {
            next: limits.restart_min,
            min: limits.restart_min,
            max: limits.restart_max,
            ran_well: limits.ran_well,
        }
    }

    /// The pause after a server that ran for `lived`.
    fn after(&mut self, lived: Duration) -> Duration {
        if lived >= self.ran_well {
            self.next = self.min;
        }
        self.next()
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.max);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_begin_anew_after_a_good_run() {
        let limits = LifeLimits::DEFAULT;
        let mut pauses = Pauses::new(&limits);
        let brief = limits.ran_well - Duration::from_millis(1);
        let mut seen: Vec<u64> = (0..4).map(|_| pauses.after(brief).as_secs()).collect();
        seen.extend((0..4).map(|_| pauses.next().as_secs()));
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses.after(limits.ran_well).as_secs(), 1);
        assert_eq!(pauses.after(brief).as_secs(), 2);
    }
}
