//! The line to the server and the engine on it: connected, told about, replaced and ended.
//!
//! ```text
//!        named           reached                      another one named, or asked to try again
//!  None ──────▶ Starting ───────▶ Connected ⇄ Away ──────────────────────────────▶ Starting
//!                  │ ▲
//!                  ▼ │ a pause that doubles, or at once when asked
//!                 Failed                                       the app ends: Ended, from anywhere
//! ```

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use goal_core::limits::Limits;
use goal_core::time::millis;
use goal_engine::Engine;
use goal_engine::audit::ServerAuditor;
use goal_engine::host::{self, Connected, RunningServer, ServerChoice};
use goal_engine::paths::DataDir;
use goal_engine::ports::{NoticeOut, Notices, Ports};
use goal_engine::schedule::Scheduler;
use goal_engine::store::Health;
use goal_engine::turns::{self, Heard, Screen};
use goal_engine::update::{Update, UpdateKind};
use opencode_client::Client;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::error::{Code, Error, Result};
use crate::events::{Event, Hub};
use crate::models::{Database, Driver, Notice, ServerState, ServerStatus};

/// First pause before a server that could not be reached is tried again; doubles.
const RETRY_MIN: Duration = Duration::from_secs(5);

/// Longest such pause.
const RETRY_MAX: Duration = Duration::from_mins(5);

/// How long the engine may take to end: one call under way. What is left of it then is cut off with
/// the app, but a server of ours must not be left running.
const ENGINE_END: Duration = Duration::from_secs(10);

/// How long the sessions of stopped audits may take to be deleted.
const AUDITS_END: Duration = Duration::from_secs(3);

/// Requests for another server that may wait.
const WISHES_MAX: usize = 8;

/// Notices looked at when one was told: more than are told at one moment.
const NOTICES_LOOK: usize = 20;

/// What a host stands on, whatever the server.
pub(crate) struct Base {
    pub(crate) hub: Arc<Hub>,
    pub(crate) limits: Limits,
    pub(crate) data_dir: DataDir,
    pub(crate) notices: Arc<dyn Notices>,
    pub(crate) screen: Arc<dyn Screen>,
}

/// An engine at work, and what requests need of its server.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) engine: Engine,
    pub(crate) ports: Ports,
    pub(crate) client: Client,
    pub(crate) auditor: Arc<ServerAuditor>,
}

/// Asks for a server and for the line to it.
pub(crate) struct Host {
    hub: Arc<Hub>,
    line: Arc<Mutex<Option<Line>>>,
    clients: watch::Receiver<Option<Client>>,
    wishes: mpsc::Sender<Wish>,
}

struct Wish {
    /// `None`: the same server again, unless the line to it is up.
    server: Option<Option<ServerChoice>>,
    /// The outcome is known.
    done: oneshot::Sender<()>,
}

/// The task behind a [`Host`].
pub(crate) struct Keeper {
    base: Base,
    line: Arc<Mutex<Option<Line>>>,
    /// The client of the line, for whoever follows it.
    clients: watch::Sender<Option<Client>>,
    wishes: mpsc::Receiver<Wish>,
    /// The server that is wanted.
    wanted: Option<ServerChoice>,
    ended: CancellationToken,
    /// The newest notice that pages were told of.
    told: Option<i64>,
    /// Who waits for the outcome of what was asked last.
    waiting: Vec<oneshot::Sender<()>>,
}

/// Why the line was left.
enum Left {
    Ended,
    Wish(Option<Option<ServerChoice>>),
}

impl Host {
    /// A host that wants `server`, and its task. Nothing begins before the task runs.
    pub(crate) fn new(
        base: Base,
        server: Option<ServerChoice>,
        ended: CancellationToken,
    ) -> (Self, Keeper) {
        let (wishes, wished) = mpsc::channel(WISHES_MAX);
        let line = Arc::default();
        let (clients, following) = watch::channel(None);
        let host = Self {
            hub: Arc::clone(&base.hub),
            line: Arc::clone(&line),
            clients: following,
            wishes,
        };
        let keeper = Keeper {
            base,
            line,
            clients,
            wishes: wished,
            wanted: server,
            ended,
            told: None,
            waiting: Vec::new(),
        };
        (host, keeper)
    }

    /// The line, if there is one.
    ///
    /// # Errors
    /// `notConnected`, with what is known of the reason.
    pub(crate) fn line(&self) -> Result<Line> {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.clone()
            .ok_or_else(|| not_connected(&self.hub.status()))
    }

