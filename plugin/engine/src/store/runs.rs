//! Runs: who claimed which occurrence, and what became of it.
//!
//! A claim is one step for all processes: the look at the task, the row of the run and the next
//! occurrence to wait for are written together or not at all (T6).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use goal_core::goal::{GoalId, MessageId, SessionId};
use goal_core::schedule::{RunState, SAME_OCCURRENCE, TaskId};
use goal_core::time::{Wall, millis};
use rusqlite::{Connection, Row, TransactionBehavior, params};

use super::drivers::{Owner, ServerKey};
use super::{Store, StoreError, from_sql, limit_to_sql, tasks, to_sql, wall, word};
use crate::processes::Process;

/// Ended runs kept of one task: a quarter of a year of a daily one.
pub const RUNS_PER_TASK_MAX: usize = 100;

/// Runs whose goals are pursued at once: each is an agent at work (T5).
pub const RUNNING_MAX: usize = 4;

/// Of those, in one folder: agents in one folder get into each other's way (T5).
pub const RUNNING_PER_FOLDER_MAX: usize = 2;

/// A run that nobody could look after for so long is given up: its server may never come back, and
/// it would keep its task from running.
pub const LOST_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// How often it is written down that somebody looks after a run.
const SEEN_EVERY: Duration = Duration::from_secs(10 * 60);

/// Characters of a reason.
const REASON_MAX: usize = 2_000;

/// A run as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Grows with every run.
    pub id: i64,
    /// The task.
    pub task: TaskId,
    /// The occurrence; `None`: it was run on request. The first one where several were missed.
    pub occurrence: Option<Wall>,
    /// How many occurrences it stands for: more than one only where they were missed.
    pub occurrences: u32,
    /// How it stands, or how it ended.
    pub state: RunState,
    /// Why it failed or what the goal ended with; may be empty.
    pub reason: String,
    /// The folder.
    pub directory: String,
    /// Its session is archived once its goal is complete.
    pub archive: bool,
    /// When it was claimed.
    pub claimed: Wall,
    /// When it ended.
    pub ended: Option<Wall>,
    /// Its session, once there is one.
    pub session: Option<SessionId>,
    /// Its goal, if it has one.
    pub goal: Option<GoalId>,
    /// Its prompt.
    pub message: Option<MessageId>,
    /// The server it runs on.
    server: Option<String>,
    nonce: String,
    owner: Process,
    seen: Wall,
}

impl StoredRun {
    /// Whether it runs on this server.
    #[must_use]
    pub fn is_on(&self, server: &ServerKey) -> bool {
        self.server.as_deref() == Some(server.as_str())
    }

    /// Whether this engine claimed it.
    #[must_use]
    pub fn is_of(&self, owner: &Owner) -> bool {
        self.nonce == owner.nonce()
    }
}

/// Who claims which occurrence.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The task.
    pub task: TaskId,
    /// The occurrence that is due.
    pub occurrence: Wall,
    /// The one to wait for then.
    pub next: Option<Wall>,
    /// Who claims.
    pub owner: Owner,
    /// Now.
    pub now: Wall,
}

/// What an attempt to run a task comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It is the caller's: this run.
    Mine(i64),
    /// The task's last run has not ended: this was written down, nothing is started.
    Skipped,
    /// Somebody else took it, or the task was changed meanwhile.
    Taken,
    /// The task is disabled.
    Disabled,
    /// There is no such task any more.
    Gone,
}

/// What a run got when it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// Its session.
    pub session: SessionId,
    /// Its goal.
    pub goal: Option<GoalId>,
    /// Its prompt.
    pub message: Option<MessageId>,
    /// The server.
    pub server: ServerKey,
}

impl Store {
    /// Claims a due occurrence: of all processes, and however often the clock shows it, one gets it
    /// (T6). A task that comes once is disabled with it (T9).
    ///
    /// # Errors
    /// [`StoreError`]: nothing was claimed.
    pub async fn claim_run(&self, claim: Claim) -> Result<Claimed, StoreError> {
        self.write(move |connection| claim_due(connection, &claim))
            .await
    }

    /// Claims a run on request, which is no occurrence and begins at once.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was claimed.
    pub async fn claim_now(
        &self,
        task: TaskId,
        owner: Owner,
        now: Wall,
    ) -> Result<Claimed, StoreError> {
        self.write(move |connection| on_request(connection, &task, &owner, now))
            .await
    }

