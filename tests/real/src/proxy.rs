//! A door between the command and the server that can be held shut for one kind of request.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt as _;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Largest request body that is passed on.
const BODY_MAX: usize = 1024 * 1024;

/// A proxy on loopback that passes everything on except prompts, which it swallows and counts.
pub struct Proxy {
    url: String,
    swallowed: Arc<Semaphore>,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Passage {
    server: String,
    http: reqwest::Client,
    swallowed: Arc<Semaphore>,
}

impl Proxy {
    /// Opens the door to `server`.
    ///
    /// # Panics
    /// If no loopback port can be opened: nothing can be tested then.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot go on")]
    pub async fn open(server: &str) -> Self {
        let swallowed = Arc::new(Semaphore::new(0));
        let passage = Passage {
            server: server.trim_end_matches('/').to_owned(),
            http: reqwest::Client::new(),
            swallowed: Arc::clone(&swallowed),
        };
        let router = Router::new().fallback(pass).with_state(passage);
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a loopback port");
        let url = format!("http://{}", listener.local_addr().expect("a bound address"));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self {
            url,
            swallowed,
            task,
        }
    }

    /// Where the door is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a prompt was swallowed; `false` if none came within `deadline`.
    pub async fn swallowed(&self, deadline: Duration) -> bool {
        match tokio::time::timeout(deadline, self.swallowed.acquire()).await {
            Ok(Ok(permit)) => {
                permit.forget();
                true
            }
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(State(passage): State<Passage>, request: Request) -> Response {
    if request.uri().path().ends_with("/prompt_async") {
        passage.swallowed.add_permits(1);
        // Never answered, never passed on: whoever asked is meant to die waiting.
        std::future::pending::<()>().await;
    }
    forward(passage, request)
        .await
        .unwrap_or_else(|reason| (StatusCode::BAD_GATEWAY, reason.to_string()).into_response())
}

async fn forward(passage: Passage, request: Request) -> Result<Response, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let bytes = to_bytes(body, BODY_MAX).await.unwrap_or_default();
    let mut headers = parts.headers;
    headers.remove("host");
    let url = format!("{}{path}", passage.server);
    let answer = passage
        .http
        .request(parts.method, url)
        .headers(headers)
        .body(bytes)
        .send()
        .await?;
    let mut response = Response::builder().status(answer.status());
    let hop = HeaderName::from_static("transfer-encoding");
    for (name, value) in answer.headers().iter().filter(|(name, _)| **name != hop) {
        response = response.header(name, value);
    }
    let stream = answer.bytes_stream().map_err(std::io::Error::other);
    Ok(response.body(Body::from_stream(stream)).unwrap_or_default())
}
