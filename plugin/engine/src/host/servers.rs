//! The servers that hosts of this data folder started, each written down in a small file for as
//! long as it runs: one that outlived its host is found by the next host and ended.
//!
//! A file proves nothing by itself, since process ids are used again. A process is ended only if
//! it has the number *and* the start time *and* carries the nonce that was drawn for it in its
//! environment, and only if the host that started it is gone. Where that cannot be looked up
//! (anywhere but on Linux) nothing is ever ended. No secret is written down.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::processes::{self, Process};

/// The variable in a server's environment that holds its nonce.
pub(super) const NONCE_VARIABLE: &str = "OPENCHAMBER_SERVER_NONCE";

/// The version of the files' format. A file of a later one is left alone.
const FORMAT: u32 = 1;

/// How long an orphan may take to end before it is killed. OpenCode ends at once.
const ORPHAN_GRACE: Duration = Duration::from_secs(3);

/// How long the system may take to end what was killed.
const KILLED_MAX: Duration = Duration::from_secs(1);

/// How often it is looked whether it has ended.
const POLL: Duration = Duration::from_millis(20);

/// Files looked at in one start; there is one for each running server and each crash since.
const FILES_MAX: usize = 64;

/// Longest file that is read. Ours have about 400 bytes.
const FILE_BYTES_MAX: usize = 4 * 1024;

/// After so long, what was written down before this machine's last start, or on another machine,
/// is forgotten: its processes cannot be looked up from here.
const ELSEWHERE_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder of the files.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    folder: PathBuf,
}

/// One server, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    format: u32,
    /// Drawn for this server alone; it identifies, it guards nothing.
    nonce: String,
    server: Process,
    /// The host that started it.
    owner: Process,
}

/// What is to be done about a server that was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// Its host lives, or nothing can be known about it from here.
    LeftAlone,
    /// It does not run any more.
    Gone,
    /// It runs and its host does not.
    Orphan,
}

impl Servers {
    /// The files in `folder`, which need not exist yet.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes ready to write down the server that carries `nonce`.
    pub(super) fn note(&self, nonce: &str) -> Note {
        Note {
            path: self.folder.join(format!("{nonce}.json")),
            nonce: nonce.to_owned(),
        }
    }

    /// Ends the servers whose host is gone, on a thread of its own.
    pub(super) async fn sweep(&self) {
        let servers = self.clone();
        let swept = tokio::task::spawn_blocking(move || servers.end_orphans(ORPHAN_GRACE)).await;
        if let Err(error) = swept {
            tracing::warn!(%error, "servers of crashed programs were not looked for");
        }
    }

    /// Ends the servers whose host is gone, and says how many those were: asks, waits for `grace`,
    /// kills. Blocks meanwhile, and a second longer for one that cannot be killed.
    fn end_orphans(&self, grace: Duration) -> usize {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return 0;
        };
        let this_host = processes::this_host().unwrap_or_default();
        let paths = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        let mut ended = 0;
        for path in paths.take(FILES_MAX) {
            ended += usize::from(end_if_orphan(&path, &this_host, grace));
        }
        ended
    }
}

/// A server's file. It goes when this is dropped: not before the server has ended.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    nonce: String,
}

