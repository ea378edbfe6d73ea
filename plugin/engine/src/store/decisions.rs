//! The journal: why each cycle ended as it did (invariant 1).

use goal_core::goal::{GoalId, SessionId};
use goal_core::time::Wall;
use rusqlite::{Connection, Row, TransactionBehavior, params};
use serde_json::Value;

use super::{
    StoreError, from_sql, goal_id, json, limit_to_sql, session_id, to_sql, wall, without_sync, word,
};

/// UTF-8 bytes of a decision's detail: counters and codes, never a text of user or agent.
pub const DETAIL_BYTES_MAX: usize = 2_048;

/// Decisions kept about one session: a goal's 20 continuations with all that lies between, and
/// one that waits for a day with a look every five minutes, fit; and one busy session cannot
/// push out what is known of the others.
pub const DECISIONS_PER_SESSION_MAX: usize = 500;

/// Decisions kept in all: about 20 MB at their average size.
pub const DECISIONS_MAX: usize = 50_000;

/// Why a cycle ended as it did.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRecord {
    /// When it was decided.
    pub at: Wall,
    /// The session.
    pub session: SessionId,
    /// The goal it was decided for.
    pub goal: GoalId,
    /// The kind of decision, a code such as `continue`.
    pub kind: String,
    /// Why, a code such as `childBusy`.
    pub why: String,
    /// Counters and codes that belong to it. Neither objective nor reply. One that takes more
    /// than [`DETAIL_BYTES_MAX`] is kept as its size alone.
    pub detail: Value,
    /// Tokens the goal had used.
    pub tokens_used: u64,
    /// Continuations the goal had used.
    pub turns_used: u32,
}

/// A decision as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    /// Grows with every decision.
    pub id: i64,
    /// The decision; texts longer than 512 bytes are cut.
    pub record: DecisionRecord,
}

pub(super) fn append(
    connection: &mut Connection,
    record: &DecisionRecord,
) -> Result<i64, StoreError> {
    // Every cycle waits for this.
    without_sync(connection, |connection| append_one(connection, record))
}

fn append_one(connection: &mut Connection, record: &DecisionRecord) -> Result<i64, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction
        .prepare_cached(
            "INSERT INTO decisions
                 (t_ms, session_id, goal_id, kind, why, detail_json, tokens_used, turns_used)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            to_sql(record.at.0),
            word(record.session.as_str()),
            word(record.goal.as_str()),
            word(&record.kind),
            word(&record.why),
            detail(&record.detail),
            to_sql(record.tokens_used),
            record.turns_used,
        ])?;
    let id = transaction.last_insert_rowid();
    prune(&transaction, &record.session, id)?;
    transaction.commit()?;
    Ok(id)
}

pub(super) fn newest(
    connection: &mut Connection,
    session: &SessionId,
    limit: usize,
) -> Result<Vec<StoredDecision>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT * FROM decisions WHERE session_id = ?1 ORDER BY id DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![word(session.as_str()), limit_to_sql(limit)], parse)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn prune(connection: &Connection, session: &SessionId, newest: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM decisions WHERE session_id = ?1 AND id <=
                 (SELECT id FROM decisions WHERE session_id = ?1
                  ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![
            word(session.as_str()),
            limit_to_sql(DECISIONS_PER_SESSION_MAX)
        ])?;
    // Ids only grow, so a range of the newest ids never holds more rows than it is long.
    connection
        .prepare_cached("DELETE FROM decisions WHERE id <= ?1")?
        .execute([newest.saturating_sub(limit_to_sql(DECISIONS_MAX))])?;
    Ok(())
}

fn detail(detail: &Value) -> String {
    let text = detail.to_string();
    if text.len() <= DETAIL_BYTES_MAX {
        return text;
    }
    serde_json::json!({ "omittedBytes": text.len() }).to_string()
}

fn parse(row: &Row<'_>) -> rusqlite::Result<StoredDecision> {
    Ok(StoredDecision {
        id: row.get("id")?,
        record: DecisionRecord {
            at: wall(row, "t_ms")?,
            session: session_id(row, "session_id")?,
            goal: goal_id(row, "goal_id")?,
            kind: row.get("kind")?,
            why: row.get("why")?,
            detail: json(row, "detail_json")?,
            tokens_used: from_sql(row.get("tokens_used")?),
            turns_used: row.get("turns_used")?,
        },
    })
}