    /// Writes down that occurrences went by, and waits for the next one, if `first` is still what
    /// the task waits for (T9).
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written then.
    pub async fn miss_runs(
        &self,
        task: TaskId,
        first: Wall,
        count: u32,
        next: Option<Wall>,
        owner: Owner,
        now: Wall,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(found) = tasks::find(&transaction, &task)? else {
                return Ok(false);
            };
            if !found.enabled || found.next != Some(first) {
                return Ok(false);
            }
            let row = NewRun {
                task: &found,
                occurrence: Some(first),
                occurrences: count,
                state: RunState::Missed,
                owner: &owner,
                now,
            };
            row.insert(&transaction)?;
            rearm(&transaction, &task, next, /*disable*/ false)?;
            transaction.commit()?;
            Ok(true)
        })
        .await
    }

    /// Starts those of the caller's queued runs that there is room for, the oldest first, counting
    /// what all processes run (T5).
    ///
    /// # Errors
    /// [`StoreError`]; none was started then.
    pub async fn admit_runs(&self, owner: Owner, now: Wall) -> Result<Vec<StoredRun>, StoreError> {
        self.write(move |connection| admit(connection, &owner, now))
            .await
    }

    /// A run has its session. `false` if it had ended meanwhile.
    ///
    /// # Errors
    /// [`StoreError`]; the run stays as it was then.
    pub async fn run_dispatched(
        &self,
        id: i64,
        what: Dispatched,
        now: Wall,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE runs SET state = 'running', session_id = ?2, goal_id = ?3, message_id = ?4,
                     server_key = ?5, seen_ms = ?6
                 WHERE id = ?1 AND is_live = 1",
                params![
                    id,
                    word(what.session.as_str()),
                    what.goal.as_ref().map(|goal| word(goal.as_str())),
                    what.message.as_ref().map(|message| word(message.as_str())),
                    what.server.as_str(),
                    to_sql(now.0),
                ],
            )?;
            Ok(changed == 1)
        })
        .await
    }

    /// Somebody looked after a run, whose goal runs or is paused.
    ///
    /// # Errors
    /// [`StoreError`]; the run stays as it was then.
    pub async fn run_seen(
        &self,
        run: StoredRun,
        paused: bool,
        now: Wall,
    ) -> Result<(), StoreError> {
        let state = if paused {
            RunState::Paused
        } else {
            RunState::Running
        };
        if run.state == state && now.0.abs_diff(run.seen.0) < millis(SEEN_EVERY) {
            return Ok(());
        }
        self.write(move |connection| {
            connection.execute(
                "UPDATE runs SET state = ?2, seen_ms = ?3 WHERE id = ?1 AND is_live = 1",
                params![run.id, state.name(), to_sql(now.0)],
            )?;
            Ok(())
        })
        .await
    }

    /// A run ended. `session` is what it left behind, where it did not get that far. `false` if it
    /// had ended before.
    ///
    /// # Errors
    /// [`StoreError`]; the run stays as it was then.
    pub async fn end_run(
        &self,
        id: i64,
        state: RunState,
        reason: String,
        session: Option<SessionId>,
        now: Wall,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let session = session.as_ref().map(|session| word(session.as_str()));
            let changed = connection.execute(
                "UPDATE runs SET state = ?2, is_live = 0, reason = ?3, ended_ms = ?4,
                     session_id = coalesce(?5, session_id)
                 WHERE id = ?1 AND is_live = 1",
                params![id, state.name(), clipped(&reason), to_sql(now.0), session],
            )?;
            Ok(changed == 1)
        })
        .await
    }

    /// The runs that have not ended, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn live_runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.read(|connection| Ok(live(connection)?)).await
    }

    /// A task's newest runs, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn runs(&self, task: TaskId, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT * FROM runs WHERE task_id = ?1 ORDER BY id DESC LIMIT ?2",
            )?;
            let rows = statement.query_map(params![task.as_str(), limit_to_sql(limit)], parse)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The occurrences of every task that somebody ran or skipped, as far as its history goes.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn taken_occurrences(&self) -> Result<BTreeMap<TaskId, BTreeSet<Wall>>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT task_id, occurrence_ms FROM runs
                 WHERE occurrence_ms IS NOT NULL AND state <> 'missed'",
            )?;
            let rows = statement.query_map([], |row| {
                Ok((
                    TaskId::new(row.get::<_, String>(0)?),
                    wall(row, "occurrence_ms")?,
                ))
            })?;
            let mut taken: BTreeMap<TaskId, BTreeSet<Wall>> = BTreeMap::new();
            for row in rows {
                let (task, occurrence) = row?;
                taken.entry(task).or_default().insert(occurrence);
            }
            Ok(taken)
        })
        .await
    }
}

