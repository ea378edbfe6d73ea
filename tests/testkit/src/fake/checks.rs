//! What every request must be like, whoever sends it.

use std::collections::BTreeMap;

use axum::http::header;
use serde_json::Value;
use serde_json::value::RawValue;

use super::endpoint::Endpoint;
use super::serving::Asked;
use super::state::State;

/// A JSON object whose values stay the text they are.
type Raw<'a> = BTreeMap<String, &'a RawValue>;

/// Fields of a goal that its client knows; any other is somebody else's and must survive.
const KNOWN: [&str; 23] = [
    "id",
    "objective",
    "objectiveFile",
    "status",
    "tokenBudget",
    "tokensUsed",
    "tokensBaseline",
    "tokensCommitted",
    "turnsUsed",
    "blockedStreak",
    "auditFailStreak",
    "note",
    "statusReason",
    "evaluationProviderID",
    "evaluationModelID",
    "lastAccountedMessageID",
    "createdAt",
    "updatedAt",
    "sessionID",
    "continuedAfter",
    "resumedOver",
    "firstMessageID",
    "activeMs",
];

/// Whether the request carries the password.
pub(super) fn is_let_in(state: &State, asked: &Asked) -> bool {
    let Some(password) = &state.options.password else {
        return true;
    };
    let given = asked.parts.headers.get(header::AUTHORIZATION);
    given.is_some_and(|given| given.as_bytes() == basic(password).as_bytes())
}

/// What is wrong with a request; empty is well.
pub(super) fn check(state: &State, asked: &Asked) -> Vec<String> {
    let wrong = [
        credentials(state, asked),
        directory(state, asked),
        body(asked),
        bounds(state, asked),
        effect(state, asked),
    ];
    let call = format!("{} {}", asked.parts.method, asked.parts.uri.path());
    wrong
        .into_iter()
        .flatten()
        .map(|wrong| format!("{call}: {wrong}"))
        .collect()
}

fn basic(password: &str) -> String {
    use base64::Engine as _;
    let credentials = base64::prelude::BASE64_STANDARD.encode(format!("opencode:{password}"));
    format!("Basic {credentials}")
}

fn credentials(state: &State, asked: &Asked) -> Option<String> {
    let given = asked.parts.headers.get(header::AUTHORIZATION).is_some();
    match (&state.options.password, given) {
        (Some(_), false) => Some("no password".to_owned()),
        (Some(_), true) if !is_let_in(state, asked) => Some("a wrong password".to_owned()),
        (None, true) => Some("a password for a server that has none".to_owned()),
        (Some(_), true) | (None, false) => None,
    }
}

/// Every call about a session or a folder names the folder.
fn directory(state: &State, asked: &Asked) -> Option<String> {
    let of_the_server = matches!(
        asked.call.endpoint,
        Endpoint::Health | Endpoint::Events | Endpoint::List | Endpoint::Other
    );
    if of_the_server {
        return None;
    }
    let Some(named) = asked.query("directory") else {
        return Some("names no directory".to_owned());
    };
    let session = asked.call.session.as_deref();
    let at_home = session.and_then(|id| state.sessions.get(id));
    match at_home {
        Some(session) if *session.directory != *named => {
            Some(format!("names {named}, but lives in {}", session.directory))
        }
        None if session.is_none() && !state.folders.contains_key(named.as_str()) => {
            Some(format!("names {named}, where no session lives"))
        }
        Some(_) | None => None,
    }
}

fn body(asked: &Asked) -> Option<String> {
    let sends = matches!(
        asked.call.endpoint,
        Endpoint::Create | Endpoint::Patch | Endpoint::Ask | Endpoint::Prompt
    );
    if !sends {
        return (!asked.body.is_empty()).then(|| "a body nobody asked for".to_owned());
    }
    let kind = asked.parts.headers.get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind.as_bytes() != b"application/json") {
        return Some("its body is not marked as JSON".to_owned());
    }
    let object = serde_json::from_slice::<Raw<'_>>(&asked.body);
    object.is_err().then(|| "its body is no object".to_owned())
}

