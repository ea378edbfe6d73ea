//! As much of an OpenCode server as the command asks: sessions, their metadata, events.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{delete, get, patch, post};
use axum::{Json, Router};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;

use crate::command::DEADLINE;

pub(crate) const DIRECTORY: &str = "/project";

/// What a request without a password is answered with.
const UNAUTHORIZED: StatusCode = StatusCode::UNAUTHORIZED;

/// A server that ends with the test.
pub(crate) struct Fake {
    pub(crate) url: String,
    world: Arc<World>,
    task: JoinHandle<()>,
}

struct World {
    sessions: Mutex<BTreeMap<String, Value>>,
    /// The messages of every session.
    messages: Mutex<Vec<Value>>,
    /// What the model answers; without one, its provider fails.
    reply: Mutex<Option<String>>,
    /// What was asked of the model.
    asked: Mutex<Vec<Value>>,
    /// How many sessions were made.
    made: AtomicUsize,
    /// What was written, in order, each with whether the session's objective file was there.
    written: Mutex<Vec<String>>,
    /// Where objective files are.
    objectives: Mutex<Option<PathBuf>>,
    /// The server fails to take messages.
    deaf: AtomicBool,
    /// Sessions of which nothing can be stopped or written.
    stuck: Mutex<Vec<String>>,
    models: AtomicBool,
    thinks: AtomicBool,
    was_asked: Notify,
    events: broadcast::Sender<String>,
    version: String,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fake {
    pub(crate) async fn start() -> Self {
        Self::on(listen().await, "1.18.33")
    }

    /// On a listener that is there already.
    pub(crate) fn on(listener: TcpListener, version: &str) -> Self {
        let world = World::new(version);
        let routes = Self::routes(&world);
        serve(listener, routes, world)
    }

    fn routes(world: &Arc<World>) -> Router {
        Router::new()
            .route("/global/health", get(health))
            .route("/global/event", get(events))
            .route("/experimental/session", get(sessions))
            .route("/session", post(make))
            .route("/session/status", get(async || Json(json!({}))))
            .route(
                "/session/{id}",
                get(session).merge(patch(change)).merge(delete(remove)),
            )
            .route("/session/{id}/children", get(async || Json(json!([]))))
            .route("/session/{id}/message", get(messages).merge(post(answer)))
            .route("/session/{id}/message/{message}", get(message))
            .route("/session/{id}/prompt_async", post(prompt))
            .route("/session/{id}/command", post(command))
            .route("/session/{id}/fork", post(fork))
            .route("/command", get(commands))
            .route("/session/{id}/abort", post(async || Json(json!(true))))
            .route("/permission", get(async || Json(json!([]))))
            .route("/question", get(async || Json(json!([]))))
            .route("/agent", get(async || Json(json!([]))))
            .route("/config", get(config))
            .route("/config/providers", get(providers))
            .with_state(Arc::clone(world))
    }

    /// A server that refuses every password.
    pub(crate) async fn locked() -> Self {
        let routes = Router::new().fallback(async || UNAUTHORIZED);
        serve(listen().await, routes, World::none())
    }

    /// A server that takes one password only.
    pub(crate) async fn with_password(password: &'static str) -> Self {
        let fake = Self::start().await;
        let behind = fake.world.clone();
        let expected = basic("opencode", password);
        let listener = listen().await;
        let check = move |request: Request, next: Next| {
            let given = request.headers().get(header::AUTHORIZATION).cloned();
            let right = given.is_some_and(|given| given.as_bytes() == expected.as_bytes());
            async move {
                if right {
                    next.run(request).await
                } else {
                    UNAUTHORIZED.into_response()
                }
            }
        };
        let routes = Self::routes(&behind).layer(middleware::from_fn(check));
        serve(listener, routes, behind)
    }

    /// A foreign program that answers everything with a page.
    pub(crate) async fn foreign() -> Self {
        let page = async || Html("<!doctype html><title>Router</title>");
        let routes = Router::new().fallback(page);
        serve(listen().await, routes, World::none())
    }

    /// Puts a session there, or changes it, and tells everybody.
    pub(crate) fn put(&self, id: &str, metadata: Value) {
        let session = json!({
            "id": id,
            "title": "Fix the parser",
            "directory": DIRECTORY,
            "metadata": metadata,
            // Untouched for a day, a goal would wait for a Resume.
            "time": { "created": 1_000, "updated": now() },
        });
        self.world.put(id, session);
    }

    /// Puts a session with a goal there.
    pub(crate) fn put_goal(&self, id: &str, goal: Value) {
        self.put(id, json!({ "openchamber": { "goal": goal } }));
    }

    pub(crate) fn delete(&self, id: &str) {
        self.world.delete(id).unwrap();
    }

    /// Has every session hold a finished turn in which the agent says `text`.
    pub(crate) fn put_turn(&self, text: &str) {
        let prompt = json!({
            "info": { "id": "msg_1", "role": "user", "time": { "created": 1_000 } },
            "parts": [{ "id": "prt_1", "type": "text", "text": "go" }],
        });
        *self.world.messages.lock().unwrap() = vec![prompt, reply_of("msg_2", text)];
    }

    /// Has the model answer `text` from now on.
    pub(crate) fn put_reply(&self, text: &str) {
        *self.world.reply.lock().unwrap() = Some(text.to_owned());
    }

    /// What was asked of the model so far.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.world.asked.lock().unwrap().clone()
    }