fn claim_due(connection: &mut Connection, claim: &Claim) -> Result<Claimed, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(task) = tasks::find(&transaction, &claim.task)? else {
        return Ok(Claimed::Gone);
    };
    if !task.enabled {
        return Ok(Claimed::Disabled);
    }
    if task.next != Some(claim.occurrence) {
        return Ok(Claimed::Taken);
    }
    rearm(&transaction, &task.id, claim.next, task.is_once())?;
    if is_taken(&transaction, &task.id, claim.occurrence)? {
        transaction.commit()?;
        return Ok(Claimed::Taken);
    }
    give_up(&transaction, &claim.owner, claim.now)?;
    let live = has_live(&transaction, &task.id)?;
    let state = if live {
        RunState::Skipped
    } else {
        RunState::Queued
    };
    let row = NewRun {
        task: &task,
        occurrence: Some(claim.occurrence),
        occurrences: 1,
        state,
        owner: &claim.owner,
        now: claim.now,
    };
    let id = row.insert(&transaction)?;
    transaction.commit()?;
    Ok(if live {
        Claimed::Skipped
    } else {
        Claimed::Mine(id)
    })
}

fn on_request(
    connection: &mut Connection,
    task: &TaskId,
    owner: &Owner,
    now: Wall,
) -> Result<Claimed, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(task) = tasks::find(&transaction, task)? else {
        return Ok(Claimed::Gone);
    };
    if !task.enabled {
        return Ok(Claimed::Disabled);
    }
    give_up(&transaction, owner, now)?;
    if has_live(&transaction, &task.id)? {
        return Ok(Claimed::Skipped);
    }
    let row = NewRun {
        task: &task,
        occurrence: None,
        occurrences: 1,
        state: RunState::Starting,
        owner,
        now,
    };
    let id = row.insert(&transaction)?;
    transaction.commit()?;
    Ok(Claimed::Mine(id))
}

fn admit(
    connection: &mut Connection,
    owner: &Owner,
    now: Wall,
) -> Result<Vec<StoredRun>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    give_up(&transaction, owner, now)?;
    let live = live(&transaction)?;
    let works = |run: &&StoredRun| matches!(run.state, RunState::Starting | RunState::Running);
    let mut all = live.iter().filter(works).count();
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for run in live.iter().filter(works) {
        *folders.entry(run.directory.clone()).or_default() += 1;
    }
    let mut admitted = Vec::new();
    for run in live {
        let mine = run.state == RunState::Queued && run.is_of(owner);
        let here = folders.entry(run.directory.clone()).or_default();
        if !mine || all >= RUNNING_MAX || *here >= RUNNING_PER_FOLDER_MAX {
            continue;
        }
        all += 1;
        *here += 1;
        transaction.execute("UPDATE runs SET state = 'starting' WHERE id = ?1", [run.id])?;
        admitted.push(StoredRun {
            state: RunState::Starting,
            ..run
        });
    }
    transaction.commit()?;
    Ok(admitted)
}

/// Ends the runs that nobody will: their process is gone, or nobody could look after them for a
/// day. None of them is begun again.
fn give_up(connection: &Connection, me: &Owner, now: Wall) -> rusqlite::Result<()> {
    for run in live(connection)? {
        let begins = matches!(run.state, RunState::Queued | RunState::Starting);
        let state = if begins && run.owner.is_gone(&me.process().host) {
            RunState::Interrupted
        } else if now.since(run.seen) > LOST_AFTER {
            RunState::Lost
        } else {
            continue;
        };
        connection.execute(
            "UPDATE runs SET state = ?2, is_live = 0, ended_ms = ?3 WHERE id = ?1",
            params![run.id, state.name(), to_sql(now.0)],
        )?;
    }
    Ok(())
}

