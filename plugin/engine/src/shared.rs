//! What the supervisor and the actors share: the ports, what is known of all sessions, the views.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use goal_core::goal::{Goal, GoalId, SessionId};
use goal_core::inherit::{self, Carrier};
use goal_core::time::{Mono, Wall, millis};
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::outbox::Outbox;
use crate::ports::{Ports, SessionRead};
use crate::store::DecisionRecord;
use crate::tell::Planned;
use crate::update::{Update, UpdateKind};
use crate::view::{GoalView, Phase};

/// Updates kept for a slow listener; one that falls behind reads the list again.
const UPDATES_MAX: usize = 1_024;

/// Sub-agents whose parents are remembered; the oldest are forgotten first and found by a read.
const PARENTS_MAX: usize = 10_000;

/// Cycles that read, audit or act at once. After a start every goal may be due at the same moment:
/// each cycle holds a session's messages and a connection, and each audit asks the same provider.
const CYCLES_MAX: usize = 16;

/// Shared by all tasks of one engine.
pub(crate) struct Shared {
    pub(crate) ports: Ports,
    /// Monotonic time counts from here.
    epoch: Instant,
    known: Mutex<Known>,
    updates: broadcast::Sender<Update>,
    /// The first listener's: it hears everything from the start, however late it asks.
    first: Mutex<Option<broadcast::Receiver<Update>>>,
    /// One permit for each cycle that may be under way; given in the order they are asked for.
    pub(crate) slots: Arc<Semaphore>,
    /// Notices on their way out.
    pub(crate) outbox: Outbox,
    /// Cancelled once: everything ends.
    pub(crate) shutdown: CancellationToken,
    /// Every task of the engine.
    pub(crate) tasks: TaskTracker,
}

#[derive(Default)]
struct Known {
    /// Which sessions carry which goal; what X11 asks for.
    carriers: BTreeMap<SessionId, Carrier>,
    /// Sub-agents and whose they are, with the order of their arrival.
    parents: BTreeMap<SessionId, (SessionId, u64)>,
    arrivals: u64,
    views: BTreeMap<SessionId, GoalView>,
    seq: u64,
}

/// What an actor says of its goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stance {
    pub(crate) phase: Phase,
    pub(crate) why: String,
    pub(crate) detail: String,
    pub(crate) next: Option<Mono>,
}

impl Stance {
    pub(crate) fn of(phase: Phase) -> Self {
        Self {
            phase,
            why: String::new(),
            detail: String::new(),
            next: None,
        }
    }

    pub(crate) fn until(self, next: Option<Mono>) -> Self {
        Self { next, ..self }
    }
}

