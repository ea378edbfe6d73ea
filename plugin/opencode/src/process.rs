//! A managed `opencode serve`: started, probed, and ended with us (E9, E11, E14).
//!
//! The server listens on a loopback port chosen here, because `--port 0` takes 4096 when that is
//! free, and expects a password that exists only in its environment. It leads a process group of
//! its own, so that a terminal's Ctrl-C does not reach it before the sessions were put in order,
//! and so that a wrapper script and the program behind it end together.
//!
//! Stopping or dropping [`Managed`] ends the group. If this process is killed outright the server
//! lives on: the system call that would tie them together is not available without unsafe code.
//! Whoever wants to find it again notes the process id that [`StartOptions::on_spawn`] tells.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::child_log;
use crate::client::{Client, Timeouts};
use crate::config::{ConfigError, merge_config};
use crate::discover::{Environment, lookup};
use crate::error::{Error, Kind};
use crate::target::{DEFAULT_USERNAME, Secret, Target};
use crate::wire::Health;

/// How often a start is tried: the chosen port may be taken between choosing and binding it.
const ATTEMPTS: u32 = 2;

/// Length of a drawn password, in bytes before encoding.
const PASSWORD_BYTES: usize = 32;

/// How long the last output of a server that has ended is waited for. It is there at once, unless a
/// program that outlived the server holds the pipe.
const LAST_OUTPUT_MAX: Duration = Duration::from_millis(500);

const CONFIG_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// How to start a server.
#[derive(Clone)]
pub struct StartOptions {
    /// The program.
    pub binary: PathBuf,
    /// The folder it runs in: its project where a call names none.
    pub directory: PathBuf,
    /// Its whole environment, without the password and our configuration.
    pub environment: Environment,
    /// A JSON object merged into the `OPENCODE_CONFIG_CONTENT` of the environment; ours wins.
    pub config: Option<Value>,
    /// Where its password comes from.
    pub password: PasswordSource,
    /// The file its output is appended to, without the password; without a file the output is
    /// dropped. A file of [`crate::LOG_BYTES_MAX`] is put aside, and [`crate::LOG_FILES_KEPT`] of
    /// those are kept.
    pub log_file: Option<PathBuf>,
    /// Told of every process, also of one that then does not become healthy.
    pub on_spawn: Option<OnSpawn>,
    /// The deadlines of the client that probes it.
    pub timeouts: Timeouts,
    /// How long one try may take to become healthy.
    pub health_within: Duration,
    /// How long it may take to end before it is killed.
    pub stop_grace: Duration,
}

/// Gets a process id, at once after the process was spawned; must not block for long.
pub type OnSpawn = Arc<dyn Fn(u32) + Send + Sync>;

impl fmt::Debug for StartOptions {
    /// Leaves out the environment and the configuration: both may hold keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartOptions")
            .field("binary", &self.binary)
            .field("directory", &self.directory)
            .field("log_file", &self.log_file)
            .finish_non_exhaustive()
    }
}

/// Where the password of a managed server comes from.
#[derive(Clone, Debug)]
pub enum PasswordSource {
    /// Drawn anew for every start.
    Random,
    /// The user's own.
    Given(Secret),
}

impl StartOptions {
    /// A random password, no log, 30 s to become healthy, 3 s to end.
    pub fn new(binary: PathBuf, directory: PathBuf, environment: Environment) -> Self {
        Self {
            binary,
            directory,
            environment,
            config: None,
            password: PasswordSource::Random,
            log_file: None,
            on_spawn: None,
            timeouts: Timeouts::DEFAULT,
            health_within: Duration::from_secs(30),
            stop_grace: Duration::from_secs(3),
        }
    }
}

