//! The life of a managed server: a script in place of OpenCode runs this very test program as the
//! server, once for every start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::{StreamExt as _, stream};
use goal_core::goal::SessionId;
use goal_engine::host::{self, Connected, LifeLimits, ServerChoice, ServerState};
use goal_engine::ports::{CallErrorKind, Events, ServerEvent, Sessions};
use opencode_client::Stopped;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard, watch};

use crate::fake::limits;
use crate::host::{NoNotices, data_dir};

/// How long a test waits for what must happen: it fails behind that, it never passes by it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Does not pass within a test.
const NEVER: Duration = Duration::from_secs(3_600);

/// No probes, and a start at once: tests change what they are about.
const LIFE: LifeLimits = LifeLimits {
    probe_every: NEVER,
    probe_timeout: Duration::from_secs(5),
    probe_failures: 3,
    busy_patience: Duration::ZERO,
    restart_min: Duration::from_millis(20),
    restart_max: Duration::from_millis(80),
    ran_well: NEVER,
};

/// A script that is being written must not be inherited by a process another test is starting: the
/// system would refuse to run it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

/// A folder with a stand-in for OpenCode that notes every start in the file `starts`.
struct Stage {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
    _turn: MutexGuard<'static, ()>,
}

impl Stage {
    /// `lines` run before the server.
    async fn set(lines: &str) -> Self {
        let turn = ONE_AT_A_TIME.lock().await;
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("opencode");
        let text = format!(
            "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n\
             login=$(printf 'opencode:%s' \"$OPENCODE_SERVER_PASSWORD\" | base64 -w0)\n\
             echo \"$$ $login\" >> starts\n{lines}\n\
             FAKE_PORT=$5 FAKE_LOGIN=\"Basic $login\" \
             exec '{}' --ignored --exact life::stand_in --nocapture\n",
            std::env::current_exe().unwrap().display()
        );
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self {
            folder,
            environment: vec![("PATH", "/usr/local/bin:/usr/bin:/bin")],
            _turn: turn,
        }
    }

    async fn connect(&self, life: LifeLimits) -> Connected {
        let environment = self.environment.iter();
        let choice = ServerChoice::Managed {
            binary: Some(self.at("opencode")),
            directory: self.folder.path().to_owned(),
            environment: environment
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        };
        let data = data_dir(&self.at("data"));
        host::connect_with(
            choice,
            &data,
            &limits(),
            life,
            std::sync::Arc::new(NoNotices),
        )
        .await
        .unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Process ids and logins of all starts, the oldest first.
    fn starts(&self) -> Vec<(u32, String)> {
        let starts = std::fs::read_to_string(self.at("starts")).unwrap();
        let starts = starts.lines().map(|line| {
            let (pid, login) = line.split_once(' ').unwrap();
            (pid.parse().unwrap(), login.to_owned())
        });
        starts.collect()
    }

    /// Makes it look as if the host that started `server` were a process that is gone; gives the
    /// server's file.
    fn crash(&self, server: u32) -> PathBuf {
        let noted = self.noted();
        let mut found = noted.into_iter();
        let found = found.find(|(_, note)| note["server"]["pid"] == server);
        let (path, mut note) = found.unwrap();
        note["owner"]["started"] = json!("1");
        std::fs::write(&path, note.to_string()).unwrap();
        path
    }

    /// The servers that are written down: files and their contents.
    fn noted(&self) -> Vec<(PathBuf, Value)> {
        let folder = self.at("data").join("opencode").join("servers");
        let files = std::fs::read_dir(folder).unwrap();
        let files = files.map(|file| {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            (path, serde_json::from_str(&text).unwrap())
        });
        files.collect()
    }
}

/// Not a test: the server that the script runs.
#[test]
#[ignore = "runs as a child of the other tests"]
fn stand_in() {
    let Ok(port) = std::env::var("FAKE_PORT") else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}"))
            .await
            .unwrap();
        axum::serve(listener, routes(port)).await.unwrap();
    });
}

fn routes(port: String) -> axum::Router {
    let session = move || async move {
        let session = json!({"id": "ses_1", "directory": "/d", "title": port});
        session.to_string()
    };
    let end = || async {
        std::process::exit(3);
        #[expect(unreachable_code, reason = "a handler needs a type to answer with")]
        ""
    };
    axum::Router::new()
        .route("/global/health", get(health))
        .route("/global/event", get(events))
        .route("/session/ses_1", get(session))
        .route("/session/ses_end/abort", post(end))
        .layer(axum::middleware::map_response(as_json))
        .layer(axum::middleware::from_fn(logged_in))
}

