//! The single things that `doctor` looks at.

use std::time::Duration;

use goal_engine::audit::Whose;
use goal_engine::error::{Code, Error};
use goal_engine::host::CommandConnection;
use goal_engine::paths::DataDir;
use goal_engine::settings::{Reading, Source};
use goal_engine::store::Health;
use opencode_client::{FoundBy, is_too_old, version_min};
use serde_json::json;

use super::{Check, Program, State};
use crate::args::{Connection, Doctor};
use crate::failure::Failure;
use crate::output::has_advice;
use crate::verbs::auditor;
use crate::{connect, text, words};

/// A server whose clock is so much ahead of ours is worth a word: the age of goals is counted on
/// both.
const SKEW_MAX: Duration = Duration::from_secs(5);

/// Whether the server answers, and what it says to the password.
pub(super) fn server(
    connected: &Result<CommandConnection, Failure>,
    connection: &Connection,
) -> Vec<Check> {
    let failure = match connected {
        Ok(connected) => {
            let url = connected.server.url.trim_end_matches('/');
            let found = Check::new("server", State::Ok, say!("doctor.server.ok", url = url));
            return vec![found.facts(json!({ "url": url })), password_taken()];
        }
        Err(failure) => failure,
    };
    let message = text::one_line(&failure.message);
    let hint = words::of_code("hint", failure.code);
    let hint = if has_advice(&message, &hint) {
        String::new()
    } else {
        hint
    };
    if failure.code == Code::Unauthorized.name() {
        let url = connection.server.as_deref().unwrap_or_default();
        let url = text::one_line(url);
        return vec![
            Check::new("server", State::Ok, say!("doctor.server.ok", url = url)),
            Check::new("password", State::Fail, message).advice(hint),
        ];
    }
    vec![Check::new("server", State::Fail, message).advice(hint)]
}

pub(super) fn no_server() -> Check {
    Check::new("server", State::Warn, say!("doctor.server.none"))
        .advice(words::of_code("hint", "noServer"))
}

fn password_taken() -> Check {
    if connect::password_is_set() {
        return Check::new("password", State::Ok, say!("doctor.password.ok"));
    }
    Check::new("password", State::Warn, say!("doctor.password.open"))
        .advice(say!("doctor.password.open.advice"))
}

/// The password that a server started by `serve` would get.
pub(super) fn own_password() -> Check {
    let text = if connect::password_is_set() {
        say!("doctor.password.given")
    } else {
        say!("doctor.password.random")
    };
    Check::new("password", State::Ok, text)
}

pub(super) fn program(program: &Program, has_server: bool) -> Check {
    match &program.found {
        Ok(found) => {
            let by = match found.by {
                FoundBy::Setting => say!("doctor.program.setting"),
                FoundBy::Variable(variable) => variable.to_owned(),
                FoundBy::Path => "PATH".to_owned(),
                FoundBy::Folder => say!("doctor.program.folder"),
                FoundBy::LoginShell => say!("doctor.program.loginShell"),
            };
            let path = text::one_line(&found.path.display().to_string());
            let version = program.version.clone();
            let shown = version.clone().unwrap_or_default();
            let facts = json!({ "path": path, "programVersion": version });
            if shown.is_empty() {
                let text = say!("doctor.program.silent", path = path, by = by);
                let state = if has_server { State::Warn } else { State::Fail };
                return Check::new("program", state, text)
                    .advice(say!("doctor.program.install"))
                    .facts(facts);
            }
            let text = say!("doctor.program.ok", path = path, by = by, version = shown);
            Check::new("program", State::Ok, text).facts(facts)
        }
        // A server that runs elsewhere needs no program here.
        Err(_) if has_server => Check::new("program", State::Ok, say!("doctor.program.notNeeded")),
        Err(not_found) => Check::new("program", State::Fail, not_found.to_string())
            .advice(say!("doctor.program.install")),
    }
}

/// Whether OpenCode is new enough.
pub(super) fn version(version: &str) -> Check {
    let shown = text::one_line(version);
    let facts = json!({ "version": version });
    let least = version_min();
    let text = say!("doctor.version", version = shown, least = least);
    if is_too_old(version) {
        return Check::new("version", State::Fail, text)
            .advice(say!("doctor.program.install"))
            .facts(facts);
    }
    Check::new("version", State::Ok, text).facts(facts)
}

