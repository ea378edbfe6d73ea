//! A program that may be stopped half-way: it and all that it started end before xtask does.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::workspace::{Failure, Result};

/// How often a running program is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a program gets to end by itself: nextest gives its own tests ten seconds.
const GRACE: Duration = Duration::from_secs(15);

/// Ctrl-C and its relatives: from the start on they no longer end xtask by themselves.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    With(ExitStatus),
    /// It was stopped.
    Stopped,
}

impl Stop {
    /// Listens for Ctrl-C, SIGTERM, and SIGHUP, which a closed terminal sends.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(crate) fn listen() -> Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop.0))
                .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
        }
        Ok(stop)
    }

    /// Whether one of them came.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs `command` with all its output in `log`.
    ///
    /// # Errors
    /// If it cannot be started or waited for.
    pub(crate) fn run(&self, command: &mut Command, log: &File) -> Result<Ended> {
        let problem = |error: std::io::Error| Failure::new(format!("{command:?}: {error}"));
        let (out, err) = (log.try_clone(), log.try_clone());
        let (out, err) = (out.map_err(problem)?, err.map_err(problem)?);
        // A group of its own, so that a signal reaches the compilers and tests below it.
        let started = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn();
        let mut child = started.map_err(|error| Failure::new(format!("{command:?}: {error}")))?;
        while !self.came() {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(Ended::With(status)),
                Ok(None) => thread::sleep(LOOK_EVERY),
                Err(error) => {
                    end(&mut child);
                    return Err(Failure::new(format!("{command:?}: {error}")));
                }
            }
        }
        end(&mut child);
        Ok(Ended::Stopped)
    }
}

/// Ends the program and its group.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).map(Pid::from_raw);
    let signal = |signal: Signal| {
        // A group that is gone has nobody left to be told.
        let _ = group.map(|group| killpg(group, signal));
    };
    signal(Signal::SIGTERM);
    let begun = Instant::now();
    while begun.elapsed() < GRACE && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(LOOK_EVERY);
    }
    signal(Signal::SIGKILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_program_runs_to_its_end_with_its_words_in_the_log() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo said; echo complained >&2; exit 3"]);
        let ended = Stop::default().run(&mut command, log.as_file()).unwrap();
        let Ended::With(status) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(status.code(), Some(3));
        let mut text = String::new();
        log.reopen().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "said\ncomplained\n");
    }

    #[test]
    fn who_is_stopped_takes_along_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "sleep 600 & echo $! > pid.new; mv pid.new pid; wait"])
            .current_dir(folder.path());
        let stop = Stop::default();
        let running = {
            let stop = stop.clone();
            thread::spawn(move || stop.run(&mut command, &log).unwrap())
        };
        let written = loop {
            if let Ok(pid) = std::fs::read_to_string(folder.path().join("pid")) {
                break pid;
            }
            thread::yield_now();
        };
        stop.0.store(true, Ordering::Relaxed);
        assert_eq!(running.join().unwrap(), Ended::Stopped);
        let pid = Pid::from_raw(written.trim().parse().unwrap());
        // An orphan is there until whoever inherited it has looked, so it may linger dead.
        let begun = Instant::now();
        while is_alive(pid) {
            assert!(begun.elapsed() < GRACE, "{pid} still runs");
            thread::yield_now();
        }
    }

    /// Whether a process is there and no mere entry of a dead one.
    fn is_alive(pid: Pid) -> bool {
        let there = nix::sys::signal::kill(pid, None).is_ok();
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let dead = state
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"));
        there && !dead
    }
}