/// Why no server could be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration in the environment cannot be added to.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system gave no random bytes for the password.
    #[error("no random password could be drawn: {0}")]
    Random(String),
    /// There is no free loopback port.
    #[error("no free port on 127.0.0.1: {0}")]
    Port(#[source] io::Error),
    /// The log file cannot be written.
    #[error("the server's log file {} cannot be written: {source}", .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("{} cannot be started: {source}", .binary.display())]
    Spawn {
        /// The program.
        binary: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended before it was healthy.
    #[error("the OpenCode server ended while it was starting ({status})")]
    Exited {
        /// Its exit code or signal.
        status: ExitStatus,
    },
    /// It runs, but did not become healthy, or is too old.
    #[error("the OpenCode server did not become healthy: {0}")]
    Unhealthy(#[from] Error),
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It had ended by itself before.
    Before(ExitStatus),
    /// It ended when asked to.
    Asked(ExitStatus),
    /// It had to be killed.
    Killed,
}

/// A running server that belongs to us and ends with us.
#[derive(Debug)]
pub struct Managed {
    child: Child,
    /// The process group; its number is the leader's.
    group: Group,
    target: Target,
    version: String,
    stop_grace: Duration,
    /// Comes when the log holds everything that was printed.
    logged: Option<oneshot::Receiver<()>>,
    /// Set once the leader was reaped: from then on its number may be another's.
    exited: Option<ExitStatus>,
}

impl Managed {
    /// Starts a server and waits until it is healthy; tried twice.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start(options: &StartOptions) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            let error = match Self::try_start(options).await {
                Ok(managed) => return Ok(managed),
                Err(error) => error,
            };
            if attempt == ATTEMPTS || !is_passing(&error) {
                return Err(error);
            }
            tracing::warn!(%error, "the server did not start; trying once more");
            attempt += 1;
        }
    }

    /// Its address and credentials.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its process id, which is its group's, too; `None` once it has ended.
    pub fn pid(&self) -> Option<u32> {
        self.group.leader.filter(|_| self.exited.is_none())
    }

    /// The version it gave when it became healthy.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Waits until the server ends by itself; what is left of its group is killed then.
    /// Cancel-safe.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub async fn wait_exit(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.exited {
            return Ok(status);
        }
        let status = self.child.wait().await?;
        self.after_exit(status);
        Ok(status)
    }

    /// Ends the server and everything in its process group: asks, waits, kills. Its log is complete
    /// then.
    ///
    /// # Errors
    /// If the system cannot tell that it ended.
    pub async fn stop(mut self) -> io::Result<Stopped> {
        let stopped = self.end().await?;
        if let Some(logged) = self.logged.take()
            && timeout(LAST_OUTPUT_MAX, logged).await.is_err()
        {
            tracing::debug!("the server has ended, but its output is still held open");
        }
        Ok(stopped)
    }

    async fn end(&mut self) -> io::Result<Stopped> {
        if let Some(status) = self.exited {
            return Ok(Stopped::Before(status));
        }
        if let Some(status) = self.child.try_wait()? {
            self.after_exit(status);
            return Ok(Stopped::Before(status));
        }
        self.group.ask();
        let grace = self.stop_grace;
        if let Ok(status) = timeout(grace, self.wait_exit()).await {
            return Ok(Stopped::Asked(status?));
        }
        self.group.kill();
        self.wait_exit().await?;
        Ok(Stopped::Killed)
    }

    /// The leader was reaped; members of its group that outlived it must not.
    fn after_exit(&mut self, status: ExitStatus) {
        self.exited = Some(status);
        self.group.kill();
    }

    async fn try_start(options: &StartOptions) -> Result<Self, StartError> {
        let password = match &options.password {
            PasswordSource::Random => draw_password()?,
            PasswordSource::Given(password) => password.clone(),
        };
        let port = free_port().map_err(StartError::Port)?;
        let address = format!("http://{}:{port}", Ipv4Addr::LOCALHOST);
        let target = Target::parse(&address, DEFAULT_USERNAME, Some(password.clone()))?;
        let client = Client::new(target.clone(), options.timeouts)?;
        let (child, logged) = spawn(options, port, &password)?;
        let mut managed = Self {
            group: Group::led_by(&child),
            child,
            target,
            version: String::new(),
            stop_grace: options.stop_grace,
            logged,
            exited: None,
        };
        if let (Some(on_spawn), Some(pid)) = (&options.on_spawn, managed.child.id()) {
            on_spawn(pid);
        }
        let error = tokio::select! {
            health = healthy(&client, options) => match health {
                Ok(health) => {
                    managed.version = health.version;
                    return Ok(managed);
                }
                Err(error) => StartError::Unhealthy(error),
            },
            status = managed.wait_exit() => match status {
                Ok(status) => StartError::Exited { status },
                Err(source) => spawn_error(options, source),
            },
        };
        if let Err(failure) = managed.stop().await {
            tracing::warn!(%failure, "a server that failed to start may still be running");
        }
        Err(error)
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        if self.exited.is_none() {
            self.group.kill();
        }
    }
}

/// Waits until the server is healthy, and makes sure that it is ours: one that another program
/// started on the port before ours could bind it does not ask for the password we chose.
async fn healthy(client: &Client, options: &StartOptions) -> Result<Health, Error> {
    let health = client.connect(options.health_within).await?;
    let target = client.target();
    if target.password.is_none() {
        return Ok(health);
    }
    let nobody = Target {
        password: None,
        ..Target::clone(&target)
    };
    let nobody = Client::new(nobody, options.timeouts)?;
    let answer = nobody.connect(options.health_within).await;
    match answer {
        Err(error) if *error.kind() == Kind::Unauthorized => Ok(health),
        Err(error) => Err(error),
        Ok(_) => {
            let message = "another server, one without a password, answers on the port";
            Err(Error::without_effect(Kind::NotOpenCode, message))
        }
    }
}

