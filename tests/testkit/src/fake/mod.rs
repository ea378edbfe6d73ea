//! An OpenCode server in memory, on loopback: it behaves as one, checks whatever it is asked, and
//! fails where and how a test wants it to.
//!
//! ```text
//! request ─▶ endpoint ─▶ checks ─▶ fault? ─▶ answer ─▶ state ─▶ turns ─▶ event streams
//!               │           └── violations, asked for at the end of a test
//!               └── counted
//! ```
//!
//! [`FakeServer::violations`] tells what the client did that it must never do. A server that is
//! dropped with violations nobody asked for panics, so that no test passes over them.

mod answer;
mod checks;
mod endpoint;
mod fault;
mod line;
mod serving;
mod state;
mod stream;
mod turns;

pub use endpoint::Endpoint;
pub use fault::{Answer, Fault};
pub use state::{Auditing, FakeOptions, PromptSeen, Room, Turns};
pub use stream::StreamFault;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::Error;
use crate::watched::Watched;
use serving::Serving;
use state::State;

/// How long a test waits for what must happen: it fails behind that, it never passes by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The version it gives.
pub const FAKE_VERSION: &str = "1.18.33";

/// A server that ends when it is dropped.
pub struct FakeServer {
    state: Arc<Watched<State>>,
    serving: Option<Serving>,
    port: u16,
    asked: bool,
}

impl FakeServer {
    /// Listens on a free port of 127.0.0.1. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can listen there.
    pub async fn start(options: FakeOptions) -> Result<Self, Error> {
        let state = Arc::new(Watched::new(State::new(options)));
        let serving = Serving::on(0, Arc::clone(&state)).await?;
        Ok(Self {
            port: serving.port(),
            state,
            serving: Some(serving),
            asked: false,
        })
    }

    /// Its address, as `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The password it asks for, if it asks for one.
    #[must_use]
    pub fn password(&self) -> Option<String> {
        self.state.read(|state| state.options.password.clone())
    }

