//! `session`: sessions are made, written to and copied, with a goal or without. Every step is the
//! engine's; what is here shows, and waits where that is asked for.

mod look;
mod wait;

use std::path::Path;

use goal_core::goal::MessageId;
use goal_core::limits::Limits;
use goal_engine::command::{
    self, CreateRequest, ForkRequest, Left, Note, Remains, SendRequest, Sent, Unsent,
};
use goal_engine::host::CommandConnection;
use serde_json::{Value, json};

use crate::args::{self, Connection, Create, Fork, Send, SessionVerb, WaitFlags};
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::signals::Signals;
use crate::{connect, json, render, text};

use self::wait::Waited;

/// Does what was typed.
pub(super) async fn run(
    verb: SessionVerb,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    match verb {
        SessionVerb::Create(args) => create(&args, connection, output).await,
        SessionVerb::Send(args) => send(&args, connection, output).await,
        SessionVerb::Fork(args) => fork(&args, connection, output).await,
        SessionVerb::List(args) => look::list(&args, connection, output).await,
        SessionVerb::Status(args) => look::status(&args, connection, output).await,
        SessionVerb::Messages(args) => look::messages(&args, connection, output).await,
    }
}

/// What was done: how it is told.
struct Told<'a> {
    /// The verb.
    action: &'static str,
    /// The session that was copied.
    source: Option<&'a str>,
    wait: &'a WaitFlags,
}

async fn create(args: &Create, connection: &Connection, output: &mut Output) -> Result<Exit, Stop> {
    let wish = args.goal.wish(/*replace*/ false)?;
    let prompt = args.prompt.as_deref();
    let note = prompt
        .map(|prompt| args.to.note(prompt, wish))
        .transpose()?;
    if note.is_none() && (args.wait.wait || args.to.is_chosen()) {
        return Err(Failure::usage(say!("error.session.noPrompt")).into());
    }
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let request = CreateRequest {
        directory: args::folder(&args.dir, connected.ports.sessions.is_local())?,
        title: args.title.clone(),
        note,
    };
    let told = Told {
        action: "create",
        source: None,
        wait: &args.wait,
    };
    let ports = connected.ports.clone();
    let doing = command::create(&ports, request);
    carry_out(doing, connected, &told, connection, output).await
}

async fn send(args: &Send, connection: &Connection, output: &mut Output) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let note = args
        .to
        .note(&args.what.prompt, args.goal.wish(args.replace)?)?;
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let request = SendRequest {
        session,
        directory: named(args.what.dir.as_deref(), &connected)?,
        note,
    };
    let told = Told {
        action: "send",
        source: None,
        wait: &args.wait,
    };
    let ports = connected.ports.clone();
    let doing = command::send(&ports, request);
    carry_out(doing, connected, &told, connection, output).await
}

async fn fork(args: &Fork, connection: &Connection, output: &mut Output) -> Result<Exit, Stop> {
    let session = args::session(&args.session)?;
    let before = args.message.as_deref().map(args::message).transpose()?;
    let note: Note = args
        .to
        .note(&args.what.prompt, args.goal.wish(/*replace*/ false)?)?;
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let request = ForkRequest {
        session,
        directory: named(args.what.dir.as_deref(), &connected)?,
        before,
        note,
    };
    let told = Told {
        action: "fork",
        source: Some(&args.session),
        wait: &args.wait,
    };
    let ports = connected.ports.clone();
    let doing = command::fork(&ports, request);
    carry_out(doing, connected, &told, connection, output).await
}

/// The folder that a session must belong to.
fn named(dir: Option<&Path>, connected: &CommandConnection) -> Result<Option<String>, Failure> {
    let is_local = connected.ports.sessions.is_local();
    dir.map(|dir| args::folder(dir, is_local)).transpose()
}

