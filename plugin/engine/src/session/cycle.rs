//! A cycle: wake, observe, decide, audit, judge, act, and what each ends in.

use std::sync::Arc;

use goal_core::decide::decide;
use goal_core::decision::{Decision, PauseCause, Prompting, Unknown, Why};
use goal_core::evidence::Evidence;
use goal_core::goal::{Goal, Status};
use goal_core::judge::{AuditOutcome, Audited, judge};
use goal_core::memory::Sent;
use goal_core::notice;
use goal_core::prompt::Occasion;
use goal_core::snapshot::Snapshot;
use goal_core::watch::{Ended, Window};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::late::Late;
use super::{Actor, Audit, Done, Intent, Work};
use crate::act::{self, Acted, Step};
use crate::command;
use crate::ports::{AuditJob, SessionRead};
use crate::shared::Stance;
use crate::tell;
use crate::think::{self, Observed};
use crate::view::{Phase, detail_of};

impl Actor {
    /// A deadline passed: look at the session.
    pub(super) fn wake(&mut self) {
        if self.watch.expire(self.now()).is_none() {
            return;
        }
        self.live.begin();
        let shared = Arc::clone(&self.shared);
        let id = self.id.clone();
        let directory = self.read.directory.clone();
        let stale = self.memory.stale;
        self.show(&Stance::of(Phase::Checking));
        self.work = Work::Thinking(Box::pin(async move {
            let inherited = |goal: &Goal, read: &SessionRead| shared.is_inherited(goal, read);
            // Never closed: without an error there is a permit.
            let slot = Arc::clone(&shared.slots).acquire_owned().await.ok();
            let ports = &shared.ports;
            let observed = think::observe(ports, &id, Some(&directory), stale, &inherited).await;
            observed.under(slot)
        }));
    }

    pub(super) async fn on_observed(&mut self, observed: Observed) {
        match observed {
            Observed::Failed { what, message } => self.recheck(what, message).await,
            Observed::Gate { decision, session } => {
                if let Some(session) = session {
                    self.refresh(Arc::new(*session));
                }
                self.on_gate(decision).await;
            }
            Observed::Whole {
                reading,
                session,
                slot,
            } => {
                self.refresh(Arc::new(*session));
                let now = self.now();
                let snapshot = Snapshot::take(*reading, &mut self.memory, now);
                let decision = decide(&snapshot, &self.shared.ports.limits);
                let step = Step {
                    snapshot,
                    session: SessionRead::clone(&self.read),
                    audited: None,
                    _slot: slot,
                };
                self.conclude(decision, step).await;
            }
        }
    }

    async fn on_gate(&mut self, decision: Decision) {
        match decision {
            Decision::Rest(why) => self.rest(&why).await,
            Decision::Pause(cause) => self.pause_now(cause),
            Decision::Recheck(what) => self.recheck(what, String::new()).await,
            // The gates give none of these.
            Decision::Settle(_) | Decision::Audit | Decision::Continue(_) => {
                self.ended(Ended::Dropped);
            }
        }
    }

    /// Carries a decision out, or rests.
    async fn conclude(&mut self, decision: Decision, step: Step) {
        match &decision {
            Decision::Rest(why) => self.rest(why).await,
            Decision::Recheck(what) => self.recheck(*what, String::new()).await,
            Decision::Audit => self.audit(step).await,
            Decision::Pause(_) | Decision::Settle(_) | Decision::Continue(_) => {
                self.act(decision, step).await;
            }
        }
    }

    /// Rests for a reason, and looks again at the latest after the longest recheck (X9).
    async fn rest(&mut self, why: &Why) {
        let detail = json!({ "detail": detail_of(why) });
        self.journal("rest", why.code(), detail).await;
        match why {
            Why::Gone => {
                self.gone = true;
                self.shared.forget(&self.id);
                return;
            }
            Why::NotActive(_) | Why::NoGoal => self.ended(Ended::Stopped),
            Why::Disabled
            | Why::Inherited
            | Why::NeedsClick
            | Why::Busy
            | Why::ProviderRetries
            | Why::SubagentBusy(_)
            | Why::WaitingForYou(_)
            | Why::FirstMessageMissing { .. }
            | Why::Rewound
            | Why::ObjectiveMissing
            | Why::NoAssistantYet
            | Why::UserPending
            | Why::WithinGrace { .. }
            | Why::Patience { .. }
            | Why::Stalled => self.ended(Ended::Resting { until: why.until() }),
        }
        self.notice_wait(why);
        let next = self.watch.deadline();
        self.show(&Stance {
            phase: Phase::of_rest(why),
            why: why.code().to_owned(),
            detail: detail_of(why),
            next,
        });
    }

