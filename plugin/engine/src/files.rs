//! What the files of the data folder share: bounded reads, atomic writes, locks, and putting a
//! damaged file aside.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a taken lock is looked at again: far below what a person notices, far above what a
/// busy wait costs.
const LOCK_POLL: Duration = Duration::from_millis(10);

/// How many damaged copies of one file are kept: enough to look back over a bad day, too few to
/// fill a disk.
pub(crate) const ASIDE_MAX: u32 = 5;

/// The beginning of a file.
pub(crate) struct Prefix {
    /// At most as many bytes as were asked for.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file went on behind them.
    pub(crate) cut: bool,
}

/// Reads at most `bytes_max` bytes. Anything but a regular file is an error: opening a pipe or a
/// device could block for ever.
pub(crate) fn read_prefix(path: &Path, bytes_max: usize) -> io::Result<Prefix> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let one_more = u64::try_from(bytes_max)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(one_more).read_to_end(&mut bytes)?;
    let cut = bytes.len() > bytes_max;
    bytes.truncate(bytes_max);
    Ok(Prefix { bytes, cut })
}

/// Replaces the file as a whole, readable by its owner only: a reader, and a crash at any moment,
/// meet either the old bytes or the new ones.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = parent(path)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".goal-")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|failed| failed.error)?;
    sync_folder(folder);
    Ok(())
}

/// Creates the folder and its parents for this user only. One that exists stays as it is.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens the file for appending and creates it, for this user only, if it is missing.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Takes the lock that the processes of this machine share; it ends with the returned file.
/// `TimedOut` if another one keeps it for longer than `patience`.
pub(crate) fn lock(path: &Path, patience: Duration) -> io::Result<File> {
    let file = open_private(path)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds the lock",
                ));
            }
        }
    }
}

/// The path with `suffix` behind its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A name for a damaged file: the first free `<name>.broken-<n>`, else that of the oldest copy.
pub(crate) fn aside(path: &Path) -> PathBuf {
    let copies: Vec<PathBuf> = (1..=ASIDE_MAX)
        .map(|n| with_suffix(path, &format!(".broken-{n}")))
        .collect();
    let age = |copy: &PathBuf| {
        fs::symlink_metadata(copy)
            .and_then(|found| found.modified())
            .ok()
    };
    copies
        .into_iter()
        .min_by_key(age)
        .unwrap_or_else(|| with_suffix(path, ".broken-1"))
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no folder"))
}

/// Makes a rename durable. Some file systems refuse this; the rename itself stands either way.
fn sync_folder(folder: &Path) {
    if let Err(error) = File::open(folder).and_then(|opened| opened.sync_all()) {
        tracing::debug!(folder = %folder.display(), %error, "the folder could not be synchronised");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_stops_at_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("text");
        fs::write(&path, "12345").unwrap();
        let whole = read_prefix(&path, 5).unwrap();
        assert_eq!((whole.bytes.as_slice(), whole.cut), (&b"12345"[..], false));
        let cut = read_prefix(&path, 4).unwrap();
        assert_eq!((cut.bytes.as_slice(), cut.cut), (&b"1234"[..], true));
        assert!(read_prefix(dir.path(), 4).is_err(), "a folder is no file");
    }

    #[test]
    fn a_held_lock_is_waited_for_no_longer_than_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = lock(&path, Duration::ZERO).unwrap();
        let refused = lock(&path, Duration::from_millis(30)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(held);
        assert!(lock(&path, Duration::ZERO).is_ok());
    }

    #[test]
    fn damaged_copies_are_bounded_and_the_oldest_goes_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for n in 1..=ASIDE_MAX {
            let name = aside(&path);
            assert_eq!(name, with_suffix(&path, &format!(".broken-{n}")));
            let copy = File::create(&name).unwrap();
            // The third is the oldest of them all.
            let seconds = if n == 3 { 0 } else { 100 + u64::from(n) };
            copy.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds))
                .unwrap();
        }
        assert_eq!(aside(&path), with_suffix(&path, ".broken-3"));
    }

    #[cfg(unix)]
    #[test]
    fn a_written_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a").join("b");
        create_private_folder(&folder).unwrap();
        write_atomically(&folder.join("f"), b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("f"))), (0o700, 0o600));
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "no temporary file stays behind"
        );
    }
}
