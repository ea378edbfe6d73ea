//! The database: what was decided and why, what the user is told, which process drives, and what
//! runs when.
//!
//! It never stops the loop. [`Store::open`] always gives a store; one whose file cannot be used
//! keeps its rows in memory and says so in [`Store::health`], and every write gives a `Result`
//! that a caller may log and go on.

mod decisions;
mod drivers;
mod notices;
mod open;
mod runs;
mod tasks;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use goal_core::goal::{GoalId, SessionId};
use goal_core::time::Wall;
use rusqlite::{Connection, ErrorCode};

use crate::blocking;

pub use self::decisions::{
    DECISIONS_MAX, DECISIONS_PER_SESSION_MAX, DETAIL_BYTES_MAX, DecisionRecord, StoredDecision,
};
pub use self::drivers::{DRIVERS_MAX, Holder, Lease, Owner, ServerKey};
pub use self::notices::{
    ARGS_BYTES_MAX, NOTICES_MAX, NoticePlan, NoticeState, Planned, StoredNotice, notice_key,
};
pub use self::runs::{
    Claim, Claimed, Dispatched, LOST_AFTER, RUNNING_MAX, RUNNING_PER_FOLDER_MAX, RUNS_PER_TASK_MAX,
    StoredRun,
};
pub use self::tasks::{StoredTask, TASKS_MAX};

/// How long a statement waits for another process: a write takes milliseconds, and one that does
/// not come through is logged by its caller, never waited for by the loop.
pub(crate) const BUSY_PATIENCE: Duration = Duration::from_secs(2);

/// UTF-8 bytes of an id, code or key; longer ones are cut. Session ids have 128 at most, goal ids
/// are another client's text.
pub(crate) const WORD_BYTES_MAX: usize = 512;

/// How the store stands since it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// The file is read and written.
    Fine,
    /// The file was damaged, it lies at `copy`, and a fresh one took its place.
    PutAside {
        /// Where the damaged file lies.
        copy: PathBuf,
    },
    /// The file is read; every write is [`StoreError::ReadOnly`].
    ReadOnly {
        /// Why, and what to do.
        why: String,
    },
    /// Nothing is kept beyond this process, and other processes are not seen.
    MemoryOnly {
        /// Why, and what to do.
        why: String,
    },
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fine => f.write_str("the database is fine"),
            Self::PutAside { copy } => write!(
                f,
                "the database was damaged; it lies at {} and a fresh one was begun, so earlier \
                 decisions and notices are not shown",
                copy.display()
            ),
            Self::ReadOnly { why } => write!(f, "the database is only read: {why}"),
            Self::MemoryOnly { why } => write!(
                f,
                "the database cannot be used, decisions and notices last until the program ends \
                 and other programs on the same server are not noticed: {why}"
            ),
        }
    }
}

/// Why the database did not do what was asked. No variant carries a row's content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file may only be read.
    #[error("the database is only read: {0}")]
    ReadOnly(String),
    /// There is no database at all, not even in memory.
    #[error("there is no database: {0}")]
    Unavailable(String),
    /// Another process is writing.
    #[error(
        "another program has been writing the database for {} s; nothing was written",
        BUSY_PATIENCE.as_secs()
    )]
    Busy,
    /// The disk has no room.
    #[error("the disk is full and nothing was written; free some space")]
    Full,
    /// A text is longer than is kept.
    #[error("{what} takes {bytes} bytes, at most {limit} are kept")]
    TooLarge {
        /// What is too long.
        what: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// There are as many as are kept.
    #[error("there are {limit} {what} already, and no more are kept; delete some")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// The server's address names no server.
    #[error("the server's address is not an http or https URL with a host")]
    InvalidServerUrl,
    /// Anything else that SQLite reports.
    #[error("the database reports: {0}")]
    Sqlite(rusqlite::Error),
    /// The process is ending.
    #[error("the database was not asked because the program is ending")]
    Ending,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            _ => Self::Sqlite(error),
        }
    }
}

