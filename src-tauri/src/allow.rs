//! What the page may ask of the server: a closed table, and a call that is checked against it.
//! Pure.
//!
//! A page that was taken over by hostile text must reach neither the server's keys nor its
//! configuration, nor write a goal past the loop. So the table names paths, the keys of queries and
//! the keys of bodies; what is sent on is put together anew from what was checked.

use std::collections::BTreeMap;
use std::time::Duration;

use opencode_client::{Verb, check_message_id, check_session_id};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[cfg(test)]
mod tests;

/// Longest body of a request: some large pictures in one prompt.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest path, in bytes: two ids and three words.
const PATH_BYTES_MAX: usize = 512;

/// Longest value in a query, in bytes: a folder's path, or what is searched for.
const VALUE_BYTES_MAX: usize = 4_096;

/// Longest id of a permission request or a question.
const ID_BYTES_MAX: usize = 128;

/// A usual call: some folders take seconds to be opened.
const USUAL: Duration = Duration::from_secs(30);

/// A prompt with attachments, and what the server looks through a folder for.
const LONG: Duration = Duration::from_secs(60);

/// A call that is answered when the turn ends, which may take a night.
const TURN: Duration = Duration::from_hours(12);

/// A call as the page makes it. Its body may be a prompt, so it has no `Debug`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// Without a query, such as `/session/ses_1/message`.
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) query: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) body: Option<String>,
}

/// A call that is allowed, in parts that need no further reading.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// Plain words and ids.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    /// JSON, written anew.
    pub(crate) body: Option<String>,
    pub(crate) deadline: Duration,
    /// The session whose turn it stops.
    pub(crate) aborts: Option<String>,
    /// What it does to worktrees.
    pub(crate) tree: Option<Tree>,
}

/// What a call does to worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// It makes one.
    Makes,
    /// It takes this folder away, whatever it is; empty where it names none.
    Removes(String),
}

/// Why a call is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No entry of the table allows it.
    NotAllowed(String),
    /// It is none that could be allowed.
    Invalid(&'static str),
    /// Its body is longer than the bound.
    TooBig,
}

/// One entry of the table.
struct Entry {
    verb: Verb,
    /// `:session`, `:message`, `:permission` and `:question` stand for ids.
    path: &'static str,
    /// Keys of the query beside `directory`.
    query: &'static [&'static str],
    /// Keys of the body; `None`: there is none.
    body: Option<&'static [&'static str]>,
    deadline: Duration,
}

