//! An OpenCode server of which every answer can be scripted, and which remembers what was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use goal_core::limits::Limits;
use opencode_client::{Client, DEFAULT_USERNAME, Target, Timeouts};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long a test waits for what must happen: it fails behind that, it never passes by it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// For example `POST /session`.
    pub(crate) call: String,
    /// What stands behind the question mark.
    pub(crate) query: String,
    /// The body; null if it was none.
    pub(crate) body: Value,
}

/// A scripted answer.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// JSON with a status.
    Json(u16, Value),
    /// A web page.
    Html,
    /// 204.
    Nothing,
    /// No answer at all.
    Hang,
    /// The connection breaks before the answer is complete.
    Break,
    /// Waits for [`Fake::open_gate`], then answers as usual.
    AfterGate,
}

/// The running server.
pub(crate) struct Fake {
    shared: Arc<Shared>,
    address: String,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Script>,
    changed: Notify,
    gate: Notify,
}

#[derive(Default)]
struct Script {
    seen: Vec<Seen>,
    /// Answers by the beginning or end of the call, each given once, in order.
    scripted: Vec<(&'static str, VecDeque<Reply>)>,
    /// Sessions that exist, as the server would show them.
    sessions: Vec<Value>,
    /// Sessions that were ever made.
    made: u32,
}

impl Fake {
    /// Starts it on a loopback port.
    pub(crate) async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            shared,
            address,
            serving,
        }
    }

    /// Scripts the next answers to calls that begin or end with `call`, such as `DELETE`.
    pub(crate) fn script(&self, call: &'static str, replies: impl IntoIterator<Item = Reply>) {
        let replies = replies.into_iter().collect();
        self.shared
            .state
            .lock()
            .unwrap()
            .scripted
            .push((call, replies));
    }

    /// Lets every answer go on that waits.
    pub(crate) fn open_gate(&self) {
        self.shared.gate.notify_waiters();
    }

    pub(crate) fn target(&self) -> Target {
        Target::parse(&self.address, DEFAULT_USERNAME, None).unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        client(self.target())
    }

    /// What was asked so far and begins with `call`.
    pub(crate) fn seen(&self, call: &str) -> Vec<Seen> {
        let state = self.shared.state.lock().unwrap();
        let seen = state.seen.iter().filter(|seen| seen.call.starts_with(call));
        seen.cloned().collect()
    }

    /// Waits until `count` calls that begin with `call` have arrived.
    pub(crate) async fn wait_for(&self, call: &str, count: usize) {
        let arrived = async {
            loop {
                let changed = self.shared.changed.notified();
                if self.seen(call).len() >= count {
                    return;
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, arrived).await;
        assert!(waited.is_ok(), "{count} × {call} did not arrive");
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A client with short deadlines.
pub(crate) fn client(target: Target) -> Client {
    let timeouts = Timeouts {
        connect: Duration::from_secs(2),
        call: Duration::from_secs(2),
    };
    Client::new(target, timeouts).unwrap()
}

/// An address at which nobody listens.
pub(crate) async fn dead_target() -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    Target::parse(&format!("http://{address}"), DEFAULT_USERNAME, None).unwrap()
}

/// Limits under which an audit fails within a moment.
pub(crate) fn limits() -> Limits {
    Limits {
        audit_timeout: Duration::from_secs(10),
        audit_retry: [Duration::from_millis(10), Duration::from_millis(20)],
        call_timeout: Duration::from_secs(2),
        ..Limits::DEFAULT
    }
}

/// The reply of a model in OpenCode's words.
pub(crate) fn said(text: &str) -> Reply {
    said_in(json!([{"type": "text", "id": "prt_1", "text": text}]))
}

/// A reply made of these parts.
pub(crate) fn said_in(parts: Value) -> Reply {
    let info = json!({"id": "msg_r", "sessionID": "ses_c", "role": "assistant", "finish": "stop"});
    Reply::Json(200, json!({"info": info, "parts": parts}))
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    let call = format!("{method} {}", uri.path());
    let seen = Seen {
        call: call.clone(),
        query: uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let reply = {
        let mut state = shared.state.lock().unwrap();
        let usual = state.usual(&seen);
        state.seen.push(seen);
        let scripted = state.scripted.iter_mut();
        let scripted = scripted
            .filter(|(part, _)| call.starts_with(*part) || call.ends_with(*part))
            .find_map(|(_, replies)| replies.pop_front());
        (scripted, usual)
    };
    let gate = shared.gate.notified();
    shared.changed.notify_waiters();
    match reply {
        (None, usual) => respond(usual).await,
        (Some(Reply::AfterGate), usual) => {
            gate.await;
            respond(usual).await
        }
        (Some(scripted), _) => respond(scripted).await,
    }
}

async fn respond(reply: Reply) -> Response {
    match reply {
        Reply::Json(status, value) => {
            let status = StatusCode::from_u16(status).unwrap();
            let json = [("content-type", "application/json")];
            (status, json, value.to_string()).into_response()
        }
        Reply::Html => ([("content-type", "text/html")], "<html>").into_response(),
        Reply::Nothing => StatusCode::NO_CONTENT.into_response(),
        Reply::Hang | Reply::AfterGate => std::future::pending().await,
        Reply::Break => {
            let broken = stream::iter([Ok(Bytes::from_static(b"{")), Err("broken")]);
            let json = [("content-type", "application/json")];
            (json, Body::from_stream(broken)).into_response()
        }
    }
}

impl Script {
    /// What a healthy server says. It makes and deletes sessions whatever it answers.
    fn usual(&mut self, seen: &Seen) -> Reply {
        let (method, path) = seen.call.split_once(' ').unwrap();
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match (method, segments.as_slice()) {
            ("GET", ["global", "health"]) => {
                Reply::Json(200, json!({"healthy": true, "version": "1.18.33"}))
            }
            ("GET", ["config"]) => Reply::Json(200, json!({"small_model": "fake/small"})),
            ("GET", ["config", "providers"]) => Reply::Json(200, providers()),
            ("GET", ["agent"]) => Reply::Json(200, json!([{"name": "goal-auditor"}])),
            ("POST", ["session"]) => {
                let mut session = seen.body.clone();
                self.made += 1;
                session["id"] = json!(format!("ses_c{}", self.made));
                session["directory"] = json!("/d");
                self.sessions.push(session.clone());
                Reply::Json(200, session)
            }
            ("GET", ["session", _, "children"]) => Reply::Json(200, json!(self.sessions)),
            ("DELETE", ["session", id]) => {
                let before = self.sessions.len();
                self.sessions.retain(|session| session["id"] != **id);
                if self.sessions.len() == before {
                    return not_found();
                }
                Reply::Json(200, json!(true))
            }
            ("POST", ["session", _, "abort"]) => Reply::Json(200, json!(true)),
            ("POST", ["session", _, "prompt_async"]) => Reply::Nothing,
            _ => Reply::Html,
        }
    }
}

/// OpenCode's way to say that something does not exist.
pub(crate) fn not_found() -> Reply {
    let data = json!({"message": "Session not found: ses_x"});
    Reply::Json(404, json!({"name": "NotFoundError", "data": data}))
}

fn providers() -> Value {
    let models = json!({
        "big": {"name": "Big", "status": "active"},
        "small": {"name": "Small", "status": "active"},
        "quick": {"family": "claude-haiku", "release_date": "2026-01-01", "status": "active"},
    });
    json!({
        "providers": [{"id": "fake", "name": "Fake", "models": models}],
        "default": {"fake": "big"},
    })
}
