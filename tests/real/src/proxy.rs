//! A door between the command and the server, where single kinds of request can be held up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Largest request body that is passed on.
const BODY_MAX: usize = 1024 * 1024;

/// A kind of request that the door tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A prompt to a session: `POST …/prompt_async`.
    Prompt,
    /// A change of a session: `PATCH /session/…`.
    Write,
    /// A new session: `POST /session`.
    NewSession,
    /// The stream of events.
    Events,
    /// Anything else; always passed on.
    Other,
}

/// What happens to a request at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is passed on.
    Pass,
    /// It is neither passed on nor answered.
    Swallow,
    /// It waits until there is another way.
    Hold,
    /// It is answered like a prompt that was taken (204), and not passed on.
    Pretend,
    /// A prompt is passed on as a note: the server stores it and nobody runs it.
    Store,
    /// It is passed on, and its answer is lost.
    LoseAnswer,
    /// It is answered with this status and not passed on. Streams that are open end.
    Refuse(u16),
}

/// A door on loopback. Everything is passed on until [`Proxy::set`] says otherwise.
pub struct Proxy {
    url: String,
    passage: Passage,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Passage {
    server: String,
    http: reqwest::Client,
    rules: Arc<Mutex<Rules>>,
    /// Rings after every change of the rules and every request that met one.
    bell: watch::Sender<()>,
}

#[derive(Default)]
struct Rules {
    /// The way of a kind, and for how many requests.
    ways: BTreeMap<Kind, (Way, u32)>,
    /// Requests of a kind that were not just passed on.
    met: BTreeMap<Kind, u32>,
}

impl Proxy {
    /// Opens the door to `server`.
    ///
    /// # Panics
    /// If no loopback port can be opened: nothing can be tested then.
    #[expect(clippy::expect_used, reason = "a test without its door cannot go on")]
    pub async fn open(server: &str) -> Self {
        let passage = Passage {
            server: server.trim_end_matches('/').to_owned(),
            http: opencode_client::http_client()
                .build()
                .expect("an HTTP client"),
            rules: Arc::default(),
            bell: watch::Sender::new(()),
        };
        let router = Router::new().fallback(pass).with_state(passage.clone());
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a loopback port");
        let url = format!("http://{}", listener.local_addr().expect("a bound address"));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self { url, passage, task }
    }

    /// Where the door is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What happens to requests of this kind from now on.
    pub fn set(&self, kind: Kind, way: Way) {
        self.set_for(kind, way, u32::MAX);
    }

    /// What happens to the next `times` requests of this kind; those after them are passed on.
    pub fn set_for(&self, kind: Kind, way: Way, times: u32) {
        self.passage.rules().ways.insert(kind, (way, times));
        self.passage.bell.send_replace(());
    }

    /// How many requests of this kind were not just passed on.
    #[must_use]
    pub fn met(&self, kind: Kind) -> u32 {
        self.passage.rules().met(kind)
    }

    /// Waits until that many were not just passed on; `false` if they were fewer by `deadline`.
    pub async fn meets(&self, kind: Kind, times: u32, deadline: Duration) -> bool {
        let enough = self.passage.until(|rules| rules.met(kind) >= times);
        tokio::time::timeout(deadline, enough).await.is_ok()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Passage {
    fn rules(&self) -> MutexGuard<'_, Rules> {
        // Plain values, whole after every statement.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn until(&self, is_so: impl Fn(&Rules) -> bool) {
        let mut bell = self.bell.subscribe();
        while !is_so(&self.rules()) {
            // The sender lives in `self`.
            let _ = bell.changed().await;
        }
    }

    /// The way of this request, which is counted.
    fn way(&self, kind: Kind) -> Way {
        let mut rules = self.rules();
        let way = match rules.ways.get_mut(&kind) {
            Some((way, times)) if *times > 0 => {
                *times = times.saturating_sub(1);
                *way
            }
            Some(_) | None => return Way::Pass,
        };
        if way != Way::Pass {
            *rules.met.entry(kind).or_default() += 1;
        }
        drop(rules);
        self.bell.send_replace(());
        way
    }
}

impl Rules {
    fn met(&self, kind: Kind) -> u32 {
        self.met.get(&kind).copied().unwrap_or(0)
    }

    fn is(&self, kind: Kind, way: Way) -> bool {
        self.ways.get(&kind).is_some_and(|(set, _)| *set == way)
    }
}

async fn pass(State(passage): State<Passage>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_MAX).await.unwrap_or_default().to_vec();
    let kind = kind_of(&parts);
    match passage.way(kind) {
        Way::Pass => forward(&passage, kind, parts, bytes).await,
        Way::Swallow => std::future::pending().await,
        Way::Hold => {
            passage.until(|rules| !rules.is(kind, Way::Hold)).await;
            forward(&passage, kind, parts, bytes).await
        }
        Way::Pretend => StatusCode::NO_CONTENT.into_response(),
        Way::Store => forward(&passage, kind, parts, as_note(&bytes)).await,
        Way::LoseAnswer => {
            drop(forward(&passage, kind, parts, bytes).await);
            std::future::pending().await
        }
        Way::Refuse(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            let error = json!({ "name": "BadRequest", "data": { "message": "not at this door" } });
            (status, axum::Json(error)).into_response()
        }
    }
}

fn kind_of(parts: &Parts) -> Kind {
    let path = parts.uri.path();
    if path.ends_with("/prompt_async") {
        Kind::Prompt
    } else if path == "/global/event" {
        Kind::Events
    } else if parts.method == Method::PATCH {
        Kind::Write
    } else if parts.method == Method::POST && path == "/session" {
        Kind::NewSession
    } else {
        Kind::Other
    }
}

/// The same prompt, to be stored only.
fn as_note(bytes: &[u8]) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    body["noReply"] = json!(true);
    body.to_string().into_bytes()
}

async fn forward(passage: &Passage, kind: Kind, parts: Parts, bytes: Vec<u8>) -> Response {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut headers = parts.headers;
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    let answer = passage
        .http
        .request(parts.method, format!("{}{path}", passage.server))
        .headers(headers)
        .body(bytes)
        .send()
        .await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(reason) => return (StatusCode::BAD_GATEWAY, reason.to_string()).into_response(),
    };
    let mut response = Response::builder().status(answer.status());
    let hop = HeaderName::from_static("transfer-encoding");
    for (name, value) in answer.headers().iter().filter(|(name, _)| **name != hop) {
        response = response.header(name, value);
    }
    let stream = answer.bytes_stream().map_err(std::io::Error::other);
    let body = if kind == Kind::Events {
        let passage = passage.clone();
        let cut = Box::pin(async move {
            let open = |rules: &Rules| {
                let way = rules.ways.get(&Kind::Events);
                way.is_none_or(|(way, _)| *way == Way::Pass)
            };
            passage.until(|rules| !open(rules)).await;
        });
        Body::from_stream(stream.take_until(cut))
    } else {
        Body::from_stream(stream)
    };
    response.body(body).unwrap_or_default()
}
