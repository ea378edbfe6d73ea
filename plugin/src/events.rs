//! From the engine's updates to what pages hear: one sequence for everything, at most one change
//! per session and frame.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use goal_core::goal::SessionId;
use goal_core::time::{Wall, millis};
use goal_engine::ports::Clock;
use goal_engine::update::{DriverState, Update, UpdateKind};
use goal_engine::view::GoalView as EngineView;
use serde::Serialize;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::models::{
    Changed, Database, DecisionMade, Driver, GoalView, Notice, Open, ServerState, ServerStatus,
    SettingsView, Settled, Snapshot, VerdictGiven, WatchMessage, Watching,
};

/// One frame of a screen: a page that is told more often draws the same picture.
const FRAME: Duration = Duration::from_millis(16);

/// Events that wait for a frame, changes left out. Far more than one frame brings; beyond it the
/// oldest go, as events are hints.
const PENDING_MAX: usize = 1_024;

/// Messages that wait for a slow reader of `watch`; beyond it the reader gets a snapshot.
const WATCH_QUEUE_MAX: usize = 256;

/// Watches of one webview: a page that opens more has forgotten to close them.
const WATCHES_MAX: usize = 32;

/// Something all pages hear.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Event {
    Changed(Changed),
    Settled(Settled),
    Connection(ServerStatus),
    Notice(Notice),
    Settings(Box<SettingsView>),
    Open(Open),
}

impl Event {
    /// The closed list of event names.
    #[cfg(test)]
    pub(crate) const NAMES: [&'static str; 6] = [
        "goal://changed",
        "goal://settled",
        "goal://connection",
        "goal://notice",
        "goal://settings",
        "goal://open",
    ];

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Changed(_) => "goal://changed",
            Self::Settled(_) => "goal://settled",
            Self::Connection(_) => "goal://connection",
            Self::Notice(_) => "goal://notice",
            Self::Settings(_) => "goal://settings",
            Self::Open(_) => "goal://open",
        }
    }
}

/// Where events go: all pages of the app.
pub(crate) trait Pages: Send + Sync + 'static {
    /// Sends an event to whoever listens. A page that does not hear it asks for the list.
    fn emit(&self, event: &Event);
}

/// What pages know, and what they are about to hear.
pub(crate) struct Hub {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Something is pending.
    news: Notify,
}

struct State {
    seq: u64,
    turns_max: u32,
    goals: BTreeMap<SessionId, Known>,
    server: ServerStatus,
    /// Sessions whose change no page heard yet, and its number.
    changed: BTreeMap<SessionId, u64>,
    pending: VecDeque<Pending>,
    watchers: BTreeMap<u32, Watcher>,
    watches_made: u32,
    /// As they were told last, or read at first.
    settings: Option<SettingsView>,
}

struct Known {
    seq: u64,
    view: EngineView,
}

/// For all pages, or for those who watch alone.
enum Pending {
    Event(Event),
    Watch(WatchMessage),
}

struct Watcher {
    webview: String,
    session: Option<SessionId>,
    queue: mpsc::Sender<WatchMessage>,
    /// Messages did not fit: a snapshot takes their place.
    missed: bool,
}

/// The reading end of a watch.
pub(crate) struct Watch {
    id: u32,
    session: Option<SessionId>,
    queue: mpsc::Receiver<WatchMessage>,
}