const fn read(path: &'static str, query: &'static [&'static str]) -> Entry {
    Entry {
        verb: Verb::Get,
        path,
        query,
        body: None,
        deadline: USUAL,
    }
}

const fn send(path: &'static str, body: &'static [&'static str], deadline: Duration) -> Entry {
    Entry {
        verb: Verb::Post,
        path,
        query: &[],
        body: Some(body),
        deadline,
    }
}

/// Where worktrees are made and taken away.
const TREES: &str = "/experimental/worktree";

const TABLE: &[Entry] = &[
    read("/global/health", &[]),
    read("/path", &[]),
    read("/vcs", &[]),
    read("/vcs/diff", &["mode", "context"]),
    read("/project", &[]),
    read("/project/current", &[]),
    read(
        "/session",
        &["scope", "path", "roots", "start", "search", "limit"],
    ),
    read("/session/status", &[]),
    read("/session/:session", &[]),
    read("/session/:session/children", &[]),
    read("/session/:session/todo", &[]),
    read("/session/:session/message", &["limit", "before"]),
    read("/session/:session/message/:message", &[]),
    read("/session/:session/diff", &["messageID"]),
    read(
        "/experimental/session",
        &["roots", "start", "cursor", "search", "limit", "archived"],
    ),
    read("/permission", &[]),
    read("/question", &[]),
    read("/command", &[]),
    read("/agent", &[]),
    read("/mcp", &[]),
    read("/lsp", &[]),
    read("/formatter", &[]),
    read("/file", &["path"]),
    read("/file/content", &["path"]),
    read("/file/status", &[]),
    read("/find", &["pattern"]),
    read("/find/file", &["query", "dirs", "type", "limit"]),
    read("/find/symbol", &["query"]),
    // Neither `metadata`, where goals live, nor `permission`.
    send("/session", &["parentID", "title", "agent", "model"], USUAL),
    // Not `tools`, which the server keeps as permission rules, nor `system`.
    send(
        "/session/:session/prompt_async",
        &["messageID", "model", "agent", "variant", "noReply", "parts"],
        LONG,
    ),
    send(
        "/session/:session/command",
        &[
            "messageID",
            "agent",
            "model",
            "arguments",
            "command",
            "variant",
            "parts",
        ],
        TURN,
    ),
    send(
        "/session/:session/shell",
        &["messageID", "agent", "model", "command"],
        TURN,
    ),
    send("/session/:session/abort", &[], USUAL),
    // Not `startCommand`, which the server runs in a shell.
    send(TREES, &["name"], LONG),
    // Which folder it may name is `trees`' to say.
    Entry {
        verb: Verb::Delete,
        path: TREES,
        query: &[],
        body: Some(&["directory"]),
        deadline: LONG,
    },
    send(
        "/session/:session/summarize",
        &["providerID", "modelID", "auto"],
        TURN,
    ),
    send("/session/:session/fork", &["messageID"], LONG),
    send("/session/:session/revert", &["messageID", "partID"], LONG),
    send("/session/:session/unrevert", &[], LONG),
    send(
        "/session/:session/init",
        &["providerID", "modelID", "messageID"],
        TURN,
    ),
    send(
        "/permission/:permission/reply",
        &["reply", "message"],
        USUAL,
    ),
    send("/question/:question/reply", &["answers"], USUAL),
    send("/question/:question/reject", &[], USUAL),
    Entry {
        verb: Verb::Patch,
        path: "/session/:session",
        query: &[],
        body: Some(&["title", "time"]),
        deadline: USUAL,
    },
    Entry {
        verb: Verb::Delete,
        path: "/session/:session",
        query: &[],
        body: None,
        deadline: USUAL,
    },
];

/// Checks a call against the table.
///
/// # Errors
/// Why it is not allowed.
pub(crate) fn allow(call: &Call) -> Result<Route, Refusal> {
    let verb = verb(&call.method)?;
    if call.path.len() > PATH_BYTES_MAX {
        return Err(Refusal::Invalid("The path is too long."));
    }
    let segments = segments(&call.path)?;
    let entry = TABLE
        .iter()
        .find(|entry| entry.verb == verb && matches(entry.path, &segments));
    let Some(entry) = entry else {
        return Err(Refusal::NotAllowed(
            "The page may not make this call.".to_owned(),
        ));
    };
    let aborts = entry.path == "/session/:session/abort";
    let body = body(entry, call.body.as_deref())?;
    Ok(Route {
        verb,
        query: query(entry, &call.query)?,
        tree: tree(entry, body.as_deref()),
        body,
        deadline: entry.deadline,
        aborts: segments
            .get(1)
            .filter(|_| aborts)
            .map(|id| (*id).to_owned()),
        path: segments.into_iter().map(str::to_owned).collect(),
    })
}

/// `body` was checked and is what is sent.
fn tree(entry: &Entry, body: Option<&str>) -> Option<Tree> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Named {
        directory: String,
    }
    if entry.path != TREES {
        return None;
    }
    if entry.verb == Verb::Post {
        return Some(Tree::Makes);
    }
    let named = body.and_then(|body| serde_json::from_str::<Named>(body).ok());
    Some(Tree::Removes(named.unwrap_or_default().directory))
}

fn verb(method: &str) -> Result<Verb, Refusal> {
    match method {
        "GET" => Ok(Verb::Get),
        "POST" => Ok(Verb::Post),
        "PATCH" => Ok(Verb::Patch),
        "DELETE" => Ok(Verb::Delete),
        _ => Err(Refusal::Invalid(
            "The method is one of GET, POST, PATCH and DELETE.",
        )),
    }
}

/// The segments of a path. Whatever could mean something else to whoever reads it next is refused
/// here: empty segments, dots, escapes, a query, a fragment.
fn segments(path: &str) -> Result<Vec<&str>, Refusal> {
    const INVALID: Refusal =
        Refusal::Invalid("A path is made of words and ids, such as /session/ses_0123abcd.");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let path = path.strip_prefix('/').ok_or(INVALID)?;
    let segments: Vec<&str> = path.split('/').collect();
    let is_plain = |segment: &&str| !segment.is_empty() && segment.bytes().all(plain);
    if segments.iter().all(is_plain) {
        Ok(segments)
    } else {
        Err(INVALID)
    }
}

fn matches(pattern: &str, segments: &[&str]) -> bool {
    let pattern = pattern.trim_start_matches('/').split('/');
    pattern.clone().count() == segments.len()
        && pattern.zip(segments).all(|(wanted, segment)| match wanted {
            ":session" => check_session_id(segment).is_ok(),
            ":message" => check_message_id(segment).is_ok(),
            ":permission" => is_id(segment, "per"),
            ":question" => is_id(segment, "que"),
            word => word == *segment,
        })
}

/// The characters were looked at before.
fn is_id(segment: &str, prefix: &str) -> bool {
    segment.starts_with(prefix) && segment.len() <= ID_BYTES_MAX
}

/// A key that is named twice is refused: the server and whoever stands before it might each believe
/// another one.
fn query(entry: &Entry, query: &[(String, String)]) -> Result<Vec<(String, String)>, Refusal> {
    let mut checked: Vec<(String, String)> = Vec::new();
    for (key, value) in query {
        if key != "directory" && !entry.query.contains(&key.as_str()) {
            return Err(not_with(key));
        }
        if checked.iter().any(|(other, _)| other == key) {
            return Err(Refusal::Invalid("A key of the query is named twice."));
        }
        if value.len() > VALUE_BYTES_MAX || value.contains('\0') {
            return Err(Refusal::Invalid("A value of the query is none."));
        }
        checked.push((key.clone(), value.clone()));
    }
    Ok(checked)
}

/// Of a key that is written twice the last value counts, here and in what is sent on.
fn body(entry: &Entry, body: Option<&str>) -> Result<Option<String>, Refusal> {
    let (keys, text) = match (entry.body, body) {
        // Whether a body may be missing is the server's to say.
        (None | Some(_), None) => return Ok(None),
        (None, Some(_)) => return Err(Refusal::Invalid("This call has no body.")),
        (Some(keys), Some(text)) => (keys, text),
    };
    if text.len() > BODY_BYTES_MAX {
        return Err(Refusal::TooBig);
    }
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|_| Refusal::Invalid("The body is a JSON object."))?;
    if let Some(key) = fields.keys().find(|key| !keys.contains(&key.as_str())) {
        return Err(not_with(key));
    }
    if let (Verb::Patch, Some(time)) = (entry.verb, fields.get("time")) {
        check_time(time)?;
    }
    serde_json::to_string(&fields)
        .map(Some)
        .map_err(|_| Refusal::Invalid("The body is a JSON object."))
}

/// A session's time as far as a page may set it.
fn check_time(time: &RawValue) -> Result<(), Refusal> {
    let time: BTreeMap<String, Value> = serde_json::from_str(time.get())
        .map_err(|_| Refusal::Invalid("`time` is an object with `archived`."))?;
    match time.iter().find(|(key, _)| *key != "archived") {
        Some((key, _)) => Err(not_with(&format!("time.{key}"))),
        None if time
            .values()
            .all(|value| value.is_number() || value.is_null()) =>
        {
            Ok(())
        }
        None => Err(Refusal::Invalid("`time.archived` is a number or null.")),
    }
}

fn not_with(key: &str) -> Refusal {
    let key: String = key.chars().take(40).collect();
    Refusal::NotAllowed(format!("The page may not make this call with `{key}`."))
}
