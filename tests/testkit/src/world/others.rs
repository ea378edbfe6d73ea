//! The auditor, the notices and the wall clock of the world.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use goal_core::evidence::Voice;
use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::time::{Wall, millis};
use goal_core::verdict::{Verdict, VerdictKind};
use goal_engine::ports::{
    AuditJob, AuditMark, Auditor, AuditorModel, CallError, Clock, DistillJob, Distillation,
    NoticeOut, Notices, Presence, ServerEvent,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::World;
use super::port::Server;
use super::state::Run;

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

struct Inner {
    script: VecDeque<AuditOutcome>,
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
            takes: Duration::from_secs(2),
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
        self.with(|inner| inner.script.push_back(outcome));
    }

    pub(crate) fn fail(&self, failure: AuditFailure) {
        self.with(|inner| inner.script.push_back(AuditOutcome::Failed(failure)));
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
        // A sweep may have deleted it.
        if state.rooms.contains_key(&self.id) {
            state.room_mut(&self.id).run = Run::Idle;
            state.say_status(&self.id);
            state.rooms.remove(&self.id);
            state.emit(&ServerEvent::Deleted(self.id.clone()));
        }
    }
}

#[async_trait]
impl Auditor for ScriptedAuditor {
    async fn audit(&self, job: AuditJob, cancel: CancellationToken) -> AuditOutcome {
        let (takes, outcome) = self.with(|inner| {
            inner.jobs.push(job.clone());
            let count = inner.jobs.len();
            let outcome = inner.script.pop_front();
            (inner.takes, outcome.unwrap_or_else(|| goes_on(count)))
        });
        let child = self.open_child(&job.session, &job.directory, &job.goal);
        let cancelled = tokio::select! {
            () = cancel.cancelled() => true,
            () = tokio::time::sleep(takes) => false,
        };
        drop(child);
        if cancelled {
            self.with(|inner| inner.cancelled += 1);
            return AuditOutcome::Failed(AuditFailure::Connection);
        }
        outcome
    }

    async fn distill(&self, job: DistillJob) -> Distillation {
        let (takes, outcome) = self.with(|inner| {
            inner.distill_jobs.push(job.clone());
            let outcome = inner.distill_script.pop_front();
            let fails = Distillation::Failed(AuditFailure::Provider);
            (inner.takes, outcome.unwrap_or(fails))
        });
        let _child = self.open_child(&job.session, &job.directory, &job.goal);
        let ends = tokio::time::timeout(job.within, tokio::time::sleep(takes)).await;
        ends.map_or(Distillation::Failed(AuditFailure::Timeout), |()| outcome)
    }

    async fn resolve(&self, _: &str, _: Option<&Voice>) -> Result<Option<AuditorModel>, CallError> {
        Ok(self.with(|inner| inner.available).then(|| AuditorModel {
            model: judge_model(),
            source: "config",
        }))
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

/// Where notices arrive.
#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Vec<NoticeOut>>>);

impl Inbox {
    pub(crate) fn all(&self) -> Vec<NoticeOut> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Notices for Inbox {
    async fn deliver(&self, notice: &NoticeOut) -> Result<(), String> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(notice.clone());
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

impl Clock for WorldClock {
    fn wall(&self) -> Wall {
        Wall(self.base.load(Ordering::SeqCst) + millis(self.epoch.elapsed()))
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let drawn = self.drawn.fetch_add(1, Ordering::SeqCst);
        bytes[..8].copy_from_slice(&drawn.to_le_bytes());
        bytes
    }
}
