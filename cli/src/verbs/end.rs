//! `complete` and `clear`: a goal ends because its user says so.

use goal_core::limits::Limits;
use goal_engine::command;
use goal_engine::error::Code;
use serde_json::json;

use crate::args::{Connection, OneSession};
use crate::failure::{Exit, Stop};
use crate::output::Output;
use crate::{args, connect, json};

/// Marks a goal complete. What runs in its session goes on.
pub(crate) async fn complete(
    args: &OneSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let completed = command::complete(&connected.ports, &session).await?;
    let object = json!({
        "status": "ok",
        "already": completed.already,
        "goal": json::goal(&completed.view, None, super::now()),
    });
    output.result(&object, || {
        vec![if completed.already {
            say!("complete.already", session = session)
        } else {
            say!("complete.done", session = session)
        }]
    })?;
    Ok(Exit::Fine)
}

/// Takes a goal out of its session, and stops the session if the goal was active. A session
/// without one is as it shall be.
pub(crate) async fn clear(
    args: &OneSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let cleared = match command::clear(&connected.ports, &session).await {
        Ok(cleared) => Some(cleared),
        Err(error) if error.code() == Code::NoGoal => None,
        Err(error) => return Err(error.into()),
    };
    let abort_failed = cleared
        .as_ref()
        .and_then(|cleared| cleared.abort_failed.as_deref());
    let goal = cleared
        .as_ref()
        .map(|cleared| json::goal(&cleared.view, None, super::now()));
    let object = json!({
        "status": "ok",
        "already": cleared.is_none(),
        "abortFailed": abort_failed,
        "goal": goal,
    });
    output.result(&object, || {
        let done = if cleared.is_some() {
            say!("clear.done", session = session)
        } else {
            say!("clear.already", session = session)
        };
        let failed = abort_failed.map(super::abort_failed);
        std::iter::once(done).chain(failed).collect()
    })?;
    Ok(Exit::Fine)
}
