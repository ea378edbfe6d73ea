//! The life of one engine: it ends in the middle of whatever it does, at a time or at a number of
//! things done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::facts::What;
use super::port::Server;

/// Shared by all ports of one engine.
#[derive(Clone)]
pub(crate) struct Life {
    engine: usize,
    server: Server,
    dead: CancellationToken,
    /// Steps until it ends; 0: it lives on.
    left: Arc<AtomicU64>,
}

impl Life {
    pub(crate) fn new(engine: usize, server: Server) -> Self {
        Self {
            engine,
            server,
            dead: CancellationToken::new(),
            left: Arc::default(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.dead.is_cancelled()
    }

    /// It ends now: each of its tasks at its next step.
    pub(crate) fn end(&self) {
        if !self.is_over() {
            self.dead.cancel();
            self.server.lock().note(Some(self.engine), "", What::Killed);
        }
    }

    /// It ends after `steps` further steps: a call that begins, is answered, or a look at the
    /// clock. Between two of them it touches nothing outside itself but its database.
    pub(crate) fn ends_after(&self, steps: u64) {
        self.left.store(steps, Ordering::SeqCst);
    }

    /// One step. Does not come back once the engine has ended.
    pub(crate) fn step(&self) {
        let count = |left: u64| left.checked_sub(1);
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
        if before == Ok(1) {
            self.end();
        }
        if self.is_over() {
            crash();
        }
    }

    /// Waits for `length`; ends with the engine. Then a step.
    pub(crate) async fn wait(&self, length: Duration) {
        tokio::select! {
            biased;
            () = self.dead.cancelled() => crash(),
            () = tokio::time::sleep(length) => {}
        }
        self.step();
    }

    /// Waits until the engine has ended, and ends with it.
    pub(crate) async fn over(&self) {
        self.dead.cancelled().await;
        crash();
    }
}

/// Ends the task that calls it, as the end of its process would; without a word on stderr.
fn crash() -> ! {
    std::panic::resume_unwind(Box::new("this engine has crashed"))
}
