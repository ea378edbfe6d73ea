//! Which process is which. Process ids are used again, so one alone names nobody: with it go the
//! machine it counts on and the moment its process began.

use serde::{Deserialize, Serialize};

/// Most of a process's environment that is looked through, in bytes: Linux allows more than
/// anybody sets.
#[cfg(target_os = "linux")]
const ENVIRONMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// One process among all that ever had its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: u32,
    /// Which machine it counts on, since that was started; empty if unknown.
    pub(crate) host: String,
    /// When it began, as its machine counts; empty if unknown.
    pub(crate) started: String,
}

impl Process {
    /// The process that runs this.
    pub(crate) fn this() -> Self {
        Self::running(std::process::id())
    }

    /// The process that has the number now.
    pub(crate) fn running(pid: u32) -> Self {
        Self {
            pid,
            host: this_host().unwrap_or_default(),
            started: stat(pid).map(|stat| stat.started).unwrap_or_default(),
        }
    }

    /// Whether it is known to exist no longer, as seen from `this_host`. `false` where that cannot
    /// be told.
    pub(crate) fn is_gone(&self, this_host: &str) -> bool {
        if self.host.is_empty() || self.host != this_host {
            return false;
        }
        if !exists(self.pid) {
            return true;
        }
        stat(self.pid).is_some_and(|stat| {
            stat.ended || (!self.started.is_empty() && self.started != stat.started)
        })
    }
}

/// Whether some process has this number, be it one that ended and was not collected yet. `true`
/// where that cannot be told.
#[cfg(unix)]
pub(crate) fn exists(pid: u32) -> bool {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    match i32::try_from(pid) {
        // Zero and negative ids address groups.
        Ok(pid) if pid > 0 => kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH),
        Ok(_) | Err(_) => true,
    }
}

/// As above.
#[cfg(not(unix))]
pub(crate) fn exists(_pid: u32) -> bool {
    true
}

/// What tells this machine, since its last start, from every other: process ids count only
/// inside it. On Linux that includes the process namespace, since a container counts its own.
pub(crate) fn this_host() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
    match (boot, namespace) {
        (Some(boot), Some(namespace)) => Some(format!("{} {}", boot.trim(), namespace.display())),
        (Some(_) | None, Some(_) | None) => host_name(),
    }
}

#[cfg(unix)]
fn host_name() -> Option<String> {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
}

#[cfg(not(unix))]
fn host_name() -> Option<String> {
    None
}

/// What the system tells of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// It has ended and only waits to be collected.
    pub(crate) ended: bool,
    /// The process group it is in.
    pub(crate) group: u32,
    /// When it began, in the system's own count.
    pub(crate) started: String,
}

/// What Linux says about a process; `None` elsewhere, and for one that is not there.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and may hold anything.
    let mut fields = stat
        .get(stat.rfind(')')?.saturating_add(1)..)?
        .split_whitespace();
    // Field 3 is the state, 5 the group, 22 the start.
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(16)?;
    Some(Stat {
        ended: matches!(state, "Z" | "X"),
        group,
        started: started.to_owned(),
    })
}

/// Whether the environment that a process was started with holds `name` with exactly this value.
/// `false` where that cannot be told: another user's process, or not Linux.
#[cfg(target_os = "linux")]
pub(crate) fn has_variable(pid: u32, name: &str, value: &str) -> bool {
    use std::io::Read as _;
    let mut environment = Vec::new();
    let read = std::fs::File::open(format!("/proc/{pid}/environ")).and_then(|file| {
        file.take(ENVIRONMENT_BYTES_MAX)
            .read_to_end(&mut environment)
    });
    let wanted = [name.as_bytes(), b"=", value.as_bytes()].concat();
    read.is_ok()
        && environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted)
}

/// As above.
#[cfg(not(target_os = "linux"))]
pub(crate) fn has_variable(_pid: u32, _name: &str, _value: &str) -> bool {
    false
}

/// The processes of a group, as far as the system tells: none outside Linux.
pub(crate) fn members(group: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| stat(*pid).is_some_and(|stat| stat.group == group && !stat.ended))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_may_hold_anything() {
        let me = stat(std::process::id());
        if cfg!(target_os = "linux") {
            let me = me.unwrap();
            assert!(!me.ended);
            assert!(me.started.parse::<u64>().unwrap() > 0, "{}", me.started);
        } else {
            assert!(me.is_none());
        }
    }

    #[test]
    fn a_process_knows_itself_and_is_not_gone() {
        let me = Process::this();
        assert!(!me.is_gone(&me.host));
        let earlier = Process {
            started: "1".to_owned(),
            ..me.clone()
        };
        assert_eq!(
            earlier.is_gone(&me.host),
            cfg!(target_os = "linux"),
            "its number was used again"
        );
        assert!(!earlier.is_gone("elsewhere"), "another machine cannot know");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_variable_is_found_by_its_whole_value_and_a_group_by_its_number() {
        use std::io::BufRead as _;
        use std::os::unix::process::CommandExt as _;
        use std::process::Stdio;
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo up; read line"])
            .env("NONCE", "abc")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Its environment cannot be seen before it runs.
        let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        let pid = child.id();
        let found = [("NONCE", "abc"), ("NONCE", "ab"), ("ONCE", "abc")]
            .map(|(name, value)| has_variable(pid, name, value));
        let group = members(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [true, false, false]);
        assert_eq!(group, [pid]);
        assert!(!has_variable(pid, "NONCE", "abc"), "it has ended");
    }
}
