//! The HTTP side of the scripted model.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::reply::{Answer, Message, Piece, Refusal};
use super::request::{Progress, Question, Request, classify};
use super::script::Slot;
use super::{REQUESTS_MAX, Shared};
use crate::Error;

/// Long conversations with whole files in tool results exceed the usual 2 MB.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The server's thread; dropping it breaks all connections.
#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(shared: Arc<Shared>) -> Result<Self, Error> {
        let failed = || Error::io("start the scripted model");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed())?;
        listener.set_nonblocking(true).map_err(failed())?;
        let port = listener.local_addr().map_err(failed())?.port();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().map_err(failed())?;
        let thread = std::thread::Builder::new().name("scripted model".to_owned());
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    // Ends only if the listener is lost; the requests then fail visibly.
                    _ = serve(listener, shared) => {}
                    _ = stopped => {}
                }
            });
            // The runtime goes with the thread, and with it every open connection.
        };
        let thread = thread.spawn(serve).map_err(failed())?;
        Ok(Self {
            port,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Dropping the sender stops the thread.
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(complete))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(shared);
    axum::serve(listener, router).await
}

async fn models() -> Json<Value> {
    Json(json!({ "object": "list", "data": [{ "id": "big" }, { "id": "small" }] }))
}

async fn complete(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let session = headers
        .get("x-session-id")
        .and_then(|value| value.to_str().ok());
    let body = Arc::new(body);
    let Some((number, slot)) = shared.admit(session.map(ToOwned::to_owned), &body) else {
        return too_many();
    };
    // Dropped with this future, or with the stream, when the client goes away.
    let mut receipt = Receipt {
        shared: Arc::clone(&shared),
        number,
        answered: false,
    };
    for gate in &slot.gates {
        shared.pass(gate).await;
    }
    tokio::time::sleep(slot.reply.delay).await;
    let model = body["model"].as_str().unwrap_or_default();
    match slot.reply.answer {
        Answer::Refusal(refusal) => {
            receipt.answer();
            refused(refusal)
        }
        Answer::Message(message) if body["stream"] == true => {
            streamed(message.pieces(model, number), receipt)
        }
        Answer::Message(message) => {
            receipt.answer();
            whole(&message, model, number)
        }
    }
}

impl Shared {
    /// Records a request and finds its answer; `None` when the log is full.
    fn admit(&self, session: Option<String>, body: &Arc<Value>) -> Option<(usize, Slot)> {
        let kind = classify(body, &self.is_audit);
        let question = Question::of(body, session.clone());
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.state.change(|state| {
            let number = state.log.len() + 1;
            if number > REQUESTS_MAX {
                return None;
            }
            state.log.push(Request {
                number,
                kind,
                session,
                received_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
                progress: Progress::Open,
                body: Arc::clone(body),
            });
            Some((number, state.script.answer(kind, question, body)))
        })
    }

    /// Says that a gate is reached and waits until it is open.
    async fn pass(&self, name: &str) {
        self.state.change(|state| {
            state.gates.entry(name.to_owned()).or_default().reached = true;
        });
        self.state
            .until(|state| state.gates.get(name)?.open.then_some(()))
            .await;
    }
}

/// Writes into the log how the answer ended.
struct Receipt {
    shared: Arc<Shared>,
    number: usize,
    answered: bool,
}

impl Receipt {
    fn answer(&mut self) {
        self.answered = true;
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let progress = if self.answered {
            Progress::Answered
        } else {
            Progress::ClientGone
        };
        self.shared.state.change(|state| {
            if let Some(request) = state.log.get_mut(self.number - 1) {
                request.progress = progress;
            }
        });
    }
}

fn streamed(pieces: VecDeque<Piece>, receipt: Receipt) -> Response {
    let events = stream::try_unfold((pieces, receipt), |(mut pieces, mut receipt)| async move {
        while let Some(piece) = pieces.pop_front() {
            match piece {
                Piece::Pause(duration) => tokio::time::sleep(duration).await,
                Piece::Hold(gate) => receipt.shared.pass(&gate).await,
                Piece::Event(json) => {
                    return Ok(Some((format!("data: {json}\n\n"), (pieces, receipt))));
                }
                Piece::Done => {
                    receipt.answer();
                    return Ok(Some(("data: [DONE]\n\n".to_owned(), (pieces, receipt))));
                }
                Piece::Break => {
                    receipt.answer();
                    return Err(io::Error::other("scripted break of the connection"));
                }
            }
        }
        Ok(None)
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(events)).into_response()
}

fn whole(message: &Message, model: &str, number: usize) -> Response {
    Json(message.whole(model, number)).into_response()
}

fn refused(refusal: Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = (status, Json(json!({ "error": refusal.error }))).into_response();
    let retry_after = refusal.retry_after.and_then(|seconds| seconds.parse().ok());
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

fn too_many() -> Response {
    let error = json!({ "error": { "message": "the scripted model's log is full" } });
    (StatusCode::SERVICE_UNAVAILABLE, Json(error)).into_response()
}
