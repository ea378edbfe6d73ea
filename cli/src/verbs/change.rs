//! `start`, `edit`, `pause` and `resume`.

use goal_core::goal::{SessionId, Status};
use goal_core::limits::Limits;
use goal_core::objective::{Fitting, fit};
use goal_engine::command::{
    self, AuditorCopy, EditRequest, Edited, Paused, PausedOne, StartRequest, Started,
};
use goal_engine::error::Code;
use goal_engine::host::CommandConnection;
use serde_json::{Value, json};

use crate::args::{Connection, Edit, Pause, Resume, Start};
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::signals::Signals;
use crate::{args, connect, json, objective, render, text};

/// Starts a goal.
pub(crate) async fn start(
    args: &Start,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let chosen = args.choices.chosen()?;
    let request = StartRequest {
        session: args::session(&args.session)?,
        token_budget: args.token_budget.as_deref().map(args::budget).transpose()?,
        objective: objective::read(&args.objective)?,
        send: args.send.then_some(chosen),
        replace: args.replace,
    };
    let limits = Limits::DEFAULT;
    let text = request.objective.clone();
    let connected = connect::for_command(connection, &limits).await?;
    let starting = command::start(&connected.ports, request);
    let long = LongText::of(&text, &limits);
    let Some(started) = carry_out(starting, &connected, long.as_ref(), output).await? else {
        return Ok(Exit::Interrupted);
    };
    let now = super::now();
    let auditor = &started.auditor;
    let mut object = json!({
        "status": "ok",
        "goal": json::goal(&started.view, Some(&text), now),
        "inline": started.inline,
        "auditor": { "model": json::model(&auditor.model), "source": auditor.source },
        "messageID": started.message.as_ref().map(goal_core::goal::MessageId::as_str),
        "waitsForFirstMessage": started.waits_for_first_message,
    });
    super::extend(&mut object, copy_fields(Some(&started.copy)));
    output.result(&object, || started_lines(&started, long.as_ref()))?;
    Ok(Exit::Fine)
}

/// Gives a goal another objective, another budget, or both.
pub(crate) async fn edit(
    args: &Edit,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let given = args.objective.is_given();
    let request = EditRequest {
        session: args::session(&args.session)?,
        token_budget: args.budget.wanted()?,
        objective: given
            .then(|| objective::read(&args.objective))
            .transpose()?,
    };
    let limits = Limits::DEFAULT;
    let text = request.objective.clone();
    let connected = connect::for_command(connection, &limits).await?;
    let editing = command::edit(&connected.ports, request);
    let long = text.as_deref().and_then(|text| LongText::of(text, &limits));
    let Some(edited) = carry_out(editing, &connected, long.as_ref(), output).await? else {
        return Ok(Exit::Interrupted);
    };
    let mut object = json!({
        "status": "ok",
        "goal": json::goal(&edited.view, text.as_deref(), super::now()),
        "inline": edited.inline,
    });
    super::extend(&mut object, copy_fields(edited.copy.as_ref()));
    output.result(&object, || edited_lines(&edited, long.as_ref()))?;
    Ok(Exit::Fine)
}

/// Pauses a goal and stops its session, or does so with every goal of the server.
pub(crate) async fn pause(
    args: &Pause,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let Some(session) = &args.session else {
        return pause_all(connection, output).await;
    };
    let session = args::session(session)?;
    let ports = connect::ports(connection).await?;
    let paused = command::pause(&ports, &session).await?;
    output.result(&paused_object(&paused), || paused_lines(&paused))?;
    Ok(Exit::Fine)
}

/// Resumes a goal, perhaps with another budget.
pub(crate) async fn resume(
    args: &Resume,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let budget = args.budget.wanted()?;
    let ports = connect::ports(connection).await?;
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
        let mut lines = vec![done, indented(render::tokens(&resumed.view.goal))];
        if !resumed.already {
            lines.extend(follow_lines(session));
        }
        lines
    })?;
    Ok(Exit::Fine)
}

/// An objective that does not fit the auditor's copy, in UTF-16 units.
struct LongText {
    units: usize,
    max: usize,
}

impl LongText {
    fn of(text: &str, limits: &Limits) -> Option<Self> {
        let max = limits.objective_max;
        match fit(text, max) {
            Fitting::TooLong { units } => Some(Self { units, max }),
            Fitting::Whole(_) => None,
        }
    }
}

/// Waits for a start or an edit, which asks a model first if the objective is long, and for the
/// end of the session in which it was asked. `None`: a signal came.
async fn carry_out<T>(
    work: impl Future<Output = Result<T, goal_engine::Error>>,
    connected: &CommandConnection,
    long: Option<&LongText>,
    output: &mut Output,
) -> Result<Option<T>, Stop> {
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    if let Some(LongText { units, max }) = long {
        output.remark(&say!("start.condensing", units = units, max = max));
    }
    // Dropped by a signal, it has that session deleted.
    let done = tokio::select! {
        done = work => Some(done),
        () = signals.next() => None,
    };
    super::audits_end(&connected.auditor, output).await;
    Ok(done.transpose()?)
}

