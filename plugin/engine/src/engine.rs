//! The supervisor: routes what the server says to one actor per session, recovers after every gap,
//! holds the lease on the server, and shuts down in order.
//!
//! ```text
//!  Events ──▶ supervisor ──inbox──▶ Actor (one per session with an active goal)
//!    requests of the host ──▲              │
//!                                          ▼
//!                       Shared: views, who carries which goal ──▶ updates
//! ```

mod pulse;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use goal_core::goal::{Goal, SessionId, Status};
use goal_core::time::Mono;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::timeout;

use self::pulse::{Fence, HEARTBEAT, NEWS_MAX, News, Pulse};
use crate::blocking::{self, Repeating};
use crate::command;
use crate::error::{Code, Error};
use crate::listing::{self, Listing};
use crate::ports::{Events, Ports, ServerEvent, SessionRead};
use crate::session::{Actor, INBOX_MAX, Intent, Msg, sleep_until};
use crate::shared::{Shared, Stance};
use crate::store::{Lease, Owner, ServerKey};
use crate::stored::goal_of;
use crate::tell;
use crate::update::{DriverState, Update, UpdateKind};
use crate::view::{GoalView, Phase};

/// A driver that said nothing for so long is gone.
const DRIVER_STALE: Duration = Duration::from_secs(20);

/// How long the tasks may take to end: a call and its clean-up.
const SHUTDOWN_MAX: Duration = Duration::from_secs(15);

/// Requests of the host that may wait.
const REQUESTS_MAX: usize = 64;

/// How soon the sessions are read again if they could not all be read; twice as long each time
/// that this fails again.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// Who asks for the lease on which server.
#[derive(Clone, Debug)]
pub struct Driver {
    /// The server.
    pub key: ServerKey,
    /// This engine.
    pub owner: Owner,
}

/// A running engine. Cheap to clone; the loop goes on until [`Engine::shutdown`].
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
    requests: mpsc::Sender<Request>,
}

enum Request {
    Intent(SessionId, Intent),
    SettingsChanged,
}

impl Engine {
    /// Starts the loop for every session of the server. Must be called within a tokio runtime.
    /// The engine drives only while it holds the lease on the server; until then it watches.
    #[must_use]
    pub fn start(ports: Ports, events: Box<dyn Events>, driver: Driver) -> Self {
        let shared = Arc::new(Shared::new(ports));
        let (requests, inbox) = mpsc::channel(REQUESTS_MAX);
        let supervisor = Supervisor {
            shared: Arc::clone(&shared),
            driver,
            fence: Fence::default(),
            passive: None,
            connected: false,
            ready: false,
            actors: BTreeMap::new(),
            unread: None,
            left_over_told: false,
        };
        shared.tasks.spawn(supervisor.run(events, inbox));
        Self { shared, requests }
    }

    /// Everything that changes from now on; the first caller also hears what happened since the
    /// start. A receiver that falls more than 1,024 behind loses the
    /// oldest; [`Engine::list`] makes it right again.
    #[must_use]
    pub fn updates(&self) -> broadcast::Receiver<Update> {
        self.shared.subscribe()
    }

    /// The goals of all sessions, as known now.
    #[must_use]
    pub fn list(&self) -> Vec<GoalView> {
        self.shared.views()
    }

    /// The goal of one session, as known now.
    #[must_use]
    pub fn get(&self, session: &SessionId) -> Option<GoalView> {
        self.shared.view(session)
    }

    /// Pauses a goal; what runs is stopped at once.
    ///
    /// # Errors
    /// Those of [`command::pause`], and [`Code::ShuttingDown`].
    pub async fn pause(&self, session: &SessionId) -> Result<command::Paused, Error> {
        let (reply, answer) = oneshot::channel();
        self.ask(session, Intent::Pause(reply), answer).await
    }

    /// Resumes a goal, perhaps with another budget.
    ///
    /// # Errors
    /// Those of [`command::resume`], and [`Code::ShuttingDown`].
    pub async fn resume(
        &self,
        session: &SessionId,
        token_budget: Option<Option<u64>>,
    ) -> Result<command::Resumed, Error> {
        let (reply, answer) = oneshot::channel();
        self.ask(session, Intent::Resume(token_budget, reply), answer)
            .await
    }

