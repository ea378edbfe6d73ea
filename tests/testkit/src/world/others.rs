//! The auditor, the notices and the wall clock of the world.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use goal_core::evidence::Voice;
use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::script_guard;
use goal_core::time::{Wall, millis};
use goal_core::verdict::{self, Verdict, VerdictKind};
use goal_engine::ports::{
    AuditJob, AuditMark, Auditor, AuditorModel, CallError, Clock, DistillJob, Distillation,
    NoticeOut, Notices, Presence, ServerEvent,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::World;
use super::facts::What;
use super::life::Life;
use super::port::Server;
use super::state::Run;

/// How long an audit takes where nothing else was said.
const TAKES: Duration = Duration::from_secs(2);

impl World {
    /// What the auditor's model next makes of an objective that is too long.
    pub fn distills(&self, text: &str) {
        self.inner.auditor.distill(Distillation::Said {
            text: text.to_owned(),
            model: judge_model(),
        });
    }

    /// The next distillation fails in this way. Those that nothing was said about fail because of
    /// the provider.
    pub fn distillation_fails(&self, failure: AuditFailure) {
        self.inner.auditor.distill(Distillation::Failed(failure));
    }

    /// What was to be distilled, dropped distillations included.
    #[must_use]
    pub fn distillations(&self) -> Vec<DistillJob> {
        self.inner.auditor.with(|inner| inner.distill_jobs.clone())
    }
}

/// The auditor: answers from a script, else "continue" with a note of its own each time.
#[derive(Clone)]
pub(crate) struct ScriptedAuditor {
    server: Server,
    inner: Arc<Mutex<Inner>>,
}

/// The auditor as one engine asks it.
pub(crate) struct EngineAuditor {
    pub(crate) auditor: ScriptedAuditor,
    pub(crate) life: Life,
}

/// What the auditor answers.
enum Reply {
    Outcome(AuditOutcome),
    /// A text of the model, read and guarded as the real auditor does it.
    Text(String),
    /// Nothing, until the audit's deadline.
    Silence,
}

struct Inner {
    script: VecDeque<Reply>,
    jobs: Vec<AuditJob>,
    distill_script: VecDeque<Distillation>,
    distill_jobs: Vec<DistillJob>,
    cancelled: usize,
    takes: Duration,
    available: bool,
}

impl ScriptedAuditor {
    pub(crate) fn new(server: Server) -> Self {
        let inner = Inner {
            script: VecDeque::new(),
            jobs: Vec::new(),
            distill_script: VecDeque::new(),
            distill_jobs: Vec::new(),
            cancelled: 0,
            takes: TAKES,
            available: true,
        };
        Self {
            server,
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    pub(crate) fn say(&self, kind: VerdictKind, note: &str) {
        let outcome = AuditOutcome::Verdict {
            verdict: Verdict {
                kind,
                note: note.to_owned(),
            },
            model: judge_model(),
        };
        self.with(|inner| inner.script.push_back(Reply::Outcome(outcome)));
    }

    pub(crate) fn fail(&self, failure: AuditFailure) {
        let outcome = AuditOutcome::Failed(failure);
        self.with(|inner| inner.script.push_back(Reply::Outcome(outcome)));
    }

    pub(crate) fn reply(&self, text: &str) {
        self.with(|inner| inner.script.push_back(Reply::Text(text.to_owned())));
    }

    pub(crate) fn never_answers(&self) {
        self.with(|inner| inner.script.push_back(Reply::Silence));
    }

    /// What was scripted and not asked for is forgotten.
    pub(crate) fn forgets(&self) {
        self.with(|inner| {
            inner.script.clear();
            inner.takes = TAKES;
        });
    }

    pub(crate) fn takes(&self, length: Duration) {
        self.with(|inner| inner.takes = length);
    }

    pub(crate) fn available(&self, available: bool) {
        self.with(|inner| inner.available = available);
    }

    pub(crate) fn jobs(&self) -> Vec<AuditJob> {
        self.with(|inner| inner.jobs.clone())
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.with(|inner| inner.cancelled)
    }

    fn distill(&self, outcome: Distillation) {
        self.with(|inner| inner.distill_script.push_back(outcome));
    }

    fn with<T>(&self, look: impl FnOnce(&mut Inner) -> T) -> T {
        look(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The throw-away session of an audit or a distillation, as every client sees it.
    fn open_child(&self, session: &SessionId, directory: &str, goal: &GoalId) -> Child {
        let mut state = self.server.lock();
        let id = SessionId::new(state.native_id("ses_"));
        let mut room = state.new_room("audit", directory);
        room.parent = Some(session.clone());
        room.audit = Some(AuditMark {
            owner: "audit".to_owned(),
            goal: goal.clone(),
            until: state.now().after(Duration::from_mins(7)),
        });
        state.create(&id, room);
        state.emit(&ServerEvent::Busy(id.clone(), Presence::Busy));
        state.room_mut(&id).run = Run::Step {
            step: goal_core::goal::MessageId::new("msg_audit"),
            retrying: false,
        };
        Child {
            server: self.server.clone(),
            id,
        }
    }
}

/// A throw-away session; dropping it stops and deletes it.
struct Child {
    server: Server,
    id: SessionId,
}

impl Drop for Child {
    fn drop(&mut self) {
        let mut state = self.server.lock();
        // A sweep may have deleted it, and a server that is down deletes nothing.
        if !state.up || !state.rooms.contains_key(&self.id) {
            return;
        }
        state.room_mut(&self.id).run = Run::Idle;
        state.say_status(&self.id);
        state.rooms.remove(&self.id);
        state.emit(&ServerEvent::Deleted(self.id.clone()));
    }
}

impl ScriptedAuditor {
    /// What the next audit comes to, and how long it takes.
    fn next(&self, job: &AuditJob) -> (Duration, AuditOutcome) {
        self.with(|inner| {
            inner.jobs.push(job.clone());
            let count = inner.jobs.len();
            match inner.script.pop_front() {
                None => (inner.takes, goes_on(count)),
                Some(Reply::Outcome(outcome)) => (inner.takes, outcome),
                Some(Reply::Text(text)) => (inner.takes, outcome_of(&text, job)),
                Some(Reply::Silence) => {
                    let failed = AuditOutcome::Failed(AuditFailure::Timeout);
                    (Limits::DEFAULT.audit_timeout, failed)
                }
            }
        })
    }
}

#[async_trait]
impl Auditor for EngineAuditor {
    async fn audit(&self, job: AuditJob, cancel: CancellationToken) -> AuditOutcome {
        self.life.step();
        let (takes, outcome) = self.auditor.next(&job);
        let child = self
            .auditor
            .open_child(&job.session, &job.directory, &job.goal);
        let cancelled = tokio::select! {
            biased;
            () = self.life.over() => true,
            () = cancel.cancelled() => true,
            () = tokio::time::sleep(takes) => false,
        };
        self.life.step();
        drop(child);
        if cancelled {
            self.auditor.with(|inner| inner.cancelled += 1);
            return AuditOutcome::Failed(AuditFailure::Connection);
        }
        outcome
    }

    async fn distill(&self, job: DistillJob) -> Distillation {
        self.life.step();
        let (takes, outcome) = self.auditor.with(|inner| {
            inner.distill_jobs.push(job.clone());
            let outcome = inner.distill_script.pop_front();
            let fails = Distillation::Failed(AuditFailure::Provider);
            (inner.takes, outcome.unwrap_or(fails))
        });
        let _child = self
            .auditor
            .open_child(&job.session, &job.directory, &job.goal);
        let ends = tokio::time::timeout(job.within, tokio::time::sleep(takes)).await;
        ends.map_or(Distillation::Failed(AuditFailure::Timeout), |()| outcome)
    }

    async fn resolve(&self, _: &str, _: Option<&Voice>) -> Result<Option<AuditorModel>, CallError> {
        self.life.step();
        Ok(self
            .auditor
            .with(|inner| inner.available)
            .then(|| AuditorModel {
                model: judge_model(),
                source: "config",
            }))
    }
}

fn outcome_of(text: &str, job: &AuditJob) -> AuditOutcome {
    match verdict::parse(text, "") {
        Ok(read) => AuditOutcome::Verdict {
            verdict: Verdict {
                note: script_guard::guard(&read.note, &[&job.objective, &job.evidence.text])
                    .to_owned(),
                ..read
            },
            model: judge_model(),
        },
        Err(_) => AuditOutcome::Failed(AuditFailure::Unparsable),
    }
}

fn goes_on(count: usize) -> AuditOutcome {
    AuditOutcome::Verdict {
        verdict: Verdict {
            kind: VerdictKind::Continue,
            note: format!("step {count} is done"),
        },
        model: judge_model(),
    }
}

fn judge_model() -> ModelRef {
    ModelRef {
        provider: "fake".to_owned(),
        model: "small".to_owned(),
    }
}

/// How long a notification daemon that works takes.
const SHOWN_WITHIN: Duration = Duration::from_millis(1);

/// Where notices arrive.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<Mutex<Arrivals>>);

struct Arrivals {
    all: Vec<NoticeOut>,
    /// How long the next one takes; `None`: for ever.
    takes: Option<Duration>,
}

impl Default for Inbox {
    fn default() -> Self {
        let arrivals = Arrivals {
            all: Vec::new(),
            takes: Some(SHOWN_WITHIN),
        };
        Self(Arc::new(Mutex::new(arrivals)))
    }
}

impl Inbox {
    pub(crate) fn all(&self) -> Vec<NoticeOut> {
        self.lock().all.clone()
    }

    pub(crate) fn takes(&self, length: Option<Duration>) {
        self.lock().takes = length;
    }

    fn lock(&self) -> MutexGuard<'_, Arrivals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notices of one engine.
pub(crate) struct EngineNotices {
    pub(crate) inbox: Inbox,
    pub(crate) server: Server,
    pub(crate) engine: usize,
    pub(crate) life: Life,
}

#[async_trait]
impl Notices for EngineNotices {
    async fn deliver(&self, notice: &NoticeOut) -> Result<(), String> {
        let takes = self.inbox.lock().takes;
        match takes {
            Some(length) => self.life.wait(length).await,
            None => self.life.over().await,
        }
        let told = What::Told {
            goal: notice.goal.clone(),
            code: notice.code,
        };
        let session = notice.session.as_str();
        self.server.lock().note(Some(self.engine), session, told);
        self.inbox.lock().all.push(notice.clone());
        self.life.step();
        Ok(())
    }
}

/// The wall clock of this machine: tokio's time from a fixed moment on, and as far off the
/// server's as the test wants. Its randomness is a count.
#[derive(Clone)]
pub(crate) struct WorldClock {
    epoch: Instant,
    base: Arc<AtomicU64>,
    drawn: Arc<AtomicU64>,
}

impl WorldClock {
    pub(crate) fn new(base: u64) -> Self {
        Self {
            epoch: Instant::now(),
            base: Arc::new(AtomicU64::new(base)),
            drawn: Arc::default(),
        }
    }

    pub(crate) fn jump(&self, by: i64) {
        let jump = |base: u64| Some(base.saturating_add_signed(by));
        let _ = self
            .base
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, jump);
    }
}

/// The clock as one engine reads it.
pub(crate) struct EngineClock {
    pub(crate) clock: WorldClock,
    pub(crate) life: Life,
}

impl Clock for EngineClock {
    fn wall(&self) -> Wall {
        self.life.step();
        self.clock.wall()
    }

    fn random(&self) -> [u8; 16] {
        self.clock.random()
    }
}

impl WorldClock {
    pub(crate) fn wall(&self) -> Wall {
        Wall(self.base.load(Ordering::SeqCst) + millis(self.epoch.elapsed()))
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let drawn = self.drawn.fetch_add(1, Ordering::SeqCst);
        bytes[..8].copy_from_slice(&drawn.to_le_bytes());
        bytes
    }
}
