//! The log: a file of bounded size and its predecessor, and warnings on standard error.
//!
//! Nothing is logged that people or agents wrote: ids, codes and numbers only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tauri::{AppHandle, Listener as _, Runtime};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Bytes of a file: some tens of thousands of lines.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is logged: our own crates from `info` on; of foreign ones only warnings, because what an
/// HTTP library logs below that carries what people wrote.
const OWN: [&str; 5] = [
    "openchamber_desktop",
    "tauri_plugin_goal",
    "goal_engine",
    "goal_core",
    "opencode_client",
];

/// Begins to log into `folder`.
pub(crate) fn start(folder: &Path) {
    let to_stderr = fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_filter(LevelFilter::WARN);
    let (file, failed) = match Rotating::open(folder.join("logs"), FILE_BYTES_MAX) {
        Ok(file) => (Some(file), None),
        Err(error) => (None, Some(error)),
    };
    let to_file = file.map(|file| {
        let layer = fmt::layer().with_writer(Mutex::new(file)).with_ansi(false);
        let own = OWN.map(|name| (name, LevelFilter::INFO));
        let logged = Targets::new().with_default(LevelFilter::WARN);
        layer.with_filter(logged.with_targets(own))
    });
    let logging = tracing_subscriber::registry().with(to_stderr).with(to_file);
    // Only a second call in one process fails.
    let _ = logging.try_init();
    if let Some(error) = failed {
        tracing::warn!(%error, "there is no log file");
    }
}

/// Logs how goals end and how the server stands, by ids and codes.
pub(crate) fn follow<R: Runtime>(app: &AppHandle<R>) {
    let told = |payload: &str| serde_json::from_str::<serde_json::Value>(payload);
    app.listen_any("goal://settled", move |event| {
        if let Ok(settled) = told(event.payload()) {
            let goal = &settled["goal"];
            let (session, status) = (goal["sessionId"].as_str(), goal["status"].as_str());
            tracing::info!(session, status, "a goal settled");
        }
    });
    app.listen_any("goal://connection", move |event| {
        if let Ok(server) = told(event.payload()) {
            let (state, code) = (server["state"].as_str(), server["code"].as_str());
            let driver = server["driver"].as_str();
            tracing::info!(state, code, driver, "server");
        }
    });
}

/// The last `bytes` of the log in `folder`, from the beginning of a line on.
pub(crate) fn tail(folder: &Path, bytes: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(current(&folder.join("logs")))?;
        let length = file.metadata()?.len();
        let from = length.saturating_sub(bytes);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        file.take(bytes).read_to_end(&mut tail)?;
        let tail = String::from_utf8_lossy(&tail).into_owned();
        Ok(match tail.split_once('\n') {
            Some((_, whole)) if from > 0 => whole.to_owned(),
            Some(_) | None => tail,
        })
    };
    read().unwrap_or_default()
}

fn current(folder: &Path) -> PathBuf {
    folder.join("desktop.log")
}

/// A file that becomes its own predecessor once it is full.
struct Rotating {
    folder: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
}

impl Rotating {
    fn open(folder: PathBuf, bytes_max: u64) -> io::Result<Self> {
        private_folder(&folder)?;
        let file = append(&current(&folder))?;
        let bytes = file.metadata()?.len();
        Ok(Self {
            folder,
            file,
            bytes,
            bytes_max,
        })
    }
}

impl Write for Rotating {
    /// Takes all of a line, or fails.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.bytes > 0 && self.bytes.saturating_add(length) > self.bytes_max {
            let path = current(&self.folder);
            fs::rename(&path, self.folder.join("desktop.1.log"))?;
            self.file = append(&path)?;
            self.bytes = 0;
        }
        self.file.write_all(line)?;
        self.bytes = self.bytes.saturating_add(length);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_becomes_the_predecessor_and_the_one_before_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Rotating::open(folder.path().join("logs"), 10).unwrap();
        for line in ["one 1\n", "two 2\n", "three\n", "4\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(folder.path().join("logs").join(name)).unwrap();
        assert_eq!(read("desktop.log"), "three\n4\n");
        assert_eq!(read("desktop.1.log"), "two 2\n");
    }

    #[test]
    fn a_file_that_was_there_counts() {
        let folder = tempfile::tempdir().unwrap();
        for line in ["one 1\n", "two 2\n"] {
            let mut log = Rotating::open(folder.path().join("logs"), 10).unwrap();
            log.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(tail(folder.path(), 100), "two 2\n");
    }

    #[test]
    fn the_tail_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Rotating::open(folder.path().join("logs"), 100).unwrap();
        log.write_all(b"first\nsecond\nthird\n").unwrap();
        assert_eq!(tail(folder.path(), 15), "second\nthird\n");
        assert_eq!(tail(folder.path(), 1_000), "first\nsecond\nthird\n");
        assert_eq!(tail(&folder.path().join("nowhere"), 15), "");
    }
}
