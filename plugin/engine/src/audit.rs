//! The independent auditor, played by the OpenCode server itself (X4, X5).
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
mod model;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::evidence::Voice;
use goal_core::goal::ModelRef;
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::prompt::{self, ToolLine};
use goal_core::script_guard;
use goal_core::time::Wall;
use goal_core::verdict::{self, Verdict};
use opencode_client::{Client, Kind, Part, Prompt, PromptPart};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::hex;
use crate::from_wire::{call_error, error_kind};
use crate::ports::{
    AuditJob, AuditMark, Auditor, AuditorModel, CallError, CallErrorKind, Clock, SessionRead,
    Sessions,
};
use crate::settings::SettingsFile;
use crate::to_wire;

use self::child::{Child, Cleaner, Order};
pub use self::trial::{Place, Trial};

/// The agent that a managed server is given for audits.
pub const AUDIT_AGENT: &str = "goal-auditor";

/// How long behind its deadline an audit session is a left-over: its own clean-up must have given
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
    /// `limits` it obeys `audit_timeout`, `audit_retry` and `evidence_max`.
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

    /// Tries, and tries again after connection trouble only, as long as there is time.
    async fn tries(&self, job: &AuditJob, until: Instant) -> AuditOutcome {
        let mut pauses = self.limits.audit_retry.into_iter();
        loop {
            let failure = match self.attempt(job, until).await {
                Ok(outcome) => return outcome,
                Err(failure) => failure,
            };
            match failure {
                Failure::Final(why) => return AuditOutcome::Failed(why),
                Failure::Passing => match pauses.next() {
                    Some(pause) if Instant::now() + pause < until => {
                        tokio::time::sleep(pause).await;
                    }
                    _ => return AuditOutcome::Failed(AuditFailure::Connection),
                },
            }
        }
    }

    async fn attempt(&self, job: &AuditJob, until: Instant) -> Result<AuditOutcome, Failure> {
        let chosen = self.choose(&job.directory, Some(&job.voice)).await;
        let chosen = chosen.map_err(|error| Failure::of(&error))?;
        let model = chosen.ok_or(Failure::Final(AuditFailure::NoModel))?.model;
        let has_agent = self.has_agent(&job.directory).await;
        let child = self.open_child(job).await?;
        let desk = Desk {
            client: &self.client,
            child: &child,
            model: &model,
            has_agent,
            until,
        };
        let verdict = desk.question(job, self.limits.evidence_max).await?;
        Ok(AuditOutcome::Verdict {
            verdict: guarded(verdict, job),
            model,
        })
    }

    async fn open_child(&self, job: &AuditJob) -> Result<Child, Failure> {
        let lifetime = self.limits.audit_timeout.saturating_add(LEFT_OVER_AFTER);
        let mark = AuditMark {
            owner: self.owner.clone(),
            goal: job.goal.clone(),
            until: self.clock.wall().after(lifetime),
        };
        let attempt = hex(self.clock.random());
        let metadata = to_wire::audit_metadata(&mark, &attempt);
        let order = Order {
            parent: job.session.clone(),
            directory: job.directory.clone(),
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
        let timeout = AuditOutcome::Failed(AuditFailure::Timeout);
        // Dropping the tries drops the child session, and that cleans it up.
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                tracing::debug!(session = %job.session, "audit cancelled");
                return timeout;
            }
            outcome = tokio::time::timeout_at(until, self.tries(&job, until)) => {
                outcome.unwrap_or(timeout)
            }
        };
        log_outcome(&job, &outcome, begun.elapsed());
        outcome
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

/// Where one audit takes place.
struct Desk<'a> {
    client: &'a Client,
    child: &'a Child,
    model: &'a ModelRef,
    has_agent: bool,
    until: Instant,
}

impl Desk<'_> {
    /// Asks for the verdict, once more if the first reply is none.
    async fn question(&self, job: &AuditJob, evidence_max: usize) -> Result<Verdict, Failure> {
        let evidence = prompt::clip_evidence(&job.evidence.text, evidence_max);
        let tools: Vec<ToolLine> = job.evidence.tools.iter().map(ToolLine::from).collect();
        let request = prompt::audit_request(&job.objective, &evidence, &tools);
        if let Some(verdict) = self.ask(request).await? {
            return Ok(verdict);
        }
        self.ask(prompt::audit_again().to_owned())
            .await?
            .ok_or(Failure::Final(AuditFailure::Unparsable))
    }

    /// The verdict in the reply to `text`; `None` if the reply holds none.
    async fn ask(&self, text: String) -> Result<Option<Verdict>, Failure> {
        let prompt = Prompt {
            model: Some(to_wire::model(self.model)),
            agent: self.has_agent.then(|| AUDIT_AGENT.to_owned()),
            system: (!self.has_agent).then(|| prompt::audit_system().to_owned()),
            parts: vec![PromptPart {
                text,
                ..PromptPart::default()
            }],
            ..Prompt::default()
        };
        let left = self.until.saturating_duration_since(Instant::now());
        let directory = Some(self.child.directory());
        let reply = self
            .client
            .prompt(self.child.id(), directory, &prompt, left)
            .await
            .map_err(|error| {
                tracing::debug!(session = self.child.id(), %error, "the auditor was not reached");
                if *error.kind() == Kind::Timeout {
                    // The call had all the time that the audit has.
                    return Failure::Final(AuditFailure::Timeout);
                }
                Failure::of(&error)
            })?;
        if let Some(error) = reply.info.error {
            tracing::debug!(
                session = self.child.id(),
                name = error.name,
                "the auditor failed"
            );
            return Err(match error_kind(&error.name) {
                // Nobody stops an audit but a server that reloads its configuration.
                goal_core::message::ErrorKind::Aborted => Failure::Passing,
                goal_core::message::ErrorKind::OutputLength
                | goal_core::message::ErrorKind::ContextOverflow
                | goal_core::message::ErrorKind::Failure => Failure::Final(AuditFailure::Provider),
            });
        }
        let (text, reasoning) = spoken(&reply.parts);
        verdict::parse(&text, &reasoning).map_or_else(
            |unparsable| {
                let session = self.child.id();
                let code = unparsable.code();
                tracing::debug!(session, output_bytes = text.len(), code, "no verdict");
                Ok(None)
            },
            |verdict| Ok(Some(verdict)),
        )
    }
}

/// What a reply says, and what it thought.
fn spoken(parts: &[Part]) -> (String, String) {
    let mut said = Vec::new();
    let mut thought = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) if !text.synthetic => said.push(text.text.as_str()),
            Part::Reasoning { text } => thought.push(text.as_str()),
            Part::Text(_)
            | Part::Tool(_)
            | Part::StepStart
            | Part::StepFinish { .. }
            | Part::Compaction { .. }
            | Part::File
            | Part::Subtask
            | Part::Other { .. } => {}
        }
    }
    (said.join("\n"), thought.join("\n"))
}

/// Drops a note that drifted into a foreign script (O21).
fn guarded(verdict: Verdict, job: &AuditJob) -> Verdict {
    let note = script_guard::guard(&verdict.note, &[&job.objective, &job.evidence.text]).to_owned();
    Verdict { note, ..verdict }
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
        // No model is a state that lasts, and the goal says so.
        AuditOutcome::Failed(AuditFailure::NoModel) => tracing::debug!(%session, "no audit model"),
        AuditOutcome::Failed(why) => {
            tracing::warn!(%session, code = why.code(), ?took, "audit failed");
        }
    }
}
