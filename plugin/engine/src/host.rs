//! How a host comes to its server: attach to a running one, or start one of its own and keep it
//! running (E9-E12, E14).

mod busy;
mod life;
mod servers;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use goal_core::limits::Limits;
use goal_core::prompt;
use opencode_client::{
    Client, Environment, EventOptions, Kind, PasswordSource, Secret, StartError, StartOptions,
    Target, Timeouts, locate, usual_folders,
};
use serde_json::{Value, json};
use url::Url;

use self::busy::{Busy, Overheard};
use self::life::{Keeping, Started, Starter};
pub use self::life::{LifeLimits, ManagedServer, ServerState};
use self::servers::Servers;
use crate::audit::{AUDIT_AGENT, ServerAuditor};
use crate::clock::{SystemClock, hex};
use crate::engine::Driver;
use crate::error::{Code, Error};
use crate::files;
use crate::objectives::Objectives;
use crate::paths::{DataDir, legacy_objectives};
use crate::ports::{Clock, Events, Notices, Ports};
use crate::server::{OpenCode, ServerEvents};
use crate::settings::SettingsFile;
use crate::store::{Owner, ServerKey, Store};

/// Longest time for a connection to come about.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// How long a login shell may take to say where the program is: some profiles are slow.
pub const SHELL_MAX: Duration = Duration::from_secs(5);

/// How OpenCode is installed.
const INSTALL: &str = "install it with `npm install -g opencode-ai`";

/// Our OpenCode plugin: it keeps password and configuration from the commands of the agent.
const SHELL_ENV_PLUGIN: &str = include_str!("assets/goal-shell-env.js");

const CONFIG_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
const PASSWORD_VARIABLE: &str = "OPENCODE_SERVER_PASSWORD";

/// Bytes written to see whether the data folder takes any.
const PROBE_BYTES: usize = 4_096;

/// Which server to use.
#[derive(Clone, Debug)]
pub enum ServerChoice {
    /// One that runs. It is never stopped or restarted.
    Attached(Target),
    /// One that is started for this host, kept running, and ended with it.
    Managed {
        /// The `opencode` program; `None`: the setting `opencodeBinary`, else it is searched for.
        binary: Option<PathBuf>,
        /// The folder it runs in.
        directory: PathBuf,
        /// Its environment. A password in there becomes the server's; otherwise one is drawn.
        environment: Environment,
    },
}

/// A host's connection to its server.
pub struct Connected {
    /// What the engine stands on.
    pub ports: Ports,
    /// The client under them: it follows a managed server to every new address.
    pub client: Client,
    /// The server's events. Connects when first asked.
    pub events: Box<dyn Events>,
    /// Who would drive which server.
    pub driver: Driver,
    /// The server as it was first reached. One of ours moves: [`ManagedServer::state`].
    pub server: RunningServer,
    /// The server's life, if it is ours. Stop it last.
    pub managed: Option<ManagedServer>,
    /// The auditor inside `ports`: a host that ends waits for [`ServerAuditor::finish`] before it
    /// stops the server.
    pub auditor: Arc<ServerAuditor>,
}

/// What a command without a running loop needs.
pub struct CommandConnection {
    /// What commands stand on.
    pub ports: Ports,
    /// The server.
    pub server: RunningServer,
    /// The auditor inside `ports`: a command that asked it waits for [`ServerAuditor::finish`].
    pub auditor: Arc<ServerAuditor>,
}

/// A server that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningServer {
    /// Its version.
    pub version: String,
    /// Its address, without user name and password.
    pub url: String,
    /// It was started for this host.
    pub managed: bool,
}