    /// From now on the model does not come to an answer.
    pub(crate) fn have_the_model_think(&self) {
        self.world.thinks.store(true, Ordering::SeqCst);
    }

    /// Waits until the model is asked.
    pub(crate) async fn until_asked(&self) {
        let asked = self.world.was_asked.notified();
        tokio::time::timeout(DEADLINE, asked).await.unwrap();
    }

    /// How many sessions were made, and the ids of those that are there.
    pub(crate) fn sessions(&self) -> (usize, Vec<String>) {
        let there = self.world.sessions.lock().unwrap();
        let made = self.world.made.load(Ordering::SeqCst);
        (made, there.keys().cloned().collect())
    }

    /// From now on nothing of this session can be written.
    pub(crate) fn put_stuck(&self, id: &str) {
        self.world.stuck.lock().unwrap().push(id.to_owned());
    }

    /// From now on what is written is noted with whether the session's objective lies in `folder`.
    pub(crate) fn note_objectives(&self, folder: &std::path::Path) {
        *self.world.objectives.lock().unwrap() = Some(folder.to_owned());
    }

    /// What was written so far, in order.
    pub(crate) fn written(&self) -> Vec<String> {
        self.world.written.lock().unwrap().clone()
    }

    /// From now on every message meets an error.
    pub(crate) fn hears_nothing(&self) {
        self.world.deaf.store(true, Ordering::SeqCst);
    }

    /// From now on there is no model.
    pub(crate) fn take_models(&self) {
        self.world.models.store(false, Ordering::SeqCst);
    }

    pub(crate) fn metadata(&self, id: &str) -> Value {
        self.world.sessions.lock().unwrap()[id]["metadata"].clone()
    }
}

impl World {
    fn new(version: &str) -> Arc<Self> {
        Arc::new(Self {
            sessions: Mutex::default(),
            messages: Mutex::default(),
            reply: Mutex::default(),
            asked: Mutex::default(),
            made: AtomicUsize::new(0),
            written: Mutex::default(),
            objectives: Mutex::default(),
            deaf: AtomicBool::new(false),
            stuck: Mutex::default(),
            models: AtomicBool::new(true),
            thinks: AtomicBool::new(false),
            was_asked: Notify::new(),
            events: broadcast::channel(64).0,
            version: version.to_owned(),
        })
    }

    fn none() -> Arc<Self> {
        Self::new("")
    }

    fn note(&self, what: &str, id: &str) {
        let folder = self.objectives.lock().unwrap().clone();
        let file = folder.is_some_and(|folder| folder.join(format!("{id}.md")).exists());
        let file = if file { ", file" } else { "" };
        let noted = format!("{what} {id}{file}");
        self.written.lock().unwrap().push(noted);
    }

    /// Takes a message and answers it at once.
    fn take(&self, id: &str, message: &str, parts: &Value) -> Value {
        let info = json!({ "id": message, "role": "user", "time": { "created": now() } });
        let prompt = json!({ "info": info, "parts": parts });
        let mut answer = reply_of("msg_answer", "moved it");
        answer["info"]["parentID"] = json!(message);
        answer["info"]["time"] = json!({ "created": now() + 1, "completed": now() + 2 });
        let mut messages = self.messages.lock().unwrap();
        messages.extend([prompt, answer.clone()]);
        drop(messages);
        let idle = json!({ "sessionID": id, "status": { "type": "idle" } });
        self.tell("session.status", &idle);
        answer
    }

