//! Telling the user: written down before it is shown, marked after, so that it is told once (R80).
//! The way from one to the other is the outbox.

use goal_core::goal::{Goal, GoalId};
use goal_core::notice::{Notice, NoticeCode, NoticeGate};
use goal_core::time::Wall;
use serde_json::json;

use crate::ports::{NoticeOut, Ports, SessionRead};
use crate::store::{self, NoticePlan, StoredNotice};

/// A notice that is written down and not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Its row; `None` where the database could not be written: it is told all the same.
    row: Option<i64>,
    /// The write of the goal that makes it true.
    stamp: Stamp,
    /// What is told.
    pub(crate) out: NoticeOut,
}

/// One write of one goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    id: GoalId,
    updated_at: Wall,
}

impl Planned {
    /// Whether `goal` is the write that makes the notice true.
    pub(crate) fn is_true_of(&self, goal: &Goal) -> bool {
        self.stamp.id == goal.id && self.stamp.updated_at == goal.updated_at
    }
}

/// Writes a notice down. `None`: the user does not want it, or was told before.
pub(crate) async fn plan(
    ports: &Ports,
    session: &SessionRead,
    goal: &Goal,
    notice: &Notice,
) -> Option<Planned> {
    let stamp = Stamp {
        id: goal.id.clone(),
        updated_at: goal.updated_at,
    };
    plan_once(
        ports,
        session,
        &notice_key(goal, notice.code, goal.updated_at),
        stamp,
        notice,
    )
    .await
}

/// Writes down the notice of a wait, once for each `occasion`, such as a request's id.
pub(crate) async fn plan_wait(
    ports: &Ports,
    session: &SessionRead,
    goal: &Goal,
    occasion: &str,
    notice: &Notice,
) -> Option<Planned> {
    let stamp = Stamp {
        id: goal.id.clone(),
        updated_at: goal.updated_at,
    };
    let key = format!("{}:{}:{occasion}", goal.id, notice.code.name());
    plan_once(ports, session, &key, stamp, notice).await
}

/// Writes down the notice of a turn. Whether the user wants it was asked before.
pub(crate) async fn plan_turn(ports: &Ports, out: NoticeOut, key: &str) -> Option<Planned> {
    let stamp = Stamp {
        id: out.goal.clone(),
        updated_at: Wall(0),
    };
    write_down(ports, out, key, stamp).await
}

async fn plan_once(
    ports: &Ports,
    session: &SessionRead,
    key: &str,
    stamp: Stamp,
    notice: &Notice,
) -> Option<Planned> {
    let settings = ports.settings.read().await.settings;
    let wanted = match notice.code.gate() {
        NoticeGate::Completion => settings.notify_on_completion,
        NoticeGate::Question => settings.notify_on_question,
        NoticeGate::Error => settings.notify_on_error,
    };
    if !wanted {
        return None;
    }
    let out = NoticeOut {
        session: session.facts.id.clone(),
        directory: session.directory.clone(),
        title: session.title.clone(),
        goal: stamp.id.clone(),
        code: notice.code,
        objective: notice.objective.clone(),
        detail: notice.detail.clone(),
    };
    write_down(ports, out, key, stamp).await
}

async fn write_down(ports: &Ports, out: NoticeOut, key: &str, stamp: Stamp) -> Option<Planned> {
    let plan = NoticePlan {
        key: key.to_owned(),
        at: ports.clock.wall(),
        session: out.session.clone(),
        goal: out.goal.clone(),
        code: out.code.name().to_owned(),
        args: args(&out, stamp.updated_at),
    };
    let row = match ports.store.plan_notice(plan).await {
        Ok(store::Planned::New(row) | store::Planned::AlreadyPlanned(row)) => Some(row),
        Ok(store::Planned::AlreadySent | store::Planned::AlreadyFailed(_)) => return None,
        Err(error) => {
            tracing::warn!(%error, "a notice could not be written down; it is told all the same");
            None
        }
    };
    Some(Planned { row, stamp, out })
}

fn args(out: &NoticeOut, updated_at: Wall) -> serde_json::Value {
    json!({
        "directory": out.directory,
        "title": out.title,
        "objective": out.objective,
        "detail": out.detail,
        "updatedAt": updated_at.0,
    })
}

/// Shows a notice, if notices may leave the app.
///
/// # Errors
/// A sentence for the journal.
pub(crate) async fn show(ports: &Ports, out: &NoticeOut) -> Result<(), String> {
    let settings = ports.settings.read().await.settings;
    if settings.native_notifications_enabled {
        ports.notices.deliver(out).await
    } else {
        Ok(())
    }
}

/// Marks a notice by what came of showing it. A failure never affects the goal.
pub(crate) async fn mark(ports: &Ports, planned: Planned, shown: Result<(), String>) {
    if let Err(reason) = &shown {
        tracing::warn!(session = %planned.out.session, reason, "a notice could not be shown");
    }
    if let Some(row) = planned.row {
        let marked = match shown {
            Ok(()) => ports.store.mark_notice_sent(row).await,
            Err(_) => ports.store.mark_notice_failed(row).await,
        };
        if let Err(error) = marked {
            tracing::warn!(%error, "a notice could not be marked");
        }
    }
}

/// Takes back a notice whose write certainly did not happen. Gives `None`, for the caller to keep.
pub(crate) async fn withdraw(ports: &Ports, planned: Option<Planned>) -> Option<Planned> {
    if let Some(row) = planned.and_then(|planned| planned.row)
        && let Err(error) = ports.store.withdraw_notice(row).await
    {
        tracing::warn!(%error, "a notice could not be withdrawn");
    }
    None
}

/// The notices that an earlier process wrote down and perhaps did not send.
pub(crate) async fn left_over(ports: &Ports) -> Vec<Planned> {
    match ports.store.pending_notices().await {
        Ok(rows) => rows.into_iter().filter_map(restore).collect(),
        Err(error) => {
            tracing::warn!(%error, "planned notices could not be read");
            Vec::new()
        }
    }
}

fn restore(row: StoredNotice) -> Option<Planned> {
    let text = |name: &str| row.plan.args.get(name)?.as_str().map(str::to_owned);
    let code = NoticeCode::ALL
        .into_iter()
        .find(|code| code.name() == row.plan.code)?;
    let updated_at = Wall(row.plan.args.get("updatedAt")?.as_u64()?);
    Some(Planned {
        row: Some(row.id),
        stamp: Stamp {
            id: row.plan.goal.clone(),
            updated_at,
        },
        out: NoticeOut {
            directory: text("directory")?,
            title: text("title")?,
            objective: text("objective")?,
            detail: text("detail")?,
            session: row.plan.session,
            goal: row.plan.goal,
            code,
        },
    })
}

fn notice_key(goal: &Goal, code: NoticeCode, updated_at: Wall) -> String {
    store::notice_key(&goal.id, code.name(), updated_at)
}