    /// The client of the line, now and from now on; `None` while there is no line.
    pub(crate) fn clients(&self) -> watch::Receiver<Option<Client>> {
        self.clients.clone()
    }

    /// Uses another server, or tries the same one again at once, and waits for the outcome.
    ///
    /// # Errors
    /// `shuttingDown`.
    pub(crate) async fn connect(
        &self,
        server: Option<Option<ServerChoice>>,
    ) -> Result<ServerStatus> {
        let (done, outcome) = oneshot::channel();
        let wish = Wish { server, done };
        let asked = self.wishes.send(wish).await;
        asked.map_err(|_| Error::shutting_down())?;
        outcome.await.map_err(|_| Error::shutting_down())?;
        Ok(self.hub.status())
    }
}

impl Keeper {
    /// Keeps the line until the app ends. A panic inside is told and begins anew.
    pub(crate) async fn run(mut self) {
        let mut pause = RETRY_MIN;
        while !self.ended.is_cancelled() {
            let kept = AssertUnwindSafe(self.keep()).catch_unwind().await;
            self.set_line(None);
            if kept.is_ok() {
                break;
            }
            tracing::error!("the goals' task broke off and begins anew");
            self.base.hub.server(|server| {
                *server = failed(server, &Error::internal(), pause);
            });
            tokio::select! {
                () = sleep(pause) => {}
                () = self.ended.cancelled() => {}
            }
            pause = (pause * 2).min(RETRY_MAX);
        }
        self.base.hub.server(|server| {
            *server = cleared(server, ServerState::Ended);
        });
        self.answer();
    }

    async fn keep(&mut self) {
        let mut pause = RETRY_MIN;
        loop {
            let left = match self.wanted.clone() {
                None => {
                    self.base.hub.begin(self.base.limits.turns_max);
                    let none = ServerState::None;
                    self.base
                        .hub
                        .server(|server| *server = cleared(server, none));
                    self.answer();
                    self.wait(None).await
                }
                Some(choice) => self.attempt(choice, &mut pause).await,
            };
            match left {
                Some(Left::Ended) => return,
                Some(Left::Wish(Some(server))) => {
                    self.wanted = server;
                    pause = RETRY_MIN;
                }
                Some(Left::Wish(None)) | None => {}
            }
        }
    }

    /// Connects and drives. `None`: it failed and the pause is over.
    async fn attempt(&mut self, choice: ServerChoice, pause: &mut Duration) -> Option<Left> {
        self.base.hub.begin(self.base.limits.turns_max);
        let starting = ServerState::Starting;
        self.base
            .hub
            .server(|server| *server = cleared(server, starting));
        let base = &self.base;
        let connecting = host::connect(
            choice,
            &base.data_dir,
            &base.limits,
            Arc::clone(&base.notices),
        );
        let connected = tokio::select! {
            connected = connecting => connected,
            // Whatever was begun is taken back when the attempt is dropped.
            wish = wished(&mut self.wishes, &mut self.waiting) => return Some(Left::Wish(wish)),
            () = self.ended.cancelled() => return Some(Left::Ended),
        };
        match connected {
            Ok(connected) => {
                *pause = RETRY_MIN;
                Some(self.drive(connected).await)
            }
            Err(error) => {
                let retry_in = *pause;
                self.base.hub.server(|server| {
                    *server = failed(server, &Error::from(error), retry_in);
                });
                self.answer();
                *pause = (retry_in * 2).min(RETRY_MAX);
                self.wait(Some(retry_in)).await
            }
        }
    }