/// Waits for what was asked, tells it, and then waits for what comes of it.
async fn carry_out(
    doing: impl Future<Output = Result<Sent, Unsent>>,
    connected: CommandConnection,
    told: &Told<'_>,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    let done = tokio::select! {
        done = doing => done,
        () = signals.next() => {
            super::audits_end(&connected.auditor, output).await;
            return Ok(Exit::Interrupted);
        }
    };
    super::audits_end(&connected.auditor, output).await;
    let sent = done.map_err(failure)?;
    let message = sent.message.clone().filter(|_| told.wait.wait);
    let Some(message) = message else {
        return tell(&sent, None, told, output).map(|()| Exit::Fine);
    };
    if !output.is_json() {
        output.lines(&lines(&sent, told))?;
    }
    if sent.goal.is_some() && !told.wait.quiet {
        output.remark(&say!("session.driven"));
    }
    let waiting = wait::wait(&sent, &message, told.wait, connected, connection, output);
    let waited = tokio::select! {
        waited = waiting => waited?,
        () = signals.next() => return Ok(Exit::Interrupted),
    };
    tell(&sent, Some(&waited), told, output)?;
    Ok(waited.exit)
}

/// The result: for programs once, for people what is new since the first lines.
fn tell(
    sent: &Sent,
    waited: Option<&Waited>,
    told: &Told<'_>,
    output: &mut Output,
) -> Result<(), Stop> {
    if output.is_json() {
        return output.result(&object(sent, waited, told), Vec::new);
    }
    match waited {
        Some(waited) => {
            let said = waited.said.as_deref().filter(|_| told.wait.last_assistant);
            let said = said.map(|said| text::lines(said, usize::MAX));
            output.lines(&said.unwrap_or_default())
        }
        None => output.lines(&lines(sent, told)),
    }
}

fn object(sent: &Sent, waited: Option<&Waited>, told: &Told<'_>) -> Value {
    let read = &sent.session;
    let started = sent.goal.as_ref();
    let view = waited.and_then(|waited| waited.goal.as_ref());
    let view = view.or(started.map(|started| &started.view));
    let objective = started.map(|started| started.objective.as_str());
    let mut object = json!({
        "status": "ok",
        "action": told.action,
        "sessionID": read.facts.id.as_str(),
        "directory": read.directory,
        "title": read.title,
        "sourceSessionID": told.source,
        "messageID": sent.message.as_ref().map(MessageId::as_str),
        "promptDispatched": sent.message.is_some(),
        "dispatchedAsCommand": sent.command.is_some(),
        "goal": view.map(|view| json::goal(view, objective, super::now())),
    });
    if let Some(waited) = waited {
        let said = waited.said.as_deref().filter(|_| told.wait.last_assistant);
        let ended = json!({ "timedOut": waited.exit == Exit::Timeout, "lastAssistant": said });
        super::extend(&mut object, ended);
    }
    object
}

fn lines(sent: &Sent, told: &Told<'_>) -> Vec<String> {
    let session = &sent.session.facts.id;
    if told.wait.quiet {
        return vec![session.to_string()];
    }
    let directory = text::one_line(&sent.session.directory);
    let head = match told.action {
        "create" => say!("session.created", session = session),
        "fork" => say!("session.forked", session = session),
        _ => say!("session.sent", session = session),
    };
    let mut lines = vec![head, say!("session.in", directory = directory)];
    lines.extend(match (&sent.command, &sent.message) {
        (Some(command), _) => {
            let command = text::one_line(command);
            Some(say!("session.command", command = command))
        }
        (None, Some(_)) => Some(say!("session.prompt")),
        (None, None) => None,
    });
    if let Some(started) = &sent.goal {
        let tokens = render::tokens(&started.view.goal);
        lines.push(say!("session.goal", tokens = tokens));
        if !told.wait.wait {
            lines.extend(super::change::follow_lines(session));
        }
    }
    lines
}

/// A failure, with what is there all the same (A6).
pub(super) fn failure(unsent: Unsent) -> Failure {
    let mut failure = Failure::from(unsent.error);
    let Some(Remains {
        what,
        session,
        directory,
    }) = unsent.remains
    else {
        return failure;
    };
    let shown = text::one_line(&directory);
    let remains = match what {
        Left::SessionCreated => say!("session.left.created", session = session, dir = shown),
        Left::SessionForked => say!("session.left.forked", session = session, dir = shown),
        Left::GoalPaused => say!("session.left.goal", session = session, dir = shown),
    };
    failure.message = format!("{} {remains}", failure.message);
    failure.details = json!({
        "partial": true,
        "remains": what.name(),
        "sessionID": session.as_str(),
        "directory": directory,
    });
    failure
}
