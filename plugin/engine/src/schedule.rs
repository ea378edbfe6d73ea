//! Tasks: prompts and goals that are begun at set times, each in a session of its own.
//!
//! What a person asks of tasks are functions over the store, which need no server and no running
//! host; whoever runs a [`Scheduler`] on the same data folder sees the change within seconds. A
//! task's occurrence is claimed in the database, so however many hosts there are, one runs it.

mod host;
mod review;
mod run;

use goal_core::fields::Broken;
use goal_core::schedule::{Task, TaskDraft, TaskId};
use goal_core::time::Wall;
use jiff::tz;

use crate::clock::hex;
use crate::command::{Sent, Unsent};
use crate::error::{Code, Error};
use crate::ports::{Clock, Ports};
use crate::store::{Claimed, Health, Owner, ServerKey, Store, StoreError, StoredRun, StoredTask};

pub use self::host::Scheduler;

/// Runs of a task that [`history`] gives at most: all that are kept.
pub use crate::store::RUNS_PER_TASK_MAX as HISTORY_MAX;

/// The name of this system's time zone; `UTC` where it has none that others know.
#[must_use]
pub fn local_zone() -> String {
    let zone = tz::TimeZone::system();
    zone.iana_name().unwrap_or("UTC").to_owned()
}

/// Every task, enabled ones first, then by name (T1).
///
/// # Errors
/// [`Code::DataFolder`].
pub async fn list(store: &Store) -> Result<Vec<StoredTask>, Error> {
    let mut tasks = store.tasks().await.map_err(store_error)?;
    tasks.sort_by_key(|task| !task.enabled);
    Ok(tasks)
}

/// The task with an id, or with a name that only one has.
///
/// # Errors
/// [`Code::UnknownTask`], [`Code::DataFolder`].
pub async fn find(store: &Store, named: &str) -> Result<StoredTask, Error> {
    let tasks = store.tasks().await.map_err(store_error)?;
    let by_id = tasks.iter().find(|task| task.id.as_str() == named);
    if let Some(task) = by_id {
        return Ok(task.clone());
    }
    let mut named = tasks
        .into_iter()
        .filter(|task| task.task.draft.name == named);
    match (named.next(), named.next()) {
        (Some(task), None) => Ok(task),
        (Some(_), Some(_)) => {
            let text = "Several tasks have that name; say which one by its id.";
            Err(Error::new(Code::UnknownTask, text))
        }
        (None, _) => Err(unknown()),
    }
}

/// Makes a task.
///
/// # Errors
/// [`Code::InvalidTask`], naming the field and its rule; [`Code::DataFolder`]. Nothing was kept
/// then.
pub async fn create(
    store: &Store,
    clock: &dyn Clock,
    draft: TaskDraft,
    enabled: bool,
) -> Result<StoredTask, Error> {
    check_kept(store)?;
    let now = clock.wall();
    let task = checked(draft, now)?;
    let stored = StoredTask {
        id: TaskId::drawn(clock.random()),
        next: next(&task, enabled, now)?,
        task,
        enabled,
        created: now,
        updated: now,
    };
    let kept = store.create_task(stored.clone()).await;
    kept.map_err(store_error)?;
    Ok(stored)
}

/// Changes a task: `seen` is how the caller knows it. What runs goes on as it began.
///
/// # Errors
/// Those of [`create`], [`Code::Conflict`] if it was changed or deleted meanwhile.
pub async fn update(
    store: &Store,
    clock: &dyn Clock,
    seen: &StoredTask,
    draft: TaskDraft,
) -> Result<StoredTask, Error> {
    check_kept(store)?;
    let now = clock.wall();
    let task = checked(draft, now)?;
    let (before, after) = (&seen.task.draft, &task.draft);
    let same_times = before.when == after.when && before.timezone == after.timezone;
    let changed = StoredTask {
        next: match same_times {
            true => seen.next,
            false => next(&task, seen.enabled, now)?,
        },
        task,
        // Two changes within a millisecond are two.
        updated: now.max(Wall(seen.updated.0.saturating_add(1))),
        ..seen.clone()
    };
    put(store, changed, seen).await
}

