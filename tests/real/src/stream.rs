//! What the server itself says, so that a test acts at a known moment and compares with the truth.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde_json::Value;
use testkit::{Error, OpenCode};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The user name of HTTP Basic.
const USER: &str = "opencode";

/// Events shown when one does not come.
const SHOWN_MAX: usize = 60;

/// Events that may wait for the test to look at them.
const WAITING_MAX: usize = 20_000;

/// The server's events from the moment of opening on, as `{"type": …, "properties": …}`. Twins and
/// single words of an answer are left out.
pub struct Stream {
    events: mpsc::Receiver<Value>,
    seen: VecDeque<String>,
    task: JoinHandle<()>,
}

impl Stream {
    /// Connects, and waits until the server says that it is connected.
    ///
    /// # Errors
    /// [`Error::Http`] without a connection, [`Error::Deadline`] if the server keeps silent.
    pub async fn open(server: &OpenCode, deadline: Duration) -> Result<Self, Error> {
        let failed = |source| Error::Http {
            what: "GET /global/event".to_owned(),
            source,
        };
        let http = opencode_client::http_client().no_proxy().build();
        let answer = http
            .map_err(failed)?
            .get(format!("{}/global/event", server.url()))
            .basic_auth(USER, server.password())
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(failed)?;
        let (give, events) = mpsc::channel(WAITING_MAX);
        let mut stream = Self {
            events,
            seen: VecDeque::new(),
            task: tokio::spawn(read(answer, give)),
        };
        let connected = |event: &Value| event["type"] == "server.connected";
        stream.next(connected, deadline).await?;
        Ok(stream)
    }

    /// Waits for the next event for which `is_it` holds; those before it are gone.
    ///
    /// # Errors
    /// [`Error::Deadline`] with the events seen, [`Error::Ended`] if the server ended first.
    pub async fn next(
        &mut self,
        is_it: impl Fn(&Value) -> bool,
        deadline: Duration,
    ) -> Result<Value, Error> {
        let found = tokio::time::timeout(deadline, async {
            while let Some(event) = self.events.recv().await {
                if self.seen.len() >= SHOWN_MAX {
                    self.seen.pop_front();
                }
                self.seen.push_back(event.to_string());
                if is_it(&event) {
                    return Some(event);
                }
            }
            None
        });
        let what = "an event of the server".to_owned();
        match found.await {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(Error::Ended {
                what,
                log: self.shown(),
            }),
            Err(_) => Err(Error::Deadline {
                what,
                after: deadline,
                seen: self.shown(),
            }),
        }
    }

    /// Waits until `session` is of this status: `busy`, `retry` or `idle`.
    ///
    /// # Errors
    /// As [`Stream::next`].
    pub async fn status(
        &mut self,
        session: &str,
        status: &str,
        deadline: Duration,
    ) -> Result<Value, Error> {
        let is_it = |event: &Value| {
            event["type"] == "session.status"
                && event["properties"]["sessionID"] == session
                && event["properties"]["status"]["type"] == status
        };
        self.next(is_it, deadline).await
    }

    /// Waits for the next event of one type and gives its properties.
    ///
    /// # Errors
    /// As [`Stream::next`].
    pub async fn of_type(&mut self, kind: &str, deadline: Duration) -> Result<Value, Error> {
        let mut event = self.next(|event| event["type"] == kind, deadline).await?;
        Ok(event["properties"].take())
    }

    fn shown(&self) -> String {
        let seen: Vec<&str> = self.seen.iter().map(String::as_str).collect();
        seen.join("\n")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(answer: reqwest::Response, give: mpsc::Sender<Value>) {
    let mut bytes = answer.bytes_stream();
    let mut waiting: Vec<u8> = Vec::new();
    // An error is the end of the server, and that is what the channel's end says.
    while let Ok(Some(chunk)) = bytes.try_next().await {
        waiting.extend_from_slice(&chunk);
        while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = waiting.drain(..=end).collect();
            let Some(event) = event(&line) else {
                continue;
            };
            if give.send(event).await.is_err() {
                return;
            }
        }
    }
}

fn event(line: &[u8]) -> Option<Value> {
    let json = line.strip_prefix(b"data: ")?;
    let mut envelope: Value = serde_json::from_slice(json).ok()?;
    let payload = envelope["payload"].take();
    let kind = payload["type"].as_str()?;
    (kind != "sync" && kind != "message.part.delta").then_some(payload)
}