    async fn wait(&mut self, pause: Option<Duration>) -> Option<Left> {
        let pause = async {
            match pause {
                Some(pause) => sleep(pause).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = pause => None,
            wish = wished(&mut self.wishes, &mut self.waiting) => Some(Left::Wish(wish)),
            () = self.ended.cancelled() => Some(Left::Ended),
        }
    }

    async fn drive(&mut self, connected: Connected) -> Left {
        let Connected {
            ports,
            client,
            events,
            driver,
            server,
            managed,
            auditor,
        } = connected;
        self.told = newest_notice(&ports).await;
        let database = database(ports.store.health());
        self.base.hub.server(|status| {
            runs(status, &server);
            status.database = database;
        });
        let (events, heard) = turns::overhear(events);
        let engine = Engine::start(ports.clone(), events, driver.clone());
        // The first to ask hears everything since the start: that is the hub.
        let updates = engine.updates();
        let scheduler = Scheduler::start(ports.clone(), driver, engine.updates());
        let (teller, turns) = self.tell_turns(&ports, heard);
        self.set_line(Some(Line {
            engine: engine.clone(),
            ports: ports.clone(),
            client,
            auditor: Arc::clone(&auditor),
        }));
        let states = managed.as_ref().map(|managed| managed.state());
        let left = self.listen(&engine, &ports, updates, states, turns).await;
        teller.abort();
        self.set_line(None);
        // At once: a run that is just beginning must not take the loop's time to end in order.
        let ends = async { tokio::join!(scheduler.shutdown(), engine.shutdown()) };
        if timeout(ENGINE_END, ends).await.is_err() {
            tracing::warn!("the loop did not end in time and is left behind");
        }
        if !auditor.finish(AUDITS_END).await {
            tracing::warn!("audit sessions are left over; the next start deletes them");
        }
        if let Some(managed) = managed
            && let Err(error) = managed.stop().await
        {
            tracing::warn!(%error, "the OpenCode server could not be ended");
        }
        left
    }

    async fn listen(
        &mut self,
        engine: &Engine,
        ports: &Ports,
        mut updates: Receiver<Update>,
        mut states: Option<watch::Receiver<host::ServerState>>,
        mut turns: mpsc::Receiver<NoticeOut>,
    ) -> Left {
        loop {
            tokio::select! {
                () = self.ended.cancelled() => return Left::Ended,
                wish = wished(&mut self.wishes, &mut self.waiting) => {
                    if wish.is_none() && self.is_up() {
                        self.answer();
                    } else {
                        return Left::Wish(wish);
                    }
                }
                state = next_state(&mut states) => self.moved(&state),
                Some(out) = turns.recv() => {
                    let unwritten = of_turn(&out, &self.base.hub);
                    self.tell_notices(ports, unwritten).await;
                }
                update = updates.recv() => match update {
                    Ok(update) => self.hear(ports, &update).await,
                    Err(RecvError::Lagged(_)) => self.base.hub.catch_up(&engine.list()),
                    // The engine ended by itself: another one is started.
                    Err(RecvError::Closed) => return Left::Wish(None),
                },
            }
        }
    }

    async fn hear(&mut self, ports: &Ports, update: &Update) {
        self.base.hub.hear(update);
        // Whether the line is up is known from the first word about it on.
        if matches!(update.kind, UpdateKind::Connection { .. }) {
            self.answer();
        }
        if let Some(unwritten) = of_goal(update) {
            self.tell_notices(ports, unwritten).await;
        }
    }

    /// Begins to tell of the turns of other sessions, beside the engine.
    fn tell_turns(&self, ports: &Ports, heard: Heard) -> (AbortHandle, mpsc::Receiver<NoticeOut>) {
        let (sender, turns) = mpsc::channel(NOTICES_LOOK);
        let (ports, screen) = (ports.clone(), Arc::clone(&self.base.screen));
        let task = tokio::spawn(async move {
            // A page that is not told now finds it in the list.
            let told = |out: &NoticeOut| drop(sender.try_send(out.clone()));
            turns::tell_turns(&ports, heard, screen.as_ref(), &told).await;
        });
        (task.abort_handle(), turns)
    }

    /// Tells the lines of the list that are new, or `unwritten` if it could not be written down.
    async fn tell_notices(&mut self, ports: &Ports, unwritten: Notice) {
        let rows = ports.store.notices(NOTICES_LOOK).await.unwrap_or_default();
        let told = self.told;
        let mut news: Vec<Notice> = rows
            .into_iter()
            .filter(|row| told.is_none_or(|told| row.id > told))
            .map(Notice::from)
            .collect();
        news.reverse();
        if let Some(newest) = news.last() {
            self.told = newest.id;
        } else {
            news.push(unwritten);
        }
        for notice in news {
            self.base.hub.tell(Event::Notice(notice));
        }
    }

    fn moved(&self, state: &host::ServerState) {
        self.base.hub.server(|server| match state {
            // The engine says when its own line is up again.
            host::ServerState::Running(running) => {
                server.url = Some(running.url.clone());
                server.version = Some(running.version.clone());
            }
            host::ServerState::Away { why, retry_in } => {
                server.state = ServerState::Away;
                server.ready = false;
                server.reason.clone_from(why);
                server.retry_in_ms = Some(millis(*retry_in));
            }
        });
    }

    fn is_up(&self) -> bool {
        self.base.hub.status().state == ServerState::Connected
    }

    /// The outcome of what was asked is known.
    fn answer(&mut self) {
        for done in self.waiting.drain(..) {
            // Who asked may have gone.
            let _ = done.send(());
        }
    }

    fn set_line(&self, line: Option<Line>) {
        let client = line.as_ref().map(|line| line.client.clone());
        // Those who follow look at the line afterwards.
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = line;
        self.clients.send_replace(client);
    }
}

/// The next wish, with all that wait behind it: the newest counts.
async fn wished(
    wishes: &mut mpsc::Receiver<Wish>,
    waiting: &mut Vec<oneshot::Sender<()>>,
) -> Option<Option<ServerChoice>> {
    let Some(first) = wishes.recv().await else {
        // The app is ending and says so elsewhere.
        return pending().await;
    };
    let mut server = first.server;
    waiting.push(first.done);
    while let Ok(next) = wishes.try_recv() {
        server = next.server.or(server);
        waiting.push(next.done);
    }
    server
}

async fn newest_notice(ports: &Ports) -> Option<i64> {
    let newest = ports.store.notices(1).await.unwrap_or_default();
    Some(newest.first().map_or(0, |row| row.id))
}

/// A notice about a goal, as an update says it.
fn of_goal(update: &Update) -> Option<Notice> {
    let UpdateKind::Notice {
        session,
        goal,
        code,
        objective,
        detail,
    } = &update.kind
    else {
        return None;
    };
    Some(Notice {
        id: None,
        at: update.at.0,
        session_id: session.to_string(),
        directory: String::new(),
        title: String::new(),
        goal_id: Some(goal.to_string()),
        code: code.name().to_owned(),
        objective: objective.clone(),
        detail: detail.clone(),
        state: "planned",
        read: false,
    })
}

/// A notice about a turn.
fn of_turn(out: &NoticeOut, hub: &Hub) -> Notice {
    Notice {
        id: None,
        at: hub.now().0,
        session_id: out.session.to_string(),
        directory: out.directory.clone(),
        title: out.title.clone(),
        goal_id: None,
        code: out.code.name().to_owned(),
        objective: out.objective.clone(),
        detail: out.detail.clone(),
        state: "planned",
        read: false,
    }
}

/// Waits for the next state of a server of ours; forever if there is none.
async fn next_state(states: &mut Option<watch::Receiver<host::ServerState>>) -> host::ServerState {
    if let Some(states) = states
        && states.changed().await.is_ok()
    {
        return states.borrow_and_update().clone();
    }
    pending().await
}

fn not_connected(server: &ServerStatus) -> Error {
    let why = match server.state {
        ServerState::Starting => "The OpenCode server is being reached; try again in a moment.",
        ServerState::None => "No OpenCode server was named yet.",
        ServerState::Ended => return Error::shutting_down(),
        ServerState::Connected | ServerState::Away | ServerState::Failed => {
            let reason = &server.reason;
            return Error::new(
                Code::NotConnected,
                format!("The OpenCode server cannot be used at the moment: {reason}"),
            );
        }
    };
    Error::new(Code::NotConnected, why)
}

fn cleared(before: &ServerStatus, state: ServerState) -> ServerStatus {
    ServerStatus {
        seq: before.seq,
        state,
        url: None,
        version: None,
        managed: false,
        code: None,
        reason: String::new(),
        retry_in_ms: None,
        driver: Driver::Unknown,
        driver_pid: None,
        ready: false,
        database: before.database,
    }
}

fn failed(before: &ServerStatus, error: &Error, retry_in: Duration) -> ServerStatus {
    ServerStatus {
        code: Some(error.code().name()),
        reason: error.message().to_owned(),
        retry_in_ms: Some(millis(retry_in)),
        ..cleared(before, ServerState::Failed)
    }
}

fn runs(status: &mut ServerStatus, server: &RunningServer) {
    status.url = Some(server.url.clone());
    status.version = Some(server.version.clone());
    status.managed = server.managed;
}

fn database(health: &Health) -> Database {
    match health {
        Health::Fine => Database::Fine,
        Health::PutAside { .. } => Database::PutAside,
        Health::ReadOnly { .. } => Database::ReadOnly,
        Health::MemoryOnly { .. } => Database::MemoryOnly,
        // The engine may learn of more; what is not known to last is shown as not lasting.
        _ => Database::MemoryOnly,
    }
}
