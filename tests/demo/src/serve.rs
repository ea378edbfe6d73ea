//! The running `openchamber goal serve`.

use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::trouble::Trouble;

/// How long it may take to end when it is asked to.
const END_MAX: Duration = Duration::from_secs(10);

/// A running `serve`. Dropping it ends it at once.
pub(crate) struct Serve(Child);

impl Serve {
    /// Starts it in a process group of its own, so that Ctrl-C reaches the demo alone, which then
    /// ends it gently.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(mut command: Command) -> Result<Self, Trouble> {
        let child = command.process_group(0).kill_on_drop(true).spawn();
        child.map(Self).map_err(|error| {
            Trouble::failed(format!("could not start `openchamber goal serve`: {error}"))
        })
    }

    /// Waits until it ends by itself, which it is not meant to.
    pub(crate) async fn ended(&mut self) -> Trouble {
        let how = match self.0.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let sentence = "`openchamber goal serve` ended before the goal was reached";
        Trouble::failed(format!("{sentence} ({how})"))
    }

    /// Asks it to end, and waits until it has.
    ///
    /// # Errors
    /// If it has to be forced, or does not end with exit code 0.
    pub(crate) async fn end(mut self) -> Result<(), Trouble> {
        let number = self.0.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = number {
            // It may have ended by itself a moment ago; its exit code tells.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let status = match tokio::time::timeout(END_MAX, self.0.wait()).await {
            Ok(status) => status.as_ref().is_ok_and(ExitStatus::success),
            Err(_) => false,
        };
        if status {
            Ok(())
        } else {
            Err(Trouble::failed(
                "`openchamber goal serve` did not end well when it was asked to",
            ))
        }
    }
}