/// Connects a host: checks the data folder, attaches or starts the server, makes the ports.
/// `notices` is where notices go. An attached server that does not answer is tried for
/// `limits.call_timeout`, a managed one has 30 s to become healthy, twice.
///
/// Before a server is started, and while it runs, those are ended that other hosts of this data
/// folder started and left behind when they crashed. Ports and events follow a managed server to
/// every new address.
///
/// # Errors
/// [`Code::DataFolder`], [`Code::Unreachable`], [`Code::Unauthorized`], [`Code::NotOpenCode`],
/// [`Code::OpenCodeMissing`]. Nothing is left running then.
pub async fn connect(
    choice: ServerChoice,
    data_dir: &DataDir,
    limits: &Limits,
    notices: Arc<dyn Notices>,
) -> Result<Connected, Error> {
    connect_with(choice, data_dir, limits, LifeLimits::DEFAULT, notices).await
}

/// As [`connect`], with another patience for a managed server.
///
/// # Errors
/// Those of [`connect`].
pub async fn connect_with(
    choice: ServerChoice,
    data_dir: &DataDir,
    limits: &Limits,
    life: LifeLimits,
    notices: Arc<dyn Notices>,
) -> Result<Connected, Error> {
    check_data_folder(data_dir).await?;
    let settings = Arc::new(SettingsFile::new(data_dir.settings()));
    let busy = Arc::new(Busy::default());
    let (client, version, key, start) = match choice {
        ServerChoice::Attached(target) => {
            let (client, version) = attach(target, limits).await?;
            let key = ServerKey::attached(client.target().url.as_str());
            let key = key.map_err(|error| Error::new(Code::Unreachable, error.to_string()))?;
            (client, version, key, None)
        }
        ServerChoice::Managed {
            binary,
            directory,
            environment,
        } => {
            let binary = match binary {
                Some(binary) => Some(binary),
                None => settings.read().await.settings.opencode_binary,
            };
            let binary = find(binary.as_deref(), &environment).await?;
            let options = StartOptions {
                timeouts: timeouts(limits),
                ..start_options(binary, directory, environment, data_dir)?
            };
            let (starter, started) = start(options, data_dir).await?;
            let client = client(started.managed.target().clone(), limits)?;
            let version = started.managed.version().to_owned();
            let key = ServerKey::managed(data_dir.path());
            (client, version, key, Some((starter, started)))
        }
    };
    let owner = hex(SystemClock.random());
    let (ports, auditor) = ports(&client, data_dir, settings, limits, &owner, notices).await?;
    let events = ServerEvents::new(client.events(event_options(limits)));
    let events = Box::new(Overheard::new(events, Arc::clone(&busy)));
    let server = running(&client, version, start.is_some());
    let managed = start.map(|(starter, started)| {
        let keeping = Keeping {
            starter,
            client: client.clone(),
            busy,
            limits: life,
        };
        ManagedServer::keep(keeping, started)
    });
    Ok(Connected {
        server,
        ports,
        client,
        events,
        driver: Driver {
            key,
            owner: Owner::this_process(&owner),
        },
        managed,
        auditor,
    })
}

/// Makes the data folder if it is missing, and sees whether it can be written.
///
/// # Errors
/// [`Code::DataFolder`], with what to do.
pub async fn check_data_folder(data_dir: &DataDir) -> Result<(), Error> {
    prepare_data_folder(data_dir.path().to_owned()).await
}

/// Connects a command that runs without a host. A data folder that cannot be used does not keep
/// it from working: the ports say so where they are asked.
///
/// # Errors
/// [`Code::Unreachable`], [`Code::Unauthorized`], [`Code::NotOpenCode`].
pub async fn connect_for_command(
    target: Target,
    data_dir: &DataDir,
    limits: &Limits,
    notices: Arc<dyn Notices>,
) -> Result<CommandConnection, Error> {
    let client = client(target, limits)?;
    let health = client.connect_to_running(limits.call_timeout).await;
    let health = health.map_err(|error| not_attached(&error, &client.target().url))?;
    let settings = Arc::new(SettingsFile::new(data_dir.settings()));
    let owner = hex(SystemClock.random());
    let (ports, auditor) = ports(&client, data_dir, settings, limits, &owner, notices).await?;
    Ok(CommandConnection {
        ports,
        server: running(&client, health.version, /*managed*/ false),
        auditor,
    })
}

