//! Everything around the window: display, message bus, driver, and the app in its scratch home.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use testkit::Scratch;
use testkit::notifyd::{Bus, Notifyd, has_owner};
use testkit::window::{Display, Page, is_ready};

use super::Place;
use super::hands::Hands;
use super::timeline::{self, Timeline};
use crate::project;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// The app, beside this program, and its name as the system keeps it.
const APP: &str = "openchamber-desktop";
const PROCESS: &str = "openchamber-des";

/// The name on the message bus by which a second start finds the first.
const RUNNING: &str = "dev.openchamber.desktop.SingleInstance";

/// The virtual display: as large as the window.
const PIXELS: &str = "1280x820";

/// How long the session is quiet before the goal is looked at: shorter than usual, so that the
/// demo is, too.
const QUIET_MS: u32 = 3_000;

/// How long the driver may take to listen.
const DRIVER_MAX: Duration = Duration::from_secs(20);

/// How long the app may take to end when it is asked to: it ends its server first.
const END_MAX: Duration = Duration::from_secs(15);

/// How long a notification may take.
const NOTE_MAX: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Where nobody sees it, what moves is drawn in vain.
const STILL: &str = "[Settings]\ngtk-enable-animations=false\n";

/// What an app finds out from about the person's own display, beside what begins with one of
/// [`OF_DISPLAY_BEGIN`].
const OF_DISPLAY: [&str; 4] = [
    "DISPLAY",
    "DESKTOP_SESSION",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
];
const OF_DISPLAY_BEGIN: [&str; 4] = ["GDK_", "GTK_", "LIBGL_", "WEBKIT_"];

/// The app on a display. Dropping it ends all of it and removes the files.
pub(crate) struct Desktop {
    place: Place,
    app: Option<u32>,
    driver: Option<Ended>,
    display: Option<Display>,
    notifyd: Option<Notifyd>,
    bus: Option<Bus>,
    scratch: Scratch,
}

