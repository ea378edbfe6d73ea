//! One life of the server: a listener, its connections, its heartbeat.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Request, State as Extracted};
use axum::http::request::Parts;
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::checks;
use super::endpoint::Call;
use super::fault::{Patience, spoil};
use super::line::{Door, Line};
use super::state::State;
use crate::Error;
use crate::watched::Watched;

/// What a machine under load may add to a client's deadline.
const SLACK: Duration = Duration::from_secs(10);

/// Ends with everything that is connected when it is dropped.
pub(super) struct Serving {
    port: u16,
    tasks: [JoinHandle<()>; 2],
    _life: DropGuard,
}

impl Drop for Serving {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Serving {
    /// Listens on `port` of 127.0.0.1; 0 is any free one.
    pub(super) async fn on(port: u16, state: Arc<Watched<State>>) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let listener = listener.map_err(Error::io("listen on loopback"))?;
        let port = listener.local_addr();
        let port = port.map_err(Error::io("read the port"))?.port();
        let life = CancellationToken::new();
        let door = Door {
            listener,
            life: life.clone(),
        };
        let beating = tokio::spawn(beat(Arc::clone(&state)));
        let app = Router::new()
            .fallback(take)
            .with_state(state)
            .into_make_service_with_connect_info::<Line>();
        let accepting = tokio::spawn(async move {
            // It has no end of its own.
            let _ = axum::serve(door, app).await;
        });
        Ok(Self {
            port,
            tasks: [accepting, beating],
            _life: life.drop_guard(),
        })
    }

    /// Ends, and waits until nobody listens any more.
    pub(super) async fn end(mut self) {
        for task in &mut self.tasks {
            task.abort();
            // It was aborted: how it ended says nothing.
            let _ = task.await;
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

async fn beat(state: Arc<Watched<State>>) {
    let mut beats = interval(state.read(|state| state.options.heartbeat));
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats.tick().await;
    loop {
        beats.tick().await;
        state.change(|state| state.tell_server("server.heartbeat"));
    }
}

/// A request as it arrived, its body read.
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) parts: Parts,
    pub(super) body: Bytes,
}

impl Asked {
    /// A value of the query, unescaped.
    pub(super) fn query(&self, name: &str) -> Option<String> {
        let query = self.parts.uri.query()?;
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }
}

/// The distance to the server. A client that gives up meanwhile takes its request back.
async fn wait(state: &Arc<Watched<State>>, delay: Duration) {
    struct UnderWay<'a>(&'a Watched<State>);
    impl Drop for UnderWay<'_> {
        fn drop(&mut self) {
            self.0.change(|state| state.under_way -= 1);
        }
    }
    state.change(|state| {
        state.under_way += 1;
        state.under_way_max = state.under_way_max.max(state.under_way);
    });
    let _under_way = UnderWay(state);
    tokio::time::sleep(delay).await;
}

async fn take(
    Extracted(state): Extracted<Arc<Watched<State>>>,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    // A client that breaks off in the middle of its request asked for nothing.
    let body = axum::body::to_bytes(body, usize::MAX).await;
    let asked = Asked {
        call: Call::of(&parts.method, parts.uri.path()),
        parts,
        body: body.unwrap_or_default(),
    };
    let (fault, delay, patience, let_in) = state.change(|state| {
        *state.requests.entry(asked.call.endpoint).or_default() += 1;
        for violation in checks::check(state, &asked) {
            state.violated(violation);
        }
        let let_in = checks::is_let_in(state, &asked);
        let patience = Patience {
            deadline: state.options.deadline,
            slack: SLACK,
        };
        let faults = state.faults.get_mut(&asked.call.endpoint);
        let fault = faults.and_then(std::collections::VecDeque::pop_front);
        (fault, state.options.delay, patience, let_in)
    });
    if !let_in {
        return super::answer::unauthorized();
    }
    if !delay.is_zero() {
        wait(&state, delay).await;
    }
    let Some(fault) = fault else {
        return super::answer::answer(&state, &asked, &line);
    };
    let plain = fault
        .takes_effect
        .then(|| super::answer::answer(&state, &asked, &line));
    let what = format!("{} {}", asked.parts.method, asked.parts.uri.path());
    let waited_on = move || {
        let violation = format!("{what}: waited on and on for an answer that never came whole");
        state.change(|state| state.violated(violation));
    };
    spoil(fault.answer, plain, &line, patience, waited_on).await
}