/// The database of one data folder. Cheap to clone; the clones share one connection.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// One connection, used on blocking threads only, so that no task ever holds the lock across
    /// an await. `None` if not even a database in memory could be opened.
    connection: Mutex<Option<Connection>>,
    health: Health,
    changes: tasks::Changes,
}

impl Store {
    /// Opens the database, creates it (and its folder) if it is missing, brings an older one up
    /// to date and begins a fresh one in place of a damaged one. Blocks on files; call it on a
    /// blocking thread. Never fails: see [`Health`].
    #[must_use]
    pub fn open(path: &Path) -> Self {
        let (connection, health) = open::on_disk(path);
        if health == Health::Fine {
            tracing::debug!(path = %path.display(), "the database is open");
        } else {
            tracing::warn!(path = %path.display(), "{health}");
        }
        Self::with(connection, health)
    }

    /// A database in memory, gone with its last clone. `why` is told in its [`Health`].
    #[must_use]
    pub fn in_memory(why: &str) -> Self {
        let (connection, health) = open::in_memory(why.to_owned());
        Self::with(connection, health)
    }

    /// The same, shared by all connections of this process to
    /// `file:NAME?mode=memory&cache=shared`, for whoever wants to stand in its way.
    #[must_use]
    pub fn in_shared_memory(name: &str, why: &str) -> Self {
        let (connection, health) = open::in_shared_memory(name, why.to_owned());
        Self::with(connection, health)
    }

    fn with(connection: Option<Connection>, health: Health) -> Self {
        Self {
            shared: Arc::new(Shared {
                connection: Mutex::new(connection),
                health,
                changes: tasks::Changes::default(),
            }),
        }
    }

    /// How the store stands since it was opened.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.shared.health
    }

    /// Appends why a cycle ended as it did, and gives its row's id. Beyond
    /// [`DECISIONS_PER_SESSION_MAX`] and [`DECISIONS_MAX`] the oldest rows go.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing was written then.
    pub async fn append_decision(&self, record: DecisionRecord) -> Result<i64, StoreError> {
        self.write(move |connection| decisions::append(connection, &record))
            .await
    }

    /// The newest `limit` decisions about a session, newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the database cannot be read.
    pub async fn decisions(
        &self,
        session: SessionId,
        limit: usize,
    ) -> Result<Vec<StoredDecision>, StoreError> {
        self.read(move |connection| decisions::newest(connection, &session, limit))
            .await
    }

    /// Writes down what the user is about to be told, once for each key across restarts and
    /// processes. Beyond [`NOTICES_MAX`] the oldest rows go, planned ones last.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing was written then, and the caller decides whether it sends.
    pub async fn plan_notice(&self, plan: NoticePlan) -> Result<Planned, StoreError> {
        self.write(move |connection| notices::plan(connection, &plan))
            .await
    }

    /// Marks a notice as told. `false` if its row is gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the notice stays as it was then.
    pub async fn mark_notice_sent(&self, id: i64) -> Result<bool, StoreError> {
        self.write(move |connection| notices::mark(connection, id, NoticeState::Sent))
            .await
    }

    /// Marks a notice as one that could not be told outside the app. `false` if its row is gone
    /// or it was told before.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the notice stays as it was then.
    pub async fn mark_notice_failed(&self, id: i64) -> Result<bool, StoreError> {
        self.write(move |connection| notices::mark(connection, id, NoticeState::Failed))
            .await
    }

    /// Takes back a notice that was planned for a change which then was not made. `false` if it
    /// is no longer planned.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the notice stays as it was then.
    pub async fn withdraw_notice(&self, id: i64) -> Result<bool, StoreError> {
        self.write(move |connection| notices::withdraw(connection, id))
            .await
    }

    /// The notices that were planned and neither sent nor withdrawn, oldest first: after a crash,
    /// what is still to be told.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the database cannot be read.
    pub async fn pending_notices(&self) -> Result<Vec<StoredNotice>, StoreError> {
        self.read(notices::pending).await
    }

    /// The newest `limit` notices in every state, newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the database cannot be read.
    pub async fn notices(&self, limit: usize) -> Result<Vec<StoredNotice>, StoreError> {
        self.read(move |connection| notices::newest(connection, limit))
            .await
    }

    /// Marks a notice as read by the user. `false` if its row is gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the notice stays as it was then.
    pub async fn mark_notice_read(&self, id: i64) -> Result<bool, StoreError> {
        self.write(move |connection| notices::mark_read(connection, id))
            .await
    }

    /// Asks to be the one process that drives `server`: granted if nobody holds it, if the holder
    /// is `me`, if its process no longer exists on this machine, or if its heartbeat is further
    /// than `stale_after` from `now`. Two processes are never both granted it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: nobody was asked. A database that is only read still tells of a holder.
    pub async fn acquire(
        &self,
        server: ServerKey,
        me: Owner,
        now: Wall,
        stale_after: Duration,
    ) -> Result<Lease, StoreError> {
        if let Health::ReadOnly { why } = self.health() {
            let why = why.clone();
            return self
                .read(move |connection| {
                    drivers::held_by_another(connection, &server, &me, now, stale_after)
                })
                .await?
                .map(Lease::HeldBy)
                .ok_or(StoreError::ReadOnly(why));
        }
        self.write(move |connection| drivers::acquire(connection, &server, &me, now, stale_after))
            .await
    }

    /// Says that `me` still drives. `false` if the lease with this `fence` is no longer its own:
    /// it must stop driving at once. Blocks on the database; call it on a blocking thread.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: it is not known whether the lease is still its own.
    pub fn heartbeat(
        &self,
        server: ServerKey,
        me: Owner,
        fence: u64,
        now: Wall,
    ) -> Result<bool, StoreError> {
        self.writable()?;
        self.shared
            .run(|connection| drivers::heartbeat(connection, &server, &me, fence, now))
    }

    /// Gives the lease back. `false` if it was no longer its own.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; others then wait until the heartbeat is stale or the process is gone.
    pub async fn release(
        &self,
        server: ServerKey,
        me: Owner,
        fence: u64,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| drivers::release(connection, &server, &me, fence))
            .await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writable()?;
        self.read(work).await
    }

    fn writable(&self) -> Result<(), StoreError> {
        match self.health() {
            Health::ReadOnly { why } => Err(StoreError::ReadOnly(why.clone())),
            Health::Fine | Health::PutAside { .. } | Health::MemoryOnly { .. } => Ok(()),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        blocking::run(move || shared.run(work))
            .await
            .unwrap_or(Err(StoreError::Ending))
    }
}

