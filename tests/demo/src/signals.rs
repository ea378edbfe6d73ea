//! The signals that ask the demo to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for Ctrl-C, SIGTERM, and SIGHUP, which a closed terminal sends.
pub(crate) struct Signals([Signal; 3]);

impl Signals {
    /// From here on they no longer end the process by themselves.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the next one. Cancel-safe.
    pub(crate) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