/// Which model would audit, and why that one.
pub(super) async fn auditor(args: &Doctor, connected: &CommandConnection) -> Check {
    let ports = &connected.ports;
    let directory = match auditor::folder(args.dir.as_deref(), ports) {
        Ok(directory) => directory,
        Err(failure) => return Check::new("auditor", State::Warn, failure.message),
    };
    let whose = Whose::Folder(directory);
    match connected.auditor.would_use(ports, &whose).await {
        Ok(chosen) => {
            let model = crate::json::model(&chosen.model);
            let source = words::of_code("auditor", chosen.source);
            let shown = text::one_line(&model);
            let text = say!("doctor.auditor.ok", model = shown, source = source);
            let facts = json!({ "model": model, "source": chosen.source });
            Check::new("auditor", State::Ok, text).facts(facts)
        }
        Err(error) => {
            let check = Check::new("auditor", State::Fail, text::one_line(error.message()));
            if error.code() == Code::NoAuditor {
                return check.advice(words::of_code("hint", error.code().name()));
            }
            check
        }
    }
}

pub(super) fn no_auditor() -> Check {
    Check::new("auditor", State::Warn, say!("doctor.auditor.unknown"))
}

pub(super) fn data_folder(data_dir: &DataDir, tried: Result<(), Error>) -> Check {
    let path = text::one_line(&data_dir.path().display().to_string());
    let facts = json!({ "path": path });
    let check = match tried {
        Ok(()) => Check::new(
            "dataFolder",
            State::Ok,
            say!("doctor.dataFolder", path = path),
        ),
        Err(error) => Check::new("dataFolder", State::Fail, text::one_line(error.message())),
    };
    check.facts(facts)
}

pub(super) fn database(health: Option<&Health>) -> Check {
    let Some(health) = health else {
        return Check::new("database", State::Fail, say!("error.shuttingDown"));
    };
    let state = match health {
        Health::Fine => return Check::new("database", State::Ok, say!("doctor.database.ok")),
        // The loop runs on without a journal.
        Health::PutAside { .. } | Health::ReadOnly { .. } => State::Warn,
        // Two processes would not notice each other.
        Health::MemoryOnly { .. } | _ => State::Fail,
    };
    Check::new("database", state, text::one_line(&health.to_string()))
}

pub(super) fn settings(reading: &Reading, complaint: Option<String>) -> Check {
    let facts = json!({ "sessionGoalEnabled": reading.settings.session_goal_enabled });
    let check = match (complaint, reading.source) {
        (Some(complaint), source) => {
            let complaint = text::one_line(&complaint);
            let used = match source {
                Source::File => say!("doctor.settings.asFarAs"),
                Source::LastRead | Source::LastGood => say!("doctor.settings.lastGood"),
                Source::Defaults => say!("doctor.settings.defaults"),
            };
            let text = say!("doctor.settings.odd", complaint = complaint, used = used);
            Check::new("settings", State::Warn, text).advice(say!("doctor.settings.repair"))
        }
        (None, _) if !reading.settings.session_goal_enabled => {
            let text = say!("doctor.settings.disabled");
            Check::new("settings", State::Warn, text).advice(say!("doctor.settings.enable"))
        }
        (None, Source::File) => Check::new("settings", State::Ok, say!("doctor.settings.ok")),
        (None, Source::LastRead | Source::LastGood | Source::Defaults) => {
            Check::new("settings", State::Ok, say!("doctor.settings.none"))
        }
    };
    check.facts(facts)
}

/// A server says its time only by the times of its sessions: one that changed in our future tells
/// that its clock is ahead.
pub(super) async fn clock(connected: &CommandConnection) -> Check {
    let sessions = &connected.ports.sessions;
    if sessions.is_local() {
        return Check::new("clock", State::Ok, say!("doctor.clock.same"));
    }
    let newest = match sessions.list(None, /*limit*/ 1).await {
        Ok(page) => page.items.iter().map(|read| read.updated).max(),
        Err(error) => {
            return Check::new("clock", State::Warn, text::one_line(&error.message));
        }
    };
    let ahead = newest.map(|newest| newest.since(crate::verbs::now()));
    match ahead {
        None => Check::new("clock", State::Ok, say!("doctor.clock.unknown")),
        Some(ahead) if ahead > SKEW_MAX => {
            let span = text::span(ahead);
            Check::new(
                "clock",
                State::Warn,
                say!("doctor.clock.ahead", span = span),
            )
            .advice(say!("doctor.clock.advice"))
        }
        Some(_) => Check::new("clock", State::Ok, say!("doctor.clock.ok")),
    }
}

pub(super) fn notifications() -> Check {
    Check::new("notifications", State::Ok, say!("doctor.notifications"))
}
