//! `doctor`: looks at everything a goal needs, one thing after another, and says what to do.

mod checks;

use std::time::Duration;

use goal_core::limits::Limits;
use goal_engine::host;
use goal_engine::paths::DataDir;
use goal_engine::settings::{Settings, SettingsFile};
use goal_engine::store::Store;
use opencode_client::{locate, process_environment, usual_folders};
use serde_json::{Value, json};

use crate::args::{Connection, Doctor};
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;
use crate::page::{Page, Tone};
use crate::{connect, text, words};

/// How long the program may take to say its version.
const VERSION_MAX: Duration = Duration::from_secs(10);

/// Columns of a check's name; the longest one fits.
const NAME_COLUMNS: usize = 14;

/// The names of all checks.
#[cfg(test)]
pub(crate) const CHECKS: [&str; 10] = [
    "server",
    "program",
    "version",
    "password",
    "auditor",
    "dataFolder",
    "database",
    "settings",
    "clock",
    "notifications",
];

/// How one thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// As it should be.
    Ok,
    /// Worth knowing; goals work all the same, or may.
    Warn,
    /// Goals do not work like this.
    Fail,
}

/// What was found of one thing.
#[derive(Debug)]
struct Check {
    /// For programs; its words are those of the family `check`.
    name: &'static str,
    state: State,
    /// What was found.
    text: String,
    /// What to do about it; empty where nothing is to do.
    advice: String,
    /// For programs: fields of its own.
    facts: Value,
}

/// Looks at everything.
pub(crate) async fn doctor(
    args: &Doctor,
    connection: &Connection,
    output: &mut Output,
) -> Result<Exit, Stop> {
    let checks = all(args, connection).await?;
    let page = output.page();
    let failed = checks
        .iter()
        .filter(|check| check.state == State::Fail)
        .count();
    let details = json!({ "checks": checks.iter().map(object).collect::<Vec<_>>() });
    let lines = || -> Vec<String> { checks.iter().flat_map(|check| lines(check, page)).collect() };
    if failed > 0 {
        output.lines(&lines())?;
        let message = say!("error.checksFailed.count", n = failed, all = checks.len());
        return Err(Failure::found("checksFailed", message, details).into());
    }
    let object = json!({ "status": "ok", "checks": details["checks"] });
    output.result(&object, lines)?;
    Ok(Exit::Fine)
}

async fn all(args: &Doctor, connection: &Connection) -> Result<Vec<Check>, Failure> {
    let limits = Limits::DEFAULT;
    // A line that is wrong is refused, not examined.
    let target = connection.target()?;
    let data_dir = connection.data_dir()?;
    let folder = host::check_data_folder(&data_dir).await;
    let store = open_store(&data_dir).await;
    let settings_file = SettingsFile::new(data_dir.settings());
    let settings = settings_file.read().await;
    let complaint = settings_file.complaint().await;
    let program = Program::find(&settings.settings).await;
    let connected = match &target {
        Some(_) => Some(connect::for_command(connection, &limits).await),
        None => None,
    };
    let mut checks = Vec::new();
    match &connected {
        Some(connected) => checks.extend(checks::server(connected, connection)),
        None => checks.push(checks::no_server()),
    }
    checks.push(checks::program(&program, connected.is_some()));
    match &connected {
        Some(Ok(connected)) => {
            checks.push(checks::version(&connected.server.version));
            checks.push(checks::auditor(args, connected).await);
        }
        Some(Err(_)) => checks.push(checks::no_auditor()),
        None => {
            checks.extend(program.version.as_deref().map(checks::version));
            checks.push(checks::own_password());
            checks.push(checks::no_auditor());
        }
    }
    checks.push(checks::data_folder(&data_dir, folder));
    checks.push(checks::database(store.as_ref().map(Store::health)));
    checks.push(checks::settings(&settings, complaint));
    if let Some(Ok(connected)) = &connected {
        checks.push(checks::clock(connected).await);
    }
    checks.push(checks::notifications());
    Ok(checks)
}

async fn open_store(data_dir: &DataDir) -> Option<Store> {
    let database = data_dir.database();
    let opened = tokio::task::spawn_blocking(move || Store::open(&database));
    // Only a program that is ending has no thread for it.
    opened.await.ok()
}

/// The `opencode` program of this machine.
struct Program {
    found: Result<opencode_client::Found, opencode_client::NotFound>,
    /// What it says of itself.
    version: Option<String>,
}

impl Program {
    async fn find(settings: &Settings) -> Self {
        let environment = process_environment();
        let folders = usual_folders(&environment);
        let setting = settings.opencode_binary.as_deref();
        let found = locate(setting, &environment, &folders, host::SHELL_MAX).await;
        let version = match &found {
            Ok(found) => version_of(&found.path).await,
            Err(_) => None,
        };
        Self { found, version }
    }
}

async fn version_of(program: &std::path::Path) -> Option<String> {
    let asked = tokio::process::Command::new(program)
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .kill_on_drop(true)
        .output();
    let answer = tokio::time::timeout(VERSION_MAX, asked).await.ok()?.ok()?;
    let said = String::from_utf8_lossy(&answer.stdout);
    let first = text::clip(&text::one_line(said.lines().next()?), 60);
    (answer.status.success() && !first.is_empty()).then_some(first)
}

fn object(check: &Check) -> Value {
    let mut object = json!({
        "name": check.name,
        "state": check.state.name(),
        "text": check.text,
        "advice": check.advice,
    });
    if let (Value::Object(object), Value::Object(facts)) = (&mut object, check.facts.clone()) {
        object.extend(facts);
    }
    object
}

fn lines(check: &Check, page: Page) -> Vec<String> {
    let state = words::of_code("check.state", check.state.name());
    let name = words::of_code("check", check.name);
    let head = format!(
        "{}  {}  ",
        page.cell(&state, 4, check.state.tone()),
        text::column(&name, NAME_COLUMNS)
    );
    let columns = 4 + 2 + NAME_COLUMNS + 2;
    let found = page.hang(&head, columns, &check.text);
    if check.advice.is_empty() {
        return vec![found];
    }
    let indent = " ".repeat(columns);
    let advice = say!("doctor.advice", advice = check.advice);
    vec![found, page.hang(&indent, columns, &advice)]
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Ok => Tone::Good,
            Self::Warn => Tone::Caution,
            Self::Fail => Tone::Bad,
        }
    }
}

impl Check {
    fn new(name: &'static str, state: State, text: impl Into<String>) -> Self {
        Self {
            name,
            state,
            text: text.into(),
            advice: String::new(),
            facts: Value::Null,
        }
    }

    fn advice(self, advice: impl Into<String>) -> Self {
        Self {
            advice: advice.into(),
            ..self
        }
    }

    fn facts(self, facts: Value) -> Self {
        Self { facts, ..self }
    }
}