    /// Edits a goal: another objective, another budget, the same goal.
    ///
    /// # Errors
    /// Those of [`command::edit`], and [`Code::ShuttingDown`].
    pub async fn edit(&self, request: command::EditRequest) -> Result<command::Edited, Error> {
        let session = request.session.clone();
        let preparing = command::prepare_edit(&self.shared.ports, request);
        let ready = Box::new(self.unless_ending(preparing).await?);
        let (reply, answer) = oneshot::channel();
        self.ask(&session, Intent::Edit(ready, reply), answer).await
    }

    /// Marks a goal complete.
    ///
    /// # Errors
    /// Those of [`command::complete`], and [`Code::ShuttingDown`].
    pub async fn complete(&self, session: &SessionId) -> Result<command::Completed, Error> {
        let (reply, answer) = oneshot::channel();
        self.ask(session, Intent::Complete(reply), answer).await
    }

    /// Takes a goal out of its session; what runs for an active one is stopped.
    ///
    /// # Errors
    /// Those of [`command::clear`], and [`Code::ShuttingDown`].
    pub async fn clear(&self, session: &SessionId) -> Result<command::Cleared, Error> {
        let (reply, answer) = oneshot::channel();
        self.ask(session, Intent::Clear(reply), answer).await
    }

    /// Pauses every active goal of the server.
    ///
    /// # Errors
    /// Those of [`command::pause_all`]; each goal's own outcome is in the answer.
    pub async fn pause_all(&self) -> Result<Vec<command::PausedOne>, Error> {
        let mut outcomes = Vec::new();
        for view in command::list(&self.shared.ports).await? {
            if view.goal.status == Status::Active {
                let result = self.pause(&view.session).await;
                outcomes.push(command::PausedOne {
                    session: view.session,
                    result,
                });
            }
        }
        Ok(outcomes)
    }

    /// Starts a goal.
    ///
    /// # Errors
    /// Those of [`command::start`], and [`Code::ShuttingDown`].
    pub async fn start_goal(
        &self,
        request: command::StartRequest,
    ) -> Result<command::Started, Error> {
        let session = request.session.clone();
        let preparing = command::prepare_start(&self.shared.ports, request);
        let ready = Box::new(self.unless_ending(preparing).await?);
        let (reply, answer) = oneshot::channel();
        self.ask(&session, Intent::Start(ready, reply), answer)
            .await
    }

    /// The settings were written: every wait is looked at again.
    pub async fn settings_changed(&self) {
        // A supervisor that has ended has no waits left.
        let _ = self.requests.send(Request::SettingsChanged).await;
    }

    /// Ends the loop: reading is dropped, a write or prompt under way comes to its end, audits are
    /// stopped and deleted, the lease is given back, what the tasks had to tell is told within a
    /// bound. Goals stay as they are.
    pub async fn shutdown(&self) {
        self.shared.shutdown.cancel();
        self.shared.tasks.close();
        if timeout(SHUTDOWN_MAX, self.shared.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("some tasks did not end in time and are left behind");
        }
        self.shared.outbox.end().await;
    }

    /// Prepares a request before the session's actor hears of it: a long objective is condensed
    /// for up to a minute, in which neither a pause nor the engine's end may wait.
    async fn unless_ending<T>(
        &self,
        preparing: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.shared.shutdown.cancelled() => Err(ending()),
            ready = preparing => ready,
        }
    }

    async fn ask<T>(
        &self,
        session: &SessionId,
        intent: Intent,
        answer: oneshot::Receiver<Result<T, Error>>,
    ) -> Result<T, Error> {
        let request = Request::Intent(session.clone(), intent);
        self.requests.send(request).await.map_err(|_| ending())?;
        answer.await.unwrap_or_else(|_| Err(ending()))
    }
}

fn ending() -> Error {
    Error::new(
        Code::ShuttingDown,
        "The program is ending; nothing was done.",
    )
}

struct Supervisor {
    shared: Arc<Shared>,
    driver: Driver,
    /// That of the lease while this engine drives.
    fence: Fence,
    /// Who drives instead.
    passive: Option<u32>,
    /// The stream is up.
    connected: bool,
    /// Every session was looked at once.
    ready: bool,
    actors: BTreeMap<SessionId, mpsc::Sender<Msg>>,
    /// Sessions could not all be read: when that is tried again, and how often it failed in a row.
    unread: Option<(Mono, u32)>,
    /// Notices of an earlier process were looked at.
    left_over_told: bool,
}