    async fn recheck(&mut self, what: Unknown, message: String) {
        self.journal("recheck", what.code(), json!({ "error": message }))
            .await;
        self.ended(Ended::Failed);
        let next = self.watch.deadline();
        self.show(&Stance {
            phase: Phase::Retrying,
            why: what.code().to_owned(),
            detail: message,
            next,
        });
    }

    /// One notice for each request or stall that needs the user (X15, X22).
    fn notice_wait(&self, why: &Why) {
        let Some(goal) = self.goal.clone() else {
            return;
        };
        let occasion = match why {
            Why::WaitingForYou(request) => request.id.clone(),
            Why::Stalled => goal.updated_at.0.to_string(),
            Why::Disabled
            | Why::Gone
            | Why::NoGoal
            | Why::Inherited
            | Why::NotActive(_)
            | Why::NeedsClick
            | Why::Busy
            | Why::ProviderRetries
            | Why::SubagentBusy(_)
            | Why::FirstMessageMissing { .. }
            | Why::Rewound
            | Why::ObjectiveMissing
            | Why::NoAssistantYet
            | Why::UserPending
            | Why::WithinGrace { .. }
            | Why::Patience { .. } => return,
        };
        let shared = Arc::clone(&self.shared);
        let read = Arc::clone(&self.read);
        let why = why.clone();
        self.shared.tasks.spawn(async move {
            let ports = &shared.ports;
            let objective = think::effective_objective(ports, &read.facts.id, &goal).await;
            let notice = notice::of_wait(&why, objective.as_deref().unwrap_or_default());
            let planned = match notice {
                Some(notice) => tell::plan_wait(ports, &read, &goal, &occasion, &notice).await,
                None => None,
            };
            if let Some(planned) = planned {
                shared.deliver(planned);
            }
        });
    }

    async fn audit(&mut self, step: Step) {
        let Some(voice) = step.snapshot.voice.clone() else {
            self.ended(Ended::Dropped);
            return;
        };
        self.journal("audit", "finished", json!({})).await;
        self.show(&Stance::of(Phase::Auditing));
        let job = AuditJob {
            session: self.id.clone(),
            directory: step.session.directory.clone(),
            goal: step.snapshot.goal.id.clone(),
            objective: step.snapshot.objective.clone().unwrap_or_default(),
            evidence: Evidence::collect(&step.snapshot.timeline),
            voice,
        };
        let cancel = CancellationToken::new();
        let auditor = Arc::clone(&self.shared.ports.auditor);
        let token = cancel.clone();
        let task = self
            .shared
            .tasks
            .spawn(async move { auditor.audit(job, token).await });
        self.work = Work::Auditing(Box::new(Audit {
            step,
            task,
            _cancel: cancel.drop_guard(),
        }));
    }

    pub(super) async fn on_audited(&mut self, outcome: AuditOutcome) {
        let work = std::mem::replace(&mut self.work, Work::Idle);
        let Work::Auditing(audit) = work else {
            return;
        };
        let mut step = audit.step;
        let goal = step.snapshot.goal.clone();
        let evidence = Evidence::collect(&step.snapshot.timeline);
        let limits = &self.shared.ports.limits;
        let (decision, audited) = judge(&goal, &evidence, &outcome, &mut self.memory, limits);
        self.tell_verdict(&goal, &outcome, &audited);
        step.audited = Some(audited);
        self.conclude(decision, step).await;
    }

    fn tell_verdict(&self, goal: &Goal, outcome: &AuditOutcome, audited: &Audited) {
        let (verdict, note) = match outcome {
            AuditOutcome::Verdict { verdict, .. } => (
                verdict.kind.as_str(),
                audited.note.clone().unwrap_or_default(),
            ),
            AuditOutcome::Failed(failure) => ("failed", failure.code().to_owned()),
        };
        self.shared.verdict(
            &self.id,
            &goal.id,
            verdict,
            note,
            audited.evaluation.clone(),
        );
    }

    async fn act(&mut self, decision: Decision, step: Step) {
        let (name, why) = name_of(&decision);
        self.journal(name, &why, json!({ "used": step.snapshot.ledger.used }))
            .await;
        if let Some(ids) = act::ids_of(&step.snapshot, &decision) {
            self.remember_sent(&decision, ids.message);
        }
        // A new continuation is shown once it is written and counted: by the echo of its write.
        if matches!(
            decision,
            Decision::Continue(Prompting::Finish | Prompting::Resend)
        ) {
            self.show_continuing();
        }
        let shared = Arc::clone(&self.shared);
        let live = Arc::clone(&self.live);
        self.work = Work::Acting(Box::pin(async move {
            let acted = act::act(&shared.ports, &live, step, decision).await;
            Done::Acted {
                acted: Box::new(acted),
                decision: name,
            }
        }));
    }

