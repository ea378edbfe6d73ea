//! Starting and ending processes of a scratch home.

use std::ffi::OsStr;
use std::path::Path;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// What a process under test takes over from the test's own environment; all else is left out, so
/// that nobody's settings or keys reach it.
const INHERITED: [&str; 5] = ["PATH", "LANG", "SHELL", "USER", "RUST_BACKTRACE"];

/// The environment of a process under test: the few inherited variables, then `extra`.
pub(crate) fn environment(extra: &[(String, String)]) -> Vec<(String, String)> {
    let inherited = INHERITED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    inherited.chain(extra.iter().cloned()).collect()
}

/// Ends the process group led by `leader` at once. A group that is gone already is no error.
pub(crate) fn kill_group(leader: u32) {
    if let Some(pid) = as_pid(leader) {
        let _ = killpg(pid, Signal::SIGKILL);
    }
}

/// Sends one signal to one process. A process that is gone already is no error.
pub(crate) fn signal(process: u32, signal: Signal) {
    if let Some(pid) = as_pid(process) {
        let _ = kill(pid, signal);
    }
}

/// The living processes whose environment holds `HOME=<home>`: tool shells put themselves into
/// groups and sessions of their own, but all of them inherit the scratch home.
///
/// Reads `/proc`; on systems without it the list is empty.
pub(crate) fn of_home(home: &Path) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let wanted = [b"HOME=".as_slice(), home.as_os_str().as_encoded_bytes()].concat();
    let mut found: Vec<u32> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            // A process that ended meanwhile, or a zombie, shows no environment.
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|entry| entry == wanted)
        })
        .collect();
    found.sort_unstable();
    found
}

/// A loopback port that was free a moment ago.
pub(crate) fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?
        .local_addr()?
        .port())
}

/// Runs a short helper command in `directory` to its end and checks that it succeeded.
pub(crate) fn run_quietly(
    directory: &Path,
    program: &str,
    arguments: &[&str],
    env: &[(String, String)],
) -> std::io::Result<()> {
    let output = std::process::Command::new(program)
        .args(arguments.iter().map(OsStr::new))
        .current_dir(directory)
        .env_clear()
        .envs(environment(env))
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(std::io::Error::other(
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// 0 would mean "my own group", and larger numbers than the system's are nobody's.
fn as_pid(process: u32) -> Option<Pid> {
    i32::try_from(process)
        .ok()
        .filter(|pid| *pid > 1)
        .map(Pid::from_raw)
}
