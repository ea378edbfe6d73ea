//! What the user is told: written before it is sent, marked after, once for each key.

use goal_core::goal::{GoalId, SessionId};
use goal_core::time::Wall;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde_json::Value;

use super::{
    StoreError, WORD_BYTES_MAX, goal_id, json, limit_to_sql, session_id, to_sql, wall, word,
};

/// UTF-8 bytes of a notice's arguments: a title, an objective's first 140 characters, a reason and
/// a note, escaped as JSON.
pub const ARGS_BYTES_MAX: usize = 8_192;

/// Notices kept: months of heavy use, and few enough to show as one list.
pub const NOTICES_MAX: usize = 1_000;

/// What the user is about to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct NoticePlan {
    /// What makes it one and the same notice, at most 1,024 bytes; see [`notice_key`].
    pub key: String,
    /// When it was planned.
    pub at: Wall,
    /// The session it is about.
    pub session: SessionId,
    /// The goal it is about.
    pub goal: GoalId,
    /// What is told, a code.
    pub code: String,
    /// What the code's text is filled with; at most [`ARGS_BYTES_MAX`] as JSON.
    pub args: Value,
}

/// How far a notice came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeState {
    /// Written down, and perhaps sent: the process may have ended in between.
    Planned,
    /// Told.
    Sent,
    /// It could not be told outside the app; the list in the app still shows it.
    Failed,
}

impl NoticeState {
    const ALL: [Self; 3] = [Self::Planned, Self::Sent, Self::Failed];

    fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}

/// What planning a notice found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Nobody planned it before; the row's id.
    New(i64),
    /// It was planned before and is not yet marked; the row's id.
    AlreadyPlanned(i64),
    /// The user was told before.
    AlreadySent,
    /// It was tried before and could not be told outside the app; the row's id.
    AlreadyFailed(i64),
}

/// A notice as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredNotice {
    /// Grows with every notice.
    pub id: i64,
    /// The notice; ids and codes longer than 512 bytes are cut.
    pub plan: NoticePlan,
    /// How far it came.
    pub state: NoticeState,
    /// Whether the user has seen it in the app.
    pub read: bool,
}

/// The key of the notice that `goal` came to `code` by the write of `updated_at`: the same after a
/// restart and in another process, another one after a Resume.
#[must_use]
pub fn notice_key(goal: &GoalId, code: &str, updated_at: Wall) -> String {
    // The goal's id stands last: it is another client's text and may hold the separator.
    format!("{code}:{}:{}", updated_at.0, word(goal.as_str()))
}

pub(super) fn plan(connection: &mut Connection, plan: &NoticePlan) -> Result<Planned, StoreError> {
    let args = plan.args.to_string();
    bounded("a notice's arguments", args.len(), ARGS_BYTES_MAX)?;
    bounded("a notice's key", plan.key.len(), 2 * WORD_BYTES_MAX)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = transaction
        .prepare_cached("SELECT id, state FROM notices WHERE key = ?1")?
        .query_row([&plan.key], |row| Ok((row.get::<_, i64>(0)?, state(row)?)))
        .optional()?;
    let planned = match found {
        Some((id, NoticeState::Planned)) => Planned::AlreadyPlanned(id),
        Some((id, NoticeState::Failed)) => Planned::AlreadyFailed(id),
        Some((_, NoticeState::Sent)) => Planned::AlreadySent,
        None => Planned::New(insert(&transaction, plan, &args)?),
    };
    transaction.commit()?;
    Ok(planned)
}

pub(super) fn mark(
    connection: &mut Connection,
    id: i64,
    to: NoticeState,
) -> Result<bool, StoreError> {
    // What was told stays told.
    let changed = connection
        .prepare_cached(
            "UPDATE notices SET state = ?2 WHERE id = ?1 AND state IN ('planned', 'failed', ?2)",
        )?
        .execute(params![id, to.name()])?;
    Ok(changed == 1)
}

pub(super) fn withdraw(connection: &mut Connection, id: i64) -> Result<bool, StoreError> {
    let changed = connection
        .prepare_cached("DELETE FROM notices WHERE id = ?1 AND state = 'planned'")?
        .execute([id])?;
    Ok(changed == 1)
}

pub(super) fn mark_read(connection: &mut Connection, id: i64) -> Result<bool, StoreError> {
    let changed = connection
        .prepare_cached("UPDATE notices SET is_read = 1 WHERE id = ?1")?
        .execute([id])?;
    Ok(changed == 1)
}

pub(super) fn pending(connection: &mut Connection) -> Result<Vec<StoredNotice>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM notices WHERE state = 'planned' ORDER BY id")?;
    let rows = statement.query_map([], parse)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn newest(
    connection: &mut Connection,
    limit: usize,
) -> Result<Vec<StoredNotice>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM notices ORDER BY id DESC LIMIT ?1")?;
    let rows = statement.query_map([limit_to_sql(limit)], parse)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn insert(connection: &Connection, plan: &NoticePlan, args: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO notices (key, t_ms, session_id, goal_id, code, args_json, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            plan.key,
            to_sql(plan.at.0),
            word(plan.session.as_str()),
            word(plan.goal.as_str()),
            word(&plan.code),
            args,
            NoticeState::Planned.name(),
        ])?;
    let id = connection.last_insert_rowid();
    connection
        .prepare_cached(
            "DELETE FROM notices WHERE id IN
                 (SELECT id FROM notices ORDER BY state = 'planned' DESC, id DESC
                  LIMIT -1 OFFSET ?1)",
        )?
        .execute([limit_to_sql(NOTICES_MAX)])?;
    Ok(id)
}

fn bounded(what: &'static str, bytes: usize, limit: usize) -> Result<(), StoreError> {
    if bytes > limit {
        return Err(StoreError::TooLarge { what, bytes, limit });
    }
    Ok(())
}

fn parse(row: &Row<'_>) -> rusqlite::Result<StoredNotice> {
    Ok(StoredNotice {
        id: row.get("id")?,
        plan: NoticePlan {
            key: row.get("key")?,
            at: wall(row, "t_ms")?,
            session: session_id(row, "session_id")?,
            goal: goal_id(row, "goal_id")?,
            code: row.get("code")?,
            args: json(row, "args_json")?,
        },
        state: state(row)?,
        read: row.get("is_read")?,
    })
}

fn state(row: &Row<'_>) -> rusqlite::Result<NoticeState> {
    let name: String = row.get("state")?;
    // The table admits these three only; anything else was told, as nothing is told twice.
    Ok(NoticeState::ALL
        .into_iter()
        .find(|state| state.name() == name)
        .unwrap_or(NoticeState::Sent))
}
