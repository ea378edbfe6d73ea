//! Asking the auditor once about something that is done, to see whether it can judge at all.

use std::time::{Duration, Instant};

use goal_core::evidence::{Evidence, Voice};
use goal_core::goal::{GoalId, SessionId};
use goal_core::judge::AuditOutcome;
use goal_core::message::ToolUse;
use goal_core::timeline::Timeline;
use tokio_util::sync::CancellationToken;

use super::ServerAuditor;
use super::child::TRIAL_TITLE;
use crate::command::call_error;
use crate::error::{Code, Error};
use crate::from_wire;
use crate::ports::{AuditJob, Auditor, AuditorModel, Ports};

/// What the auditor is asked about: any auditor finds it reached.
const OBJECTIVE: &str = "The file hello.txt contains the word hello.";

/// The evidence that it is.
const EVIDENCE: &str = "I wrote hello.txt. `cat hello.txt` printed: hello. Nothing remains.";

/// The goal that its audit session is marked with.
const GOAL: &str = "auditor-test";

/// Whose auditor is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of a session.
    Session(SessionId),
    /// That of an empty session of a folder.
    Folder(String),
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The model that was to be asked.
    pub auditor: AuditorModel,
    /// What came of it; a fit auditor says `complete`.
    pub outcome: AuditOutcome,
    /// How long it took.
    pub took: Duration,
}

impl ServerAuditor {
    /// The model an audit at `place` would use. No model is asked.
    ///
    /// # Errors
    /// [`Code::NoAuditor`], [`Code::UnknownSession`], and the codes of a failed call.
    pub async fn would_use(&self, ports: &Ports, place: &Whose) -> Result<AuditorModel, Error> {
        let scene = scene(ports, place).await?;
        Ok(self.voice_and_model(scene).await?.2)
    }

    /// Asks the auditor of `place` about something that is done. The sessions it takes are
    /// deleted however this ends, also when it is dropped: [`ServerAuditor::finish`] waits for it.
    ///
    /// # Errors
    /// Those of [`ServerAuditor::would_use`]; an auditor that cannot judge is no error.
    pub async fn try_out(&self, ports: &Ports, place: &Whose) -> Result<Trial, Error> {
        let scene = scene(ports, place).await?;
        let (directory, voice, auditor) = self.voice_and_model(scene).await?;
        let parent = match place {
            Whose::Session(_) => None,
            Whose::Folder(_) => Some(
                self.cleaner
                    .open_alone(&directory)
                    .await
                    .map_err(not_made)?,
            ),
        };
        let session = match (place, &parent) {
            (Whose::Session(session), _) => session.clone(),
            (Whose::Folder(_), parent) => {
                SessionId::new(parent.as_ref().map_or("", |made| made.id()))
            }
        };
        let job = AuditJob {
            session,
            directory,
            goal: GoalId::new(GOAL),
            objective: OBJECTIVE.to_owned(),
            evidence: evidence(),
            voice,
        };
        let begun = Instant::now();
        let outcome = self.audit(job, CancellationToken::new()).await;
        drop(parent);
        Ok(Trial {
            auditor,
            outcome,
            took: begun.elapsed(),
        })
    }

    async fn voice_and_model(
        &self,
        (directory, voice): (String, Option<Voice>),
    ) -> Result<(String, Voice, AuditorModel), Error> {
        let voice = match voice {
            Some(voice) => voice,
            // The agent of an empty session will speak with the default model.
            None => Voice {
                model: self.chosen(&directory, None).await?.model,
                agent: None,
                variant: None,
            },
        };
        let auditor = self.chosen(&directory, Some(&voice)).await?;
        Ok((directory, voice, auditor))
    }

    async fn chosen(&self, directory: &str, voice: Option<&Voice>) -> Result<AuditorModel, Error> {
        let chosen = self.resolve(directory, voice).await.map_err(call_error)?;
        chosen.ok_or_else(|| {
            Error::new(
                Code::NoAuditor,
                "No model can be found for the audit. Choose one in the settings, or set \
                 small_model in the OpenCode configuration.",
            )
        })
    }
}

fn not_made(error: Option<opencode_client::Error>) -> Error {
    match error {
        // It has no mark by which it could be found again.
        Some(error) if error.maybe_sent() => {
            let error = call_error(from_wire::call_error(&error));
            let left = format!(
                "{} A session named {TRIAL_TITLE:?} may be left: delete it in OpenCode.",
                error.message()
            );
            Error::new(error.code(), left)
        }
        Some(error) => call_error(from_wire::call_error(&error)),
        None => Error::new(
            Code::ShuttingDown,
            "The program is ending; nothing was asked.",
        ),
    }
}

/// The folder, and who speaks there.
async fn scene(ports: &Ports, place: &Whose) -> Result<(String, Option<Voice>), Error> {
    let session = match place {
        Whose::Session(session) => session,
        Whose::Folder(folder) => return Ok((folder.clone(), None)),
    };
    let read = ports.sessions.session(session, None).await;
    let read = read.map_err(call_error)?;
    let page = ports
        .sessions
        .messages(session, &read.directory, None, ports.limits.page_messages)
        .await
        .map_err(call_error)?;
    let timeline = Timeline::new(page.items, read.facts.revert.as_ref());
    Ok((read.directory, Voice::of(&timeline)))
}

fn evidence() -> Evidence {
    Evidence {
        text: EVIDENCE.to_owned(),
        tools: vec![ToolUse {
            tool: "bash".to_owned(),
            title: "cat hello.txt".to_owned(),
            status: "completed".to_owned(),
            exit: Some(0),
            declined: false,
            child: None,
        }],
    }
}
