//! `auditor test`: asks the auditor once, as a goal would.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use goal_core::evidence::{Evidence, Voice};
use goal_core::goal::{GoalId, SessionId};
use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::message::ToolUse;
use goal_core::timeline::Timeline;
use goal_core::verdict::VerdictKind;
use goal_engine::audit::ServerAuditor;
use goal_engine::command::call_error;
use goal_engine::error::Code;
use goal_engine::ports::{AuditJob, AuditorModel, Ports};
use opencode_client::{Client, NewSession, PermissionRule};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::{AuditorTest, Connection};
use crate::connect;
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::signals::Signals;
use crate::{args, json, text, words};

/// What the auditor is asked about: any auditor finds it reached.
const OBJECTIVE: &str = "The file hello.txt contains the word hello.";

/// The evidence that it is.
const EVIDENCE: &str = "I wrote hello.txt. `cat hello.txt` printed: hello. Nothing remains.";

/// The goal that its audit session is marked with.
const GOAL: &str = "auditor-test";

/// The title of a throw-away session.
const TITLE: &str = "Auditor test";

/// Pauses before the tries to delete the throw-away session.
const DELETE_PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_secs(2),
];

/// Asks the auditor of a session, or of a folder, about something that is done.
pub(crate) async fn test(
    args: &AuditorTest,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let named = args.session.as_deref().map(args::session).transpose()?;
    let limits = Limits::DEFAULT;
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    let connected = connect::for_command(connection, &limits).await?;
    let (ports, auditor) = (connected.ports, connected.auditor);
    let place = match &named {
        Some(session) => Place::of_session(&ports, session).await?,
        None => Place::of_folder(folder(args.dir.as_deref(), &ports)?),
    };
    let Some((voice, chosen)) = would_use(&ports, &place.directory, place.voice).await? else {
        return Err(Failure::of(Code::NoAuditor, say!("error.noAuditor")).into());
    };
    let throw_away = match named {
        Some(_) => None,
        None => Some(ThrowAway::make(connection, &place.directory, &limits).await?),
    };
    let parent = throw_away.as_ref().map(|made| made.id.clone());
    let session = named.or(parent.map(SessionId::new));
    let job = AuditJob {
        session: session.unwrap_or_else(|| SessionId::new("")),
        directory: place.directory,
        goal: GoalId::new(GOAL),
        objective: OBJECTIVE.to_owned(),
        evidence: evidence(),
        voice,
    };
    let begun = Instant::now();
    let outcome = ask(&ports, &auditor, job, &mut signals, output).await;
    let took = begun.elapsed();
    if let Some(throw_away) = throw_away {
        throw_away.delete(output).await;
    }
    match outcome {
        Some(outcome) => tell(&outcome, &chosen, took, output),
        None => Ok(Exit::Interrupted),
    }
}

/// The model that would audit a session which speaks with `voice`, and the voice; for none, that
/// of an empty session. `None`: there is no model.
///
/// # Errors
/// What the engine says of a server that cannot be asked.
pub(super) async fn would_use(
    ports: &Ports,
    directory: &str,
    voice: Option<Voice>,
) -> Result<Option<(Voice, AuditorModel)>, Failure> {
    let resolve = async |voice: Option<&Voice>| {
        let resolved = ports.auditor.resolve(directory, voice).await;
        resolved.map_err(|error| Failure::from(call_error(error)))
    };
    let voice = match voice {
        Some(voice) => voice,
        // The agent of an empty session will speak with the default model.
        None => match resolve(None).await? {
            Some(default) => Voice {
                model: default.model,
                agent: None,
                variant: None,
            },
            None => return Ok(None),
        },
    };
    let chosen = resolve(Some(&voice)).await?;
    Ok(chosen.map(|chosen| (voice, chosen)))
}

/// The folder that was named, else the current one, which only a server on this machine has, too.
///
/// # Errors
/// `usage` if none was named and the server is elsewhere.
pub(super) fn folder(named: Option<&Path>, ports: &Ports) -> Result<String, Failure> {
    let folder = match named {
        Some(named) => std::path::absolute(named),
        None if ports.sessions.is_local() => std::env::current_dir(),
        None => return Err(Failure::usage(say!("error.remoteFolder"))),
    };
    let folder = folder.map_err(|error| Failure::system(&error))?;
    folder
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::usage(say!("error.folderUtf8")))
}

/// Where the auditor is asked.
struct Place {
    directory: String,
    voice: Option<Voice>,
}