impl Shared {
    pub(crate) fn new(ports: Ports) -> Self {
        let (updates, first) = broadcast::channel(UPDATES_MAX);
        Self {
            outbox: Outbox::start(ports.clone()),
            ports,
            epoch: Instant::now(),
            known: Mutex::default(),
            updates,
            first: Mutex::new(Some(first)),
            slots: Arc::new(Semaphore::new(CYCLES_MAX)),
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The monotonic clock.
    pub(crate) fn now(&self) -> Mono {
        Mono(millis(self.epoch.elapsed()))
    }

    /// A monotonic moment as tokio waits for it.
    pub(crate) fn instant(&self, at: Mono) -> Instant {
        self.epoch + std::time::Duration::from_millis(at.0)
    }

    fn wall_of(&self, at: Mono) -> Wall {
        self.ports.clock.wall().after(at.since(self.now()))
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Update> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        first.unwrap_or_else(|| self.updates.subscribe())
    }

    /// Tells whoever listens; nobody may.
    pub(crate) fn tell(&self, kind: UpdateKind) {
        let _ = self.updates.send(Update {
            at: self.ports.clock.wall(),
            kind,
        });
    }

    /// Remembers where a session's goal and parent are, or that it has none.
    pub(crate) fn learn(&self, read: &SessionRead, goal: Option<&Goal>) {
        let mut known = self.lock();
        let id = &read.facts.id;
        if let Some(parent) = &read.facts.parent {
            known.arrivals += 1;
            let arrival = known.arrivals;
            known.parents.insert(id.clone(), (parent.clone(), arrival));
            if known.parents.len() > PARENTS_MAX {
                let oldest = known
                    .parents
                    .iter()
                    .min_by_key(|(_, (_, arrival))| *arrival);
                if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                    known.parents.remove(&oldest);
                }
            }
        }
        match goal {
            Some(goal) => {
                let carrier = Carrier {
                    session: id.clone(),
                    created: read.created,
                    goal: goal.id.clone(),
                };
                known.carriers.insert(id.clone(), carrier);
            }
            None => {
                known.carriers.remove(id);
            }
        }
    }

    /// Forgets a deleted session.
    pub(crate) fn forget(&self, id: &SessionId) {
        let mut known = self.lock();
        known.carriers.remove(id);
        known.parents.remove(id);
        drop(known);
        self.hide(id);
    }

    /// Whether the goal only came along with a copy of its session (X11).
    pub(crate) fn is_inherited(&self, goal: &Goal, read: &SessionRead) -> bool {
        let known = self.lock();
        let others: Vec<Carrier> = if goal.session_id.is_some() {
            Vec::new()
        } else {
            known
                .carriers
                .values()
                .filter(|other| other.goal == goal.id)
                .cloned()
                .collect()
        };
        drop(known);
        inherit::is_inherited(goal, &read.facts.id, read.created, &others)
    }

    /// The topmost session that a sub-agent works for; itself if it is none.
    pub(crate) fn root_of(&self, id: &SessionId) -> SessionId {
        let known = self.lock();
        let mut root = id;
        // Bounded, so that a cycle in foreign data cannot hang us.
        for _ in 0..32 {
            match known.parents.get(root) {
                Some((parent, _)) => root = parent,
                None => break,
            }
        }
        root.clone()
    }

    /// Shows a goal's state; unchanged ones are not told again.
    pub(crate) fn show(&self, read: &SessionRead, goal: &Goal, stance: &Stance) {
        let next = stance.next.map(|at| self.wall_of(at));
        let mut known = self.lock();
        let id = &read.facts.id;
        let old = known.views.get(id);
        let same_phase = old.is_some_and(|old| {
            old.phase == stance.phase && old.why == stance.why && old.detail == stance.detail
        });
        if same_phase
            && old.is_some_and(|old| old.goal == *goal && old.title == read.title)
            && old.is_some_and(|old| close(old.next, next))
        {
            return;
        }
        let since = match old {
            Some(old) if same_phase => old.since,
            Some(_) | None => self.ports.clock.wall(),
        };
        known.seq += 1;
        let view = GoalView {
            session: id.clone(),
            title: read.title.clone(),
            directory: read.directory.clone(),
            goal: goal.clone(),
            phase: stance.phase,
            why: stance.why.clone(),
            detail: stance.detail.clone(),
            since,
            next,
            seq: known.seq,
        };
        known.views.insert(id.clone(), view.clone());
        drop(known);
        self.tell(UpdateKind::Phase(Box::new(view)));
    }

    /// Takes a session's goal out of the views, and says so if it was in them.
    pub(crate) fn hide(&self, id: &SessionId) {
        let view = self.lock().views.remove(id);
        if let Some(view) = view {
            self.tell(UpdateKind::Cleared(Box::new(view)));
        }
    }

    pub(crate) fn view(&self, id: &SessionId) -> Option<GoalView> {
        self.lock().views.get(id).cloned()
    }

    pub(crate) fn views(&self) -> Vec<GoalView> {
        self.lock().views.values().cloned().collect()
    }

    /// Writes a decision into the journal; a journal that cannot be written never stops the loop.
    pub(crate) async fn journal(
        &self,
        session: &SessionId,
        goal: &Goal,
        decision: &'static str,
        why: &str,
        detail: serde_json::Value,
    ) {
        self.tell(UpdateKind::Decision {
            session: session.clone(),
            goal: goal.id.clone(),
            decision,
            why: why.to_owned(),
        });
        let record = DecisionRecord {
            at: self.ports.clock.wall(),
            session: session.clone(),
            goal: goal.id.clone(),
            kind: decision.to_owned(),
            why: why.to_owned(),
            detail,
            tokens_used: goal.tokens_used,
            turns_used: goal.turns_used,
        };
        if let Err(error) = self.ports.store.append_decision(record).await {
            tracing::warn!(%error, %session, "a decision could not be written down");
        }
    }

    /// Tells whoever listens of a planned notice, and has it sent behind those before it.
    pub(crate) fn deliver(&self, planned: Planned) {
        let out = planned.out.clone();
        self.tell(UpdateKind::Notice {
            session: out.session,
            goal: out.goal,
            code: out.code,
            objective: out.objective,
            detail: out.detail,
        });
        self.outbox.put(planned);
    }

    /// Tells of a verdict.
    pub(crate) fn verdict(
        &self,
        session: &SessionId,
        goal: &GoalId,
        verdict: &'static str,
        note: String,
        model: Option<goal_core::goal::ModelRef>,
    ) {
        self.tell(UpdateKind::Verdict {
            session: session.clone(),
            goal: goal.clone(),
            verdict,
            note,
            model,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Plain values, whole after every statement: a panic elsewhere harms nothing.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two next times are the same to a person: the wall clock is read anew for each.
fn close(a: Option<Wall>, b: Option<Wall>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.0.abs_diff(b.0) < 250,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