/// What is read is bounded, and pages begin where the server said.
fn bounds(state: &State, asked: &Asked) -> Option<String> {
    let (cursor, most) = match asked.call.endpoint {
        Endpoint::Messages => ("before", 1_000),
        Endpoint::List => ("cursor", 10_000),
        Endpoint::Other => return Some("OpenCode has no such call".to_owned()),
        Endpoint::Health
        | Endpoint::Events
        | Endpoint::Create
        | Endpoint::Session
        | Endpoint::Patch
        | Endpoint::Delete
        | Endpoint::Status
        | Endpoint::Children
        | Endpoint::Message
        | Endpoint::Ask
        | Endpoint::Prompt
        | Endpoint::Abort
        | Endpoint::Permissions
        | Endpoint::Questions
        | Endpoint::Agents
        | Endpoint::Config
        | Endpoint::Providers => return None,
    };
    let limit = asked
        .query("limit")
        .and_then(|limit| limit.parse::<u32>().ok());
    if !limit.is_some_and(|limit| (1..=most).contains(&limit)) {
        return Some("asks for everything at once".to_owned());
    }
    let given = asked.query(cursor)?;
    (!state.cursors.contains(&given)).then(|| format!("a cursor nobody gave: {given}"))
}

/// What the request would do.
fn effect(state: &State, asked: &Asked) -> Option<String> {
    let id = asked.call.session.as_deref();
    let session = id.and_then(|id| state.sessions.get(id));
    match asked.call.endpoint {
        Endpoint::Patch => {
            let before = session?.metadata.as_deref().map_or("{}", RawValue::get);
            patch(before, &asked.body)
        }
        Endpoint::Delete => {
            (!session?.is_audit()).then(|| "deletes a conversation of the user".to_owned())
        }
        Endpoint::Prompt => prompt(state, id?, &asked.body),
        Endpoint::Ask => {
            (!session?.is_audit()).then(|| "audits inside the user's session".to_owned())
        }
        Endpoint::Create => create(&asked.body),
        Endpoint::Health
        | Endpoint::Events
        | Endpoint::List
        | Endpoint::Session
        | Endpoint::Status
        | Endpoint::Children
        | Endpoint::Messages
        | Endpoint::Message
        | Endpoint::Abort
        | Endpoint::Permissions
        | Endpoint::Questions
        | Endpoint::Agents
        | Endpoint::Config
        | Endpoint::Providers
        | Endpoint::Other => None,
    }
}

/// Everything but the goal stays byte for byte, and what is foreign in the goal, too.
fn patch(before: &str, body: &[u8]) -> Option<String> {
    let body = serde_json::from_slice::<Raw<'_>>(body).ok()?;
    if body.len() != 1 {
        return Some("changes more than the metadata".to_owned());
    }
    let Some(after) = body.get("metadata").and_then(|raw| read(raw.get())) else {
        return Some("writes metadata that is no object".to_owned());
    };
    let before = read(before)?;
    if let Some(name) = lost(&before, &after, |name| name == "openchamber") {
        return Some(format!("foreign metadata is lost or changed: {name}"));
    }
    let ours = |all: &Raw<'_>| all.get("openchamber").map(|raw| raw.get().to_owned());
    let (before, after) = (ours(&before)?, ours(&after).unwrap_or_default());
    let (before, after) = (read(&before)?, read(&after).unwrap_or_default());
    if let Some(name) = lost(&before, &after, |name| name == "goal") {
        return Some(format!(
            "metadata beside the goal is lost or changed: {name}"
        ));
    }
    let goal = |all: &Raw<'_>| all.get("goal").map(|raw| raw.get().to_owned());
    let (before, after) = (goal(&before)?, goal(&after)?);
    let (before, after) = (read(&before)?, read(&after)?);
    let id = |goal: &Raw<'_>| goal.get("id").map(|raw| raw.get().to_owned());
    if id(&before) != id(&after) {
        return None;
    }
    lost(&before, &after, |name| KNOWN.contains(&name))
        .map(|name| format!("a field of the goal that nobody here knows is lost: {name}"))
}

fn read(json: &str) -> Option<Raw<'_>> {
    serde_json::from_str(json).ok()
}

