//! `start`, `pause` and `resume`.

use goal_core::limits::Limits;
use goal_core::objective::{Fitting, fit};
use goal_engine::command::{self, StartRequest, Started};
use serde_json::json;

use crate::args::{Connection, OneSession, Resume, Start};
use crate::failure::{Exit, Stop};
use crate::output::Output;
use crate::{args, connect, json, objective, render};

/// Starts a goal.
pub(crate) async fn start(
    args: &Start,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let request = StartRequest {
        session: args::session(&args.session)?,
        token_budget: args.token_budget.as_deref().map(args::budget).transpose()?,
        objective: objective::read(args)?,
        send: args.send,
        replace: args.replace,
    };
    let limits = Limits::DEFAULT;
    let text = request.objective.clone();
    let ports = connect::for_command(connection, &limits).await?.ports;
    let started = command::start(&ports, request).await?;
    let now = super::now();
    let auditor = &started.auditor;
    let object = json!({
        "status": "ok",
        "goal": json::goal(&started.view, Some(&text), now),
        "shortened": started.shortened,
        "inline": started.inline,
        "auditor": { "model": json::model(&auditor.model), "source": auditor.source },
        "messageID": started.message.as_ref().map(goal_core::goal::MessageId::as_str),
        "waitsForFirstMessage": started.waits_for_first_message,
    });
    output.result(&object, || started_lines(&started, &text, &limits))?;
    Ok(Exit::Fine)
}

/// Pauses a goal and stops its session.
pub(crate) async fn pause(
    args: &OneSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let limits = Limits::DEFAULT;
    let ports = connect::for_command(connection, &limits).await?.ports;
    let paused = command::pause(&ports, &session).await?;
    let object = json!({
        "status": "ok",
        "already": paused.already,
        "abortFailed": paused.abort_failed,
        "goal": json::goal(&paused.view, None, super::now()),
    });
    output.result(&object, || {
        let session = &paused.view.session;
        let done = if paused.already {
            say!("pause.already", session = session)
        } else {
            say!("pause.done", session = session)
        };
        let failed = paused.abort_failed.as_deref().map(|error| {
            let error = crate::text::one_line(error);
            say!("pause.abortFailed", error = error)
        });
        std::iter::once(done).chain(failed).collect()
    })?;
    Ok(Exit::Fine)
}

/// Resumes a goal, perhaps with another budget.
pub(crate) async fn resume(
    args: &Resume,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let budget = match &args.token_budget {
        Some(text) => Some(Some(args::budget(text)?)),
        None => args.no_token_budget.then_some(None),
    };
    let limits = Limits::DEFAULT;
    let ports = connect::for_command(connection, &limits).await?.ports;
    let resumed = command::resume(&ports, &session, budget).await?;
    let now = super::now();
    let object = json!({
        "status": "ok",
        "already": resumed.already,
        "goal": json::goal(&resumed.view, None, now),
    });
    output.result(&object, || {
        let session = &resumed.view.session;
        let done = if resumed.already {
            say!("resume.already", session = session)
        } else {
            say!("resume.done", session = session)
        };
        vec![done, indented(render::tokens(&resumed.view.goal))]
    })?;
    Ok(Exit::Fine)
}

fn started_lines(started: &Started, text: &str, limits: &Limits) -> Vec<String> {
    let view = &started.view;
    let session = &view.session;
    let auditor = crate::text::one_line(&json::model(&started.auditor.model));
    let source = crate::words::of_code("auditor", started.auditor.source);
    let mut lines = vec![
        say!(
            "start.done",
            session = session,
            title = render::name_of(view)
        ),
        indented(say!("start.auditor", model = auditor, source = source)),
    ];
    if let (true, Fitting::TooLong { units }) = (started.shortened, fit(text, limits.objective_max))
    {
        let max = limits.objective_max;
        lines.push(indented(say!("start.shortened", units = units, max = max)));
    }
    if started.inline {
        lines.push(indented(say!("start.inline")));
    }
    lines.push(indented(if started.message.is_some() {
        say!("start.sent")
    } else if started.waits_for_first_message {
        say!("start.waits")
    } else {
        say!("start.audits")
    }));
    lines.push(indented(say!("start.next", session = session)));
    lines
}

fn indented(line: String) -> String {
    format!("  {line}")
}