async fn ports(
    client: &Client,
    data_dir: &DataDir,
    settings: Arc<SettingsFile>,
    limits: &Limits,
    owner: &str,
    notices: Arc<dyn Notices>,
) -> Result<(Ports, Arc<ServerAuditor>), Error> {
    let database = data_dir.database();
    let store = tokio::task::spawn_blocking(move || Store::open(&database))
        .await
        .map_err(|_| Error::new(Code::ShuttingDown, "the program is ending"))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let auditor = Arc::new(ServerAuditor::new(
        client.clone(),
        Arc::clone(&settings),
        limits.clone(),
        owner.to_owned(),
        Arc::clone(&clock),
    ));
    let ports = Ports {
        sessions: Arc::new(OpenCode::new(client.clone())),
        auditor: Arc::clone(&auditor) as _,
        notices,
        clock,
        objectives: Objectives::new(data_dir.objectives(), legacy_objectives()),
        settings,
        store,
        limits: limits.clone(),
    };
    Ok((ports, auditor))
}

fn running(client: &Client, version: String, managed: bool) -> RunningServer {
    RunningServer {
        version,
        url: client.target().url.to_string(),
        managed,
    }
}

fn timeouts(limits: &Limits) -> Timeouts {
    Timeouts {
        connect: CONNECT_MAX.min(limits.call_timeout),
        call: limits.call_timeout,
    }
}

fn event_options(limits: &Limits) -> EventOptions {
    EventOptions {
        connect: limits.call_timeout,
        liveness: limits.liveness,
        backoff_min: limits.reconnect_min,
        backoff_max: limits.reconnect_max,
        ..EventOptions::DEFAULT
    }
}

fn client(target: Target, limits: &Limits) -> Result<Client, Error> {
    Client::new(target, timeouts(limits))
        .map_err(|error| Error::new(Code::Unreachable, error.to_string()))
}

async fn attach(target: Target, limits: &Limits) -> Result<(Client, String), Error> {
    let client = client(target, limits)?;
    let health = client.connect(limits.call_timeout).await;
    let health = health.map_err(|error| not_attached(&error, &client.target().url))?;
    Ok((client, health.version))
}

/// What a failed connection means and what to do about it.
fn not_attached(error: &opencode_client::Error, url: &Url) -> Error {
    match error.kind() {
        Kind::Unauthorized => Error::new(
            Code::Unauthorized,
            format!(
                "the OpenCode server at {url} refused the user name or the password; set \
                 OPENCODE_SERVER_USERNAME and OPENCODE_SERVER_PASSWORD to those it was started with"
            ),
        ),
        Kind::TooOld { .. } => Error::new(
            Code::NotOpenCode,
            format!("{error}; update OpenCode and start the server again"),
        ),
        Kind::NotOpenCode
        | Kind::Malformed
        | Kind::TooLarge
        | Kind::NotFound
        | Kind::Rejected { .. } => Error::new(
            Code::NotOpenCode,
            format!("{error}; check the address, {url}, and that `opencode serve` listens there"),
        ),
        Kind::Unreachable
        | Kind::Timeout
        | Kind::Server { .. }
        | Kind::MalformedId
        | Kind::BadTarget => Error::new(
            Code::Unreachable,
            format!("{error}; check the address, {url}, and that `opencode serve` runs there"),
        ),
    }
}

async fn find(binary: Option<&Path>, environment: &Environment) -> Result<PathBuf, Error> {
    locate(binary, environment, &usual_folders(environment), SHELL_MAX)
        .await
        .map(|found| found.path)
        .map_err(|not_found| Error::new(Code::OpenCodeMissing, format!("{not_found}; {INSTALL}")))
}

/// Ends what crashed hosts left behind, then starts a server.
async fn start(options: StartOptions, data_dir: &DataDir) -> Result<(Starter, Started), Error> {
    let servers = Servers::in_folder(data_dir.path().join("opencode").join("servers"));
    servers.sweep().await;
    let starter = Starter { options, servers };
    match starter.start().await {
        Ok(started) => Ok((starter, started)),
        Err(error) => Err(not_started(&error, &starter.options)),
    }
}

