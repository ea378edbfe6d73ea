//! A machine's database, and what can stand in its way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use goal_engine::store::Store;
use rusqlite::Connection;

/// Databases in memory are told apart by their names.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// In memory; made when it is first asked for.
pub(crate) struct Database {
    name: String,
    open: Mutex<Option<Store>>,
    /// Another connection that holds a lock or has moved a table away.
    other: Mutex<Option<Trouble>>,
}

struct Trouble {
    connection: Connection,
    repair: &'static str,
}

impl Database {
    pub(crate) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            name: format!("world-{count}"),
            open: Mutex::default(),
            other: Mutex::default(),
        }
    }

    pub(crate) fn store(&self) -> Store {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Store::in_shared_memory(&self.name, "this is a test");
        open.get_or_insert_with(made).clone()
    }

    /// Another program writes and does not come to its end: every write is refused.
    pub(crate) fn is_locked(&self) {
        self.stands_in_the_way("BEGIN IMMEDIATE", "ROLLBACK");
    }

    /// A table cannot be found: neither reads nor writes of notices work.
    pub(crate) fn is_damaged(&self) {
        self.stands_in_the_way(
            "ALTER TABLE notices RENAME TO lost",
            "ALTER TABLE lost RENAME TO notices",
        );
    }

    /// Whatever stood in the way is gone.
    pub(crate) fn heals(&self) {
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trouble) = other.take() {
            perform(&trouble.connection, trouble.repair);
        }
    }

    fn stands_in_the_way(&self, trouble: &str, repair: &'static str) {
        self.heals();
        // It lives as long as a connection does.
        let _kept = self.store();
        let place = format!("file:{}?mode=memory&cache=shared", self.name);
        let connection = match Connection::open(place) {
            Ok(connection) => connection,
            Err(error) => panic!("a second connection was refused: {error}"),
        };
        perform(&connection, trouble);
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        *other = Some(Trouble { connection, repair });
    }
}

fn perform(connection: &Connection, statement: &str) {
    if let Err(error) = connection.execute_batch(statement) {
        panic!("{statement}: {error}");
    }
}