impl Place {
    async fn of_session(ports: &Ports, session: &SessionId) -> Result<Self, Failure> {
        let read = ports.sessions.session(session, None).await;
        let read = read.map_err(|error| Failure::from(call_error(error)))?;
        let messages =
            ports
                .sessions
                .messages(session, &read.directory, None, ports.limits.page_messages);
        let page = messages
            .await
            .map_err(|error| Failure::from(call_error(error)))?;
        let timeline = Timeline::new(page.items, read.facts.revert.as_ref());
        Ok(Self {
            directory: read.directory,
            voice: Voice::of(&timeline),
        })
    }

    fn of_folder(directory: String) -> Self {
        Self {
            directory,
            voice: None,
        }
    }
}

/// A session that an audit can be a child of. Nothing is ever sent to it.
struct ThrowAway {
    client: Client,
    id: String,
    directory: String,
}

impl ThrowAway {
    async fn make(
        connection: &Connection,
        directory: &str,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let client = connect::client(connection, limits)?;
        let session = NewSession {
            title: Some(TITLE.to_owned()),
            permission: vec![PermissionRule::deny_all()],
            ..NewSession::default()
        };
        let made = client.create_session(Some(directory), &session).await;
        let made = made.map_err(|error| {
            let advice = if error.maybe_sent() {
                say!("error.throwAwayLeft", title = TITLE)
            } else {
                String::new()
            };
            Failure::of(Code::Server, format!("{error}{advice}"))
        })?;
        Ok(Self {
            client,
            id: made.id,
            directory: directory.to_owned(),
        })
    }

    async fn delete(self, output: &mut Output) {
        for pause in DELETE_PAUSES {
            tokio::time::sleep(pause).await;
            let deleted = self.client.delete_session(&self.id, Some(&self.directory));
            match deleted.await {
                Ok(()) => return,
                Err(error) if *error.kind() == opencode_client::Kind::NotFound => return,
                Err(error) => tracing::debug!(session = self.id, %error, "not deleted"),
            }
        }
        output.remark(&say!("test.left", session = self.id));
    }
}

/// Asks, and has the audit's session deleted whatever happens. `None`: a signal came.
async fn ask(
    ports: &Ports,
    auditor: &Arc<ServerAuditor>,
    job: AuditJob,
    signals: &mut Signals,
    output: &mut Output,
) -> Option<AuditOutcome> {
    let cancel = CancellationToken::new();
    let audit = ports.auditor.audit(job, cancel.clone());
    tokio::pin!(audit);
    let outcome = tokio::select! {
        outcome = &mut audit => Some(outcome),
        () = signals.next() => {
            cancel.cancel();
            audit.await;
            None
        }
    };
    super::audits_end(auditor, output).await;
    outcome
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

fn tell(
    outcome: &AuditOutcome,
    chosen: &AuditorModel,
    took: Duration,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let took_ms = goal_core::time::millis(took);
    let by = json::model(&chosen.model);
    let source = words::of_code("auditor", chosen.source);
    let mut fields = json!({
        "model": by,
        "source": chosen.source,
        "latencyMs": took_ms,
    });
    let mut lines = vec![say!(
        "test.asked",
        model = text::one_line(&by),
        source = source
    )];
    let seconds = format!("{}.{}", took_ms / 1_000, took_ms % 1_000 / 100);
    match outcome {
        AuditOutcome::Verdict { verdict, .. } => {
            let kind = verdict.kind.as_str();
            let more = json!({ "status": "ok", "verdict": kind, "note": verdict.note });
            super::extend(&mut fields, more);
            let word = words::of_code("verdict", kind);
            let note = text::one_line(&verdict.note);
            let facts = crate::render::joined([word, note]);
            lines.push(say!("test.answered", seconds = seconds, facts = facts));
            if verdict.kind != VerdictKind::Complete {
                lines.push(say!("test.odd"));
            }
            output.result(&fields, || lines)?;
            Ok(Exit::Fine)
        }
        AuditOutcome::Failed(why) => {
            super::extend(&mut fields, json!({ "reason": why.code() }));
            output.lines(&lines)?;
            let reason = words::of_code("auditFailure", why.code());
            let advice = advice(*why);
            let message = say!(
                "error.auditFailed.why",
                reason = reason,
                seconds = seconds,
                advice = advice
            );
            Err(Failure::found("auditFailed", message, fields).into())
        }
    }
}

fn advice(why: AuditFailure) -> String {
    match why {
        AuditFailure::NoModel | AuditFailure::Unparsable => say!("test.advice.model"),
        AuditFailure::Provider => say!("test.advice.provider"),
        AuditFailure::Connection | AuditFailure::Timeout => say!("test.advice.connection"),
    }
}
