//! The signals that ask the process to end.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for them: SIGINT, SIGTERM, and SIGHUP, which a closed terminal sends.
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: [Signal; 3],
}

impl Signals {
    /// From here on they no longer end the process by themselves.
    ///
    /// # Errors
    /// If the system does not allow it.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        let kinds = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ];
        Ok(Self { kinds })
    }

    /// Ctrl-C is heard while it is waited for.
    ///
    /// # Errors
    /// None here.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one. Cancel-safe.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.kinds;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }

    /// Waits for the next one. Cancel-safe.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a way to hear them there is none to wait for.
            std::future::pending::<()>().await;
        }
    }
}