impl Supervisor {
    async fn run(mut self, mut events: Box<dyn Events>, mut requests: mpsc::Receiver<Request>) {
        self.hold_lease().await;
        let (heartbeat, mut news) = self.begin_heartbeat();
        loop {
            // Behind a broken stream they are read once it is up again.
            let unread = self.unread.filter(|_| self.connected);
            let read_again = unread.map(|(at, _)| self.shared.instant(at));
            tokio::select! {
                biased;
                () = self.shared.shutdown.cancelled() => break,
                Some(news) = news.recv() => self.on_news(news, events.as_mut()).await,
                () = sleep_until(read_again) => self.recover().await,
                request = requests.recv() => match request {
                    Some(request) => self.on_request(request).await,
                    None => break,
                },
                event = events.next() => self.on_event(event).await,
            }
        }
        drop(heartbeat);
        self.release_lease().await;
    }

    /// Begins to say that this engine lives, until what is given is dropped, and gives what comes
    /// of it.
    fn begin_heartbeat(&self) -> (Repeating, mpsc::Receiver<News>) {
        let (tell, news) = mpsc::channel(NEWS_MAX);
        let ports = &self.shared.ports;
        let mut pulse = Pulse {
            file: Arc::clone(&ports.settings),
            store: ports.store.clone(),
            driver: self.driver.clone(),
            fence: self.fence.clone(),
            tell,
            settings: None,
            clocks: None,
        };
        let shared = Arc::clone(&self.shared);
        let beat = move || pulse.beat((shared.ports.clock.wall(), shared.now()));
        (blocking::every(HEARTBEAT, beat), news)
    }

