//! Notices on their way out: one task sends them in the order in which they became true, so that
//! a notification daemon that hangs delays other notices and never a goal.
//!
//! ```text
//!  actors, supervisor ──put──▶ queue ──▶ one task: show, within a deadline, then mark
//! ```
//!
//! What is cut off while it is shown counts as failed, for nobody knows whether it was seen. What
//! was not begun stays written down: the next engine tells it if it is still true (R80).

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ports::Ports;
use crate::tell::{self, Planned};

/// Notices that may wait. Beyond it the newest are left to the next engine: a daemon that hangs
/// is asked for one notice after another, and a person who reads none of them needs no more.
const QUEUE_MAX: usize = 256;

/// How long one notice may take, whatever the port's own deadline is.
const SHOW_MAX: Duration = Duration::from_secs(10);

/// How long what is queued may take when the engine ends.
const END_MAX: Duration = Duration::from_secs(2);

/// How long marking the one that was cut off may take then.
const MARK_MAX: Duration = Duration::from_secs(1);

/// Where planned notices are put.
pub(crate) struct Outbox {
    queue: mpsc::Sender<Planned>,
    /// No further notice is taken in; those that wait are still sent.
    ending: CancellationToken,
    /// Nothing is sent any more.
    cut: CancellationToken,
    /// The one task.
    task: TaskTracker,
}

impl Outbox {
    /// Must be called within a tokio runtime. The task ends with the outbox.
    pub(crate) fn start(ports: Ports) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (ending, cut) = (CancellationToken::new(), CancellationToken::new());
        let task = TaskTracker::new();
        let sender = Sender {
            ports,
            waiting,
            ending: ending.clone(),
            cut: cut.clone(),
        };
        task.spawn(sender.run());
        task.close();
        Self {
            queue,
            ending,
            cut,
            task,
        }
    }

    /// Puts a notice behind those that wait. Never waits itself.
    pub(crate) fn put(&self, planned: Planned) {
        if let Err(refused) = self.queue.try_send(planned) {
            let session = refused.into_inner().out.session;
            tracing::warn!(%session, "a notice found no room and is left to the next start");
        }
    }

    /// Sends what waits, within a bound, and ends.
    pub(crate) async fn end(&self) {
        self.ending.cancel();
        if timeout(END_MAX, self.task.wait()).await.is_ok() {
            return;
        }
        tracing::warn!("some notices could not be shown before the end");
        self.cut.cancel();
        // A disk that hangs, too, ends with the process.
        let _ = timeout(MARK_MAX, self.task.wait()).await;
    }
}

/// The task.
struct Sender {
    ports: Ports,
    waiting: mpsc::Receiver<Planned>,
    ending: CancellationToken,
    cut: CancellationToken,
}

impl Sender {
    async fn run(mut self) {
        while let Some(planned) = self.next().await {
            let showing = AssertUnwindSafe(tell::show(&self.ports, &planned.out)).catch_unwind();
            let shown = tokio::select! {
                biased;
                shown = showing => shown,
                () = self.cut.cancelled() => Ok(Err("the program ended first".to_owned())),
                () = sleep(SHOW_MAX) => Ok(Err("it was not shown in time".to_owned())),
            };
            match shown {
                Ok(shown) => tell::mark(&self.ports, planned, shown).await,
                // As if the program had ended here: it stays written down.
                Err(_) => tracing::error!("showing a notice panicked"),
            }
        }
    }

    async fn next(&mut self) -> Option<Planned> {
        tokio::select! {
            biased;
            () = self.cut.cancelled() => None,
            () = self.ending.cancelled(), if !self.waiting.is_closed() => {
                self.waiting.close();
                self.waiting.recv().await
            }
            planned = self.waiting.recv() => planned,
        }
    }
}