fn not_started(error: &StartError, options: &StartOptions) -> Error {
    let code = match error {
        StartError::Log { .. } => Code::DataFolder,
        StartError::Unhealthy(unhealthy) if matches!(unhealthy.kind(), Kind::TooOld { .. }) => {
            return Error::new(
                Code::NotOpenCode,
                format!("{error}; update OpenCode: {INSTALL}"),
            );
        }
        StartError::Config(_)
        | StartError::Random(_)
        | StartError::Port(_)
        | StartError::Spawn { .. }
        | StartError::Exited { .. }
        | StartError::Unhealthy(_) => Code::OpenCodeMissing,
    };
    let log = match &options.log_file {
        Some(log) if matches!(error, StartError::Exited { .. } | StartError::Unhealthy(_)) => {
            format!("; {} tells what it said", log.display())
        }
        _ => String::new(),
    };
    Error::new(code, format!("{error}{log}"))
}

/// How our server is started; writes our plugin.
fn start_options(
    binary: PathBuf,
    directory: PathBuf,
    environment: Environment,
    data_dir: &DataDir,
) -> Result<StartOptions, Error> {
    let folder = data_dir.path().join("opencode");
    let plugin = folder.join("goal-shell-env.js");
    files::create_private_folder(&folder)
        .and_then(|()| files::write_atomically(&plugin, SHELL_ENV_PLUGIN.as_bytes()))
        .map_err(|error| unusable(&plugin, &error))?;
    let plugin = Url::from_file_path(&plugin).map_err(|()| {
        let message = format!(
            "{} has no file URL; use another data folder",
            plugin.display()
        );
        Error::new(Code::DataFolder, message)
    })?;
    let set = |name: &str| {
        let value = environment.get(OsStr::new(name))?.to_str()?;
        (!value.is_empty()).then(|| value.to_owned())
    };
    let password = set(PASSWORD_VARIABLE).map_or(PasswordSource::Random, |password| {
        PasswordSource::Given(Secret::new(password))
    });
    let config = config(&plugin, set(CONFIG_VARIABLE).as_deref());
    Ok(StartOptions {
        config: Some(config),
        password,
        log_file: Some(folder.join("server.log")),
        ..StartOptions::new(binary, directory, environment)
    })
}

/// Our part of the server's configuration. `existing` is what is set already: objects are merged
/// with it, but our list of plugins would replace the one in there.
fn config(plugin: &Url, existing: Option<&str>) -> Value {
    let existing: Value = existing
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let mut plugins = existing["plugin"].as_array().cloned().unwrap_or_default();
    plugins.push(json!(plugin.as_str()));
    json!({
        "agent": {
            AUDIT_AGENT: {
                "description": "Judges whether the goal of a session is met",
                // A hidden agent is offered to the model as a sub-agent unless it is primary.
                "mode": "primary",
                "hidden": true,
                "prompt": prompt::audit_system(),
                "permission": { "*": "deny" },
            },
        },
        "plugin": plugins,
    })
}

async fn prepare_data_folder(folder: PathBuf) -> Result<(), Error> {
    tokio::task::spawn_blocking(move || {
        try_folder(&folder).map_err(|error| unusable(&folder, &error))
    })
    .await
    .unwrap_or_else(|_| Err(Error::new(Code::ShuttingDown, "the program is ending")))
}

fn try_folder(folder: &Path) -> io::Result<()> {
    files::create_private_folder(folder)?;
    let mut probe = tempfile::Builder::new()
        .prefix(".goal-")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    probe.write_all(&[b' '; PROBE_BYTES])?;
    probe.as_file().sync_all()?;
    probe.close()
}

fn unusable(path: &Path, error: &io::Error) -> Error {
    let advice = if error.kind() == io::ErrorKind::StorageFull {
        "free some space"
    } else {
        "make it writable for this user, or name another folder with --data-dir"
    };
    let message = format!("{} cannot be written ({error}); {advice}", path.display());
    Error::new(Code::DataFolder, message)
}

#[cfg(test)]
mod tests;