async fn health() -> String {
    if Path::new("hang").exists() {
        std::future::pending::<()>().await;
    }
    json!({"healthy": true, "version": "1.18.33"}).to_string()
}

/// Greets, says that a session is busy if there is a file `busy`, and says no more.
async fn events() -> Response {
    let frame = |event: Value| format!("data: {}\n\n", json!({ "payload": event }));
    let mut frames = vec![frame(json!({"type": "server.connected", "properties": {}}))];
    if Path::new("busy").exists() {
        let status = json!({"sessionID": "ses_1", "status": {"type": "busy"}});
        let event = json!({"type": "session.status", "properties": status});
        frames.push(frame(event));
    }
    let frames = stream::iter(frames.into_iter().map(Ok::<_, std::io::Error>));
    let body = axum::body::Body::from_stream(frames.chain(stream::pending()));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

async fn as_json(mut response: Response) -> Response {
    let headers = response.headers_mut();
    if headers[header::CONTENT_TYPE] != "text/event-stream" {
        let json = header::HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
    }
    response
}

async fn logged_in(
    headers: HeaderMap,
    request: axum::extract::Request,
    next: axum::middleware::Next,
) -> Response {
    let expected = std::env::var("FAKE_LOGIN").unwrap();
    match headers.get(header::AUTHORIZATION) {
        Some(given) if given.as_bytes() == expected.as_bytes() => next.run(request).await,
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// The next state for which `is_it` holds; the current one counts.
async fn state(
    states: &mut watch::Receiver<ServerState>,
    is_it: impl FnMut(&ServerState) -> bool,
) -> ServerState {
    let waited = tokio::time::timeout(PATIENCE, states.wait_for(is_it)).await;
    waited.unwrap().unwrap().clone()
}

fn is_away(state: &ServerState) -> bool {
    matches!(state, ServerState::Away { .. })
}

fn is_running(state: &ServerState) -> bool {
    matches!(state, ServerState::Running(_))
}

fn url(state: &ServerState) -> String {
    match state {
        ServerState::Running(server) => server.url.clone(),
        ServerState::Away { why, .. } => panic!("{why}"),
    }
}

async fn event(events: &mut Box<dyn Events>, is_it: impl Fn(&ServerEvent) -> bool) -> ServerEvent {
    let found = async {
        loop {
            let event = events.next().await;
            if is_it(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap()
}

async fn end(sessions: &dyn Sessions) {
    let dies = SessionId::new("ses_end".to_owned());
    assert!(sessions.abort(&dies, "/d").await.is_err());
}

/// The port of the server that answers.
async fn port(sessions: &dyn Sessions) -> Result<String, CallErrorKind> {
    let id = SessionId::new("ses_1".to_owned());
    let read = sessions.session(&id, None).await;
    read.map(|session| session.title)
        .map_err(|error| error.kind)
}

fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[tokio::test]
async fn a_server_that_dies_is_started_anew_and_everything_follows_it() {
    let stage = Stage::set("").await;
    let mut connected = stage.connect(LIFE).await;
    let managed = connected.managed.take().unwrap();
    let sessions = connected.ports.sessions;
    let mut states = managed.state();
    let first = url(&state(&mut states, is_running).await);
    assert_eq!(first, connected.server.url);
    event(&mut connected.events, |event| {
        *event == ServerEvent::Connected
    })
    .await;
    assert!(first.contains(&port(&*sessions).await.unwrap()));
    let mut nonces = vec![stage.noted()[0].1["nonce"].clone()];

    end(&*sessions).await;
    let away = state(&mut states, is_away).await;
    let expected = ServerState::Away {
        why: "it ended (exit status: 3)".to_owned(),
        retry_in: LIFE.restart_min,
    };
    assert_eq!(away, expected);
    let second = url(&state(&mut states, is_running).await);
    assert_ne!(second, first);
    event(&mut connected.events, |event| {
        *event == ServerEvent::Connected
    })
    .await;
    assert!(second.contains(&port(&*sessions).await.unwrap()));

    let starts = stage.starts();
    assert_eq!(starts.len(), 2);
    assert_ne!(starts[0].1, starts[1].1, "another password");
    let noted = stage.noted();
    assert_eq!(noted.len(), 1, "the dead one is forgotten");
    assert_eq!(noted[0].1["server"]["pid"], starts[1].0);
    nonces.push(noted[0].1["nonce"].clone());
    assert_ne!(nonces[0], nonces[1]);
    let environ = std::fs::read(format!("/proc/{}/environ", starts[1].0)).unwrap();
    let environ = String::from_utf8(environ).unwrap();
    let nonce = format!("OPENCHAMBER_SERVER_NONCE={}\0", nonces[1].as_str().unwrap());
    assert!(environ.contains(&nonce));

    let stopped = managed.stop().await.unwrap();
    assert!(matches!(stopped, Some(Stopped::Asked(_))), "{stopped:?}");
    assert_eq!(stage.noted(), []);
    assert!(!runs(starts[1].0));
}

#[tokio::test]
async fn the_users_own_password_stays_and_is_written_down_nowhere() {
    let mut stage = Stage::set("echo \"my login is $OPENCODE_SERVER_PASSWORD\"").await;
    stage
        .environment
        .push(("OPENCODE_SERVER_PASSWORD", "correct-horse"));
    let connected = stage.connect(LIFE).await;
    let managed = connected.managed.unwrap();
    let mut states = managed.state();
    end(&*connected.ports.sessions).await;
    state(&mut states, is_away).await;
    state(&mut states, is_running).await;
    let starts = stage.starts();
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[0].1, starts[1].1);
    assert!(port(&*connected.ports.sessions).await.is_ok());
    let noted = format!("{:?}", stage.noted());
    managed.stop().await.unwrap();
    assert!(!noted.contains("correct-horse"), "{noted}");
    let log = std::fs::read_to_string(stage.at("data/opencode/server.log")).unwrap();
    assert_eq!(log.matches("my login is ***\n").count(), 2, "{log}");
}

#[tokio::test]
async fn a_server_that_does_not_start_again_is_tried_after_ever_longer_pauses() {
    // A start is two tries: the second to the fourth start fail.
    let stage = Stage::set("n=$(wc -l < starts); [ $n -ge 2 ] && [ $n -le 7 ] && exit 1").await;
    let connected = stage.connect(LIFE).await;
    let managed = connected.managed.unwrap();
    let mut states = managed.state();
    end(&*connected.ports.sessions).await;
    let mut pauses = Vec::new();
    state(&mut states, is_away).await;
    let watching = async {
        loop {
            match states.borrow_and_update().clone() {
                ServerState::Away { retry_in, .. } => pauses.push(retry_in.as_millis()),
                ServerState::Running(_) => return,
            }
            states.changed().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, watching).await.unwrap();
    assert_eq!(pauses, [20, 40, 80, 80]);
    assert_eq!(stage.starts().len(), 8);
    assert_eq!(stage.noted().len(), 1, "failed starts leave nothing behind");
    assert!(port(&*connected.ports.sessions).await.is_ok());
}

#[tokio::test]
async fn a_server_that_answers_no_probe_is_replaced() {
    let stage = Stage::set("rm -f hang").await;
    let life = LifeLimits {
        probe_every: Duration::from_millis(20),
        probe_timeout: Duration::from_millis(300),
        ..LIFE
    };
    let connected = stage.connect(life).await;
    let managed = connected.managed.unwrap();
    let mut states = managed.state();
    let first = url(&state(&mut states, is_running).await);
    std::fs::write(stage.at("hang"), "").unwrap();
    let away = state(&mut states, is_away).await;
    let ServerState::Away { why, .. } = away else {
        panic!("{away:?}")
    };
    assert_eq!(why, "it left 3 health probes in a row unanswered");
    assert_ne!(url(&state(&mut states, is_running).await), first);
    assert!(!runs(stage.starts()[0].0), "the silent one was ended");
}

#[tokio::test]
async fn a_silent_server_whose_sessions_work_gets_more_time() {
    let stage = Stage::set("rm -f hang").await;
    std::fs::write(stage.at("busy"), "").unwrap();
    let life = LifeLimits {
        probe_every: Duration::from_millis(20),
        probe_timeout: Duration::from_millis(100),
        probe_failures: 2,
        busy_patience: Duration::from_millis(1_500),
        ..LIFE
    };
    let mut connected = stage.connect(life).await;
    let managed = connected.managed.unwrap();
    let mut states = managed.state();
    let busy = |event: &ServerEvent| matches!(event, ServerEvent::Busy(..));
    event(&mut connected.events, busy).await;
    std::fs::write(stage.at("hang"), "").unwrap();
    let begun = Instant::now();
    state(&mut states, is_away).await;
    assert!(
        begun.elapsed() >= life.busy_patience,
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_stranger_on_the_port_of_a_dead_server_is_never_spoken_to() {
    let stage = Stage::set("").await;
    let life = LifeLimits {
        restart_min: NEVER,
        ..LIFE
    };
    let mut connected = stage.connect(life).await;
    let managed = connected.managed.take().unwrap();
    let sessions = connected.ports.sessions;
    let mut states = managed.state();
    event(&mut connected.events, |event| {
        *event == ServerEvent::Connected
    })
    .await;
    end(&*sessions).await;
    state(&mut states, is_away).await;

    let address = connected.server.url.trim_start_matches("http://");
    let stranger = std::net::TcpListener::bind(address.trim_end_matches('/')).unwrap();
    stranger.set_nonblocking(true).unwrap();
    assert_eq!(port(&*sessions).await, Err(CallErrorKind::NotSent));
    let lost = |event: &ServerEvent| matches!(event, ServerEvent::Lost { .. });
    // The second is the failure of a new connection.
    for _ in 0..2 {
        event(&mut connected.events, lost).await;
    }
    let nobody = stranger.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);

    let stopped = tokio::time::timeout(PATIENCE, managed.stop()).await;
    assert_eq!(stopped.unwrap().unwrap(), None, "none runs");
    assert_eq!(stage.starts().len(), 1);
    assert_eq!(stage.noted(), []);
}

#[tokio::test]
async fn dropping_the_life_ends_the_server() {
    let stage = Stage::set("").await;
    let mut connected = stage.connect(LIFE).await;
    event(&mut connected.events, |event| {
        *event == ServerEvent::Connected
    })
    .await;
    drop(connected.managed.take());
    let lost = |event: &ServerEvent| matches!(event, ServerEvent::Lost { .. });
    event(&mut connected.events, lost).await;
    assert_eq!(stage.noted(), []);
    assert_eq!(stage.starts().len(), 1);
}

#[tokio::test]
async fn the_next_host_ends_what_a_crashed_one_left_and_nothing_of_a_living_one() {
    let stage = Stage::set("").await;
    let life = LifeLimits {
        restart_min: NEVER,
        ..LIFE
    };
    let first = stage.connect(life).await;
    let second = stage.connect(life).await;
    let pids: Vec<u32> = stage.starts().into_iter().map(|(pid, _)| pid).collect();
    assert!(runs(pids[0]) && runs(pids[1]), "both hosts live");

    let path = stage.crash(pids[0]);
    let third = stage.connect(life).await;
    let mut states = first.managed.as_ref().unwrap().state();
    let away = state(&mut states, is_away).await;
    assert!(format!("{away:?}").contains("SIGTERM"), "{away:?}");
    assert!(runs(pids[1]), "its host lives");
    for connected in [&second, &third] {
        assert!(port(&*connected.ports.sessions).await.is_ok());
    }
    assert!(!path.exists());
}

#[tokio::test]
async fn a_host_that_runs_on_ends_what_a_crashed_one_left() {
    let stage = Stage::set("").await;
    let never = LifeLimits {
        restart_min: NEVER,
        ..LIFE
    };
    let first = stage.connect(never).await;
    let looking = LifeLimits {
        probe_every: Duration::from_millis(20),
        ..never
    };
    let second = stage.connect(looking).await;
    let path = stage.crash(stage.starts()[0].0);
    let mut states = first.managed.as_ref().unwrap().state();
    let away = state(&mut states, is_away).await;
    assert!(format!("{away:?}").contains("SIGTERM"), "{away:?}");
    assert!(port(&*second.ports.sessions).await.is_ok());
    drop(first);
    gone(&path).await;
}

/// Waits until a file is no more: the host that ended a server forgets it a moment later, and tells
/// nobody.
async fn gone(path: &Path) {
    let looks = async {
        while path.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), looks).await;
    assert!(waited.is_ok(), "{} is still there", path.display());
}