    async fn on_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Connected => {
                self.connected = true;
                self.shared.tell(UpdateKind::Connection {
                    connected: true,
                    reason: String::new(),
                    retry_in: None,
                });
                self.recover().await;
            }
            ServerEvent::Lost {
                reason, retry_in, ..
            } => {
                self.connected = false;
                self.shared.tell(UpdateKind::Connection {
                    connected: false,
                    reason,
                    retry_in: Some(retry_in),
                });
                self.broadcast(|| Msg::Lost).await;
            }
            ServerEvent::Session(read) => {
                self.on_session(Arc::new(*read), false).await;
            }
            ServerEvent::Deleted(id) => {
                self.send(&id, Msg::event(ServerEvent::Deleted(id.clone())))
                    .await;
                self.shared.forget(&id);
                self.shared.ports.objectives.delete(id.as_str()).await;
            }
            ServerEvent::Idle(id) => {
                let root = self.shared.root_of(&id);
                if root == id {
                    self.send(&id, Msg::event(ServerEvent::Idle(id.clone())))
                        .await;
                } else {
                    self.send(&root, Msg::FamilyRests).await;
                }
            }
            ServerEvent::Busy(id, presence) => {
                self.send(&id, Msg::event(ServerEvent::Busy(id.clone(), presence)))
                    .await;
            }
            ServerEvent::Error { ref session, .. } | ServerEvent::Message { ref session, .. } => {
                let session = session.clone();
                self.send(&session, Msg::event(event)).await;
            }
            ServerEvent::Request { session, .. } => {
                let root = self.shared.root_of(&session);
                self.send(&root, Msg::Asked).await;
            }
            ServerEvent::Disposed { directory } => self.on_disposed(directory).await,
        }
    }

    /// A session was heard of or read; says whether it has an active goal of its own. Audits are
    /// nobody's business (X4).
    async fn on_session(&mut self, read: Arc<SessionRead>, recovering: bool) -> bool {
        if read.audit.is_some() {
            return false;
        }
        let goal = goal_of(&read, &self.shared.ports);
        self.shared.learn(&read, goal.as_ref());
        let id = read.facts.id.clone();
        let known = self.actors.get(&id).is_some_and(|inbox| !inbox.is_closed());
        let Some(goal) = goal else {
            self.shared.hide(&id);
            if known {
                let msg = heard(read, recovering);
                self.send(&id, msg).await;
            }
            return false;
        };
        if read.facts.parent.is_some() || self.shared.is_inherited(&goal, &read) {
            self.shared.hide(&id);
            return false;
        }
        let active = goal.status == Status::Active;
        if self.fence.get().is_none() || (!active && !known) {
            let why = if active {
                "notDriving"
            } else {
                goal.status.name()
            };
            let phase = if active {
                Phase::WaitingForYou
            } else {
                Phase::Settled
            };
            let stance = Stance {
                why: why.to_owned(),
                ..Stance::of(phase)
            };
            self.shared.show(&read, &goal, &stance);
            if recovering && self.fence.get().is_some() && self.stopped_lately(&read, &goal) {
                self.ensure_actor(&read);
                self.send(&id, Msg::Resync(read)).await;
            }
            return active;
        }
        self.ensure_actor(&read);
        self.send(&id, heard(read, recovering)).await;
        active
    }

    /// A goal that was stopped not long ago is looked after for a while, too: a prompt of an
    /// earlier process may have arrived since (X8).
    fn stopped_lately(&self, read: &SessionRead, goal: &Goal) -> bool {
        let now = self.shared.ports.clock.wall();
        let touched = goal.updated_at.max(read.updated);
        now.since(touched) < self.shared.ports.limits.stale_after
    }

    fn ensure_actor(&mut self, read: &Arc<SessionRead>) {
        let alive = self
            .actors
            .get(&read.facts.id)
            .is_some_and(|inbox| !inbox.is_closed());
        if !alive {
            let (inbox, messages) = mpsc::channel(INBOX_MAX);
            let actor = Actor::new(Arc::clone(&self.shared), Arc::clone(read));
            self.shared.tasks.spawn(Box::new(actor).run(messages));
            self.actors.insert(read.facts.id.clone(), inbox);
        }
    }

    /// Hands a message to a session's actor, if it has one. An actor that has ended is forgotten.
    async fn send(&mut self, id: &SessionId, msg: Msg) {
        let Some(inbox) = self.actors.get(id) else {
            return;
        };
        if inbox.send(msg).await.is_err() {
            self.actors.remove(id);
        }
    }

    async fn broadcast(&mut self, msg: impl Fn() -> Msg) {
        let ids: Vec<SessionId> = self.actors.keys().cloned().collect();
        for id in ids {
            self.send(&id, msg()).await;
        }
    }

    async fn on_disposed(&mut self, directory: Option<String>) {
        let ids: Vec<SessionId> = self
            .actors
            .keys()
            .filter(|id| {
                let view = self.shared.view(id);
                let here = view.is_none_or(|view| Some(&view.directory) == directory.as_ref());
                here || directory.is_none()
            })
            .cloned()
            .collect();
        for id in ids {
            let event = ServerEvent::Disposed {
                directory: directory.clone(),
            };
            self.send(&id, Msg::event(event)).await;
        }
    }

    async fn on_request(&mut self, request: Request) {
        match request {
            Request::SettingsChanged => self.broadcast(|| Msg::SettingsChanged).await,
            Request::Intent(id, intent) => {
                let alive = self.actors.get(&id).is_some_and(|inbox| !inbox.is_closed());
                if !alive || self.fence.get().is_none() {
                    self.without_actor(id, intent);
                    return;
                }
                self.send(&id, Msg::Intent(Box::new(intent))).await;
            }
        }
    }

    /// A request for a session that no actor watches: the same functions, without a cycle to end.
    fn without_actor(&self, id: SessionId, intent: Intent) {
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move {
            intent.carry_out(&shared.ports, &id).await;
        });
    }

    /// Looks at every session of every folder: what happened while the stream was down is unknown
    /// (X10). If a page cannot be read, all are read again later (X9).
    async fn recover(&mut self) {
        let shared = Arc::clone(&self.shared);
        let listing = tokio::select! {
            biased;
            () = shared.shutdown.cancelled() => return,
            listing = listing::read(shared.ports.sessions.as_ref()) => listing,
        };
        let Listing { reads, failed } = listing;
        let whole = failed.is_none();
        if let Some(error) = failed {
            tracing::warn!(error = error.message, "the sessions could not all be read");
        }
        self.unread = if whole { None } else { self.later() };
        let now = self.shared.ports.clock.wall();
        crate::audit::sweep_left_overs(self.shared.ports.sessions.as_ref(), &reads, now).await;
        // All are learnt before any is judged: who inherits from whom needs the whole picture.
        for read in reads.iter().filter(|read| read.audit.is_none()) {
            self.shared
                .learn(read, goal_of(read, &self.shared.ports).as_ref());
        }
        let mut active = 0;
        for read in reads {
            active += usize::from(self.on_session(Arc::new(read), true).await);
        }
        if !whole {
            return;
        }
        self.deliver_left_over().await;
        if !self.ready {
            self.ready = true;
            let driver = self.state();
            self.shared.tell(UpdateKind::Ready { driver, active });
        }
    }

    /// When the sessions are read again: soon, for nobody watches those that are not known, then
    /// ever later (X9).
    fn later(&self) -> Option<(Mono, u32)> {
        let failures = self.unread.map_or(0, |(_, failures)| failures);
        let delay = READ_AGAIN.saturating_mul(1 << failures.min(16));
        let most = self.shared.ports.limits.recheck_max;
        let at = self.shared.now().after(delay.min(most));
        Some((at, failures.saturating_add(1)))
    }

    /// Notices that an earlier process wrote down: those that came true are told, the others are
    /// taken back (R80).
    async fn deliver_left_over(&mut self) {
        if self.fence.get().is_none() || self.left_over_told {
            return;
        }
        self.left_over_told = true;
        for planned in tell::left_over(&self.shared.ports).await {
            let view = self.shared.view(&planned.out.session);
            if view.is_some_and(|view| planned.is_true_of(&view.goal)) {
                self.shared.deliver(planned);
            } else {
                tell::withdraw(&self.shared.ports, Some(planned)).await;
            }
        }
    }

    fn state(&self) -> DriverState {
        match self.passive {
            Some(pid) if self.fence.get().is_none() => DriverState::Passive { pid },
            Some(_) | None => DriverState::Driving,
        }
    }

    async fn on_news(&mut self, news: News, events: &mut dyn Events) {
        match news {
            News::Slept => events.reconnect(),
            News::Due if self.fence.get().is_none() => {
                self.hold_lease().await;
                self.recover_as_driver().await;
            }
            // It was granted since.
            News::Due => {}
            // Another process may have written the settings: every wait is looked at again (X9).
            News::Settings => self.broadcast(|| Msg::SettingsChanged).await,
            News::LeaseLost(fence) if self.fence.get() == Some(fence) => {
                self.fence.set(None);
                self.stop_actors();
                // Who drives instead is told by this.
                self.hold_lease().await;
                self.recover_as_driver().await;
            }
            // That lease was lost and given anew since.
            News::LeaseLost(_) => {}
        }
    }

    /// This engine drives from here on, if it was granted the lease.
    async fn recover_as_driver(&mut self) {
        if self.fence.get().is_none() {
            return;
        }
        self.shared.tell(UpdateKind::Driver(DriverState::Driving));
        if self.connected {
            self.recover().await;
        }
    }

    /// Asks for the lease. Without a database nobody can be asked, and the loop must not stand
    /// still for that: derived ids keep two drivers from doubling a prompt (X6).
    async fn hold_lease(&mut self) {
        let Driver { key, owner } = self.driver.clone();
        let now = self.shared.ports.clock.wall();
        match self
            .shared
            .ports
            .store
            .acquire(key, owner, now, DRIVER_STALE)
            .await
        {
            Ok(Lease::Mine(fence)) => {
                self.fence.set(Some(fence));
                self.passive = None;
            }
            Ok(Lease::HeldBy(holder)) => {
                if self.passive != Some(holder.pid) && self.ready {
                    self.shared
                        .tell(UpdateKind::Driver(DriverState::Passive { pid: holder.pid }));
                }
                self.passive = Some(holder.pid);
            }
            Err(error) => {
                tracing::warn!(%error, "nobody can be asked who drives; driving");
                self.fence.set(Some(0));
            }
        }
    }

    async fn release_lease(&mut self) {
        if let Some(fence) = self.fence.get() {
            self.fence.set(None);
            let Driver { key, owner } = self.driver.clone();
            if let Err(error) = self.shared.ports.store.release(key, owner, fence).await {
                tracing::warn!(%error, "the lease could not be given back; it runs out by itself");
            }
        }
    }

    /// Another engine drives: ours stop, as their inboxes close.
    fn stop_actors(&mut self) {
        self.actors.clear();
    }
}

/// The session as heard of, or as read after a gap.
fn heard(read: Arc<SessionRead>, recovering: bool) -> Msg {
    if recovering {
        Msg::Resync(read)
    } else {
        Msg::Heard(read)
    }
}