async fn pause_all(connection: &Connection, output: &mut Output) -> Result<Exit, Stop> {
    let ports = connect::ports(connection).await?;
    let all = command::pause_all(&ports).await?;
    // What ended by itself at that moment is no failure.
    let all: Vec<PausedOne> = all.into_iter().filter(|one| !has_ended(one)).collect();
    let goals: Vec<Value> = all.iter().map(one_object).collect();
    let failed: Vec<String> = all.iter().filter_map(failed_of).collect();
    let mut lines: Vec<String> = all
        .iter()
        .filter_map(|one| one.result.as_ref().ok())
        .flat_map(paused_lines)
        .collect();
    if failed.is_empty() {
        if lines.is_empty() {
            lines.push(say!("pause.none"));
        }
        let object = json!({ "status": "ok", "goals": goals });
        output.result(&object, || lines)?;
        return Ok(Exit::Fine);
    }
    output.lines(&lines)?;
    let message = say!(
        "error.notAllPaused.which",
        n = failed.len(),
        all = all.len(),
        which = failed.join("; ")
    );
    let details = json!({ "goals": goals });
    Err(Failure::found("notAllPaused", message, details).into())
}

fn has_ended(one: &PausedOne) -> bool {
    let code = one.result.as_ref().err().map(goal_engine::Error::code);
    matches!(
        code,
        Some(Code::NoGoal | Code::WrongStatus | Code::UnknownSession)
    )
}

fn failed_of(one: &PausedOne) -> Option<String> {
    let error = one.result.as_ref().err()?;
    let message = text::one_line(error.message());
    Some(format!("{} ({message})", one.session))
}

fn one_object(one: &PausedOne) -> Value {
    match &one.result {
        Ok(paused) => paused_object(paused),
        Err(error) => json!({
            "status": "error",
            "sessionID": one.session.as_str(),
            "error": { "code": error.code().name(), "message": error.message() },
        }),
    }
}

fn paused_object(paused: &Paused) -> Value {
    json!({
        "status": "ok",
        "already": paused.already,
        "abortFailed": paused.abort_failed,
        "goal": json::goal(&paused.view, None, super::now()),
    })
}

fn paused_lines(paused: &Paused) -> Vec<String> {
    let session = &paused.view.session;
    let done = if paused.already {
        say!("pause.already", session = session)
    } else {
        say!("pause.done", session = session)
    };
    let failed = paused.abort_failed.as_deref().map(super::abort_failed);
    std::iter::once(done).chain(failed).collect()
}

fn started_lines(started: &Started, long: Option<&LongText>) -> Vec<String> {
    let view = &started.view;
    let session = &view.session;
    let auditor = text::one_line(&json::model(&started.auditor.model));
    let source = crate::words::of_code("auditor", started.auditor.source);
    let mut lines = vec![
        say!(
            "start.done",
            session = session,
            title = render::name_of(view)
        ),
        indented(say!("start.auditor", model = auditor, source = source)),
    ];
    let sent = started.message.is_some();
    lines.extend(copy_lines(long, &started.copy, sent));
    lines.extend(inline_line(started.inline));
    lines.push(indented(if sent {
        say!("start.sent")
    } else if started.waits_for_first_message {
        say!("start.waits")
    } else {
        say!("start.audits")
    }));
    lines.extend(follow_lines(session));
    lines
}

fn edited_lines(edited: &Edited, long: Option<&LongText>) -> Vec<String> {
    let view = &edited.view;
    let session = &view.session;
    let mut lines = vec![
        say!("edit.done", session = session),
        indented(render::tokens(&view.goal)),
    ];
    if let Some(copy) = &edited.copy {
        lines.extend(copy_lines(long, copy, /*sent*/ false));
        lines.extend(inline_line(edited.inline));
    }
    match view.goal.status {
        Status::BudgetLimited => lines.push(indented(say!("edit.spent", session = session))),
        Status::Active | Status::Paused | Status::Blocked | Status::Complete => {
            lines.extend(follow_lines(session));
        }
    }
    lines
}

/// What the auditor gets of the objective, as JSON.
fn copy_fields(copy: Option<&AuditorCopy>) -> Value {
    let (by, why) = match copy {
        None | Some(AuditorCopy::Whole) => (None, None),
        Some(AuditorCopy::Distilled(model)) => (Some(json::model(model)), None),
        Some(AuditorCopy::Excerpt(why)) => (None, Some(why.code())),
    };
    json!({
        "shortened": copy.is_some_and(AuditorCopy::is_shortened),
        "distilledBy": by,
        "notDistilled": why,
    })
}

/// What the auditor gets of a long objective, and what the agent; `sent` with the whole text.
fn copy_lines(long: Option<&LongText>, copy: &AuditorCopy, sent: bool) -> Vec<String> {
    let Some(LongText { units, max }) = long else {
        return Vec::new();
    };
    let told = match copy {
        AuditorCopy::Whole => return Vec::new(),
        AuditorCopy::Distilled(model) => {
            let model = text::one_line(&json::model(model));
            say!("start.distilled", units = units, model = model)
        }
        AuditorCopy::Excerpt(why) => {
            let why = crate::words::of_code("distill", why.code());
            say!("start.excerpt", units = units, max = max, why = why)
        }
    };
    let agent = if sent {
        say!("start.whole")
    } else {
        say!("start.copyOnly")
    };
    vec![indented(told), indented(agent)]
}

fn inline_line(inline: bool) -> Option<String> {
    inline.then(|| indented(say!("start.inline")))
}

/// How an active goal goes on.
pub(super) fn follow_lines(session: &SessionId) -> [String; 2] {
    let command = say!("start.next.command", session = session);
    [say!("start.next"), indented(command)]
}

fn indented(line: String) -> String {
    format!("  {line}")
}
