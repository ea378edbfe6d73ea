//! A whole world in memory: an OpenCode server, an auditor, a user, other clients and the clock.
//!
//! ```text
//! test ──verbs──▶ World ──▶ server (State) ──events──▶ engine ──calls──▶ Line ──▶ server
//!                   ├─▶ auditor (scripted)                 │
//!                   └─▶ faults, crashes, jumps     notices ◀┘
//! ```
//!
//! It runs under tokio's paused time: waiting costs nothing, and time moves on only when everybody
//! rests. The server behaves as the real one was measured to: metadata is replaced whole, idle
//! sessions are absent from the status map, 204 is no delivery, a prompt with a known id is an
//! update, queued prompts are answered by one step, a stop's last traces come late.

mod calls;
mod database;
mod facts;
mod life;
mod line;
mod others;
mod panics;
mod port;
mod session;
mod state;
mod trouble;
mod turns;
mod wishes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use goal_core::goal::SessionId;
use goal_core::judge::AuditFailure;
use goal_core::limits::Limits;
use goal_core::verdict::VerdictKind;
use goal_engine::objectives::Objectives;
use goal_engine::ports::{
    Address, AuditJob, CommandRead, Events, NoticeOut, Ports, PromptOut, ServerEvent,
};
use goal_engine::settings::SettingsFile;
use goal_engine::store::{Owner, ServerKey};
use goal_engine::update::{Update, UpdateKind};
use goal_engine::{Driver, Engine};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;

pub use self::calls::{Call, Called, Fault};
pub use self::facts::{Fact, What, Wish};
pub use self::session::{Prompted, Sequel, Session};

use self::database::Database;
use self::life::Life;
use self::line::Listener;
use self::others::{EngineAuditor, EngineClock, EngineNotices, Inbox, ScriptedAuditor, WorldClock};
use self::port::{Ear, Line, Server};
use self::state::FOLDER;

/// Where the wall clocks begin: a moment in December 2026.
const BEGIN: u64 = 1_796_000_000_000;

/// How long everybody gets to come to rest: longer than a prompt takes to be taken up.
const SETTLE: Duration = Duration::from_millis(100);

/// A world. Cheap to clone; the clones are the same world.
#[derive(Clone)]
pub struct World {
    inner: Arc<Inner>,
}

struct Inner {
    server: Server,
    auditor: ScriptedAuditor,
    inbox: Inbox,
    clock: WorldClock,
    limits: Limits,
    database: Database,
    /// The database of the other machine.
    database_elsewhere: Database,
    folder: TempDir,
    settings: Arc<SettingsFile>,
    engines: Mutex<Engines>,
    updates: Updates,
}

#[derive(Default)]
struct Engines {
    running: Vec<Running>,
    /// Grows where a new engine must not meet the lease of an older one, whose process is gone or
    /// on another machine.
    generation: u32,
}

/// What was told, with the number of the engine that told it.
type Updates = Arc<Mutex<Vec<(usize, Update)>>>;

struct Running {
    engine: Engine,
    life: Life,
    elsewhere: bool,
    /// It ended in order.
    ended: bool,
    /// It is taken for alive although it was killed.
    lease_stays: bool,
}

impl Running {
    /// Neither killed nor ended.
    fn works(&self) -> bool {
        !self.life.is_over() && !self.ended
    }

    fn left_no_lease(&self) -> bool {
        self.life.is_over() && !self.lease_stays
    }
}