/// The first member of `before` that `after` has not or has differently.
fn lost(before: &Raw<'_>, after: &Raw<'_>, is_ours: impl Fn(&str) -> bool) -> Option<String> {
    let same = |name: &str, raw: &RawValue| {
        after.get(name).map(|after| after.get().trim()) == Some(raw.get().trim())
    };
    before
        .iter()
        .find(|(name, raw)| !is_ours(name) && !same(name, raw))
        .map(|(name, _)| name.clone())
}

fn prompt(state: &State, id: &str, body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = body["messageID"].as_str().unwrap_or_default();
    if !message.starts_with("msg_") {
        return Some("a prompt without an id of its own cannot be repeated safely".to_owned());
    }
    let parts = body["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let named = |part: &Value| part["id"].as_str().is_some_and(|id| id.starts_with("prt_"));
    if parts.is_empty() || !parts.iter().all(named) {
        return Some("a part without an id of its own cannot be repeated safely".to_owned());
    }
    if body["agent"].as_str() != Some("build") || body["model"]["modelID"] != "big" {
        return Some("the prompt addresses another agent or model than the session's".to_owned());
    }
    if body.get("tools").is_some() {
        return Some("tools of a prompt hold for all later turns".to_owned());
    }
    let session = state.sessions.get(id)?;
    let known = session.message(message).is_some();
    let goal = state.goal(id);
    if goal["status"] != "active" {
        return Some(format!("the goal is not active: {}", goal["status"]));
    }
    if session.busy.is_some() && !known {
        return Some("a prompt into a turn that runs".to_owned());
    }
    let tail = session.tail().map(|tail| tail.id.as_str());
    let other = session
        .prompts
        .iter()
        .find(|earlier| earlier.tail.as_deref() == tail && earlier.message != message);
    other.map(|_| "a second continuation of the same tail".to_owned())
}

fn create(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    if body["parentID"].as_str().is_none() {
        return Some("a session that is nobody's child".to_owned());
    }
    if body["metadata"]["openchamber"]["goalAudit"].is_null() {
        return Some("a session without an audit's mark".to_owned());
    }
    let deny = serde_json::json!([{ "permission": "*", "pattern": "*", "action": "deny" }]);
    (body["permission"] != deny).then(|| "an audit that may do things".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = r#"{"a": [1, 1.50],"openchamber":{"x":null,"goal":{"id":"g","u":1}}}"#;

    #[test]
    fn whatever_is_foreign_must_survive_byte_for_byte() {
        let cases = [
            (
                r#"{"a": [1, 1.50],"openchamber":{"x":null,"goal":{"id":"g","u":1,"note":"n"}}}"#,
                None,
            ),
            (r#"{"a": [1, 1.50],"openchamber":{"x":null}}"#, None),
            (
                r#"{"a": [1, 1.50],"openchamber":{"x":null,"goal":{"id":"other"}}}"#,
                None,
            ),
            (
                r#"{"a": [1, 1.5],"openchamber":{"x":null,"goal":{"id":"g","u":1}}}"#,
                Some("foreign metadata is lost or changed: a"),
            ),
            (
                r#"{"openchamber":{"x":null,"goal":{"id":"g","u":1}}}"#,
                Some("foreign metadata is lost or changed: a"),
            ),
            (
                r#"{"a": [1, 1.50],"openchamber":{"goal":{"id":"g","u":1}}}"#,
                Some("metadata beside the goal is lost or changed: x"),
            ),
            (
                r#"{"a": [1, 1.50],"openchamber":{"x":null,"goal":{"id":"g"}}}"#,
                Some("a field of the goal that nobody here knows is lost: u"),
            ),
            ("[]", Some("writes metadata that is no object")),
        ];
        for (after, expected) in cases {
            let body = format!(r#"{{"metadata":{after}}}"#);
            let found = patch(BEFORE, body.as_bytes());
            assert_eq!(found.as_deref(), expected, "{after}");
        }
        let body = format!(r#"{{"metadata":{BEFORE},"title":"T"}}"#);
        let found = patch(BEFORE, body.as_bytes());
        assert_eq!(found.as_deref(), Some("changes more than the metadata"));
    }
}
