//! What a throw-away session is asked: for a verdict, or for an objective's criteria.

use std::time::Duration;

use goal_core::evidence::Voice;
use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::judge::AuditFailure;
use goal_core::message::ErrorKind;
use goal_core::prompt::{self, ToolLine};
use goal_core::script_guard;
use goal_core::verdict::{self, Verdict};
use opencode_client::{Client, Kind, Message, Part, Prompt, PromptPart, PromptText};
use tokio::time::Instant;

use super::child::Child;
use super::{AUDIT_AGENT, Failure};
use crate::from_wire::error_kind;
use crate::ports::{AuditJob, DistillJob};
use crate::to_wire;

/// The finish of a reply that was cut off at the model's limit.
const CUT_OFF: &str = "length";

/// Whom and what a throw-away session is for.
pub(super) struct Place<'a> {
    pub(super) session: &'a SessionId,
    pub(super) directory: &'a str,
    pub(super) goal: &'a GoalId,
    pub(super) voice: Option<&'a Voice>,
    /// Its title. With one, OpenCode asks no model for another.
    pub(super) title: &'static str,
    /// How long it is needed at most.
    pub(super) within: Duration,
}

/// Something to ask in a throw-away session.
pub(super) trait Errand: Sync {
    /// What is brought back.
    type Answer: Send;

    /// Where it is asked; an audit may take `audit_timeout`.
    fn place(&self, audit_timeout: Duration) -> Place<'_>;

    /// Asks.
    fn run(&self, desk: &Desk<'_>) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

impl Errand for AuditJob {
    type Answer = Verdict;

    fn place(&self, audit_timeout: Duration) -> Place<'_> {
        Place {
            session: &self.session,
            directory: &self.directory,
            goal: &self.goal,
            voice: Some(&self.voice),
            title: "Goal audit",
            within: audit_timeout,
        }
    }

    /// Asks for the verdict, once more if the first reply is none.
    async fn run(&self, desk: &Desk<'_>) -> Result<Verdict, Failure> {
        let evidence = prompt::clip_evidence(&self.evidence.text, desk.evidence_max);
        let tools: Vec<ToolLine> = self.evidence.tools.iter().map(ToolLine::from).collect();
        let request = prompt::audit_request(&self.objective, &evidence, &tools);
        let verdict = match desk.verdict(request).await? {
            Some(verdict) => verdict,
            None => desk
                .verdict(prompt::audit_again().to_owned())
                .await?
                .ok_or(Failure::Final(AuditFailure::Unparsable))?,
        };
        // A note that drifted into a foreign script is dropped (O21).
        let shown = [self.objective.as_str(), self.evidence.text.as_str()];
        let note = script_guard::guard(&verdict.note, &shown).to_owned();
        Ok(Verdict { note, ..verdict })
    }
}

impl Errand for DistillJob {
    type Answer = String;

    fn place(&self, _: Duration) -> Place<'_> {
        Place {
            session: &self.session,
            directory: &self.directory,
            goal: &self.goal,
            voice: self.voice.as_ref(),
            title: "Goal criteria",
            within: self.within,
        }
    }

    /// Asks once. A reply that was cut off is none: criteria that are missing in it would never be
    /// asked for.
    async fn run(&self, desk: &Desk<'_>) -> Result<String, Failure> {
        let request = prompt::distill_request(&self.objective);
        // The agent of audits would be told to answer with a verdict.
        let reply = desk
            .ask(request, Role::System(prompt::distill_system()))
            .await?;
        if reply.info.finish.as_deref() == Some(CUT_OFF) {
            return Err(Failure::Final(AuditFailure::Unparsable));
        }
        Ok(spoken(&reply.parts).0)
    }
}

/// Where an errand takes place.
pub(super) struct Desk<'a> {
    pub(super) client: &'a Client,
    pub(super) child: &'a Child,
    pub(super) model: &'a ModelRef,
    pub(super) has_agent: bool,
    pub(super) evidence_max: usize,
    pub(super) until: Instant,
}

/// What the model is told to be.
enum Role {
    /// An agent of the server's.
    Agent(&'static str),
    /// This, beside what the server's default agent is told.
    System(&'static str),
}

impl Desk<'_> {
    /// The verdict in the reply to `text`; `None` if the reply holds none.
    async fn verdict(&self, text: String) -> Result<Option<Verdict>, Failure> {
        let role = if self.has_agent {
            Role::Agent(AUDIT_AGENT)
        } else {
            Role::System(prompt::audit_system())
        };
        let reply = self.ask(text, role).await?;
        let (text, reasoning) = spoken(&reply.parts);
        Ok(verdict::parse(&text, &reasoning)
            .inspect_err(|unparsable| {
                let session = self.child.id();
                let code = unparsable.code();
                tracing::debug!(session, output_bytes = text.len(), code, "no verdict");
            })
            .ok())
    }

    /// The reply to `text`.
    async fn ask(&self, text: String, role: Role) -> Result<Message, Failure> {
        let (agent, system) = match role {
            Role::Agent(name) => (Some(name.to_owned()), None),
            Role::System(text) => (None, Some(text.to_owned())),
        };
        let prompt = Prompt {
            model: Some(to_wire::model(self.model)),
            agent,
            system,
            parts: vec![PromptPart::Text(PromptText {
                text,
                ..PromptText::default()
            })],
            ..Prompt::default()
        };
        let left = self.until.saturating_duration_since(Instant::now());
        let directory = Some(self.child.directory());
        let reply = self
            .client
            .prompt(self.child.id(), directory, &prompt, left)
            .await
            .map_err(|error| {
                tracing::debug!(session = self.child.id(), %error, "the model was not reached");
                if *error.kind() == Kind::Timeout {
                    // The call had all the time that there is.
                    return Failure::Final(AuditFailure::Timeout);
                }
                Failure::of(&error)
            })?;
        let Some(error) = &reply.info.error else {
            return Ok(reply);
        };
        let (session, name) = (self.child.id(), &error.name);
        tracing::debug!(session, name, "the model failed");
        Err(match error_kind(name) {
            // Nobody stops an audit but a server that reloads its configuration.
            ErrorKind::Aborted => Failure::Passing,
            ErrorKind::OutputLength | ErrorKind::ContextOverflow | ErrorKind::Failure => {
                Failure::Final(AuditFailure::Provider)
            }
        })
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
