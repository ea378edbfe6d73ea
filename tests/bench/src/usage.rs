//! What a process used so far. Reads `/proc`, so it works on Linux only.

use std::time::Duration;

use crate::Result;

/// The processor time that a process used, in user and kernel mode, ended threads included.
pub(crate) fn processor_time(pid: u32) -> Result<Duration> {
    let stat = read(pid, "stat")?;
    // The name in parentheses may hold anything; what is counted stands behind it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = |at: usize| {
        let field = fields.split_ascii_whitespace().nth(at);
        field.and_then(|field| field.parse::<u64>().ok())
    };
    // The fields `utime` and `stime`, 14th and 15th of all.
    let (Some(user), Some(system)) = (ticks(11), ticks(12)) else {
        return Err(format!("/proc/{pid}/stat cannot be read: {stat}").into());
    };
    let per_second = u64::try_from(ticks_per_second()?)?;
    Ok(Duration::from_micros(
        (user + system) * 1_000_000 / per_second,
    ))
}

/// The processor time that this process used.
pub(crate) fn own_processor_time() -> Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros)?))
}

/// The most memory that a process ever held at once, in bytes.
pub(crate) fn memory_peak(pid: u32) -> Result<u64> {
    number_behind(&read(pid, "status")?, "VmHWM:").map(|kilobytes| kilobytes * 1024)
}

/// What a process holds now, in bytes: what it shares with others is shared out among them.
pub(crate) fn memory_shared_out(pid: u32) -> Result<u64> {
    number_behind(&read(pid, "smaps_rollup")?, "Pss:").map(|kilobytes| kilobytes * 1024)
}

/// How often the threads of a process went to sleep, and so woke up again.
pub(crate) fn sleeps(pid: u32) -> Result<u64> {
    let mut total = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let status = std::fs::read_to_string(thread?.path().join("status"));
        // A thread that just ended slept for the last time.
        let Ok(status) = status else {
            continue;
        };
        total += number_behind(&status, "voluntary_ctxt_switches:")?;
    }
    Ok(total)
}

/// How many threads a process has.
pub(crate) fn threads(pid: u32) -> Result<u64> {
    number_behind(&read(pid, "status")?, "Threads:")
}

fn ticks_per_second() -> Result<i64> {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)?;
    ticks.ok_or_else(|| "the system does not say how long a tick is".into())
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}").into())
}

/// The number behind `name` in a `status` file.
fn number_behind(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok());
    number.ok_or_else(|| format!("no {name} in {status}").into())
}
