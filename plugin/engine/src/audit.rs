//! The independent auditor, played by the OpenCode server itself (X4, X5); its model condenses
//! objectives that are too long, too (O10).
//!
//! ```text
//!   choose a model ─▶ make a child session ─▶ ask ─▶ verdict
//!         ▲                                    │ unreadable: ask once more
//!         └── pause ◀── connection trouble ────┘
//!   however it ends: the child is stopped and deleted, by a task of its own
//! ```
//!
//! One deadline bounds all of it, the pauses included. The log gets the structure of an audit,
//! never what was asked or answered (O22).

mod child;
mod errand;
mod model;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::evidence::Voice;
use goal_core::goal::{ModelRef, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::time::Wall;
use opencode_client::{Client, Kind};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::hex;
use crate::from_wire::call_error;
use crate::ports::{
    AuditJob, AuditMark, Auditor, AuditorModel, CallError, CallErrorKind, Clock, DistillJob,
    Distillation, SessionRead, Sessions,
};
use crate::settings::SettingsFile;
use crate::to_wire;

use self::child::{Child, Cleaner, Order};
use self::errand::{Desk, Errand, Place};
pub use self::trial::{Trial, Whose};

/// The agent that a managed server is given for audits.
pub const AUDIT_AGENT: &str = "goal-auditor";

/// How long behind its deadline a throw-away session is a left-over: its clean-up must have given
/// up, and the clocks of two machines may differ.
const LEFT_OVER_AFTER: Duration = Duration::from_mins(5);

/// Audits through an OpenCode server. Must be made inside a tokio runtime.
#[derive(Clone)]
pub struct ServerAuditor {
    client: Client,
    settings: Arc<SettingsFile>,
    limits: Limits,
    /// Marks this engine's audit sessions.
    owner: String,
    clock: Arc<dyn Clock>,
    cleaner: Cleaner,
}

impl ServerAuditor {
    /// An auditor on the server that `client` talks to. `owner` is random text of this engine; of
    /// `limits` it obeys `audit_timeout`, `audit_retry` and `evidence_max`; a distillation brings
    /// its own deadline.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(
        client: Client,
        settings: Arc<SettingsFile>,
        limits: Limits,
        owner: String,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            cleaner: Cleaner::new(client.clone()),
            client,
            settings,
            limits,
            owner,
            clock,
        }
    }

    /// Waits until the sessions of ended audits are deleted, at most `within`; whether all are.
    /// What is left then is swept by a later start (see [`sweep_left_overs`]).
    pub async fn finish(&self, within: Duration) -> bool {
        self.cleaner.finish(within).await
    }

    /// Asks until `until` at the latest, and again after connection trouble only, as long as there
    /// is time. Dropping it drops the throw-away session, and that cleans it up.
    async fn carry_out<E: Errand>(
        &self,
        errand: &E,
        until: Instant,
    ) -> Result<(E::Answer, ModelRef), AuditFailure> {
        tokio::time::timeout_at(until, self.tries(errand, until))
            .await
            .unwrap_or(Err(AuditFailure::Timeout))
    }

    async fn tries<E: Errand>(
        &self,
        errand: &E,
        until: Instant,
    ) -> Result<(E::Answer, ModelRef), AuditFailure> {
        let mut pauses = self.limits.audit_retry.into_iter();
        loop {
            match self.attempt(errand, until).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Final(why)) => return Err(why),
                Err(Failure::Passing) => match pauses.next() {
                    Some(pause) if Instant::now() + pause < until => {
                        tokio::time::sleep(pause).await;
                    }
                    _ => return Err(AuditFailure::Connection),
                },
            }
        }
    }

    async fn attempt<E: Errand>(
        &self,
        errand: &E,
        until: Instant,
    ) -> Result<(E::Answer, ModelRef), Failure> {
        let place = errand.place(self.limits.audit_timeout);
        let chosen = self.choose(place.directory, place.voice).await;
        let chosen = chosen.map_err(|error| Failure::of(&error))?;
        let model = chosen.ok_or(Failure::Final(AuditFailure::NoModel))?.model;
        let has_agent = self.has_agent(place.directory).await;
        let child = self.open_child(&place).await?;
        let desk = Desk {
            client: &self.client,
            child: &child,
            model: &model,
            has_agent,
            evidence_max: self.limits.evidence_max,
            until,
        };
        let answer = errand.run(&desk).await?;
        Ok((answer, model))
    }

    async fn open_child(&self, place: &Place<'_>) -> Result<Child, Failure> {
        let lifetime = place.within.saturating_add(LEFT_OVER_AFTER);
        let mark = AuditMark {
            owner: self.owner.clone(),
            goal: place.goal.clone(),
            until: self.clock.wall().after(lifetime),
        };
        let attempt = hex(self.clock.random());
        let metadata = to_wire::audit_metadata(&mark, &attempt);
        let order = Order {
            parent: place.session.clone(),
            directory: place.directory.to_owned(),
            title: place.title,
            metadata: metadata.map_err(|_| Failure::Final(AuditFailure::Connection))?,
            attempt,
        };
        self.cleaner.open(order).await
    }

    /// Whether the server has our agent; if it cannot tell, any agent will do.
    async fn has_agent(&self, directory: &str) -> bool {
        match self.client.agents(Some(directory)).await {
            Ok(agents) => agents.iter().any(|agent| agent.name == AUDIT_AGENT),
            Err(error) => {
                tracing::debug!(%error, "the agents could not be listed");
                false
            }
        }
    }

    /// The model of §3.1, or `None` if there is none.
    async fn choose(
        &self,
        directory: &str,
        voice: Option<&Voice>,
    ) -> Result<Option<AuditorModel>, opencode_client::Error> {
        let settings = self.settings.read().await.settings;
        let set = settings
            .small_model_override
            .filter(|_| !settings.small_model_use_default);
        let named = match model::named(set, model::SETTINGS) {
            Some(named) => Some(named),
            None => {
                let configured = self.client.small_model(Some(directory)).await?;
                model::named(configured, model::CONFIG)
            }
        };
        let providers = self.client.providers(Some(directory)).await;
        Ok(match (named, providers) {
            (Some(named), Ok(providers)) => model::offered(&named, Some(&providers)),
            (Some(named), Err(error)) => {
                tracing::debug!(%error, "the models could not be listed");
                model::offered(&named, None)
            }
            (None, providers) => {
                let speaker = voice.map(|voice| &voice.model);
                model::found(speaker, &providers?)
            }
        })
    }
}

