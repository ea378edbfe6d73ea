//! `list`, `status` and `messages`: they change nothing.

use goal_core::message::{Message, ToolUse};
use goal_engine::command;
use goal_engine::ports::{Presence, SessionRead};
use serde_json::{Value, json};

use super::super::{clock, now};
use crate::args::{self, Connection, List, Messages, OfSession};
use crate::failure::{Exit, Stop};
use crate::output::Output;
use crate::{connect, json, render, text};

/// Lines of a message that are shown.
const MESSAGE_LINES_MAX: usize = 40;

/// Columns of a session's id.
const ID_COLUMNS: usize = 30;

/// Columns of a title in a table.
const TITLE_COLUMNS: usize = 40;

/// Lists the sessions of the server.
pub(super) async fn list(
    args: &List,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let ports = connect::ports(connection).await?;
    let is_local = ports.sessions.is_local();
    let dir = args.dir.as_deref();
    let dir = dir.map(|dir| args::folder(dir, is_local)).transpose()?;
    let mut reads = command::sessions(&ports, dir.as_deref()).await?;
    let all = reads.len();
    reads.truncate(usize::try_from(args.limit).unwrap_or(usize::MAX));
    let sessions: Vec<Value> = reads.iter().map(session).collect();
    let object = json!({ "status": "ok", "sessions": sessions, "all": all });
    output.result(&object, || {
        if reads.is_empty() {
            return vec![say!("session.none")];
        }
        let mut lines: Vec<String> = reads.iter().map(row).collect();
        if all > reads.len() {
            lines.push(say!("session.more", n = all - reads.len()));
        }
        lines
    })?;
    Ok(Exit::Fine)
}

/// Shows how a session stands.
pub(super) async fn status(
    args: &OfSession,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let id = args::session(&args.session)?;
    let ports = connect::ports(connection).await?;
    let standing = command::standing(&ports, &id).await?;
    let state = match standing.presence {
        None => "idle",
        Some(Presence::Busy) => "busy",
        Some(Presence::Retry) => "retry",
    };
    let goal = standing.goal.as_ref();
    let asks: Vec<String> = standing
        .requests
        .iter()
        .map(|open| open.request.subject.clone())
        .collect();
    let mut object = session(&standing.session);
    let more = json!({
        "status": "ok",
        "state": state,
        "asks": asks,
        "goal": goal.map(|view| json::goal(view, None, now())),
    });
    super::super::extend(&mut object, more);
    output.result(&object, || {
        let mut lines = vec![row(&standing.session)];
        lines.push(say!(
            "session.state",
            state = crate::words::of_code("session.state", state)
        ));
        let asks = asks.iter().map(|asks| text::one_line(asks));
        lines.extend(asks.map(|asks| say!("session.asks", what = asks)));
        lines.extend(goal.map(|view| {
            let goal = render::status(&view.goal);
            say!("session.itsGoal", goal = goal)
        }));
        lines
    })?;
    Ok(Exit::Fine)
}

/// Shows the newest messages of a session.
pub(super) async fn messages(
    args: &Messages,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let id = args::session(&args.session)?;
    let ports = connect::ports(connection).await?;
    let messages = command::messages(&ports, &id, args.limit).await?;
    let objects: Vec<Value> = messages.iter().map(message).collect();
    let object = json!({
        "status": "ok", "sessionID": id.as_str(), "messages": objects,
    });
    let zone = clock().zone;
    output.result(&object, || {
        if messages.is_empty() {
            return vec![say!("session.noMessages")];
        }
        let mut lines = Vec::new();
        for message in &messages {
            let time = text::date(message.created, &zone);
            let who = crate::words::of_code("session.role", role(message));
            lines.push(say!(
                "session.says",
                who = who,
                id = message.id,
                time = time
            ));
            let said = message.texts().collect::<Vec<_>>().join("\n");
            let said = text::lines(&said, MESSAGE_LINES_MAX);
            lines.extend(said.into_iter().map(|line| format!("  {line}")));
            lines.extend(message.tools().map(tool));
        }
        lines
    })?;
    Ok(Exit::Fine)
}

fn session(read: &SessionRead) -> Value {
    json!({
        "sessionID": read.facts.id.as_str(),
        "title": read.title,
        "directory": read.directory,
        "createdAt": read.created.0,
        "updatedAt": read.updated.0,
    })
}

fn message(message: &Message) -> Value {
    let step = message.step();
    let error = step.and_then(|step| step.error.as_ref());
    json!({
        "messageID": message.id.as_str(),
        "role": role(message),
        "createdAt": message.created.0,
        "completedAt": step.and_then(|step| step.completed).map(|at| at.0),
        "agent": step.and_then(|step| step.agent.as_deref()),
        "model": step.and_then(|step| step.model.as_ref()).map(json::model),
        "error": error.map(|error| json!({ "name": error.name, "message": error.text })),
        "text": message.texts().collect::<Vec<_>>().join("\n"),
        "tools": message.tools().map(|tool| json!({
            "tool": tool.tool, "title": tool.title, "status": tool.status, "exit": tool.exit,
        })).collect::<Vec<_>>(),
    })
}

fn role(message: &Message) -> &'static str {
    match message.step() {
        Some(_) => "assistant",
        None => "user",
    }
}

fn row(read: &SessionRead) -> String {
    let id = text::column(read.facts.id.as_str(), ID_COLUMNS);
    let title = text::clip(&text::one_line(&read.title), TITLE_COLUMNS);
    let title = text::column(&title, TITLE_COLUMNS);
    format!("{id}  {title}  {}", text::one_line(&read.directory))
}

fn tool(tool: &ToolUse) -> String {
    let name = text::one_line(&tool.tool);
    let title = text::one_line(&tool.title);
    let status = text::one_line(&tool.status);
    format!("  [{name}] {title} ({status})")
}