/// The runs that have not ended, oldest first.
fn live(connection: &Connection) -> rusqlite::Result<Vec<StoredRun>> {
    connection
        .prepare_cached("SELECT * FROM runs WHERE is_live = 1 ORDER BY id")?
        .query_map([], parse)?
        .collect()
}

fn has_live(connection: &Connection, task: &TaskId) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE task_id = ?1 AND is_live = 1)",
        [task.as_str()],
        |row| row.get(0),
    )
}

fn is_taken(connection: &Connection, task: &TaskId, at: Wall) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE task_id = ?1 AND state <> 'missed'
             AND occurrence_ms BETWEEN ?2 AND ?3)",
        params![
            task.as_str(),
            to_sql(at.0.saturating_sub(millis(SAME_OCCURRENCE))),
            to_sql(at.after(SAME_OCCURRENCE).0),
        ],
        |row| row.get(0),
    )
}

fn rearm(
    connection: &Connection,
    task: &TaskId,
    next: Option<Wall>,
    disable: bool,
) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE tasks SET next_ms = ?2, enabled = enabled AND NOT ?3 WHERE id = ?1",
        params![task.as_str(), next.map(|next| to_sql(next.0)), disable],
    )?;
    Ok(())
}

/// A run to write down.
struct NewRun<'r> {
    task: &'r tasks::StoredTask,
    occurrence: Option<Wall>,
    occurrences: u32,
    state: RunState,
    owner: &'r Owner,
    now: Wall,
}

impl NewRun<'_> {
    fn insert(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let (draft, live) = (&self.task.task.draft, self.state.is_live());
        let process = self.owner.process();
        connection.execute(
            "INSERT INTO runs (task_id, occurrence_ms, occurrences, state, is_live, reason,
                 directory, archive, claimed_ms, ended_ms, seen_ms, nonce, pid, host, started)
             VALUES (?1, ?2, ?3, ?4, ?5, '', ?6, ?7, ?8, ?9, ?8, ?10, ?11, ?12, ?13)",
            params![
                self.task.id.as_str(),
                self.occurrence.map(|at| to_sql(at.0)),
                self.occurrences,
                self.state.name(),
                live,
                draft.directory,
                draft.archive,
                to_sql(self.now.0),
                (!live).then_some(to_sql(self.now.0)),
                self.owner.nonce(),
                process.pid,
                process.host,
                process.started,
            ],
        )?;
        let id = connection.last_insert_rowid();
        connection.execute(
            "DELETE FROM runs WHERE task_id = ?1 AND is_live = 0 AND id <=
                 (SELECT id FROM runs WHERE task_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            params![self.task.id.as_str(), limit_to_sql(RUNS_PER_TASK_MAX)],
        )?;
        Ok(id)
    }
}

fn clipped(reason: &str) -> String {
    reason.chars().take(REASON_MAX).collect()
}

fn parse(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let at = |column: &str| -> rusqlite::Result<Option<Wall>> {
        let ms: Option<i64> = row.get(column)?;
        Ok(ms.map(|ms| Wall(from_sql(ms))))
    };
    let text = |column: &str| row.get::<_, Option<String>>(column);
    let state: String = row.get("state")?;
    Ok(StoredRun {
        id: row.get("id")?,
        task: TaskId::new(row.get::<_, String>("task_id")?),
        occurrence: at("occurrence_ms")?,
        occurrences: row.get("occurrences")?,
        // A later version's word: how it stands is not known here.
        state: RunState::named(&state).unwrap_or(RunState::Lost),
        reason: row.get("reason")?,
        directory: row.get("directory")?,
        archive: row.get("archive")?,
        claimed: wall(row, "claimed_ms")?,
        ended: at("ended_ms")?,
        session: text("session_id")?.map(SessionId::new),
        goal: text("goal_id")?.map(GoalId::new),
        message: text("message_id")?.map(MessageId::new),
        server: text("server_key")?,
        nonce: row.get("nonce")?,
        owner: Process {
            pid: row.get("pid")?,
            host: row.get("host")?,
            started: row.get("started")?,
        },
        seen: wall(row, "seen_ms")?,
    })
}

#[cfg(test)]
mod tests;