    fn delete(&self, id: &str) -> Option<()> {
        let session = self.sessions.lock().unwrap().remove(id)?;
        let properties = json!({ "sessionID": id, "info": session });
        self.tell("session.deleted", &properties);
        Some(())
    }

    fn put(&self, id: &str, session: Value) {
        let properties = json!({ "sessionID": id, "info": session });
        let mut sessions = self.sessions.lock().unwrap();
        sessions.insert(id.to_owned(), session);
        drop(sessions);
        self.tell("session.updated", &properties);
    }

    fn tell(&self, kind: &str, properties: &Value) {
        let payload = json!({ "id": "evt_1", "type": kind, "properties": properties });
        let envelope = json!({ "directory": DIRECTORY, "payload": payload });
        // Nobody may listen.
        let _ = self.events.send(format!("data: {envelope}\n\n"));
    }
}

/// A goal of five tokens and two continuations.
pub(crate) fn goal(id: &str, status: &str, reason: &str) -> Value {
    json!({
        "id": id,
        "objective": "All tests pass",
        "status": status,
        "statusReason": reason,
        "note": "two of three done",
        "tokensUsed": 5,
        "turnsUsed": 2,
        "createdAt": 1_000,
        "updatedAt": 2_000,
        "ofAnotherClient": [1, 2],
    })
}

/// A free loopback port.
pub(crate) async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// The address of a port on which nobody listens.
pub(crate) async fn nobody() -> String {
    let listener = listen().await;
    format!("http://{}", listener.local_addr().unwrap())
}

fn serve(listener: TcpListener, routes: Router, world: Arc<World>) -> Fake {
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    Fake { url, world, task }
}

async fn health(State(world): State<Arc<World>>) -> Json<Value> {
    Json(json!({ "healthy": true, "version": world.version }))
}