impl World {
    /// An empty world with the default limits. Must be called within a tokio runtime.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Limits::DEFAULT)
    }

    /// An empty world with other limits.
    #[must_use]
    pub fn with(limits: Limits) -> Self {
        panics::watch();
        goal_engine::blocking::at_once_on_this_thread();
        let server = Server::new(BEGIN);
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no scratch folder: {error}"),
        };
        let settings = Arc::new(SettingsFile::new(folder.path().join("settings.json")));
        let inner = Inner {
            auditor: ScriptedAuditor::new(server.clone()),
            server,
            inbox: Inbox::default(),
            clock: WorldClock::new(BEGIN),
            limits,
            database: Database::new(),
            database_elsewhere: Database::new(),
            folder,
            settings,
            engines: Mutex::default(),
            updates: Updates::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A session that one of the user's programs just made.
    #[must_use]
    pub fn session(&self, name: &str) -> Session {
        self.session_in(name, FOLDER)
    }

    /// A session of another folder.
    #[must_use]
    pub fn session_in(&self, name: &str, folder: &str) -> Session {
        let id = SessionId::new(format!("ses_{name}"));
        let mut state = self.inner.server.lock();
        let room = state.new_room(name, folder);
        state.create(&id, room);
        drop(state);
        Session::new(self.clone(), id)
    }

    /// The sessions that were made through the ports, oldest first: audits are none of them.
    #[must_use]
    pub fn made(&self) -> Vec<Session> {
        let state = self.inner.server.lock();
        let made = state.rooms.iter().filter(|(_, room)| room.is_made);
        let ids: Vec<SessionId> = made.map(|(id, _)| id.clone()).collect();
        drop(state);
        ids.into_iter()
            .map(|id| Session::new(self.clone(), id))
            .collect()
    }

    /// Whom the newest message of an engine addresses, and how many parts it has beside its text.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn addressed(&self, session: &Session) -> (Address, usize) {
        let state = self.inner.server.lock();
        let mut messages = state.room(session.id()).messages.iter().rev();
        match messages.find(|stored| stored.engine.is_some()) {
            Some(stored) => (stored.to.clone(), stored.parts.len() - 1),
            None => panic!("no engine sent a message to {}", session.id()),
        }
    }

    /// From now on the server knows a slash command.
    pub fn knows_command(&self, command: CommandRead) {
        self.inner.server.lock().commands.push(command);
    }

    /// An engine starts and hears the server from then on. Gives its number, counted from 1.
    pub async fn engine_starts(&self) -> usize {
        self.starts(false).await
    }

    /// An engine of another machine, which knows nothing of the leases here, starts as well.
    pub async fn engine_starts_elsewhere(&self) -> usize {
        self.engines().generation += 1;
        self.starts(true).await
    }

    /// The newest engine.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self.engines().running.last() {
            Some(running) => running.engine.clone(),
            None => panic!("no engine was started"),
        }
    }

    /// The newest engine ends in the middle of whatever it does; the next one starts anew.
    pub fn engine_crashes(&self) {
        let engines = self.engines();
        if let Some(running) = engines.running.last() {
            running.life.end();
        }
    }

    /// The engine with this number ends in the middle of whatever it does, and its lease stays.
    pub fn crashes(&self, number: usize) {
        if let Some(running) = self.engines().running.get_mut(number - 1) {
            running.lease_stays = true;
            running.life.end();
        }
    }

    /// How many audit sessions there are now.
    #[must_use]
    pub fn open_audits(&self) -> usize {
        let state = self.inner.server.lock();
        let audits = state.rooms.values().filter(|room| room.audit.is_some());
        audits.count()
    }

    /// The newest engine ends in order.
    pub async fn engine_ends(&self) {
        let ending = {
            let mut engines = self.engines();
            let newest = engines.running.last_mut();
            newest.map(|running| {
                running.ended = true;
                running.engine.clone()
            })
        };
        match ending {
            Some(engine) => engine.shutdown().await,
            None => panic!("no engine was started"),
        }
    }

    /// The engine that works on this machine, with its number.
    pub(crate) fn host(&self) -> Option<(usize, Engine)> {
        let engines = self.engines();
        let here = |running: &Running| !running.elsewhere && running.works();
        let place = engines.running.iter().rposition(here)?;
        Some((place + 1, engines.running[place].engine.clone()))
    }

    /// The ports of a command that works without a running loop.
    #[must_use]
    pub fn command(&self) -> Ports {
        self.ports(0, Life::new(0, self.inner.server.clone()), false)
    }

    /// What the server says from here on, for somebody beside the engines.
    #[must_use]
    pub fn events(&self) -> Box<dyn Events> {
        Box::new(self.ear(Life::new(0, self.inner.server.clone())))
    }

    /// Time passes.
    pub async fn passes(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }

    /// How long the world has existed.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.inner.server.lock().elapsed()
    }

    /// Everybody comes to rest: 100 ms pass.
    pub async fn settles(&self) {
        self.passes(SETTLE).await;
    }

    /// Time passes until `reached`, at most an hour.
    ///
    /// # Panics
    /// When the hour is over.
    #[track_caller]
    pub fn until(&self, reached: impl Fn(&Self) -> bool) -> impl Future<Output = Duration> {
        let caller = std::panic::Location::caller();
        async move {
            let begin = tokio::time::Instant::now();
            while !reached(self) {
                assert!(
                    begin.elapsed() < Duration::from_hours(1),
                    "not reached within an hour: {caller}\n{:#?}",
                    self.decisions()
                );
                self.passes(Duration::from_millis(10)).await;
            }
            begin.elapsed()
        }
    }

    /// Time passes until an engine begins such a call, at most `within`.
    pub async fn passes_until(&self, call: Call, within: Duration) {
        let (begin, called) = {
            let state = self.inner.server.lock();
            (state.calls.len(), Arc::clone(&state.called))
        };
        let made = || {
            let state = self.inner.server.lock();
            let new = state.calls.iter().skip(begin);
            new.filter(|made| made.engine > 0)
                .any(|made| made.call == call)
        };
        let waits = async {
            loop {
                let next = called.notified();
                if made() {
                    break;
                }
                next.await;
            }
        };
        // That it was not made is fine.
        let _ = tokio::time::timeout(within, waits).await;
    }

    /// The next such call of an engine goes otherwise.
    pub fn next(&self, call: Call, fault: Fault) {
        let mut state = self.inner.server.lock();
        state.faults.entry(call).or_default().push_back(fault);
    }

    /// Every such call of an engine goes otherwise, until [`World::heals`].
    pub fn always(&self, call: Call, fault: Fault) {
        self.inner.server.lock().always.insert(call, fault);
    }

    /// No call goes otherwise any more.
    pub fn heals(&self) {
        let mut state = self.inner.server.lock();
        state.always.clear();
        state.faults.clear();
    }

    /// The calls of all engines and commands so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Called> {
        self.inner.server.lock().calls.clone()
    }

    /// Forgets the calls so far.
    pub fn forgets_calls(&self) {
        self.inner.server.lock().calls.clear();
    }

    /// How often engines made such a call.
    #[must_use]
    pub fn count(&self, call: Call) -> usize {
        let state = self.inner.server.lock();
        let of_engines = state.calls.iter().filter(|called| called.engine > 0);
        of_engines.filter(|called| called.call == call).count()
    }

    /// The prompts of engines and commands, as often as they were sent.
    #[must_use]
    pub fn prompts(&self) -> Vec<PromptOut> {
        self.inner.server.lock().sent.clone()
    }

    /// The auditor's next answer.
    pub fn auditor_says(&self, kind: VerdictKind, note: &str) {
        self.inner.auditor.say(kind, note);
    }

    /// The auditor fails next time.
    pub fn auditor_fails(&self, failure: AuditFailure) {
        self.inner.auditor.fail(failure);
    }

    /// How long an audit takes from now on; two seconds at first.
    pub fn audits_take(&self, length: Duration) {
        self.inner.auditor.takes(length);
    }

    /// Whether a model can be found for audits.
    pub fn auditor_is(&self, available: bool) {
        self.inner.auditor.available(available);
    }

    /// What the auditor was asked, cancelled audits included.
    #[must_use]
    pub fn audits(&self) -> Vec<AuditJob> {
        self.inner.auditor.jobs()
    }

    /// How many audits were cancelled.
    #[must_use]
    pub fn cancelled_audits(&self) -> usize {
        self.inner.auditor.cancelled()
    }

    /// The notices that arrived.
    #[must_use]
    pub fn notices(&self) -> Vec<NoticeOut> {
        self.inner.inbox.all()
    }

    /// How long it takes to show a notice from now on; a millisecond at first.
    pub fn notices_take(&self, length: Duration) {
        self.inner.inbox.takes(Some(length));
    }

    /// From now on no notice is ever shown, nor refused.
    pub fn notices_hang(&self) {
        self.inner.inbox.takes(None);
    }

    /// Everything the engines told, with their numbers.
    #[must_use]
    pub fn updates(&self) -> Vec<(usize, Update)> {
        locked(&self.inner.updates).clone()
    }

    /// The decisions that engines told of, as "decision:why".
    #[must_use]
    pub fn decisions(&self) -> Vec<String> {
        let told = self.updates().into_iter();
        told.filter_map(|(_, update)| {
            if let UpdateKind::Decision { decision, why, .. } = update.kind {
                Some(format!("{decision}:{why}"))
            } else {
                None
            }
        })
        .collect()
    }

    /// A setting is written, without telling the engine.
    pub async fn setting(&self, key: &str, value: Value) {
        let changes = json!({ key: value });
        let Value::Object(changes) = changes else {
            return;
        };
        if let Err(error) = self.inner.settings.update(changes).await {
            panic!("the setting {key} was refused: {error}");
        }
    }

    /// The stream of every engine breaks: nothing is heard.
    pub fn stream_breaks(&self) {
        let mut state = self.inner.server.lock();
        state.emit(&ServerEvent::Lost {
            reason: "the stream broke".to_owned(),
            unauthorized: false,
            retry_in: Duration::from_millis(250),
        });
        for listener in &mut state.listeners {
            listener.breaks();
        }
    }

    /// The stream is back.
    pub fn stream_returns(&self) {
        let mut state = self.inner.server.lock();
        for listener in &mut state.listeners {
            listener.reconnects();
        }
    }

    /// The server is killed: nothing is finished, nothing runs.
    pub fn server_dies(&self) {
        self.stream_breaks();
        let mut state = self.inner.server.lock();
        state.up = false;
        state.requests.clear();
        for room in state.rooms.values_mut() {
            room.run = state::Run::Idle;
        }
    }

    /// The server is up again.
    pub fn server_returns(&self) {
        self.inner.server.lock().up = true;
        self.stream_returns();
    }

    /// The server reloads its folder: every turn is stopped, and it says so within 14 ms.
    pub async fn server_reloads(&self) {
        self.server_reloads_in(Duration::from_millis(14)).await;
    }

    /// The server reloads its folder and takes so long between stopping the turns and saying so.
    pub async fn server_reloads_in(&self, takes: Duration) {
        let ids: Vec<SessionId> = {
            let mut state = self.inner.server.lock();
            state.note(None, "", What::Reloaded);
            state.rooms.keys().cloned().collect()
        };
        for id in ids {
            if self.inner.server.lock().presence(&id).is_some() {
                self.inner.server.abort(&id);
            }
        }
        self.passes(takes).await;
        self.inner.server.lock().emit(&ServerEvent::Disposed {
            directory: Some(FOLDER.to_owned()),
        });
    }

    /// An abort that comes before a prompt was taken up takes it back; otherwise it misses it.
    pub fn aborts_catch_fresh_prompts(&self) {
        self.inner.server.lock().abort_misses_fresh_prompts = false;
    }

    /// From now on each id of the server's sorts before those it made earlier.
    pub fn ids_run_backwards(&self) {
        self.inner.server.lock().ids_backwards = true;
    }

    /// The wall clock of this machine jumps, in milliseconds; the server's does not.
    pub fn clock_jumps(&self, by: i64) {
        self.inner.clock.jump(by);
    }

    /// How often engines gave their connection up for a new one.
    #[must_use]
    pub fn reconnections(&self) -> usize {
        self.inner.server.lock().reconnections
    }

    /// No objective file can be written: a file is where their folder should be. Only before the
    /// first one is written.
    pub fn objectives_are_refused(&self) {
        let folder = self.inner.folder.path().join("goals");
        if let Err(error) = std::fs::write(&folder, "no folder") {
            panic!("{} is there already: {error}", folder.display());
        }
    }

    /// The folder of objective files.
    #[must_use]
    pub fn objectives(&self) -> Objectives {
        Objectives::new(self.inner.folder.path().join("goals"), None)
    }

    async fn starts(&self, elsewhere: bool) -> usize {
        let number = self.start_engine(elsewhere);
        self.settles().await;
        number
    }

    fn start_engine(&self, elsewhere: bool) -> usize {
        let mut engines = self.engines();
        let number = engines.running.len() + 1;
        // The process of a killed one is gone, and with it its lease.
        if !engines.running.iter().any(Running::works) {
            engines.generation += u32::from(engines.running.iter().any(Running::left_no_lease));
        }
        let life = Life::new(number, self.inner.server.clone());
        let ear = self.ear(life.clone());
        self.inner
            .server
            .lock()
            .note(Some(number), "", What::Started);
        let url = format!("http://127.0.0.1:{}", 4_000 + engines.generation);
        let key = match ServerKey::attached(&url) {
            Ok(key) => key,
            Err(error) => panic!("{error}"),
        };
        let driver = Driver {
            key,
            owner: Owner::this_process(&format!("engine {number}")),
        };
        let ports = self.ports(number, life.clone(), elsewhere);
        let engine = Engine::start(ports, Box::new(ear), driver);
        self.collect(number, &engine);
        engines.running.push(Running {
            engine,
            life,
            elsewhere,
            ended: false,
            lease_stays: false,
        });
        number
    }

    /// Somebody who listens from here on.
    fn ear(&self, life: Life) -> Ear {
        let (sender, receiver) = unbounded_channel();
        let mut state = self.inner.server.lock();
        let connected = state.up;
        if connected {
            // It cannot be gone yet.
            let _ = sender.send(ServerEvent::Connected);
        }
        state.listeners.push(Listener::new(sender, connected));
        let place = state.listeners.len() - 1;
        drop(state);
        Ear {
            server: self.inner.server.clone(),
            place,
            receiver,
            life,
        }
    }

    fn collect(&self, number: usize, engine: &Engine) {
        let mut updates = engine.updates();
        let told = Arc::clone(&self.inner.updates);
        tokio::spawn(async move {
            while let Ok(update) = updates.recv().await {
                locked(&told).push((number, update));
            }
        });
    }

    fn ports(&self, engine: usize, life: Life, elsewhere: bool) -> Ports {
        let inner = &self.inner;
        let database = if elsewhere {
            &inner.database_elsewhere
        } else {
            &inner.database
        };
        Ports {
            sessions: Arc::new(Line {
                server: inner.server.clone(),
                engine,
                life: life.clone(),
            }),
            auditor: Arc::new(EngineAuditor {
                auditor: inner.auditor.clone(),
                life: life.clone(),
            }),
            notices: Arc::new(EngineNotices {
                inbox: inner.inbox.clone(),
                server: inner.server.clone(),
                engine,
                life: life.clone(),
            }),
            clock: Arc::new(EngineClock {
                clock: inner.clock.clone(),
                life,
            }),
            objectives: self.objectives(),
            settings: Arc::clone(&inner.settings),
            store: database.store(),
            limits: inner.limits.clone(),
        }
    }

    fn engines(&self) -> MutexGuard<'_, Engines> {
        locked(&self.inner.engines)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A panic in a task of the engine is swallowed by the runtime; here it fails the test.
impl Drop for Inner {
    fn drop(&mut self) {
        for running in &locked(&self.engines).running {
            running.life.end();
        }
        if !std::thread::panicking() {
            let panics = panics::taken();
            assert!(panics.is_empty(), "the engine panicked: {panics:?}");
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