    /// Before the prompt goes out, so that whatever is heard of it is recognised.
    fn remember_sent(&mut self, decision: &Decision, message: goal_core::goal::MessageId) {
        self.wire.plan(&message);
        let before = self
            .memory
            .sent
            .take()
            .filter(|sent| sent.message == message);
        let again = matches!(decision, Decision::Continue(Prompting::Resend));
        let resends = before.map_or(0, |sent| sent.resends) + u32::from(again);
        self.memory.sent = Some(Sent {
            message,
            resends,
            busy_seen: false,
            stopped: false,
            stream_broke: false,
            error: None,
        });
        if let Decision::Continue(Prompting::New(Occasion::EmptyReply)) = decision {
            self.memory.nudges += 1;
        }
    }

    /// Pauses without reading messages first: somebody stopped the turn, or archived the session.
    pub(super) fn pause_now(&mut self, cause: PauseCause) {
        let Some(goal) = self.goal.clone() else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        let id = self.id.clone();
        let directory = self.read.directory.clone();
        self.live.begin();
        let live = Arc::clone(&self.live);
        self.work = Work::Acting(Box::pin(async move {
            let ports = &shared.ports;
            let acted = act::pause_at_once(ports, &live, &id, &directory, &goal, cause).await;
            shared
                .journal(&id, &goal, "pause", cause.code(), json!({}))
                .await;
            Done::Acted {
                acted: Box::new(acted),
                decision: "pause",
            }
        }));
    }

    pub(super) async fn on_done(&mut self, done: Done) {
        match done {
            Done::Acted { acted, decision } => {
                if decision == "continue" {
                    self.on_wire();
                }
                self.on_acted(*acted, decision).await;
            }
            Done::Asked(goal) => {
                self.ended(Ended::Dropped);
                if let Some(goal) = goal {
                    self.wrote(*goal);
                }
                self.show_timer();
            }
            Done::Aborted => {}
            Done::Looked(late) => self.on_looked(late),
        }
        let stop = std::mem::take(&mut self.stop_after_acting);
        let undo = std::mem::take(&mut self.undo_after_acting);
        if !self.is_active() {
            self.ended(Ended::Stopped);
        }
        if !matches!(self.work, Work::Idle) {
            return;
        }
        if undo {
            self.undo_reload();
        } else if !self.is_active() {
            if self.abort_due {
                self.abort_late();
            }
        } else if stop {
            self.pause_now(PauseCause::Aborted);
        } else if self.intents.is_empty() {
            self.abort_due = false;
        }
    }

    /// A step that meant to prompt has ended. Marking the goal complete stops nothing by itself, so
    /// the turn of a prompt that was on the wire then is to be stopped.
    fn on_wire(&mut self) {
        let may_arrive = self.live.may_arrive();
        let complete = |intent: &Intent| matches!(intent, Intent::Complete(_));
        self.abort_due |= may_arrive && self.intents.iter().any(complete);
        let now = self.now();
        if let Some(sent) = &self.memory.sent {
            self.wire.settle(&sent.message, may_arrive, now);
        }
    }

    fn on_looked(&mut self, late: Late) {
        let now = self.now();
        for prompt in late.prompts {
            self.wire.found(&prompt, now);
        }
        if late.running && !self.is_active() {
            self.abort_late();
        }
    }

    async fn on_acted(&mut self, acted: Acted, decision: &'static str) {
        match acted {
            Acted::Prompted { goal } => self.prompted(goal),
            Acted::Unconfirmed { goal } => self.unconfirmed(goal).await,
            Acted::Stopped { goal, notice } => {
                self.ended(Ended::Stopped);
                self.wrote(goal);
                if let Some(notice) = notice {
                    self.shared.deliver(notice);
                }
            }
            Acted::Dropped => {
                tracing::debug!(session = %self.id, decision, "dropped: something changed");
                self.ended(Ended::Dropped);
                self.show_timer();
            }
            Acted::Failed {
                what,
                message,
                notice,
            } => {
                self.planned.extend(notice);
                self.deliver_come_true();
                if self.is_active() {
                    self.recheck(what, message).await;
                } else {
                    // The write took effect; only its answer was lost.
                    self.ended(Ended::Stopped);
                    self.show_timer();
                }
            }
        }
    }

