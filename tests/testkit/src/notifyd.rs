//! A message bus of the test's own, and a notification daemon on it that remembers what it showed.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use zbus::object_server::SignalEmitter;
use zbus::{Connection, OwnedVariant, connection, fdo, interface};

use crate::error::Error;

const NAME: &str = "org.freedesktop.Notifications";
const OBJECT: &str = "/org/freedesktop/Notifications";

/// A message bus that knows no service files, so that no real daemon is ever started on it. Ends
/// when it is dropped.
#[derive(Debug)]
pub struct Bus {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Bus {
    /// Starts a bus.
    ///
    /// # Errors
    /// If `dbus-daemon` is not installed or does not start.
    pub fn start() -> Result<Self, Error> {
        Self::by(|_| {})
    }

    /// Starts a bus in a process group of its own, so that Ctrl-C in a terminal does not end it
    /// before those who are on it.
    ///
    /// # Errors
    /// As [`Bus::start`].
    pub fn apart() -> Result<Self, Error> {
        Self::by(|daemon| {
            daemon.process_group(0);
        })
    }

    fn by(change: impl FnOnce(&mut Command)) -> Result<Self, Error> {
        let folder = TempDir::new().map_err(|error| broken("a scratch folder", &error))?;
        let config = folder.path().join("bus.conf");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:dir={}</listen><auth>EXTERNAL</auth>\
             <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
             <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            folder.path().display()
        );
        std::fs::write(&config, text).map_err(|error| broken("the bus's file", &error))?;
        let mut daemon = Command::new("dbus-daemon");
        daemon
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--nopidfile", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        change(&mut daemon);
        let mut child = daemon
            .spawn()
            .map_err(|error| broken("dbus-daemon (Debian: dbus-daemon)", &error))?;
        let mut address = String::new();
        if let Some(said) = child.stdout.take() {
            let read = BufReader::new(said).read_line(&mut address);
            read.map_err(|error| broken("the bus's address", &error))?;
        }
        Ok(Self {
            child,
            address: address.trim().to_owned(),
            _folder: folder,
        })
    }

    /// Where it listens: the value of `DBUS_SESSION_BUS_ADDRESS`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether a notification daemon is on it.
    pub async fn has_daemon(&self) -> bool {
        has_owner(self.address(), NAME).await
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether somebody on the bus at `address` bears this name. Nobody does on a bus that cannot be
/// reached.
pub async fn has_owner(address: &str, name: &str) -> bool {
    let asked = async {
        let connection = connection::Builder::address(address).build().await?;
        let asked = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        let answer = connection
            .call_method(
                Some(asked.0),
                asked.1,
                Some(asked.0),
                "NameHasOwner",
                &(name,),
            )
            .await?;
        answer.body().deserialize::<bool>()
    };
    asked.await.unwrap_or(false)
}

/// What the daemon was asked to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its number.
    pub id: u32,
    /// The app's name.
    pub app: String,
    /// The number it takes the place of; 0: none.
    pub replaces: u32,
    /// The first line.
    pub summary: String,
    /// The rest.
    pub body: String,
    /// Keys and labels of its buttons, in turn.
    pub actions: Vec<String>,
    /// The hint `desktop-entry`.
    pub entry: Option<String>,
}

/// A notification daemon.
pub struct Notifyd {
    connection: Connection,
    notes: mpsc::UnboundedReceiver<Note>,
}

impl Notifyd {
    /// A daemon on the bus at `address` that says it has `abilities`.
    ///
    /// # Errors
    /// If the bus cannot be reached.
    pub async fn start(address: &str, abilities: &[&str]) -> Result<Self, Error> {
        let abilities = abilities.iter().map(ToString::to_string).collect();
        Self::serve(address, abilities, /*hangs*/ false).await
    }

    /// A daemon that never answers when it shall show something.
    ///
    /// # Errors
    /// If the bus cannot be reached.
    pub async fn hanging(address: &str) -> Result<Self, Error> {
        Self::serve(address, vec!["actions".to_owned()], /*hangs*/ true).await
    }

    /// The next notification.
    ///
    /// # Errors
    /// If none came within `patience`.
    pub async fn next(&mut self, patience: Duration) -> Result<Note, Error> {
        let note = timeout(patience, self.notes.recv()).await.ok().flatten();
        note.ok_or_else(|| broken("the daemon", &"nothing was shown in time"))
    }

    /// The notifications that were shown and that nobody asked for yet.
    pub fn others(&mut self) -> Vec<Note> {
        std::iter::from_fn(|| self.notes.try_recv().ok()).collect()
    }

    /// Clicks on a notification: `default`, or the key of a button.
    ///
    /// # Errors
    /// If the bus is gone.
    pub async fn click(&self, id: u32, action: &str) -> Result<(), Error> {
        let objects = self.connection.object_server();
        let server = objects.interface::<_, Server>(OBJECT).await;
        let server = server.map_err(|error| broken("the daemon", &error))?;
        let clicked = Server::action_invoked(server.signal_emitter(), id, action).await;
        clicked.map_err(|error| broken("a click", &error))
    }

    async fn serve(address: &str, abilities: Vec<String>, hangs: bool) -> Result<Self, Error> {
        let (sender, notes) = mpsc::unbounded_channel();
        let server = Server {
            next: 0,
            notes: sender,
            abilities,
            hangs,
        };
        let connection = connection::Builder::address(address)
            .serve_at(OBJECT, server)
            .name(NAME)
            .build()
            .await
            .map_err(|error| broken("the bus", &error))?;
        Ok(Self { connection, notes })
    }
}

struct Server {
    next: u32,
    notes: mpsc::UnboundedSender<Note>,
    abilities: Vec<String>,
    hangs: bool,
}

#[interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[expect(clippy::too_many_arguments, reason = "the interface has so many")]
    async fn notify(
        &mut self,
        app_name: String,
        replaces_id: u32,
        _app_icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedVariant>,
        _expire_timeout: i32,
    ) -> fdo::Result<u32> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let id = if replaces_id == 0 {
            self.next += 1;
            self.next
        } else {
            replaces_id
        };
        let entry = hints.get("desktop-entry");
        let entry = entry.and_then(|entry| entry.downcast_ref::<String>().ok());
        // The test may have ended.
        let _ = self.notes.send(Note {
            id,
            app: app_name,
            replaces: replaces_id,
            summary,
            body,
            actions,
            entry,
        });
        Ok(id)
    }

    fn get_capabilities(&self) -> Vec<String> {
        self.abilities.clone()
    }

    #[zbus(signal)]
    async fn action_invoked(
        emitter: &SignalEmitter<'_>,
        id: u32,
        action_key: &str,
    ) -> zbus::Result<()>;
}

fn broken(what: &'static str, error: &dyn std::fmt::Display) -> Error {
    Error::Bus {
        what,
        reason: error.to_string(),
    }
}
