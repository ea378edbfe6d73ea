//! Tasks: what is said when, where and to whom.

use std::sync::{Mutex, PoisonError};

use goal_core::schedule::{Task, TaskDraft, TaskId, When};
use goal_core::time::Wall;
use jiff::tz;
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use tokio::sync::Notify;

use super::{Store, StoreError, limit_to_sql, to_sql, wall};

/// Tasks of one data folder.
pub const TASKS_MAX: usize = 500;

/// Changes of tasks, by this process and by others.
#[derive(Debug, Default)]
pub(super) struct Changes {
    told: Notify,
    /// What the database last said of changes by others.
    seen: Mutex<Option<i64>>,
}

/// A task as it is kept.
#[derive(Clone, Debug)]
pub struct StoredTask {
    /// Its id; never changes.
    pub id: TaskId,
    /// The task.
    pub task: Task,
    /// Whether it runs by itself.
    pub enabled: bool,
    /// The occurrence that is waited for; `None`: it never comes again, or the task is disabled.
    pub next: Option<Wall>,
    /// When it was made.
    pub created: Wall,
    /// When a person last changed it.
    pub updated: Wall,
}

impl StoredTask {
    /// Whether its schedule comes once.
    #[must_use]
    pub fn is_once(&self) -> bool {
        matches!(self.task.draft.when, When::Once { .. })
    }
}

impl Store {
    /// Every task that can be read, by name; one that cannot is left out and logged (T1).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn tasks(&self) -> Result<Vec<StoredTask>, StoreError> {
        self.read(|connection| all(connection)).await
    }

    /// The task with this id.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn task(&self, id: TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.read(move |connection| Ok(find(connection, &id)?))
            .await
    }

    /// Keeps a new task.
    ///
    /// # Errors
    /// [`StoreError`], among it [`StoreError::TooMany`]; nothing was written then.
    pub async fn create_task(&self, task: StoredTask) -> Result<(), StoreError> {
        self.change(move |connection| create(connection, &task))
            .await
    }

    /// Keeps a changed task, unless another process changed or deleted the one with `seen` as its
    /// [`StoredTask::updated`]: `false` then.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written then.
    pub async fn update_task(&self, task: StoredTask, seen: Wall) -> Result<bool, StoreError> {
        self.change(move |connection| {
            let changed = connection.execute(
                "UPDATE tasks SET definition_json = ?2, enabled = ?3, next_ms = ?4, updated_ms = ?5
                 WHERE id = ?1 AND updated_ms = ?6",
                params![
                    task.id.as_str(),
                    definition(&task.task.draft),
                    task.enabled,
                    task.next.map(|next| to_sql(next.0)),
                    to_sql(task.updated.0),
                    to_sql(seen.0),
                ],
            )?;
            Ok(changed == 1)
        })
        .await
    }

    /// Deletes a task with its history; what runs goes on as a session. `false` if there is none.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was deleted then.
    pub async fn delete_task(&self, id: TaskId) -> Result<bool, StoreError> {
        self.change(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM runs WHERE task_id = ?1", [id.as_str()])?;
            let deleted = transaction.execute("DELETE FROM tasks WHERE id = ?1", [id.as_str()])?;
            transaction.commit()?;
            Ok(deleted == 1)
        })
        .await
    }

    /// Waits for another occurrence of an enabled task from now on, if nobody else decided
    /// meanwhile what to wait for.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written then.
    pub async fn arm_task(
        &self,
        id: TaskId,
        before: Option<Wall>,
        next: Wall,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE tasks SET next_ms = ?3 WHERE id = ?1 AND next_ms IS ?2 AND enabled = 1",
                params![
                    id.as_str(),
                    before.map(|before| to_sql(before.0)),
                    to_sql(next.0)
                ],
            )?;
            Ok(changed == 1)
        })
        .await
    }

    /// Looks whether another process wrote into the database since the last look; whoever waits in
    /// [`Store::tasks_changed`] hears of it. Blocks on the database.
    pub(crate) fn look_for_changes(&self) {
        let version = self.shared.run(|connection| {
            Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
        });
        // Where it cannot be asked, what is known of it may be old.
        let version: Option<i64> = version.ok();
        let changes = &self.shared.changes;
        let mut seen = changes.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if version.is_none() || *seen != version {
            *seen = version;
            changes.told.notify_one();
        }
    }

    /// Waits until tasks may have been changed, by this process or another one, since this was
    /// last waited for. For one who waits.
    pub(crate) async fn tasks_changed(&self) {
        self.shared.changes.told.notified().await;
    }

    /// Does what changes tasks, and tells of it.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let done = self.write(work).await;
        self.shared.changes.told.notify_one();
        done
    }
}

fn create(connection: &mut Connection, task: &StoredTask) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let count: i64 = transaction.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))?;
    if count >= limit_to_sql(TASKS_MAX) {
        return Err(StoreError::TooMany {
            what: "tasks",
            limit: TASKS_MAX,
        });
    }
    transaction.execute(
        "INSERT INTO tasks (id, definition_json, enabled, next_ms, created_ms, updated_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            task.id.as_str(),
            definition(&task.task.draft),
            task.enabled,
            task.next.map(|next| to_sql(next.0)),
            to_sql(task.created.0),
            to_sql(task.updated.0),
        ],
    )?;
    transaction.commit()?;
    Ok(())
}

fn all(connection: &Connection) -> Result<Vec<StoredTask>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT * FROM tasks")?;
    let rows = statement.query_map([], parse)?;
    let mut tasks: Vec<StoredTask> = rows
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    tasks.sort_by(|one, other| {
        let key = |task: &StoredTask| (task.task.draft.name.clone(), task.id.clone());
        key(one).cmp(&key(other))
    });
    Ok(tasks)
}

pub(super) fn find(connection: &Connection, id: &TaskId) -> rusqlite::Result<Option<StoredTask>> {
    let found = connection
        .prepare_cached("SELECT * FROM tasks WHERE id = ?1")?
        .query_row([id.as_str()], parse)
        .optional()?;
    Ok(found.flatten())
}

/// A task from its row; `None` if it is none, so that one odd row hides no other.
fn parse(row: &Row<'_>) -> rusqlite::Result<Option<StoredTask>> {
    let id = TaskId::new(row.get::<_, String>("id")?);
    let created = wall(row, "created_ms")?;
    let text: String = row.get("definition_json")?;
    let draft = serde_json::from_str::<TaskDraft>(&text).map_err(|error| error.to_string());
    let task = draft.and_then(|draft| {
        Task::check(draft, tz::db(), created).map_err(|broken| broken.to_string())
    });
    let task = match task {
        Ok(task) => task,
        Err(why) => {
            tracing::warn!(%id, why, "a task cannot be read and is left out");
            return Ok(None);
        }
    };
    let next: Option<i64> = row.get("next_ms")?;
    Ok(Some(StoredTask {
        id,
        task,
        enabled: row.get("enabled")?,
        next: next.map(|next| Wall(super::from_sql(next))),
        created,
        updated: wall(row, "updated_ms")?,
    }))
}

fn definition(draft: &TaskDraft) -> String {
    serde_json::json!(draft).to_string()
}