    fn prompted(&mut self, goal: Goal) {
        let now = self.now();
        self.memory.continued_at = Some(now);
        self.memory.unconfirmed = 0;
        self.memory.retry_stopped = false;
        self.memory.overflow_seen = false;
        self.ended(Ended::Prompted);
        let stopped_meanwhile = !self.is_active();
        if !stopped_meanwhile {
            self.wrote(goal);
            self.show(&Stance::of(Phase::Working));
            // A short turn may have ended while its prompt was still being confirmed.
            if !self.watch.busy() {
                self.show_timer();
            }
            return;
        }
        self.abort_late();
    }

    async fn unconfirmed(&mut self, goal: Goal) {
        self.memory.unconfirmed += 1;
        self.wrote(goal);
        if self.memory.unconfirmed >= self.shared.ports.limits.unconfirmed_max {
            self.memory.stalled = true;
            self.rest(&Why::Stalled).await;
        } else {
            self.recheck(Unknown::Prompt, String::new()).await;
        }
    }

    /// A prompt of ours arrived although the goal was stopped meanwhile: stop its turn (X8).
    pub(super) fn abort_late(&mut self) {
        self.abort_due = !matches!(self.work, Work::Idle);
        if self.abort_due {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let read = Arc::clone(&self.read);
        self.work = Work::Acting(Box::pin(async move {
            if let Err(error) = command::abort_family(&shared.ports, &read).await {
                tracing::warn!(session = %read.facts.id, error = error.message, "abort failed");
            }
            Done::Aborted
        }));
    }

    /// Ends the cycle under way, if there is one.
    pub(super) fn ended(&mut self, ended: Ended) {
        let now = self.now();
        self.watch.ended(ended, now, &self.shared.ports.limits);
    }

    /// Drops thinking or auditing; what acts is asked to stop before its next effect.
    pub(super) fn drop_cycle(&mut self) {
        match self.work {
            Work::Thinking(_) | Work::Auditing(_) => {
                self.work = Work::Idle;
                self.ended(Ended::Dropped);
            }
            Work::Acting(_) => self.live.halt(),
            Work::Idle => {}
        }
    }

    pub(super) fn show(&self, stance: &Stance) {
        if let Some(goal) = &self.goal {
            self.shared.show(&self.read, goal, stance);
        }
    }

    /// Shows that the continuation is on its way, for the reason that was journaled.
    pub(super) fn show_continuing(&self) {
        if let Some(("continue", why)) = &self.journaled {
            self.show(&Stance {
                why: why.clone(),
                ..Stance::of(Phase::Continuing)
            });
        }
    }

    /// Shows the goal from its status and the timer that runs.
    pub(super) fn show_timer(&self) {
        let Some(goal) = &self.goal else {
            self.shared.hide(&self.id);
            return;
        };
        if goal.status != Status::Active {
            self.show(&Stance {
                why: goal.status.name().to_owned(),
                ..Stance::of(Phase::Settled)
            });
            return;
        }
        if !matches!(self.work, Work::Idle) {
            return;
        }
        if self.watch.busy() {
            self.show(&Stance::of(Phase::Working));
            return;
        }
        if let Some((window, at)) = self.watch.window()
            && window != Window::Recheck
        {
            let phase = if window == Window::Retry {
                Phase::Retrying
            } else {
                Phase::Quiet
            };
            self.show(&Stance::of(phase).until(Some(at)));
        }
    }

    async fn journal(&mut self, decision: &'static str, why: &str, detail: serde_json::Value) {
        let entry = (decision, why.to_owned());
        let repeated = decision == "rest" && self.journaled.as_ref() == Some(&entry);
        self.journaled = Some(entry);
        if let Some(goal) = self.goal.clone().filter(|_| !repeated) {
            self.shared
                .journal(&self.id, &goal, decision, why, detail)
                .await;
        }
    }
}

/// A decision's kind and reason, as codes.
pub(crate) fn name_of(decision: &Decision) -> (&'static str, String) {
    match decision {
        Decision::Rest(why) => ("rest", why.code().to_owned()),
        Decision::Recheck(what) => ("recheck", what.code().to_owned()),
        Decision::Pause(cause) => ("pause", cause.code().to_owned()),
        Decision::Settle(settlement) => ("settle", settlement.code().to_owned()),
        Decision::Audit => ("audit", "finished".to_owned()),
        Decision::Continue(prompting) => ("continue", prompting.code().to_owned()),
    }
}