    /// The server ends abruptly: every connection breaks, nobody listens any more. Its sessions
    /// are kept; whatever ran in them is cut off.
    pub async fn stop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.end().await;
        }
        self.state.change(State::crash);
    }

    /// It runs again at the address it had.
    ///
    /// # Errors
    /// [`Error::Io`] if somebody else listens there by now.
    pub async fn restart(&mut self) -> Result<(), Error> {
        self.stop().await;
        self.serving = Some(Serving::on(self.port, Arc::clone(&self.state)).await?);
        Ok(())
    }

    /// It ends, and runs again on another port with another password.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can listen there.
    pub async fn move_away(&mut self, password: &str) -> Result<(), Error> {
        self.stop().await;
        self.state
            .change(|state| state.options.password = Some(password.to_owned()));
        let serving = Serving::on(0, Arc::clone(&self.state)).await?;
        self.port = serving.port();
        self.serving = Some(serving);
        Ok(())
    }

    /// Puts a session there, and tells whoever listens.
    pub fn put(&self, room: Room) {
        self.state.change(|state| state.put(vec![room]));
    }

    /// Puts sessions there that were all changed last in the same millisecond.
    pub fn put_together(&self, rooms: Vec<Room>) {
        self.state.change(|state| state.put(rooms));
    }

    /// Replaces a session's metadata as another client does. False: there is no such session, or
    /// `metadata` is no JSON.
    pub fn write_metadata(&self, id: &str, metadata: &str) -> bool {
        let Ok(metadata) = RawValue::from_string(metadata.to_owned()) else {
            return false;
        };
        self.state
            .change(|state| state.write_metadata(id, metadata).is_some())
    }

    /// A session's metadata, byte for byte; `None` without such a session, or without any.
    #[must_use]
    pub fn metadata(&self, id: &str) -> Option<String> {
        self.state.read(|state| state.metadata(id))
    }

    /// The goal in a session's metadata; null without one.
    #[must_use]
    pub fn goal(&self, id: &str) -> Value {
        self.state.read(|state| state.goal(id))
    }

    /// What turns are like from here on.
    pub fn set_turns(&self, turns: Turns) {
        self.state.change(|state| state.turns = turns);
    }

    /// What the auditor says from here on.
    pub fn set_auditing(&self, auditing: Auditing) {
        self.state.change(|state| state.auditing = auditing);
    }

    /// Ends the turn that runs in a session, as [`Turns`] says; whether one ran.
    pub fn finish_turn(&self, id: &str) -> bool {
        self.state.change(|state| state.finish_turn(id))
    }

    /// The next `times` requests of `endpoint` meet `fault`; behind those that were ordered before.
    pub fn fault(&self, endpoint: Endpoint, times: usize, fault: Fault) {
        self.state.change(|state| {
            let faults = state.faults.entry(endpoint).or_default();
            faults.extend(std::iter::repeat_n(fault, times));
        });
    }

    /// How many ordered faults of `endpoint` nobody met yet.
    #[must_use]
    pub fn faults_left(&self, endpoint: Endpoint) -> usize {
        self.state
            .read(|state| state.faults.get(&endpoint).map_or(0, |faults| faults.len()))
    }

    /// Something happens to the event streams that are open.
    pub fn break_streams(&self, fault: StreamFault) {
        self.state.change(|state| state.streams.break_all(fault));
    }

    /// How many event streams are open, those that fell silent included.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.state.read(|state| state.streams.len())
    }

    /// How often each endpoint was asked since the start, or since [`FakeServer::forget_requests`].
    #[must_use]
    pub fn requests(&self) -> BTreeMap<Endpoint, usize> {
        self.state.read(|state| state.requests.clone())
    }

    /// Counts requests from zero.
    pub fn forget_requests(&self) {
        self.state.change(|state| state.requests.clear());
    }

    /// The most requests that ever waited for their answers at once. They do so only on a server
    /// with a [`FakeOptions::delay`].
    #[must_use]
    pub fn requests_at_once_max(&self) -> usize {
        self.state.read(|state| state.under_way_max)
    }

    /// The prompts that a session was sent, repetitions included.
    #[must_use]
    pub fn prompts(&self, id: &str) -> Vec<PromptSeen> {
        self.state.read(|state| state.prompts(id))
    }

    /// How many prompts all sessions were sent, repetitions included.
    #[must_use]
    pub fn prompts_total(&self) -> usize {
        self.state.read(|state| state.prompts_total)
    }

    /// The audit sessions that exist.
    #[must_use]
    pub fn audits(&self) -> Vec<String> {
        self.state.read(State::audits)
    }

    /// Waits until `holds` does, asked after every request and every change.
    ///
    /// # Errors
    /// [`Error::Deadline`] after a minute, with the requests so far.
    pub async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) -> Result<(), Error> {
        self.until_within(what, PATIENCE, holds).await
    }

    /// As [`FakeServer::until`], with another patience.
    ///
    /// # Errors
    /// [`Error::Deadline`] then.
    pub async fn until_within(
        &self,
        what: &str,
        patience: Duration,
        holds: impl Fn(&Self) -> bool,
    ) -> Result<(), Error> {
        let mut bell = self.state.bell();
        let ringing = async {
            while !holds(self) {
                // The sender lives as long as this server.
                let _ = bell.changed().await;
            }
        };
        if tokio::time::timeout(patience, ringing).await.is_ok() {
            return Ok(());
        }
        Err(Error::Deadline {
            what: what.to_owned(),
            after: patience,
            seen: format!("{:?}\n{:?}", self.requests(), self.violations_so_far()),
        })
    }

    /// What the client did that it must never do; empty is well.
    #[must_use]
    pub fn violations(&mut self) -> Vec<String> {
        self.asked = true;
        self.violations_so_far()
    }

    fn violations_so_far(&self) -> Vec<String> {
        self.state.read(|state| state.violations.clone())
    }
}

impl std::fmt::Debug for FakeServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeServer")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.serving = None;
        let violations = self.violations_so_far();
        if !self.asked && !violations.is_empty() && !std::thread::panicking() {
            panic!("the client did what it must never do: {violations:#?}");
        }
    }
}
