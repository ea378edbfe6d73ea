//! As much of an OpenCode server as the command asks: sessions, their metadata, events.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

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
        let world = Arc::new(World {
            sessions: Mutex::default(),
            events: broadcast::channel(64).0,
            version: version.to_owned(),
        });
        let routes = Router::new()
            .route("/global/health", get(health))
            .route("/global/event", get(events))
            .route("/experimental/session", get(sessions))
            .route("/session/status", get(async || Json(json!({}))))
            .route("/session/{id}", get(session).merge(patch(change)))
            .route("/session/{id}/children", get(async || Json(json!([]))))
            .route("/session/{id}/message", get(async || Json(json!([]))))
            .route("/session/{id}/abort", post(async || Json(json!(true))))
            .route("/permission", get(async || Json(json!([]))))
            .route("/question", get(async || Json(json!([]))))
            .route("/agent", get(async || Json(json!([]))))
            .route(
                "/config",
                get(async || Json(json!({ "small_model": "acme/small" }))),
            )
            .route("/config/providers", get(providers))
            .with_state(Arc::clone(&world));
        serve(listener, routes, world)
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
        let routes = Router::new()
            .route("/global/health", get(health))
            .route("/experimental/session", get(sessions))
            .with_state(Arc::clone(&behind))
            .layer(middleware::from_fn(check));
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
        let session = self.world.sessions.lock().unwrap().remove(id).unwrap();
        let properties = json!({ "sessionID": id, "info": session });
        self.world.tell("session.deleted", &properties);
    }

    pub(crate) fn metadata(&self, id: &str) -> Value {
        self.world.sessions.lock().unwrap()[id]["metadata"].clone()
    }
}

impl World {
    fn none() -> Arc<Self> {
        Arc::new(Self {
            sessions: Mutex::default(),
            events: broadcast::channel(1).0,
            version: String::new(),
        })
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
    let session = world.sessions.lock().unwrap().get(&id).cloned();
    let Some(mut session) = session else {
        return not_found(&id);
    };
    session["metadata"] = change["metadata"].clone();
    world.put(&id, session.clone());
    Json(session).into_response()
}

async fn providers() -> Json<Value> {
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
