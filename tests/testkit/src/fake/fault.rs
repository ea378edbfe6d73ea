//! What a request meets instead of a plain answer.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, sleep, sleep_until};

use super::line::Line;

/// Between two bytes of a slow body.
const TRICKLE: Duration = Duration::from_millis(25);

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whether the server does what it was asked to before it fails.
    pub takes_effect: bool,
    /// What the client gets.
    pub answer: Answer,
}

impl Fault {
    /// The request comes to nothing.
    #[must_use]
    pub fn without_effect(answer: Answer) -> Self {
        Self {
            takes_effect: false,
            answer,
        }
    }

    /// The request is carried out; only its answer suffers.
    #[must_use]
    pub fn with_effect(answer: Answer) -> Self {
        Self {
            takes_effect: true,
            answer,
        }
    }
}

/// What a client gets instead of a plain answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The connection breaks before a byte of it.
    Cut,
    /// Nothing at all, on a connection that stays open.
    Hang,
    /// The head at once, the body byte by byte, never done in time.
    Trickle,
    /// The head and half of the body; then the server closes its side, and the connection stays.
    HalfClosed,
    /// This status, with an error for an answer, or with nothing for 204.
    Status(u16),
    /// 200 with a web page.
    Html,
}

/// How long a client may wait for an answer that never comes whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Its own deadline.
    pub(super) deadline: Duration,
    /// What a slow machine may add.
    pub(super) slack: Duration,
}

/// Spoils an answer. `give_up` is called if the client waits on and on.
pub(super) async fn spoil(
    answer: Answer,
    plain: Option<Response>,
    line: &Line,
    patience: Patience,
    give_up: impl FnOnce() + Send + 'static,
) -> Response {
    let until = Instant::now() + patience.deadline + patience.slack;
    match answer {
        Answer::Cut => {
            line.cut.cancel();
            std::future::pending().await
        }
        Answer::Hang => {
            sleep_until(until).await;
            give_up();
            std::future::pending().await
        }
        Answer::Trickle => {
            let (headers, bytes) = parts(plain).await;
            slow(headers, bytes, until, give_up)
        }
        Answer::HalfClosed => {
            let (headers, bytes) = parts(plain).await;
            half(headers, bytes, line.clone())
        }
        Answer::Status(status) => refusal(status),
        Answer::Html => Html("<!doctype html><title>OpenCode</title>").into_response(),
    }
}

/// The head and the body of a plain answer; where there is none, those of an empty list.
async fn parts(plain: Option<Response>) -> (HeaderMap, Bytes) {
    let Some(plain) = plain else {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        return (headers, Bytes::from_static(b"[{}, {}, {}]"));
    };
    let (mut head, body) = plain.into_parts();
    head.headers.remove(header::CONTENT_LENGTH);
    let bytes = axum::body::to_bytes(body, usize::MAX).await;
    (head.headers, bytes.unwrap_or_default())
}

fn slow(
    headers: HeaderMap,
    bytes: Bytes,
    until: Instant,
    give_up: impl FnOnce() + Send + 'static,
) -> Response {
    let state = (bytes, Some(give_up));
    let trickle = stream::unfold(state, move |(mut rest, mut give_up)| async move {
        sleep(TRICKLE).await;
        if Instant::now() >= until
            && let Some(give_up) = give_up.take()
        {
            give_up();
        }
        // The last byte never comes: however short the body is, it is not done in time.
        let next = if rest.len() > 1 {
            rest.split_to(1)
        } else {
            Bytes::new()
        };
        Some((Ok::<_, Infallible>(next), (rest, give_up)))
    });
    (headers, Body::from_stream(trickle)).into_response()
}

fn half(headers: HeaderMap, mut bytes: Bytes, line: Line) -> Response {
    let first = bytes.split_to(bytes.len() / 2);
    let rest = stream::once(async move {
        // The first half is written out before this is asked for.
        sleep(TRICKLE).await;
        line.half_close.cancel();
        std::future::pending::<()>().await;
        Ok::<_, Infallible>(Bytes::new())
    });
    let body = stream::iter([Ok(first)]).chain(rest);
    (headers, Body::from_stream(body)).into_response()
}

fn refusal(status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status == StatusCode::NO_CONTENT {
        return status.into_response();
    }
    let json = [(header::CONTENT_TYPE, "application/json")];
    let error = r#"{"name":"UnknownError","data":{"message":"Unexpected server error."}}"#;
    (status, json, error).into_response()
}
