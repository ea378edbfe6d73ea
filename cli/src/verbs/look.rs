//! `show`, `list` and `why`: they change nothing.

use goal_core::limits::Limits;
use goal_core::time::Wall;
use goal_engine::command;
use goal_engine::ports::Ports;
use goal_engine::view::GoalView;
use serde_json::{Value, json};

use crate::args::{Connection, OneSession};
use crate::failure::{Exit, Stop};
use crate::output::Output;
use crate::{args, connect, json, render, text, words};

/// Shows one goal.
pub(crate) async fn show(
    args: &OneSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let limits = Limits::DEFAULT;
    let ports = connect::ports(connection).await?;
    let view = command::show(&ports, &session).await?;
    let objective = objective(&ports, &view).await;
    let clock = super::clock();
    let object = json!({
        "status": "ok",
        "goal": json::goal(&view, objective.as_deref(), clock.now),
    });
    let page = output.page();
    output.result(&object, || {
        render::goal(&view, objective.as_deref(), &limits, &clock, page)
    })?;
    Ok(Exit::Fine)
}

/// Lists every goal of the server.
pub(crate) async fn list(connection: &Connection, output: &mut Output) -> Result<Exit, Stop> {
    let ports = connect::ports(connection).await?;
    let mut views = command::list(&ports).await?;
    render::sort(&mut views);
    let now = super::now();
    let goals: Vec<Value> = views
        .iter()
        .map(|view| json::goal(view, None, now))
        .collect();
    let object = json!({ "status": "ok", "goals": goals });
    let page = output.page();
    output.result(&object, || render::list(&views, page))?;
    Ok(Exit::Fine)
}

/// Explains what a goal does, or why it does nothing.
pub(crate) async fn why(
    args: &OneSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let ports = connect::ports(connection).await?;
    let told = command::why(&ports, &session).await?;
    let clock = super::clock();
    let look = &told.look;
    let recent: Vec<Value> = told.recent.iter().map(decision).collect();
    let object = json!({
        "status": "ok",
        "goal": json::goal(&told.view, None, clock.now),
        "look": {
            "decision": look.decision,
            "why": look.why,
            "detail": look.detail,
            "until": look.until.map(|until| until.0),
        },
        "recent": recent,
    });
    output.result(&object, || {
        let waits = look
            .until
            .filter(|until| *until > clock.now)
            .map(|until| say!("phase.until", span = text::span(until.since(clock.now))));
        let facts = render::joined([
            words::of_code("decision", look.decision),
            render::because(&look.why),
            text::one_line(&look.detail),
            waits.unwrap_or_default(),
        ]);
        let name = render::name_of(&told.view);
        let head = [
            format!("{}  {name}", told.view.session),
            format!("  {}", render::status(&told.view.goal)),
            say!("why.look"),
            format!("  {facts}"),
            say!("why.recent"),
        ];
        let recent = render::decisions(&told.recent, &clock.zone);
        head.into_iter().chain(recent).collect()
    })?;
    Ok(Exit::Fine)
}

/// The effective objective (R9): the file's text, else the stored one.
async fn objective(ports: &Ports, view: &GoalView) -> Option<String> {
    let stored = Some(view.goal.objective.clone()).filter(|text| !text.trim().is_empty());
    if !view.goal.objective_file || !ports.sessions.is_local() {
        return stored;
    }
    ports
        .objectives
        .read(view.session.as_str())
        .await
        .or(stored)
}

fn decision(stored: &goal_engine::store::StoredDecision) -> Value {
    let record = &stored.record;
    let Wall(at) = record.at;
    json!({
        "t": at,
        "goalID": record.goal.as_str(),
        "decision": record.kind,
        "why": record.why,
        "detail": record.detail,
        "tokensUsed": record.tokens_used,
        "turnsUsed": record.turns_used,
    })
}