/// Whether another try, with another port, may succeed.
fn is_passing(error: &StartError) -> bool {
    match error {
        StartError::Exited { .. } | StartError::Port(_) => true,
        StartError::Unhealthy(error) => !matches!(error.kind(), Kind::TooOld { .. }),
        StartError::Config(_)
        | StartError::Random(_)
        | StartError::Log { .. }
        | StartError::Spawn { .. } => false,
    }
}

/// A process, and the word that its log is complete.
type Spawned = (Child, Option<oneshot::Receiver<()>>);

/// The command that holds our end of the log's pipe is gone when this returns: a server that ends
/// closes it for good.
fn spawn(options: &StartOptions, port: u16, password: &Secret) -> Result<Spawned, StartError> {
    let mut command = Command::new(&options.binary);
    command
        .args(["serve", "--hostname", "127.0.0.1", "--port"])
        .arg(port.to_string())
        .current_dir(&options.directory)
        .env_clear()
        .envs(child_environment(options, password)?)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let logged = match &options.log_file {
        Some(path) => {
            let failed = |source| {
                let path = path.clone();
                StartError::Log { path, source }
            };
            let (pipe, logged) = child_log::begin(path, password).map_err(failed)?;
            command
                .stdout(pipe.try_clone().map_err(failed)?)
                .stderr(pipe);
            Some(logged)
        }
        None => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
            None
        }
    };
    lead_own_group(&mut command);
    let child = command
        .spawn()
        .map_err(|source| spawn_error(options, source))?;
    Ok((child, logged))
}

fn spawn_error(options: &StartOptions, source: io::Error) -> StartError {
    StartError::Spawn {
        binary: options.binary.clone(),
        source,
    }
}

fn child_environment(options: &StartOptions, password: &Secret) -> Result<Environment, StartError> {
    let mut environment = options.environment.clone();
    if let Some(ours) = &options.config {
        let existing = lookup(&environment, CONFIG_VARIABLE).unwrap_or_default();
        // Text that is not Unicode is not JSON either, and the merge says so.
        let merged = merge_config(Some(&existing.to_string_lossy()), ours)?;
        set(&mut environment, CONFIG_VARIABLE, &merged);
    }
    set(
        &mut environment,
        "OPENCODE_SERVER_USERNAME",
        DEFAULT_USERNAME,
    );
    set(
        &mut environment,
        "OPENCODE_SERVER_PASSWORD",
        password.expose(),
    );
    Ok(environment)
}

/// Sets a variable; on Windows in place of one that differs only by case.
fn set(environment: &mut Environment, name: &str, value: &str) {
    if cfg!(windows) {
        environment.retain(|key, _| !key.eq_ignore_ascii_case(name));
    }
    environment.insert(OsString::from(name), OsString::from(value));
}

fn draw_password() -> Result<Secret, StartError> {
    let mut bytes = [0_u8; PASSWORD_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| StartError::Random(error.to_string()))?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

/// A loopback port that was free a moment ago.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

#[cfg(unix)]
fn lead_own_group(command: &mut Command) {
    command.process_group(0);
}

#[cfg(not(unix))]
fn lead_own_group(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    // Else a program with a window would open a console beside it.
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// A process and its descendants, as far as the system keeps them together.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// `None` only if the leader was reaped before anybody asked.
    leader: Option<u32>,
}

impl Group {
    fn led_by(child: &Child) -> Self {
        Self { leader: child.id() }
    }
}

#[cfg(unix)]
impl Group {
    /// Asks all members to end.
    fn ask(self) {
        self.signal(nix::sys::signal::Signal::SIGTERM);
    }

    /// Ends all members.
    fn kill(self) {
        self.signal(nix::sys::signal::Signal::SIGKILL);
    }

    fn signal(self, signal: nix::sys::signal::Signal) {
        let leader = self.leader.and_then(|leader| i32::try_from(leader).ok());
        let Some(leader) = leader.filter(|leader| *leader > 1) else {
            return;
        };
        let group = nix::unistd::Pid::from_raw(leader);
        // The only failure that can happen is that no member is left.
        if let Err(error) = nix::sys::signal::killpg(group, signal) {
            tracing::debug!(%error, %signal, "the server's process group got no signal");
        }
    }
}

#[cfg(not(unix))]
impl Group {
    /// There is no gentle way to ask a program without a window.
    fn ask(self) {
        self.kill();
    }

    /// Ends the process and its descendants.
    fn kill(self) {
        let Some(leader) = self.leader else {
            return;
        };
        let mut command = std::process::Command::new("taskkill");
        command.args(["/T", "/F", "/PID"]).arg(leader.to_string());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Err(error) = command.status() {
            tracing::debug!(%error, "taskkill could not be run");
        }
    }
}