impl Shared {
    fn run<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A panic of an earlier user rolled its transaction back; the connection is sound.
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match connection.as_mut() {
            Some(connection) => work(connection),
            None => Err(StoreError::Unavailable(self.health.to_string())),
        }
    }
}

/// Does `work`, whose changes are in the file when the process dies and need not be on the disk
/// when the power fails: nobody waits for the disk.
fn without_sync<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let done = work(connection);
    connection.pragma_update(None, "synchronous", "FULL")?;
    done
}

/// A number as SQLite keeps it; what does not fit is the largest it has.
pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that [`to_sql`] wrote.
pub(crate) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// A row limit as SQLite takes it.
pub(crate) fn limit_to_sql(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The longest beginning of at most [`WORD_BYTES_MAX`] bytes.
pub(crate) fn word(text: &str) -> &str {
    text.get(..text.floor_char_boundary(WORD_BYTES_MAX))
        .unwrap_or(text)
}

/// A session id from a row.
pub(crate) fn session_id(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<SessionId> {
    row.get::<_, String>(column).map(SessionId::new)
}

/// A goal id from a row.
pub(crate) fn goal_id(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<GoalId> {
    row.get::<_, String>(column).map(GoalId::new)
}

/// A moment from a row.
pub(crate) fn wall(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<Wall> {
    row.get(column).map(|ms| Wall(from_sql(ms)))
}

/// JSON from a row; `null` if it is none, so that one odd row hides no other.
pub(crate) fn json(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<serde_json::Value> {
    row.get::<_, String>(column)
        .map(|text| serde_json::from_str(&text).unwrap_or_default())
}
