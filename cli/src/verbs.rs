//! What the verbs do. Each is a question to the engine and a way to show the answer.

mod auditor;
mod change;
mod doctor;
mod end;
mod look;
mod manual;
mod schedule;
mod serve;
mod session;
mod watch;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use goal_core::time::{Wall, millis};
use goal_engine::audit::ServerAuditor;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::args::{Area, AuditorVerb, Cli, Verb};
use crate::failure::{Exit, Stop};
use crate::output::Output;
use crate::render::Clock;

/// Everything that `doctor` looks at.
#[cfg(test)]
pub(crate) use self::doctor::CHECKS;

/// How long a throw-away session may take to be deleted.
const THROW_AWAY_ENDS: Duration = Duration::from_secs(10);

/// Does what was typed.
///
/// # Errors
/// [`Stop`]: the failure, or that nobody reads the output any more.
pub(crate) async fn run(cli: Cli, output: &mut Output) -> Result<Exit, Stop> {
    let connection = &cli.common.connection;
    let verb = match cli.area {
        Area::Goal { verb } => verb,
        Area::Session { verb } => return session::run(verb, connection, output).await,
        Area::Schedule { verb } => return schedule::run(verb, connection, output).await,
        Area::Doctor(args) => return doctor::doctor(&args, connection, output).await,
        Area::Auditor {
            verb: AuditorVerb::Test(args),
        } => return auditor::test(&args, connection, output).await,
        Area::Completions(args) => return manual::completions(&args, output),
        Area::Man(args) => return manual::page(&args, output),
    };
    match verb {
        Verb::Serve(args) => serve::serve(&args, connection, output).await,
        Verb::Start(args) => change::start(&args, connection, output).await,
        Verb::Show(args) => look::show(&args, connection, output).await,
        Verb::List => look::list(connection, output).await,
        Verb::Watch(args) => watch::watch(&args, connection, output).await,
        Verb::Why(args) => look::why(&args, connection, output).await,
        Verb::Pause(args) => change::pause(&args, connection, output).await,
        Verb::Edit(args) => change::edit(&args, connection, output).await,
        Verb::Complete(args) => end::complete(&args, connection, output).await,
        Verb::Clear(args) => end::clear(&args, connection, output).await,
        Verb::Resume(args) => change::resume(&args, connection, output).await,
    }
}

/// The line that a goal was changed, but its session could not be stopped.
fn abort_failed(error: &str) -> String {
    let error = crate::text::one_line(error);
    format!("  {}", say!("pause.abortFailed", error = error))
}

/// Waits until the throw-away sessions of a verb are deleted, and tells of those that are left.
async fn audits_end(auditor: &ServerAuditor, output: &mut Output) {
    if !auditor.finish(THROW_AWAY_ENDS).await {
        output.remark(&say!("test.auditLeft"));
    }
}

/// Adds the fields of an object to another.
fn extend(fields: &mut Value, more: Value) {
    if let (Value::Object(fields), Value::Object(more)) = (fields, more) {
        fields.extend(more);
    }
}

/// The reader's clock.
fn clock() -> Clock {
    Clock {
        now: now(),
        zone: TimeZone::system(),
    }
}

fn now() -> Wall {
    // A clock before 1970 is set wrongly; times are shown wrongly then, and nothing else happens.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Wall(since.map(millis).unwrap_or_default())
}
