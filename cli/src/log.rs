//! What is logged, and where: standard error, and for `serve` a file in the data folder, a new
//! one each day.
//!
//! Above the level `debug` nothing is logged that people, agents or auditors wrote: ids, codes and
//! numbers only.

use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use goal_engine::update::{DriverState, Update, UpdateKind};
use goal_engine::view::GoalView;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::{Area, Cli, Level, Verb};

/// Files that are kept: a week.
const FILES_MAX: usize = 7;

/// Bytes of one day: some forty thousand lines, a hundred times what a busy day has.
const DAY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Lines that may wait for a slow disk; more of them are lost, and the loop goes on.
const LINES_WAITING_MAX: usize = 4_096;

/// Starts logging as the line asks for it. What still waits is written when the result is dropped.
pub(crate) fn start(cli: &Cli) -> Option<WorkerGuard> {
    let asked = cli.common.log;
    let to_stderr = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_filter(filter(asked.unwrap_or(default_level(cli))));
    let file = wants_file(cli).then(|| to_file(cli));
    let (writer, guard, failed) = match file {
        Some(Ok((writer, guard))) => (Some(writer), Some(guard), None),
        Some(Err(error)) => (None, None, Some(error)),
        None => (None, None, None),
    };
    let level = match asked {
        Some(level @ (Level::Debug | Level::Trace)) => level,
        Some(Level::Off | Level::Error | Level::Warn | Level::Info) | None => Level::Info,
    };
    let to_file = writer.map(|writer| {
        let layer = fmt::layer().with_writer(writer).with_ansi(false);
        layer.with_filter(filter(level))
    });
    let logging = tracing_subscriber::registry().with(to_stderr).with(to_file);
    // Only a second call in one process fails.
    let _ = logging.try_init();
    if let Some(error) = failed {
        tracing::warn!(%error, "there is no log file");
    }
    guard
}

/// Logs what the engine told, by codes: notes, reasons and objectives are people's and models'.
pub(crate) fn heard(update: &Update) {
    match &update.kind {
        UpdateKind::Ready { driver, active } => {
            let (driver, pid) = driver_of(*driver);
            tracing::info!(active, driver, pid, "ready");
        }
        UpdateKind::Phase(view) => {
            let (session, phase) = (&view.session, view.phase.name());
            tracing::debug!(%session, phase, view.why, "phase");
        }
        UpdateKind::Decision {
            session,
            goal,
            decision,
            why,
        } => tracing::info!(%session, %goal, decision, why, "decision"),
        UpdateKind::Verdict {
            session,
            goal,
            verdict,
            ..
        } => tracing::info!(%session, %goal, verdict, "verdict"),
        UpdateKind::Settled(view) => settled(view),
        UpdateKind::Cleared(view) => {
            tracing::info!(session = %view.session, goal = %view.goal.id, "cleared");
        }
        UpdateKind::Connection {
            connected,
            retry_in,
            ..
        } => tracing::info!(connected, ?retry_in, "connection"),
        UpdateKind::Notice {
            session,
            goal,
            code,
            ..
        } => tracing::info!(%session, %goal, code = code.name(), "notice"),
        UpdateKind::Driver(driver) => {
            let (driver, pid) = driver_of(*driver);
            tracing::info!(driver, pid, "driver");
        }
    }
}

fn settled(view: &GoalView) {
    let goal = &view.goal;
    tracing::info!(
        session = %view.session,
        goal = %goal.id,
        status = goal.status.name(),
        reason = goal_core::reason::code_of(&goal.status_reason),
        tokens = goal.tokens_used,
        continuations = goal.turns_used,
        "settled"
    );
}

fn driver_of(driver: DriverState) -> (&'static str, Option<u32>) {
    match driver {
        DriverState::Driving => ("driving", None),
        DriverState::Passive { pid } => ("passive", Some(pid)),
    }
}

fn wants_file(cli: &Cli) -> bool {
    match &cli.area {
        Area::Goal {
            verb: Verb::Serve(serve),
        } => !serve.no_log_file,
        Area::Goal { .. }
        | Area::Session { .. }
        | Area::Schedule { .. }
        | Area::Doctor(_)
        | Area::Auditor { .. }
        | Area::Completions(_)
        | Area::Man(_) => false,
    }
}

/// `doctor` and `auditor` tell by themselves, in order, what would be a warning elsewhere.
fn default_level(cli: &Cli) -> Level {
    match &cli.area {
        Area::Doctor(_) | Area::Auditor { .. } | Area::Completions(_) | Area::Man(_) => Level::Off,
        Area::Goal { .. } | Area::Session { .. } | Area::Schedule { .. } => Level::Warn,
    }
}

/// Our own crates at the level asked for; of foreign ones only warnings, because what an HTTP
/// library logs below that carries what people wrote.
fn filter(level: Level) -> Targets {
    let level = LevelFilter::from(level);
    let own = ["openchamber", "goal_engine", "goal_core", "opencode_client"];
    Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets(own.map(|name| (name, level)))
}

fn to_file(cli: &Cli) -> Result<(NonBlocking, WorkerGuard), String> {
    let data_dir = cli.common.connection.data_dir();
    let data_dir = data_dir.map_err(|failure| failure.message)?;
    let folder = data_dir.logs();
    create_private_folder(&folder).map_err(|error| error.to_string())?;
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("serve")
        .filename_suffix("log")
        .max_log_files(FILES_MAX)
        .build(&folder)
        .map_err(|error| error.to_string())?;
    Ok(NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(LINES_WAITING_MAX)
        .thread_name("log")
        .finish(Bounded::new(files, DAY_BYTES_MAX, today)))
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The number of the day in UTC, by which the files change.
fn today() -> u64 {
    const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() / SECONDS_OF_A_DAY)
}

/// Takes so many bytes a day and no more, whatever goes wrong in a loop.
struct Bounded<W> {
    to: W,
    bytes_max: usize,
    today: fn() -> u64,
    day: u64,
    bytes: usize,
}

impl<W> Bounded<W> {
    fn new(to: W, bytes_max: usize, today: fn() -> u64) -> Self {
        Self {
            to,
            bytes_max,
            today,
            day: today(),
            bytes: 0,
        }
    }
}

impl<W: Write> Write for Bounded<W> {
    /// Takes all of a line or nothing of it, and says that it took it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let today = (self.today)();
        if today != self.day {
            (self.day, self.bytes) = (today, 0);
        }
        let before = self.bytes;
        self.bytes = self.bytes.saturating_add(line.len());
        if self.bytes <= self.bytes_max {
            self.to.write_all(line)?;
        } else if before <= self.bytes_max {
            self.to
                .write_all(b"the log of this day is full; what follows is not written\n")?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static DAY: Cell<u64> = const { Cell::new(1) };
    }

    #[test]
    fn a_day_takes_so_many_bytes_and_the_next_one_as_many_again() {
        let mut log = Bounded::new(Vec::new(), 10, || DAY.get());
        for line in ["12345\n", "1234567\n", "12\n", "1\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        DAY.set(2);
        log.write_all(b"next\n").unwrap();
        let written = String::from_utf8(log.to).unwrap();
        let expected = "12345\nthe log of this day is full; what follows is not written\nnext\n";
        assert_eq!(written, expected);
    }
}
