//! Opening the database file, whatever state it is in.

use std::io;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};

use super::{BUSY_PATIENCE, Health};
use crate::files;

/// The steps from an empty database to this program's, in order. `user_version` counts those
/// that were made. A published step is never edited; a change is a further one.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../migrations/0001_journal.sql"),
    include_str!("../../migrations/0002_schedules.sql"),
];

/// Bytes to which the write-ahead log is cut back: it grows with the largest transaction, and
/// ours are small.
const WAL_BYTES_MAX: u32 = 4 * 1024 * 1024;

/// Kibibytes of pages that are kept in memory: what is read is read once.
const CACHE_KIB_MAX: i32 = 256;

/// The version of the database that this program writes.
pub(crate) fn version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// What went wrong with the file.
#[derive(Debug)]
enum Failure {
    /// It is not a database, or a damaged one.
    Damaged(rusqlite::Error),
    /// It cannot be used, and setting it aside would not help.
    Unusable(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged(error),
            _ => Self::Unusable(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Unusable(error.to_string())
    }
}

/// Opens the file, begins a fresh one in place of a damaged one, or falls back to memory.
pub(crate) fn on_disk(path: &Path) -> (Option<Connection>, Health) {
    let why = match open_file(path) {
        Ok((connection, health)) => return (Some(connection), health),
        Err(Failure::Damaged(error)) => error.to_string(),
        Err(Failure::Unusable(why)) => why,
    };
    let path = path.display();
    in_memory(format!(
        "{path}: {why}; check that the folder can be written and has room"
    ))
}

/// A database that lives as long as its connection.
pub(crate) fn in_memory(why: String) -> (Option<Connection>, Health) {
    migrated(Connection::open_in_memory(), why)
}

/// The same, shared by all connections of this process that name it.
pub(crate) fn in_shared_memory(name: &str, why: String) -> (Option<Connection>, Health) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let place = format!("file:{name}?mode=memory&cache=shared");
    migrated(Connection::open_with_flags(place, flags), why)
}

fn migrated(opened: rusqlite::Result<Connection>, why: String) -> (Option<Connection>, Health) {
    let migrated = opened.and_then(|mut connection| {
        migrate(&mut connection)?;
        Ok(connection)
    });
    match migrated {
        Ok(connection) => (Some(connection), Health::MemoryOnly { why }),
        Err(error) => (
            None,
            Health::MemoryOnly {
                why: format!("{why}; in memory: {error}"),
            },
        ),
    }
}

/// Creates folder and file for this user only; SQLite gives its side files the file's rights.
fn prepare(path: &Path) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        files::create_private_folder(folder)?;
    }
    match files::open_private(path) {
        Ok(_) => Ok(()),
        // An existing file without the right to write can still be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.is_file() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Under a lock, so that two processes that meet the same damage do not put each other's fresh
/// file aside. Without the lock (a folder that cannot be written) a sound file still opens.
fn open_file(path: &Path) -> Result<(Connection, Health), Failure> {
    prepare(path)?;
    let lock = files::lock(&files::with_suffix(path, ".lock"), BUSY_PATIENCE);
    match connect(path) {
        Err(Failure::Damaged(error)) => match lock {
            Ok(_held) => replace_damaged(path, &error),
            Err(unlocked) => Err(Failure::Unusable(format!(
                "{error}, and the lock: {unlocked}"
            ))),
        },
        opened => opened,
    }
}

fn connect(path: &Path) -> Result<(Connection, Health), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_PATIENCE)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > version() {
        return read_only(path, found);
    }
    let damage: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if damage != "ok" {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(Failure::Damaged(rusqlite::Error::SqliteFailure(
            code,
            Some(damage),
        )));
    }
    if connection.is_readonly(MAIN_DB)? {
        let why = "the file may not be written; give yourself the right to write it".to_owned();
        return Ok((connection, Health::ReadOnly { why }));
    }
    configure(&connection)?;
    migrate(&mut connection)?;
    Ok((connection, Health::Fine))
}

fn read_only(path: &Path, found: i64) -> Result<(Connection, Health), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_PATIENCE)?;
    let why = format!(
        "it has version {found}, this program knows version {}; update this program",
        version()
    );
    Ok((connection, Health::ReadOnly { why }))
}

fn configure(connection: &Connection) -> Result<(), Failure> {
    // Another process that is opening the file at this moment may be in the way. The mode belongs
    // to the file: whoever sets it sets it for all, and without it everything still works.
    if let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        tracing::debug!(%error, "the database keeps its journal mode");
    }
    // A notice must be on the disk before it is sent, also through a power loss; a handful of
    // writes a minute can afford it.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_MAX)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB_MAX)?;
    Ok(())
}

/// Makes the missing steps, each as a whole or not at all.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    for (done, step) in (0_i64..).zip(MIGRATIONS) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read inside the transaction: another process may have made the step meanwhile.
        let version: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version <= done {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "user_version", done + 1)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Puts the damaged file and its side files aside and begins a fresh one.
fn replace_damaged(path: &Path, damage: &rusqlite::Error) -> Result<(Connection, Health), Failure> {
    let copy = files::aside(path);
    tracing::warn!(%damage, copy = %copy.display(), "the database is damaged and put aside");
    for side in ["-wal", "-shm", ""] {
        let (from, to) = (
            files::with_suffix(path, side),
            files::with_suffix(&copy, side),
        );
        match std::fs::rename(&from, &to) {
            Ok(()) => {}
            // A side file of the copy that had this name before would be taken for its own.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !side.is_empty() => {
                remove_if_there(&to)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    prepare(path)?;
    let (connection, _) = connect(path)?;
    Ok((connection, Health::PutAside { copy }))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
