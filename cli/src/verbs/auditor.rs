//! `auditor test`: asks the auditor once, as a goal would.

use std::path::Path;

use goal_core::judge::{AuditFailure, AuditOutcome};
use goal_core::limits::Limits;
use goal_core::verdict::VerdictKind;
use goal_engine::audit::{Trial, Whose};
use goal_engine::ports::Ports;
use serde_json::json;

use crate::args::{AuditorTest, Connection};
use crate::connect;
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::signals::Signals;
use crate::{args, json, text, words};

/// Asks the auditor of a session, or of a folder, about something that is done.
pub(crate) async fn test(
    args: &AuditorTest,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let named = args.session.as_deref().map(args::session).transpose()?;
    let mut signals = Signals::listen().map_err(|error| Failure::system(&error))?;
    let connected = connect::for_command(connection, &Limits::DEFAULT).await?;
    let (ports, auditor) = (connected.ports, connected.auditor);
    let whose = match named {
        Some(session) => Whose::Session(session),
        None => Whose::Folder(folder(args.dir.as_deref(), &ports)?),
    };
    let tried = tokio::select! {
        tried = auditor.try_out(&ports, &whose) => Some(tried),
        () = signals.next() => None,
    };
    super::audits_end(&auditor, output).await;
    match tried {
        Some(trial) => tell(&trial?, output),
        None => Ok(Exit::Interrupted),
    }
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

fn tell(trial: &Trial, output: &mut Output) -> Result<Exit, Stop> {
    let took_ms = goal_core::time::millis(trial.took);
    let by = json::model(&trial.auditor.model);
    let source = words::of_code("auditor", trial.auditor.source);
    let mut fields = json!({
        "model": by,
        "source": trial.auditor.source,
        "latencyMs": took_ms,
    });
    let mut lines = vec![say!(
        "test.asked",
        model = text::one_line(&by),
        source = source
    )];
    let seconds = format!("{}.{}", took_ms / 1_000, took_ms % 1_000 / 100);
    match &trial.outcome {
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