impl Hub {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let server = ServerStatus {
            seq: 0,
            state: ServerState::None,
            url: None,
            version: None,
            managed: false,
            code: None,
            reason: String::new(),
            retry_in_ms: None,
            driver: Driver::Unknown,
            driver_pid: None,
            ready: false,
            database: Database::Fine,
        };
        Self {
            clock,
            state: Mutex::new(State {
                seq: 0,
                turns_max: 0,
                goals: BTreeMap::new(),
                server,
                changed: BTreeMap::new(),
                pending: VecDeque::new(),
                watchers: BTreeMap::new(),
                watches_made: 0,
                settings: None,
            }),
            news: Notify::new(),
        }
    }

    /// Tells pages what is pending, at most once per frame, until `ended`; then a last time.
    pub(crate) async fn run(&self, pages: &impl Pages, ended: &CancellationToken) {
        loop {
            tokio::select! {
                () = ended.cancelled() => break,
                () = self.news.notified() => {}
            }
            self.frame(pages);
            tokio::time::sleep(FRAME).await;
        }
        self.frame(pages);
    }

    /// Another server is about to be used: its goals are others. `turns_max` is its loop's limit.
    pub(crate) fn begin(&self, turns_max: u32) {
        let mut state = self.lock();
        state.turns_max = turns_max;
        let gone: Vec<SessionId> = state.goals.keys().cloned().collect();
        for session in gone {
            state.remove(&session);
        }
        drop(state);
        self.news.notify_one();
    }

    /// The server's state changed as `change` says; what is the same is not told again.
    pub(crate) fn server(&self, change: impl FnOnce(&mut ServerStatus)) {
        let mut state = self.lock();
        state.server(change);
        drop(state);
        self.news.notify_one();
    }

    /// The engine told something.
    pub(crate) fn hear(&self, update: &Update) {
        let now = self.clock.wall();
        let mut state = self.lock();
        match &update.kind {
            UpdateKind::Ready { driver, .. } => state.server(|server| {
                server.ready = true;
                drives(server, *driver);
            }),
            UpdateKind::Driver(driver) => state.server(|server| drives(server, *driver)),
            UpdateKind::Phase(view) => state.put(view),
            UpdateKind::Cleared(view) => state.remove(&view.session),
            UpdateKind::Settled(view) => {
                state.seq += 1;
                let goal = GoalView::of(view, state.turns_max, now, state.seq);
                let settled = Settled {
                    seq: state.seq,
                    goal,
                };
                state.push(Pending::Event(Event::Settled(settled)));
            }
            UpdateKind::Connection {
                connected,
                reason,
                retry_in,
            } => state.server(|server| line(server, *connected, reason, *retry_in)),
            UpdateKind::Decision { .. } | UpdateKind::Verdict { .. } => {
                let told = watch_only(update);
                told.into_iter()
                    .for_each(|message| state.push(Pending::Watch(message)));
            }
            // Told by whoever knows its number in the list.
            UpdateKind::Notice { .. } => {}
        }
        drop(state);
        self.news.notify_one();
    }

    /// Some updates were missed; these are all goals as they are.
    pub(crate) fn catch_up(&self, views: &[EngineView]) {
        let mut state = self.lock();
        let here: BTreeSet<&SessionId> = views.iter().map(|view| &view.session).collect();
        let known: Vec<SessionId> = state.goals.keys().cloned().collect();
        for session in known.iter().filter(|session| !here.contains(session)) {
            state.remove(session);
        }
        for view in views {
            let same = |known: &Known| known.view == *view;
            if !state.goals.get(&view.session).is_some_and(same) {
                state.put(view);
            }
        }
        drop(state);
        self.news.notify_one();
    }

    /// The settings were read; pages are told when they are others than before, and the answer says
    /// so. `changed`: by a request, so that there is news even if nobody read them before.
    pub(crate) fn settings(&self, view: SettingsView, changed: bool) -> bool {
        let mut state = self.lock();
        let before = state.settings.replace(view.clone());
        let news = before.map_or(changed, |before| before != view);
        if news {
            state.push(Pending::Event(Event::Settings(Box::new(view))));
        }
        drop(state);
        self.news.notify_one();
        news
    }

    /// Tells every page.
    pub(crate) fn tell(&self, event: Event) {
        self.lock().push(Pending::Event(event));
        self.news.notify_one();
    }

    /// The wall clock.
    pub(crate) fn now(&self) -> Wall {
        self.clock.wall()
    }

    /// Every goal as it is known now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.lock().snapshot(None, self.clock.wall())
    }

    /// The goal of one session, as it is known now.
    pub(crate) fn get(&self, session: &SessionId) -> Option<GoalView> {
        let state = self.lock();
        let known = state.goals.get(session)?;
        let now = self.clock.wall();
        Some(GoalView::of(&known.view, state.turns_max, now, known.seq))
    }

    /// A goal that a request gave back, as pages see it.
    pub(crate) fn show(&self, view: &EngineView) -> GoalView {
        let state = self.lock();
        let seq = state.goals.get(&view.session).map_or(0, |known| known.seq);
        GoalView::of(view, state.turns_max, self.clock.wall(), seq)
    }

    /// How the server stands.
    pub(crate) fn status(&self) -> ServerStatus {
        self.lock().server.clone()
    }

    /// Begins a watch for a page of `webview`. Its first message is a snapshot.
    ///
    /// # Errors
    /// `invalidArguments` if the webview has too many.
    pub(crate) fn watch(&self, webview: &str, session: Option<SessionId>) -> Result<Watch> {
        let mut state = self.lock();
        let open = state.watchers.values();
        if open.filter(|watcher| watcher.webview == webview).count() >= WATCHES_MAX {
            return Err(Error::invalid_arguments(format!(
                "This page has {WATCHES_MAX} watches open; end some with `unwatch`."
            )));
        }
        let (queue, messages) = mpsc::channel(WATCH_QUEUE_MAX);
        let first = state.whole(session.as_ref(), self.clock.wall());
        // There is room in a new queue.
        let _ = queue.try_send(first);
        state.watches_made = state.watches_made.wrapping_add(1);
        let id = state.watches_made;
        let watcher = Watcher {
            webview: webview.to_owned(),
            session: session.clone(),
            queue,
            missed: false,
        };
        state.watchers.insert(id, watcher);
        Ok(Watch {
            id,
            session,
            queue: messages,
        })
    }

    /// Ends a watch; one that has ended already is left alone.
    pub(crate) fn unwatch(&self, webview: &str, id: u32) {
        let mut state = self.lock();
        let theirs = |watcher: &Watcher| watcher.webview == webview;
        if state.watchers.get(&id).is_some_and(theirs) {
            state.watchers.remove(&id);
        }
    }

    /// The page in `webview` is gone or another one, and with it those who read its watches.
    pub(crate) fn page_left(&self, webview: &str) {
        let mut state = self.lock();
        state
            .watchers
            .retain(|_, watcher| watcher.webview != webview);
    }

    /// Hands the messages of a watch to `send`, until it ends or `send` fails.
    pub(crate) async fn pump<E>(
        &self,
        mut watch: Watch,
        send: impl Fn(WatchMessage) -> Result<(), E>,
    ) {
        while let Some(message) = watch.queue.recv().await {
            if send(self.or_whole(&mut watch, message)).is_err() {
                break;
            }
        }
        self.lock().watchers.remove(&watch.id);
    }

    /// `message`, or everything as it is if some did not fit behind it.
    fn or_whole(&self, watch: &mut Watch, message: WatchMessage) -> WatchMessage {
        let mut state = self.lock();
        let Some(watcher) = state.watchers.get_mut(&watch.id) else {
            return message;
        };
        if !std::mem::take(&mut watcher.missed) {
            return message;
        }
        while watch.queue.try_recv().is_ok() {}
        state.whole(watch.session.as_ref(), self.clock.wall())
    }

    /// One frame. A panic on the way to the pages costs this frame alone.
    fn frame(&self, pages: &impl Pages) {
        let told = catch_unwind(AssertUnwindSafe(|| self.flush(pages)));
        if told.is_err() {
            tracing::error!("telling pages broke off; they are right again after a list");
        }
    }

    fn flush(&self, pages: &impl Pages) {
        let now = self.clock.wall();
        let mut state = self.lock();
        let changed = std::mem::take(&mut state.changed);
        let mut out: Vec<Pending> = changed
            .into_iter()
            .map(|(session, seq)| Pending::Event(Event::Changed(state.change(&session, seq, now))))
            .collect();
        out.extend(std::mem::take(&mut state.pending));
        for pending in &out {
            state.tell_watchers(pending);
        }
        // Sending takes a while and asks for nothing of the state.
        drop(state);
        for pending in &out {
            if let Pending::Event(event) = pending {
                pages.emit(event);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Plain values, whole after every statement: a panic elsewhere harms nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, view: &EngineView) {
        self.seq += 1;
        let known = Known {
            seq: self.seq,
            view: view.clone(),
        };
        self.goals.insert(view.session.clone(), known);
        self.changed.insert(view.session.clone(), self.seq);
    }

    fn remove(&mut self, session: &SessionId) {
        if self.goals.remove(session).is_some() {
            self.seq += 1;
            self.changed.insert(session.clone(), self.seq);
        }
    }

    fn server(&mut self, change: impl FnOnce(&mut ServerStatus)) {
        let before = self.server.clone();
        change(&mut self.server);
        if self.server != before {
            self.seq += 1;
            self.server.seq = self.seq;
            let told = Event::Connection(self.server.clone());
            self.push(Pending::Event(told));
        }
    }

    fn push(&mut self, pending: Pending) {
        if self.pending.len() >= PENDING_MAX {
            self.pending.pop_front();
        }
        self.pending.push_back(pending);
    }

    fn change(&self, session: &SessionId, seq: u64, now: Wall) -> Changed {
        let known = self.goals.get(session);
        Changed {
            seq,
            session_id: session.to_string(),
            goal: known.map(|known| GoalView::of(&known.view, self.turns_max, now, known.seq)),
        }
    }

    fn snapshot(&self, only: Option<&SessionId>, now: Wall) -> Snapshot {
        let goals = self.goals.iter();
        let goals = goals.filter(|(session, _)| only.is_none_or(|only| only == *session));
        Snapshot {
            seq: self.seq,
            goals: goals
                .map(|(_, known)| GoalView::of(&known.view, self.turns_max, now, known.seq))
                .collect(),
        }
    }

    fn whole(&self, only: Option<&SessionId>, now: Wall) -> WatchMessage {
        WatchMessage::Snapshot {
            snapshot: self.snapshot(only, now),
            server: self.server.clone(),
        }
    }

    fn tell_watchers(&mut self, pending: &Pending) {
        let Some(message) = message_of(pending) else {
            return;
        };
        for watcher in self.watchers.values_mut() {
            let theirs = match (&watcher.session, session_of(&message)) {
                (Some(only), Some(session)) => only.as_str() == session,
                (None, _) | (_, None) => true,
            };
            // A reader that has ended is taken out by its pump.
            if theirs && watcher.queue.try_send(message.clone()).is_err() {
                watcher.missed = true;
            }
        }
    }
}

fn message_of(pending: &Pending) -> Option<WatchMessage> {
    match pending {
        Pending::Watch(message) => Some(message.clone()),
        Pending::Event(Event::Changed(changed)) => Some(WatchMessage::Changed {
            changed: changed.clone(),
        }),
        Pending::Event(Event::Settled(settled)) => Some(WatchMessage::Settled {
            settled: settled.clone(),
        }),
        Pending::Event(Event::Connection(server)) => Some(WatchMessage::Connection {
            server: server.clone(),
        }),
        Pending::Event(Event::Notice(notice)) => Some(WatchMessage::Notice {
            notice: notice.clone(),
        }),
        Pending::Event(Event::Settings(_) | Event::Open(_)) => None,
    }
}

/// The session a message is about; `None`: all of them.
fn session_of(message: &WatchMessage) -> Option<&str> {
    match message {
        WatchMessage::Snapshot { .. } | WatchMessage::Connection { .. } => None,
        WatchMessage::Changed { changed } => Some(&changed.session_id),
        WatchMessage::Settled { settled } => Some(&settled.goal.session_id),
        WatchMessage::Notice { notice } => Some(&notice.session_id),
        WatchMessage::Decision { decision } => Some(&decision.session_id),
        WatchMessage::Verdict { verdict } => Some(&verdict.session_id),
    }
}

fn watch_only(update: &Update) -> Option<WatchMessage> {
    let at = update.at.0;
    match &update.kind {
        UpdateKind::Decision {
            session,
            goal,
            decision,
            why,
        } => Some(WatchMessage::Decision {
            decision: DecisionMade {
                at,
                session_id: session.to_string(),
                goal_id: goal.to_string(),
                decision,
                why: why.clone(),
            },
        }),
        UpdateKind::Verdict {
            session,
            goal,
            verdict,
            note,
            model,
        } => Some(WatchMessage::Verdict {
            verdict: VerdictGiven {
                at,
                session_id: session.to_string(),
                goal_id: goal.to_string(),
                verdict,
                note: note.clone(),
                model: model
                    .as_ref()
                    .map(|model| format!("{}/{}", model.provider, model.model)),
            },
        }),
        UpdateKind::Ready { .. }
        | UpdateKind::Phase(_)
        | UpdateKind::Settled(_)
        | UpdateKind::Cleared(_)
        | UpdateKind::Connection { .. }
        | UpdateKind::Notice { .. }
        | UpdateKind::Driver(_) => None,
    }
}

fn drives(server: &mut ServerStatus, driver: DriverState) {
    (server.driver, server.driver_pid) = match driver {
        DriverState::Driving => (Driver::Driving, None),
        DriverState::Passive { pid } => (Driver::Passive, Some(pid)),
    };
}

fn line(server: &mut ServerStatus, connected: bool, reason: &str, retry_in: Option<Duration>) {
    server.state = if connected {
        ServerState::Connected
    } else {
        ServerState::Away
    };
    server.ready = false;
    server.code = None;
    reason.clone_into(&mut server.reason);
    server.retry_in_ms = retry_in.map(millis);
}

impl Watch {
    pub(crate) fn watching(&self) -> Watching {
        Watching { id: self.id }
    }
}

#[cfg(test)]
mod tests;