impl Desktop {
    /// A home whose OpenCode asks the model at `model_url`; nothing runs yet.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new(model_url: &str, place: Place) -> Result<Self, Trouble> {
        Ok(Self {
            place,
            app: None,
            driver: None,
            display: None,
            notifyd: None,
            bus: None,
            scratch: Scratch::with_config(model_url, &project::provider(model_url))?,
        })
    }

    /// The home of all that runs here.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Opens the app's window, and gives its page.
    ///
    /// # Errors
    /// What could not be started, and why.
    pub(crate) async fn open(&mut self) -> Result<Page, Trouble> {
        self.prefer()?;
        let bus = self.join_bus().await?;
        let display = self.find_display()?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.map_err(failed("find a free port"))?.port();
        let log = File::create(self.log()).map_err(failed("write the app's log"))?;
        let mut driver = Command::new("WebKitWebDriver");
        driver
            .arg(format!("--port={port}"))
            .env_clear()
            .envs(project::inherited())
            .envs(self.scratch.env().iter().cloned())
            .envs(display)
            .env("XDG_RUNTIME_DIR", self.scratch.home().join("tmp"))
            .env("DBUS_SESSION_BUS_ADDRESS", bus)
            .env("OPENCHAMBER_DATA_DIR", self.scratch.data_dir())
            .env("OPENCHAMBER_GOAL_CONFIG", config())
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed("write the app's log"))?)
            .stderr(log)
            // Ctrl-C is for the demo alone, which then ends the app gently.
            .process_group(0);
        let driver = driver
            .spawn()
            .map_err(failed("start WebKitWebDriver (Debian: webkit2gtk-driver)"))?;
        self.driver = Some(Ended(driver));
        let url = format!("http://127.0.0.1:{port}");
        let listens = async {
            while !is_ready(&url).await {
                tokio::time::sleep(LOOK).await;
            }
        };
        let listens = tokio::time::timeout(DRIVER_MAX, listens).await;
        listens.map_err(|_| Trouble::failed("WebKitWebDriver does not listen"))?;
        let page = Page::open(&url, &app()?.to_string_lossy()).await;
        let page = page.map_err(|error| {
            let said = std::fs::read_to_string(self.log()).unwrap_or_default();
            Trouble::failed(format!(
                "the window could not be opened: {error}\n{}",
                said.trim_end()
            ))
        })?;
        self.app = self.process();
        Ok(page)
    }

    /// Waits for the notification of the goal's end, and tells it.
    ///
    /// # Errors
    /// If it does not come, or tells something else.
    pub(crate) async fn is_notified(
        &mut self,
        timeline: &mut Timeline,
        hands: &Hands<'_>,
        tell: &Tell,
    ) -> Result<(), Trouble> {
        let Some(notifyd) = &mut self.notifyd else {
            // The person's own daemon shows it; the app says that it was told to.
            let told = timeline.follow_to_notice(hands, tell);
            let told = tokio::time::timeout(NOTE_MAX, told).await;
            return told.unwrap_or_else(|_| Err(no_notice()));
        };
        let note = notifyd.next(NOTE_MAX).await.map_err(|_| no_notice())?;
        let body = note.body.lines().next().unwrap_or_default();
        tell.of(
            "desktop",
            &format!("notification: {}  {body}", note.summary),
        );
        if note.summary == timeline::COMPLETE {
            Ok(())
        } else {
            Err(no_notice())
        }
    }

    /// Whether the app ran and does not any more.
    pub(crate) fn was_closed(&self) -> bool {
        self.app.is_some() && self.process() != self.app
    }

    /// Waits until the person has closed it.
    pub(crate) async fn is_closed(&self) {
        while !self.was_closed() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Asks the app to end, and waits until it has.
    ///
    /// # Errors
    /// If it does not, or was heard more often than once.
    pub(crate) async fn close(&mut self) -> Result<(), Trouble> {
        if let Some(pid) = self.process().and_then(|pid| i32::try_from(pid).ok()) {
            // It may be ending by itself.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let ended = async {
            while self.process().is_some() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let ended = tokio::time::timeout(END_MAX, ended).await;
        ended.map_err(|_| Trouble::failed("the app did not end when it was asked to"))?;
        let others = self.notifyd.as_mut().map(Notifyd::others);
        match others.unwrap_or_default().first() {
            // A person who plays with it may have heard of more.
            Some(_) if self.place == Place::Stay => Ok(()),
            Some(note) => Err(Trouble::failed(format!(
                "one notification should have been shown, but there was another: {}",
                note.summary
            ))),
            None => Ok(()),
        }
    }

    /// Ends everything that still runs here, and removes the home.
    ///
    /// # Errors
    /// If something is left of it.
    pub(crate) async fn clear(mut self) -> Result<(), Trouble> {
        let home = self.scratch.home().to_owned();
        self.driver = None;
        self.scratch.end_processes();
        project::is_quiet(&self.scratch).await?;
        drop(self);
        project::is_removed(&home)
    }

    /// What the person would have chosen before: where new sessions begin, and that the app ends
    /// with its window.
    fn prefer(&self) -> Result<(), Trouble> {
        let preferences = json!({
            "lastDirectory": self.scratch.project(),
            "keepRunning": false,
            "language": "en",
        });
        let file = self.scratch.data_dir().join("preferences.json");
        let written = std::fs::write(file, preferences.to_string());
        written.map_err(failed("write the app's preferences"))
    }

    /// The address of the person's own message bus, so that their desktop shows the notification;
    /// where nobody sees the window, of one with a daemon that remembers it.
    async fn join_bus(&mut self) -> Result<String, Trouble> {
        let own = match self.place {
            Place::Virtual => None,
            Place::Display | Place::Stay => own_bus(),
        };
        if let Some(address) = own {
            if has_owner(&address, RUNNING).await {
                return Err(Trouble::failed(
                    "OpenChamber runs here already, and a second one would only bring the first \
                     to the front.\nQuit it by its tray icon, or watch the demo in the terminal: \
                     `cargo xtask demo --headless`",
                ));
            }
            return Ok(address);
        }
        let bus = self.bus.insert(Bus::apart()?);
        let address = bus.address().to_owned();
        let offers = ["actions", "body-markup"];
        self.notifyd = Some(Notifyd::start(&address, &offers).await?);
        Ok(address)
    }

    /// The variables that lead to the display.
    fn find_display(&mut self) -> Result<Vec<(String, String)>, Trouble> {
        if self.place != Place::Virtual {
            return Ok(own_display());
        }
        let settings = self.scratch.home().join("config/gtk-3.0");
        std::fs::create_dir_all(&settings)
            .and_then(|()| std::fs::write(settings.join("settings.ini"), STILL))
            .map_err(failed("write the window's settings"))?;
        let display = self.display.insert(Display::start(PIXELS)?);
        let variables = [
            ("DISPLAY", display.name()),
            ("GDK_BACKEND", "x11"),
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(variables.to_vec())
    }

    /// The app's process.
    fn process(&self) -> Option<u32> {
        self.scratch.processes().into_iter().find(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            name.is_ok_and(|name| name.trim() == PROCESS)
        })
    }

    /// What driver and app print.
    fn log(&self) -> PathBuf {
        self.scratch.home().join("app.log")
    }
}

/// A process that is ended with this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn app() -> Result<PathBuf, Trouble> {
    let here = std::env::current_exe().map_err(failed("find this program"))?;
    let app = here.with_file_name(APP);
    if app.is_file() {
        return Ok(app);
    }
    Err(Trouble::failed(format!(
        "no app at {}: run `cargo build -p {APP}`",
        app.display()
    )))
}

fn config() -> String {
    json!({ "limits": { "idleQuietMs": QUIET_MS } }).to_string()
}

fn own_display() -> Vec<(String, String)> {
    let about = |name: &str| {
        OF_DISPLAY.contains(&name) || OF_DISPLAY_BEGIN.iter().any(|begin| name.starts_with(begin))
    };
    let mut variables: Vec<(String, String)> =
        std::env::vars().filter(|(name, _)| about(name)).collect();
    let mut lead = |name: &str, path: PathBuf| {
        variables.push((name.to_owned(), path.to_string_lossy().into_owned()));
    };
    // Both are looked for in folders that are others for the app.
    let key = variable("XAUTHORITY").map(PathBuf::from);
    let usual = || Some(Path::new(&variable("HOME")?).join(".Xauthority"));
    if let Some(key) = key.or_else(usual).filter(|key| key.exists()) {
        lead("XAUTHORITY", key);
    }
    if let (Some(folder), Some(socket)) = (variable("XDG_RUNTIME_DIR"), variable("WAYLAND_DISPLAY"))
    {
        lead("WAYLAND_DISPLAY", Path::new(&folder).join(socket));
    }
    variables
}

fn own_bus() -> Option<String> {
    let usual = || {
        let socket = Path::new(&variable("XDG_RUNTIME_DIR")?).join("bus");
        socket
            .exists()
            .then(|| format!("unix:path={}", socket.display()))
    };
    variable("DBUS_SESSION_BUS_ADDRESS").or_else(usual)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn no_notice() -> Trouble {
    Trouble::failed("no notification said that the goal is complete")
}

fn failed(what: &str) -> impl FnOnce(std::io::Error) -> Trouble {
    let what = what.to_owned();
    move |error| Trouble::failed(format!("could not {what}: {error}"))
}