/// Lets a task run by itself, or not any more; what runs goes on. One that is so already stays as
/// it is.
///
/// # Errors
/// Those of [`update`]; [`Code::InvalidTask`] for one that comes once and lies in the past.
pub async fn enable(
    store: &Store,
    clock: &dyn Clock,
    seen: &StoredTask,
    enabled: bool,
) -> Result<StoredTask, Error> {
    check_kept(store)?;
    if seen.enabled == enabled {
        return Ok(seen.clone());
    }
    let now = clock.wall();
    let changed = StoredTask {
        enabled,
        next: next(&seen.task, enabled, now)?,
        updated: now.max(Wall(seen.updated.0.saturating_add(1))),
        ..seen.clone()
    };
    put(store, changed, seen).await
}

/// Deletes a task and its history. Its sessions stay, and what runs in them goes on.
///
/// # Errors
/// [`Code::UnknownTask`], [`Code::DataFolder`].
pub async fn delete(store: &Store, id: &TaskId) -> Result<(), Error> {
    check_kept(store)?;
    match store.delete_task(id.clone()).await.map_err(store_error)? {
        true => Ok(()),
        false => Err(unknown()),
    }
}

/// A task's newest runs, newest first, at most [`HISTORY_MAX`].
///
/// # Errors
/// [`Code::DataFolder`].
pub async fn history(store: &Store, id: &TaskId, limit: usize) -> Result<Vec<StoredRun>, Error> {
    store.runs(id.clone(), limit).await.map_err(store_error)
}

/// Runs an enabled task now, beside its schedule (T6): the session is there when this returns. A
/// host, now or later, sees the run's end.
///
/// # Errors
/// [`Code::TaskRuns`] while a run of it has not ended, [`Code::WrongStatus`] for a disabled one,
/// [`Code::UnknownTask`], and those of [`crate::command::create`].
pub async fn run_now(ports: &Ports, server: &ServerKey, task: &StoredTask) -> Result<Sent, Unsent> {
    let now = ports.clock.wall();
    let owner = Owner::this_process(&hex(ports.clock.random()));
    let claimed = ports.store.claim_now(task.id.clone(), owner, now).await;
    let run = match claimed.map_err(store_error)? {
        Claimed::Mine(run) => run,
        Claimed::Skipped | Claimed::Taken => {
            let text =
                "The task's last run has not ended; `openchamber schedule history` shows it.";
            return Err(Error::new(Code::TaskRuns, text).into());
        }
        Claimed::Disabled => {
            let text = "The task is disabled; nothing was run. Enable it first.";
            return Err(Error::new(Code::WrongStatus, text).into());
        }
        Claimed::Gone => return Err(unknown().into()),
    };
    run::dispatch(ports, server, &task.task, run, now).await
}

async fn put(store: &Store, task: StoredTask, seen: &StoredTask) -> Result<StoredTask, Error> {
    let kept = store.update_task(task.clone(), seen.updated).await;
    if kept.map_err(store_error)? {
        return Ok(task);
    }
    let text = "The task was changed or deleted meanwhile; nothing was written. Try again.";
    Err(Error::new(Code::Conflict, text))
}

fn checked(draft: TaskDraft, now: Wall) -> Result<Task, Error> {
    Task::check(draft, tz::db(), now).map_err(broken)
}

/// What a task waits for. One that would never run is refused.
fn next(task: &Task, enabled: bool, now: Wall) -> Result<Option<Wall>, Error> {
    if !enabled {
        return Ok(None);
    }
    let next = task.schedule.next(now);
    next.map(Some)
        .ok_or_else(|| broken(Broken::new("date", "takes a moment that lies ahead")))
}

/// Tasks in a database that ends with the program would never run.
fn check_kept(store: &Store) -> Result<(), Error> {
    match store.health() {
        Health::Fine | Health::PutAside { .. } => Ok(()),
        health @ (Health::ReadOnly { .. } | Health::MemoryOnly { .. }) => {
            Err(Error::new(Code::DataFolder, health.to_string()))
        }
    }
}

fn broken(broken: Broken) -> Error {
    Error::new(Code::InvalidTask, broken.to_string())
}

fn unknown() -> Error {
    let text = "There is no such task; `openchamber schedule list` shows those there are.";
    Error::new(Code::UnknownTask, text)
}

fn store_error(error: StoreError) -> Error {
    Error::new(Code::DataFolder, error.to_string())
}
