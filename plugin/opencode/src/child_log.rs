//! What a managed server prints, copied to a log file that cannot grow for ever.
//!
//! The server writes into a pipe, and a thread of its own empties it for as long as anybody holds
//! the other end: a full pipe would stop the server, so reading goes on whatever becomes of the
//! file, and however busy the runtime is.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use tokio::sync::oneshot;

use crate::target::Secret;

/// Size from which a new file is begun, in bytes: many days of a server that warns now and then.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;

/// Earlier files kept beside the current one, as `<name>.1` (the newest) to `<name>.3`: enough to
/// look back over a night of crashes.
pub const LOG_FILES_KEPT: u32 = 3;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 8 * 1024;

/// What stands in the log in place of a secret.
const STARS: &[u8] = b"***";

/// Opens `path` for appending, and gives the end that the server writes to and a word that comes
/// when everything it wrote has been copied. `secret` is left out of the file.
pub(crate) fn begin(
    path: &Path,
    secret: &Secret,
) -> io::Result<(PipeWriter, oneshot::Receiver<()>)> {
    let mut log = Rotating::open(path.to_owned(), LOG_BYTES_MAX, LOG_FILES_KEPT)?;
    let mut scrubber = Scrubber::of(secret);
    let (reader, writer) = io::pipe()?;
    let (copied, all_copied) = oneshot::channel();
    thread::Builder::new()
        .name("opencode-log".to_owned())
        .spawn(move || {
            copy(reader, &mut scrubber, &mut log);
            // Whoever stopped waiting needs no word.
            let _ = copied.send(());
        })?;
    Ok((writer, all_copied))
}

fn copy(mut reader: PipeReader, scrubber: &mut Scrubber, log: &mut Rotating) {
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => log.append(&scrubber.pass(chunk.get(..length).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "the server's output can no longer be read");
                break;
            }
        }
    }
    log.append(&scrubber.rest());
}

/// Replaces a secret in a stream of bytes, wherever the pieces are cut.
struct Scrubber {
    secret: Vec<u8>,
    /// What came last and may be the beginning of the secret.
    held: Vec<u8>,
}

impl Scrubber {
    fn of(secret: &Secret) -> Self {
        Self {
            secret: secret.expose().as_bytes().to_vec(),
            held: Vec::new(),
        }
    }

    /// Everything that is certain by now, without the secret.
    fn pass(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        if self.secret.is_empty() {
            return std::mem::take(&mut self.held);
        }
        let mut clean = Vec::with_capacity(self.held.len());
        let mut rest = self.held.as_slice();
        while let Some(first) = rest.first() {
            if let Some(behind) = rest.strip_prefix(self.secret.as_slice()) {
                clean.extend_from_slice(STARS);
                rest = behind;
            } else if self.secret.starts_with(rest) {
                break;
            } else {
                clean.push(*first);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        self.held = rest.to_vec();
        clean
    }

    /// What was held back, once nothing follows.
    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// A file that is put aside when it is full; the oldest of those put aside is dropped.
struct Rotating {
    path: PathBuf,
    bytes_max: u64,
    kept: u32,
    /// `None` once it could not be written: the rest is dropped.
    file: Option<File>,
    written: u64,
}

impl Rotating {
    fn open(path: PathBuf, bytes_max: u64, kept: u32) -> io::Result<Self> {
        let file = open_private(&path)?;
        let written = file.metadata()?.len();
        Ok(Self {
            path,
            bytes_max,
            kept,
            file: Some(file),
            written,
        })
    }

    /// Appends, and begins a new file first if the bytes would overfill the current one.
    fn append(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.file.is_none() {
            return;
        }
        if let Err(error) = self.try_append(bytes) {
            tracing::warn!(
                path = %self.path.display(), %error,
                "the server's output can no longer be logged"
            );
            self.file = None;
        }
    }

    fn try_append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let after = self.written.saturating_add(length);
        if self.written > 0 && after > self.bytes_max {
            self.rotate()?;
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
            self.written = self.written.saturating_add(length);
        }
        Ok(())
    }

    fn rotate(&mut self) -> io::Result<()> {
        // Closed first: not every system renames an open file.
        self.file = None;
        for number in (1..self.kept).rev() {
            rename_if_there(&self.numbered(number), &self.numbered(number + 1))?;
        }
        rename_if_there(&self.path, &self.numbered(1))?;
        self.file = Some(open_private(&self.path)?);
        self.written = 0;
        Ok(())
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// A file for appending that only its owner reads.
fn open_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scrub<'a>(secret: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut scrubber = Scrubber::of(&Secret::new(secret));
        let mut clean = Vec::new();
        for chunk in chunks {
            clean.extend(scrubber.pass(chunk));
        }
        clean.extend(scrubber.rest());
        clean
    }

    #[test]
    fn a_secret_is_starred_however_it_is_cut() {
        let text = b"user:aab, then aaab and aa";
        for at in 0..text.len() {
            let (left, right) = text.split_at(at);
            let clean = scrub("aab", [left, right]);
            assert_eq!(clean, b"user:***, then a*** and aa", "cut at {at}");
        }
        assert_eq!(scrub("", [&text[..]]), text, "no secret, no change");
    }

    #[test]
    fn text_that_cannot_be_the_secret_is_not_held_back() {
        let mut scrubber = Scrubber::of(&Secret::new("secret"));
        assert_eq!(scrubber.pass(b"listening\n"), b"listening\n");
        assert_eq!(scrubber.pass(b"a sec"), b"a ");
        assert_eq!(scrubber.pass(b"ond"), b"second");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(128)
        })]

        /// Against the obvious way, which needs the whole text at once.
        #[test]
        fn scrubbing_does_not_depend_on_the_cuts(
            chunks in proptest::collection::vec("[ab]{0,6}", 0..12),
            secret in "[ab]{1,4}",
        ) {
            let whole = chunks.concat();
            let clean = scrub(&secret, chunks.iter().map(String::as_bytes));
            prop_assert_eq!(String::from_utf8(clean).unwrap(), whole.replace(&secret, "***"));
        }
    }

    #[test]
    fn a_full_file_is_put_aside_and_the_oldest_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "from before ").unwrap();
        let mut log = Rotating::open(path.clone(), 20, 2).unwrap();
        for line in ["one\n", "two, which is long\n", "three, also long\n", "4\n"] {
            log.append(line.as_bytes());
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("log"), "three, also long\n4\n");
        assert_eq!(read("log.1"), "two, which is long\n");
        assert_eq!(read("log.2"), "from before one\n");
        log.append(b"a line that is longer than a whole file\n");
        log.append(b"5\n");
        assert_eq!(read("log"), "5\n");
        assert_eq!(read("log.1"), "a line that is longer than a whole file\n");
        assert_eq!(read("log.2"), "three, also long\n4\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_log_that_cannot_be_written_does_not_stop_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Rotating::open(path.clone(), 4, 1).unwrap();
        log.append(b"full");
        // In the way of the file that is put aside.
        fs::create_dir_all(folder.path().join("log.1").join("x")).unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        let copier = thread::spawn(move || {
            copy(reader, &mut Scrubber::of(&Secret::new("s")), &mut log);
            log.file.is_none()
        });
        let more_than_a_pipe_holds = vec![b'x'; 1024 * 1024];
        writer.write_all(&more_than_a_pipe_holds).unwrap();
        drop(writer);
        assert!(copier.join().unwrap(), "the rest was dropped");
        assert_eq!(fs::read_to_string(path).unwrap(), "full");
    }
}
