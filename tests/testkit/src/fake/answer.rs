//! What a healthy server answers.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::line::Line;
use super::serving::Asked;
use super::state::{PromptSeen, Session, State, now};
use crate::watched::Watched;

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// Where the next page begins.
const NEXT: HeaderName = HeaderName::from_static("x-next-cursor");

/// 401 with an empty body.
pub(super) fn unauthorized() -> Response {
    let realm = [(header::WWW_AUTHENTICATE, "Basic realm=\"Secure Area\"")];
    (StatusCode::UNAUTHORIZED, realm).into_response()
}

/// Carries a request out.
pub(super) fn answer(state: &Arc<Watched<State>>, asked: &Asked, line: &Line) -> Response {
    state.change(|state| match asked.call.session.as_deref() {
        Some(id) => of_session(state, asked, id).unwrap_or_else(|| not_found(id)),
        None => of_server(state, asked, line),
    })
}

fn of_server(state: &mut State, asked: &Asked, line: &Line) -> Response {
    match asked.call.endpoint {
        Endpoint::Health => {
            text(json!({ "healthy": true, "version": super::FAKE_VERSION }).to_string())
        }
        Endpoint::Events => {
            let greeting = state.server_frame("server.connected");
            state.streams.open(greeting, line.clone())
        }
        Endpoint::List => list(state, asked),
        Endpoint::Create => create(state, asked),
        Endpoint::Status => {
            let folder = asked.query("directory").unwrap_or_default();
            let busy = state.busy.get(folder.as_str());
            let busy = busy.into_iter().flatten();
            let lines = busy.map(|id| format!(r#""{id}":{{"type":"busy"}}"#));
            text(format!("{{{}}}", lines.collect::<Vec<_>>().join(",")))
        }
        Endpoint::Permissions | Endpoint::Questions => text("[]".to_owned()),
        Endpoint::Agents => text(agents()),
        Endpoint::Config => text(json!({ "small_model": "acme/small" }).to_string()),
        Endpoint::Providers => text(providers()),
        Endpoint::Other
        | Endpoint::Session
        | Endpoint::Patch
        | Endpoint::Delete
        | Endpoint::Children
        | Endpoint::Messages
        | Endpoint::Message
        | Endpoint::Ask
        | Endpoint::Prompt
        | Endpoint::Abort => Html("<!doctype html><title>OpenCode</title>").into_response(),
    }
}

fn of_session(state: &mut State, asked: &Asked, id: &str) -> Option<Response> {
    match asked.call.endpoint {
        Endpoint::Session => state.session_json(id).map(text),
        Endpoint::Patch => {
            let metadata = member(&asked.body, "metadata")?;
            state.write_metadata(id, metadata)?;
            state.session_json(id).map(text)
        }
        Endpoint::Delete => state.remove(id).map(|()| text("true".to_owned())),
        Endpoint::Children => {
            state.sessions.get(id)?;
            let children = state.children.get(id);
            let children = children.into_iter().flatten();
            let children = children.filter_map(|child| state.session_json(child));
            Some(text(array(children)))
        }
        Endpoint::Messages => messages(state, asked, id),
        Endpoint::Message => {
            let message = asked.call.message.as_deref()?;
            let stored = state.sessions.get(id)?.message(message)?;
            Some(text(stored.json.clone()))
        }
        Endpoint::Ask => ask(state, asked, id),
        Endpoint::Prompt => prompt(state, asked, id),
        Endpoint::Abort => {
            state.abort_turn(id);
            Some(text("true".to_owned()))
        }
        Endpoint::Health
        | Endpoint::Events
        | Endpoint::List
        | Endpoint::Create
        | Endpoint::Status
        | Endpoint::Permissions
        | Endpoint::Questions
        | Endpoint::Agents
        | Endpoint::Config
        | Endpoint::Providers
        | Endpoint::Other => None,
    }
}

/// Sessions by the time of their last change, newest first; a page goes on behind its last time.
fn list(state: &mut State, asked: &Asked) -> Response {
    let limit = asked.query("limit").and_then(|limit| limit.parse().ok());
    let limit: usize = limit.unwrap_or(100);
    let before = asked
        .query("cursor")
        .and_then(|cursor| cursor.parse::<u64>().ok());
    let before = before.unwrap_or(u64::MAX);
    let mut found: Vec<(u64, &String)> = state
        .sessions
        .iter()
        .filter(|(_, session)| session.updated < before)
        .map(|(id, session)| (session.updated, id))
        .collect();
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| b.1.cmp(a.1)));
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map(|(updated, _)| updated.to_string());
    let page = found.iter().filter_map(|(_, id)| state.session_json(id));
    let page = array(page);
    match last.filter(|_| more) {
        Some(next) => {
            // From one later on, those of the last millisecond come again.
            let again = next.parse().map(|last: u64| (last + 1).to_string());
            state.cursors.extend(again);
            state.cursors.insert(next.clone());
            (JSON, [(NEXT, next)], page).into_response()
        }
        None => text(page),
    }
}