#[async_trait]
impl Auditor for ServerAuditor {
    async fn audit(&self, job: AuditJob, cancel: CancellationToken) -> AuditOutcome {
        let begun = Instant::now();
        let until = begun + self.limits.audit_timeout;
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                tracing::debug!(session = %job.session, "audit cancelled");
                return AuditOutcome::Failed(AuditFailure::Timeout);
            }
            outcome = self.carry_out(&job, until) => outcome,
        };
        let outcome = match outcome {
            Ok((verdict, model)) => AuditOutcome::Verdict { verdict, model },
            Err(why) => AuditOutcome::Failed(why),
        };
        log_outcome(&job, &outcome, begun.elapsed());
        outcome
    }

    async fn distill(&self, job: DistillJob) -> Distillation {
        let begun = Instant::now();
        let outcome = self.carry_out(&job, begun + job.within).await;
        let (session, took) = (&job.session, begun.elapsed());
        match outcome {
            Ok((text, model)) => {
                tracing::info!(
                    %session,
                    provider = model.provider,
                    model = model.model,
                    input_bytes = job.objective.len(),
                    output_bytes = text.len(),
                    ?took,
                    "distillation"
                );
                Distillation::Said { text, model }
            }
            Err(why) => {
                log_failure("distillation", session, why, took);
                Distillation::Failed(why)
            }
        }
    }

    async fn resolve(
        &self,
        directory: &str,
        voice: Option<&Voice>,
    ) -> Result<Option<AuditorModel>, CallError> {
        match (self.choose(directory, voice).await, voice) {
            (Ok(chosen), _) => Ok(chosen),
            // What cannot be looked up at this moment is no reason to refuse a goal.
            (Err(error), Some(voice)) => {
                tracing::debug!(%error, "the audit model could not be looked up");
                Ok(model::speaker(&voice.model))
            }
            (Err(error), None) => Err(call_error(&error)),
        }
    }
}

/// Stops and deletes the audit sessions among `read` whose time has passed at `now`. Their own
/// engine failed to, and no longer will. Failures are logged: a later sweep tries again.
pub async fn sweep_left_overs(sessions: &dyn Sessions, read: &[SessionRead], now: Wall) {
    let left_over = |read: &&SessionRead| {
        let passed = read.audit.as_ref().is_some_and(|mark| mark.until < now);
        // Every audit is a child; whatever else carries a mark is somebody's conversation.
        passed && read.facts.parent.is_some()
    };
    for read in read.iter().filter(left_over) {
        let id = &read.facts.id;
        if let Err(error) = sessions.abort(id, &read.directory).await {
            tracing::debug!(session = %id, %error.message, "a left-over audit was not stopped");
        }
        match sessions.delete_audit(id, &read.directory).await {
            Ok(()) => tracing::info!(session = %id, "a left-over audit was deleted"),
            Err(error) if error.kind == CallErrorKind::Gone => {}
            Err(error) => {
                tracing::warn!(session = %id, %error.message, "a left-over audit stays");
            }
        }
    }
}

/// Why an attempt came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// Connection trouble: another attempt may get through.
    Passing,
    /// Another attempt would come to the same.
    Final(AuditFailure),
}

impl Failure {
    fn of(error: &opencode_client::Error) -> Self {
        match error.kind() {
            Kind::Unreachable | Kind::Timeout => Self::Passing,
            // A gateway in front of the server, or one that is starting.
            Kind::Server { status: 502..=504 } | Kind::Rejected { status: 408 | 429 } => {
                Self::Passing
            }
            Kind::Server { .. } | Kind::Rejected { .. } | Kind::NotFound => {
                Self::Final(AuditFailure::Provider)
            }
            Kind::Unauthorized
            | Kind::NotOpenCode
            | Kind::Malformed
            | Kind::TooLarge
            | Kind::TooOld { .. }
            | Kind::MalformedId
            | Kind::BadTarget => Self::Final(AuditFailure::Connection),
        }
    }
}

fn log_outcome(job: &AuditJob, outcome: &AuditOutcome, took: Duration) {
    let session = &job.session;
    match outcome {
        AuditOutcome::Verdict { verdict, model } => tracing::info!(
            %session,
            provider = model.provider,
            model = model.model,
            verdict = verdict.kind.as_str(),
            note_bytes = verdict.note.len(),
            ?took,
            "audit"
        ),
        AuditOutcome::Failed(why) => log_failure("audit", session, *why, took),
    }
}

fn log_failure(what: &str, session: &SessionId, why: AuditFailure, took: Duration) {
    let code = why.code();
    match why {
        // No model is a state that lasts, and the goal says so.
        AuditFailure::NoModel => tracing::debug!(%session, code, "{what} failed"),
        AuditFailure::Connection
        | AuditFailure::Timeout
        | AuditFailure::Provider
        | AuditFailure::Unparsable => tracing::warn!(%session, code, ?took, "{what} failed"),
    }
}