async fn events(State(world): State<Arc<World>>) -> Response {
    let greeting = json!({ "payload": { "type": "server.connected", "properties": {} } });
    let greeting = format!("data: {greeting}\n\n");
    let heard = stream::unfold(world.events.subscribe(), async |mut heard| {
        let event = heard.recv().await.ok()?;
        Some((event, heard))
    });
    let frames = stream::iter([greeting]).chain(heard);
    let body = Body::from_stream(frames.map(Ok::<_, std::convert::Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

async fn sessions(State(world): State<Arc<World>>) -> Json<Value> {
    let sessions = world.sessions.lock().unwrap();
    Json(sessions.values().cloned().collect())
}

async fn session(State(world): State<Arc<World>>, Path(id): Path<String>) -> Response {
    match world.sessions.lock().unwrap().get(&id) {
        Some(session) => Json(session.clone()).into_response(),
        None => not_found(&id),
    }
}

async fn change(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Json(change): Json<Value>,
) -> Response {
    if world.stuck.lock().unwrap().contains(&id) {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let session = world.sessions.lock().unwrap().get(&id).cloned();
    let Some(mut session) = session else {
        return not_found(&id);
    };
    session["metadata"] = change["metadata"].clone();
    let goal = &session["metadata"]["openchamber"]["goal"];
    let what = match goal["status"].as_str() {
        Some(status) => format!("PATCH {status}"),
        None => "PATCH nothing".to_owned(),
    };
    world.note(&what, &id);
    world.put(&id, session.clone());
    Json(session).into_response()
}

async fn make(State(world): State<Arc<World>>, Json(new): Json<Value>) -> Json<Value> {
    let id = format!("ses_made{}", world.made.fetch_add(1, Ordering::SeqCst));
    let mut session = new;
    session["id"] = json!(id);
    session["directory"] = json!(DIRECTORY);
    session["time"] = json!({ "created": now(), "updated": now() });
    if session["parentID"].is_null() {
        world.note("POST session", &id);
    }
    world.put(&id, session.clone());
    Json(session)
}

async fn fork(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Json(_): Json<Value>,
) -> Response {
    let Some(mut copy) = world.sessions.lock().unwrap().get(&id).cloned() else {
        return not_found(&id);
    };
    world.note("POST fork", &id);
    copy["id"] = json!("ses_copy");
    copy["time"] = json!({ "created": now(), "updated": now() });
    world.put("ses_copy", copy.clone());
    Json(copy).into_response()
}

/// `/move` with two arguments, and one whose text nobody knows.
async fn commands() -> Json<Value> {
    Json(json!([
        { "name": "move", "template": "Move $1 to $2", "hints": ["$1", "$2"] },
        { "name": "mystery", "template": null },
    ]))
}

async fn prompt(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Json(prompt): Json<Value>,
) -> Response {
    let parts = prompt["parts"].as_array().map_or(0, Vec::len);
    world.note(&format!("POST prompt of {parts}"), &id);
    if world.deaf.load(Ordering::SeqCst) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let message = prompt["messageID"].as_str().unwrap_or_default();
    world.take(&id, message, &prompt["parts"]);
    StatusCode::NO_CONTENT.into_response()
}

async fn command(
    State(world): State<Arc<World>>,
    Path(id): Path<String>,
    Json(call): Json<Value>,
) -> Response {
    let (name, arguments) = (&call["command"], &call["arguments"]);
    world.note(&format!("POST command {name} {arguments}"), &id);
    if world.deaf.load(Ordering::SeqCst) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let message = call["messageID"].as_str().unwrap_or_default();
    let text = json!([{ "id": "prt_c", "type": "text", "text": "expanded" }]);
    Json(world.take(&id, message, &text)).into_response()
}

async fn message(
    State(world): State<Arc<World>>,
    Path((_, id)): Path<(String, String)>,
) -> Response {
    let messages = world.messages.lock().unwrap();
    match messages.iter().find(|one| one["info"]["id"] == json!(id)) {
        Some(message) => Json(message.clone()).into_response(),
        None => not_found(&id),
    }
}

async fn remove(State(world): State<Arc<World>>, Path(id): Path<String>) -> Response {
    match world.delete(&id) {
        Some(()) => Json(json!(true)).into_response(),
        None => not_found(&id),
    }
}

async fn messages(State(world): State<Arc<World>>) -> Json<Value> {
    Json(world.messages.lock().unwrap().iter().cloned().collect())
}

async fn answer(State(world): State<Arc<World>>, Json(prompt): Json<Value>) -> Json<Value> {
    world.asked.lock().unwrap().push(prompt);
    world.was_asked.notify_one();
    if world.thinks.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let reply = world.reply.lock().unwrap().clone();
    Json(match reply {
        Some(text) => reply_of("msg_reply", &text),
        None => {
            let mut message = reply_of("msg_reply", "");
            let data = json!({ "message": "no quota" });
            message["info"]["error"] = json!({ "name": "APIError", "data": data });
            message
        }
    })
}

fn reply_of(id: &str, text: &str) -> Value {
    json!({
        "info": {
            "id": id,
            "role": "assistant",
            "parentID": "msg_1",
            "providerID": "acme",
            "modelID": "big",
            "finish": "stop",
            "time": { "created": 2_000, "completed": 3_000 },
            "tokens": { "input": 10, "output": 5, "reasoning": 0,
                        "cache": { "read": 0, "write": 0 } },
        },
        "parts": [{ "id": format!("prt_{id}"), "type": "text", "text": text }],
    })
}

async fn config(State(world): State<Arc<World>>) -> Json<Value> {
    match world.models.load(Ordering::SeqCst) {
        true => Json(json!({ "small_model": "acme/small" })),
        false => Json(json!({})),
    }
}

async fn providers(State(world): State<Arc<World>>) -> Json<Value> {
    if !world.models.load(Ordering::SeqCst) {
        return Json(json!({ "providers": [], "default": {} }));
    }

    let small = json!({ "id": "small", "providerID": "acme", "name": "small" });
    let acme = json!({ "id": "acme", "name": "Acme", "models": { "small": small } });
    Json(json!({ "providers": [acme], "default": { "acme": "small" } }))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap().as_millis()).unwrap()
}

fn not_found(id: &str) -> Response {
    let message = format!("Session not found: {id}");
    let error = json!({ "name": "NotFoundError", "data": { "message": message } });
    (StatusCode::NOT_FOUND, Json(error)).into_response()
}

fn basic(username: &str, password: &str) -> String {
    use base64::Engine as _;
    let credentials = format!("{username}:{password}");
    format!(
        "Basic {}",
        base64::prelude::BASE64_STANDARD.encode(credentials)
    )
}