/// The newest messages before the cursor, oldest first.
fn messages(state: &mut State, asked: &Asked, id: &str) -> Option<Response> {
    let session = state.sessions.get(id)?;
    let limit = asked.query("limit").and_then(|limit| limit.parse().ok());
    let limit: usize = limit.unwrap_or(usize::MAX);
    let before = asked.query("before");
    let end = before.as_deref().and_then(|before| {
        let ids = session.messages.iter();
        ids.map(|stored| stored.id.as_str())
            .position(|id| id == before)
    });
    let end = end.unwrap_or(session.messages.len());
    let begin = end.saturating_sub(limit);
    let page = session.messages.range(begin..end);
    let page = array(page.map(|stored| stored.json.clone()));
    let next = session.messages.get(begin).map(|stored| stored.id.clone());
    match next.filter(|_| begin > 0) {
        Some(next) => {
            state.cursors.insert(next.clone());
            Some((JSON, [(NEXT, next)], page).into_response())
        }
        None => Some(text(page)),
    }
}

fn create(state: &mut State, asked: &Asked) -> Response {
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let id = state.id("ses");
    let session = Session {
        directory: asked.query("directory").unwrap_or_default().into(),
        parent: body["parentID"].as_str().map(str::to_owned),
        title: body["title"].as_str().unwrap_or_default().to_owned(),
        metadata: member(&asked.body, "metadata"),
        created: now(),
        updated: now(),
        messages: std::collections::VecDeque::new(),
        busy: None,
        prompts: Vec::new(),
        audits: 0,
        seq: 0,
    };
    state.add(id.clone(), session);
    state.tell_session(&id, "session.created");
    text(state.session_json(&id).unwrap_or_default())
}

/// The auditor's turn in its own session.
fn ask(state: &mut State, asked: &Asked, id: &str) -> Option<Response> {
    state.sessions.get(id)?;
    let body: Value = serde_json::from_slice(&asked.body).ok()?;
    let message = state.id("msg");
    let part = state.id("prt");
    let said = body["parts"][0]["text"].as_str().unwrap_or_default();
    state.store_prompt(id, &message, &[(part, said.to_owned())]);
    state.begin_turn(id, Some(&message));
    let verdict = state.verdict(id);
    let answer = state.end_turn(id, &verdict, 1)?;
    let stored = state.sessions.get(id)?.message(&answer)?;
    Some(text(stored.json.clone()))
}

/// Takes a prompt: the same ids again are an update, and run only what never ran.
fn prompt(state: &mut State, asked: &Asked, id: &str) -> Option<Response> {
    let body: Value = serde_json::from_slice(&asked.body).ok()?;
    let session = state.sessions.get_mut(id)?;
    let message = body["messageID"].as_str().unwrap_or_default().to_owned();
    let tail = session.tail().map(|tail| tail.id.clone());
    let known = session.message(&message).is_some();
    let answered = |message: &str| {
        let mut answers = session.messages.iter();
        answers.any(|stored| stored.parent.as_deref() == Some(message))
    };
    let runs = session.busy.is_none() && !answered(&message);
    session.prompts.push(PromptSeen {
        message: message.clone(),
        tail,
        at: Instant::now(),
    });
    state.prompts_total += 1;
    let parts = body["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let mut parts: Vec<(String, String)> = parts
        .iter()
        .map(|part| {
            let field = |name: &str| part[name].as_str().unwrap_or_default().to_owned();
            (field("id"), field("text"))
        })
        .collect();
    if known {
        let session = state.sessions.get(id)?;
        let had = session.message(&message).map(|stored| stored.parts.clone());
        let new = |part: &String| had.as_ref().is_none_or(|had| !had.contains(part));
        if let Some((part, _)) = parts.iter().find(|(part, _)| new(part)) {
            let violation = format!("a repetition with another part: {part}");
            state.violated(violation);
        }
        parts.clear();
    } else {
        state.store_prompt(id, &message, &parts);
    }
    if runs {
        state.begin_turn(id, Some(&message));
        if !state.turns.held {
            state.finish_turn(id);
        }
    }
    Some(StatusCode::NO_CONTENT.into_response())
}

/// A member of a JSON object, byte for byte.
fn member(body: &[u8], name: &str) -> Option<Box<RawValue>> {
    let body: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(body).ok()?;
    body.into_iter()
        .find(|(key, _)| key == name)
        .map(|(_, raw)| raw)
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn text(json: String) -> Response {
    (JSON, json).into_response()
}

fn not_found(id: &str) -> Response {
    let data = json!({ "message": format!("Session not found: {id}") });
    let error = json!({ "name": "NotFoundError", "data": data }).to_string();
    (StatusCode::NOT_FOUND, JSON, error).into_response()
}

fn agents() -> String {
    let agent = |name: &str, hidden: bool| {
        let mode = "primary";
        json!({ "name": name, "mode": mode, "hidden": hidden })
    };
    let ours = agent("goal-auditor", /*hidden*/ true);
    let build = agent("build", /*hidden*/ false);
    json!([build, agent("plan", /*hidden*/ false), ours]).to_string()
}

fn providers() -> String {
    let model = |id: &str| json!({ "id": id, "name": id, "status": "active" });
    let models = json!({ "big": model("big"), "small": model("small") });
    let acme = json!({ "id": "acme", "name": "Acme", "models": models });
    json!({ "providers": [acme], "default": { "acme": "big" } }).to_string()
}
