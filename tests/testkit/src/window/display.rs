//! A display that nobody sees.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::{Error, process};

/// An X server of its own. It ends when it is dropped.
#[derive(Debug)]
pub struct Display {
    name: String,
    server: Child,
}

impl Display {
    /// Starts one with a screen of this many pixels, such as `1280x820`.
    ///
    /// # Errors
    /// If `Xvfb` is not installed or does not start.
    pub fn start(pixels: &str) -> Result<Self, Error> {
        let mut server = Command::new("Xvfb");
        // It chooses a free number itself, and says which.
        server
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{pixels}x24"))
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| name == "PATH"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is for whoever started it.
            .process_group(0);
        let server = server.spawn().map_err(Error::io("start Xvfb"))?;
        let mut display = Self {
            name: String::new(),
            server,
        };
        let mut number = String::new();
        if let Some(said) = display.server.stdout.take() {
            let read = BufReader::new(said).read_line(&mut number);
            read.map_err(Error::io("read the display's number"))?;
        }
        if number.trim().is_empty() {
            let none = std::io::Error::other("it gave no display");
            return Err(Error::io("start Xvfb")(none));
        }
        display.name = format!(":{}", number.trim());
        Ok(display)
    }

    /// The value of `DISPLAY`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // Killed, it would leave its socket and its lock behind.
        process::signal(self.server.id(), Signal::SIGTERM);
        let _ = self.server.wait();
    }
}
