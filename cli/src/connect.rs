//! From flags and variables to a server.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use goal_core::limits::Limits;
use goal_engine::error::Code;
use goal_engine::host::{self, CommandConnection, Connected, RunningServer, ServerChoice};
use goal_engine::paths::{DATA_DIR_VARIABLE, DataDir};
use goal_engine::ports::{NoticeOut, Notices, Ports};
use goal_engine::server::ServerEvents;
use opencode_client::{
    Client, DEFAULT_USERNAME, EventOptions, Secret, Target, Timeouts, process_environment,
};

use crate::args::{Connection, Serve};
use crate::failure::Failure;

/// The variable that holds the server's password.
pub(crate) const PASSWORD_VARIABLE: &str = "OPENCODE_SERVER_PASSWORD";

/// What is shown of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerFacts {
    /// Its address as it is typed.
    pub(crate) url: String,
    /// Its version.
    pub(crate) version: String,
    /// It was started by this command.
    pub(crate) managed: bool,
}

impl From<&RunningServer> for ServerFacts {
    fn from(server: &RunningServer) -> Self {
        Self {
            url: server.url.trim_end_matches('/').to_owned(),
            version: server.version.clone(),
            managed: server.managed,
        }
    }
}

/// Connects a verb that asks once.
///
/// # Errors
/// `noServer` if none was named, `usage` for an address that is none, and what the engine says of
/// a server that cannot be used.
pub(crate) async fn for_command(
    connection: &Connection,
    limits: &Limits,
) -> Result<CommandConnection, Failure> {
    let target = connection.target()?.ok_or_else(Failure::no_server)?;
    let data_dir = connection.data_dir()?;
    let connected = host::connect_for_command(target, &data_dir, limits, Arc::new(Untold));
    Ok(connected.await?)
}

/// Connects a verb that asks once and no auditor.
///
/// # Errors
/// As [`for_command`].
pub(crate) async fn ports(connection: &Connection) -> Result<Ports, Failure> {
    for_command(connection, &Limits::DEFAULT)
        .await
        .map(|connected| connected.ports)
}

/// Connects `watch`: what asks once, and the server's events.
///
/// # Errors
/// As [`for_command`].
pub(crate) async fn for_watch(
    connection: &Connection,
    limits: &Limits,
) -> Result<(CommandConnection, ServerEvents), Failure> {
    let connected = for_command(connection, limits).await?;
    let client = client(connection, limits)?;
    let events = ServerEvents::new(client.events(EventOptions::DEFAULT));
    Ok((connected, events))
}

/// A client of the server that was named; nothing is asked yet.
///
/// # Errors
/// `noServer` if none was named, `usage` for an address that is none.
pub(crate) fn client(connection: &Connection, limits: &Limits) -> Result<Client, Failure> {
    let target = connection.target()?.ok_or_else(Failure::no_server)?;
    let timeouts = Timeouts {
        call: limits.call_timeout,
        ..Timeouts::DEFAULT
    };
    Client::new(target, timeouts).map_err(|error| Failure::of(Code::Unreachable, error.message()))
}

/// Connects `serve`: to the server that was named, else to one that is started for it.
///
/// # Errors
/// As [`for_command`], and what the engine says of a server that does not start.
pub(crate) async fn for_serve(
    args: &Serve,
    connection: &Connection,
    limits: &Limits,
) -> Result<Connected, Failure> {
    let data_dir = connection.data_dir()?;
    let choice = match connection.target()? {
        Some(_) if args.opencode.is_some() || args.dir.is_some() => {
            return Err(Failure::usage(say!("error.managedOnly")));
        }
        Some(target) => ServerChoice::Attached(target),
        None => ServerChoice::Managed {
            binary: args.opencode.clone(),
            directory: folder(args)?,
            environment: process_environment(),
        },
    };
    Ok(host::connect(choice, &data_dir, limits, Arc::new(Untold)).await?)
}

/// Whether the user chose the password that a server started here gets.
pub(crate) fn password_is_set() -> bool {
    std::env::var_os(PASSWORD_VARIABLE).is_some_and(|password| !password.is_empty())
}

impl Connection {
    /// The server that was named, if one was.
    ///
    /// # Errors
    /// `usage` for an address, user name or password that cannot be used.
    pub(crate) fn target(&self) -> Result<Option<Target>, Failure> {
        let named = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let Some(url) = named(&self.server) else {
            return Ok(None);
        };
        let username = named(&self.username).unwrap_or_else(|| DEFAULT_USERNAME.to_owned());
        let password = match std::env::var_os(PASSWORD_VARIABLE).map(|value| value.into_string()) {
            None => None,
            Some(Ok(password)) => Some(Secret::new(password)),
            Some(Err(_)) => {
                let message = say!("error.password", variable = PASSWORD_VARIABLE);
                return Err(Failure::usage(message));
            }
        };
        Target::parse(&url, &username, password)
            .map(Some)
            .map_err(|error| Failure::usage(error.message()))
    }

    /// The data folder.
    ///
    /// # Errors
    /// `dataFolder` if this user has none.
    pub(crate) fn data_dir(&self) -> Result<DataDir, Failure> {
        // Flag and variable arrive in one value.
        DataDir::resolve(
            self.data_dir.as_deref(),
            std::env::var_os(DATA_DIR_VARIABLE).as_deref(),
        )
        .map_err(|error| Failure::of(Code::DataFolder, error.to_string()))
    }
}

fn folder(args: &Serve) -> Result<PathBuf, Failure> {
    let named = args.dir.clone().map_or_else(std::env::current_dir, Ok);
    let folder = named.map_err(|error| Failure::system(&error))?;
    if folder.is_dir() {
        Ok(folder)
    } else {
        let folder = crate::text::one_line(&folder.display().to_string());
        Err(Failure::usage(say!("error.dir", folder = folder)))
    }
}

/// Without a window nobody is told of a notice but whoever reads the output, where every notice
/// is an event.
#[derive(Debug)]
struct Untold;

#[async_trait]
impl Notices for Untold {
    async fn deliver(&self, _: &NoticeOut) -> Result<(), String> {
        Ok(())
    }
}