impl Note {
    /// Writes down that the server runs as the process `pid`, in place of an earlier one.
    pub(super) fn write(&self, pid: u32) {
        let record = Record {
            format: FORMAT,
            nonce: self.nonce.clone(),
            server: Process::running(pid),
            owner: Process::this(),
        };
        if let Err(error) = record.write(&self.path) {
            tracing::warn!(
                path = %self.path.display(), %error,
                "the server is not written down; after a crash of this program it would live on"
            );
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        forget(&self.path);
    }
}

impl Record {
    fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            files::create_private_folder(folder)?;
        }
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        files::write_atomically(path, &text)
    }

    /// `None` if there is nothing that can be read.
    fn read(path: &Path) -> Option<Self> {
        let prefix = files::read_prefix(path, FILE_BYTES_MAX).ok()?;
        serde_json::from_slice(&prefix.bytes).ok()
    }

    fn look(&self, this_host: &str) -> Finding {
        let server = &self.server;
        if self.format > FORMAT || server.host.is_empty() || server.host != this_host {
            return Finding::LeftAlone;
        }
        if !self.owner.is_gone(this_host) {
            return Finding::LeftAlone;
        }
        if self.is_running() {
            return Finding::Orphan;
        }
        // Without a start time nobody can tell whose the number is.
        if server.started.is_empty() && processes::exists(server.pid) {
            return Finding::LeftAlone;
        }
        Finding::Gone
    }

    /// Whether the server, or what it left in its group, certainly runs.
    fn is_running(&self) -> bool {
        let Process { pid, started, .. } = &self.server;
        // Small numbers would address the system's first process or our own group.
        if *pid <= 1 || started.is_empty() {
            return false;
        }
        let carries_nonce = |pid| processes::has_variable(pid, NONCE_VARIABLE, &self.nonce);
        match processes::stat(*pid).filter(|stat| !stat.ended) {
            Some(stat) => stat.started == *started && stat.group == *pid && carries_nonce(*pid),
            // While a group has members its number belongs to nobody else.
            None => processes::members(*pid).into_iter().any(carries_nonce),
        }
    }

    /// Asks the server to end, then kills it; says whether it has ended.
    fn end(&self, grace: Duration) -> bool {
        signal_group(self.server.pid, Signal::Ask);
        if self.ends_within(grace) {
            return true;
        }
        signal_group(self.server.pid, Signal::Kill);
        self.ends_within(KILLED_MAX)
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let begun = Instant::now();
        while self.is_running() {
            if begun.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(POLL);
        }
        true
    }
}

/// Looks at one file; says whether it led to an orphan that was ended.
fn end_if_orphan(path: &Path, this_host: &str, grace: Duration) -> bool {
    let Some(record) = Record::read(path) else {
        // Ours are written as a whole; what cannot be read names no process.
        forget_if_old(path);
        return false;
    };
    match record.look(this_host) {
        Finding::LeftAlone => {
            if record.server.host != this_host {
                forget_if_old(path);
            }
            false
        }
        Finding::Gone => {
            forget(path);
            false
        }
        Finding::Orphan => {
            let pid = record.server.pid;
            let ended = record.end(grace);
            if ended {
                tracing::warn!(pid, "ended an OpenCode server whose program had crashed");
                forget(path);
            } else {
                tracing::warn!(pid, "an OpenCode server of a crashed program does not end");
            }
            ended
        }
    }
}

fn forget_if_old(path: &Path) {
    let written = fs::metadata(path).and_then(|found| found.modified());
    let age = written
        .ok()
        .and_then(|written| SystemTime::now().duration_since(written).ok());
    if age.is_some_and(|age| age > ELSEWHERE_KEPT) {
        forget(path);
    }
}

fn forget(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(path = %path.display(), %error, "a server's file could not be removed");
        }
        Ok(()) | Err(_) => {}
    }
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Ask,
    Kill,
}

#[cfg(unix)]
fn signal_group(leader: u32, signal: Signal) {
    use nix::sys::signal::{self, killpg};
    let signal = match signal {
        Signal::Ask => signal::Signal::SIGTERM,
        Signal::Kill => signal::Signal::SIGKILL,
    };
    let Ok(leader) = i32::try_from(leader) else {
        return;
    };
    // The only failure that can happen is that no member is left.
    if let Err(error) = killpg(nix::unistd::Pid::from_raw(leader), signal) {
        tracing::debug!(%error, %signal, "an orphan's process group got no signal");
    }
}

/// No process is ever recognised here.
#[cfg(not(unix))]
fn signal_group(_leader: u32, _signal: Signal) {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
