//! `cargo xtask app`: builds the desktop app and opens it, on a display of its own if need be.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, ask, run as run_command};

/// Longest time until the window shows something: a first start reads a lot from the disk.
const SHOWN_WITHIN: Duration = Duration::from_mins(1);

/// How often the virtual display is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Colours on a display that shows the page: an empty window has one.
const COLOURS_MIN: u32 = 64;

/// Sets up, builds, and becomes the app; without a display, shows it on one of its own, keeps a
/// picture and ends it.
///
/// # Errors
/// What is missing, could not be built or does not show.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::desktop(workspace)?;
    setup::app_page(workspace)?;
    let opencode = setup::opencode(workspace)?;
    report::say("building the app");
    let mut build = workspace.cargo();
    // With the features that the checks unite, so that nothing is built twice.
    build.args(["build", "--locked", "--workspace"]);
    build.args(["--bin", "openchamber-desktop"]);
    run_command(build)?;
    let program = workspace.target.join("debug").join("openchamber-desktop");
    let mut app = workspace.program(&program);
    app.env("OPENCODE_BINARY", opencode);
    if has_display() {
        let failed = app.exec();
        return Err(Failure::new(format!(
            "could not start {}: {failed}",
            program.display()
        )));
    }
    let picture = workspace.target.join("pictures").join("app.png");
    shown(workspace, app, &picture)?;
    report::say(&format!(
        "There is no display here. What the app shows is in {}",
        picture.display()
    ));
    Ok(())
}

/// Whether a window would be seen.
pub(crate) fn has_display() -> bool {
    !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Runs the app on a display of its own until it shows something, and keeps a picture of that.
///
/// # Errors
/// If there can be no display, or the app shows nothing on it.
pub(crate) fn shown(workspace: &Workspace, mut app: Command, picture: &Path) -> Result<()> {
    let folder = picture.parent().map(Path::to_path_buf).unwrap_or_default();
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("could not make {}: {error}", folder.display())))?;
    let screen = Screen::start(workspace)?;
    // On the person's own bus it could be a second start of the person's own app.
    let bus = Bus::start(workspace)?;
    // Its own language and its own folders: nobody sits in front of it, and nothing of it stays.
    let home = workspace.target.join("app-home");
    std::fs::remove_dir_all(&home).ok();
    app.env("DISPLAY", &screen.display)
        .env("DBUS_SESSION_BUS_ADDRESS", &bus.address)
        .env("GDK_BACKEND", "x11")
        .env("HOME", &home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"));
    let app = app
        .spawn()
        .map_err(|error| Failure::new(format!("could not start the app: {error}")))?;
    let mut app = Ended(app);
    let begun = Instant::now();
    while screen.colours(workspace) < COLOURS_MIN {
        if let Ok(Some(status)) = app.0.try_wait() {
            return Err(Failure::new(format!("the app ended by itself: {status}")));
        }
        if begun.elapsed() > SHOWN_WITHIN {
            return Err(Failure::new("the app shows nothing"));
        }
        std::thread::sleep(LOOK);
    }
    screen.picture(workspace, picture)
}

/// A virtual display. It ends when it is dropped.
struct Screen {
    display: String,
    _server: Ended,
}

impl Screen {
    fn start(workspace: &Workspace) -> Result<Self> {
        let mut server = workspace.program("Xvfb");
        // It chooses a free number itself, and says which.
        server.args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x820x24",
            "-nolisten",
            "tcp",
            "-ac",
        ]);
        let (server, number) = Ended::after_its_line(server)?;
        Ok(Self {
            display: format!(":{number}"),
            _server: server,
        })
    }

    /// How many colours it shows.
    fn colours(&self, workspace: &Workspace) -> u32 {
        let mut look = self.import(workspace);
        look.args(["-format", "%k", "info:"]);
        ask(look).and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    fn picture(&self, workspace: &Workspace, to: &Path) -> Result<()> {
        let mut keep = self.import(workspace);
        keep.arg(PathBuf::from(to));
        run_command(keep)
    }

    fn import(&self, workspace: &Workspace) -> Command {
        let mut import = workspace.program("import");
        import.args(["-display", &self.display, "-window", "root"]);
        import
    }
}

/// A message bus. It ends when it is dropped.
struct Bus {
    address: String,
    _daemon: Ended,
}

impl Bus {
    fn start(workspace: &Workspace) -> Result<Self> {
        let mut daemon = workspace.program("dbus-daemon");
        daemon.args(["--session", "--nofork", "--print-address=1"]);
        let (daemon, address) = Ended::after_its_line(daemon)?;
        Ok(Self {
            address,
            _daemon: daemon,
        })
    }
}

/// A process that is ended with this.
struct Ended(Child);

impl Ended {
    /// Starts a program that tells in its first line that it is ready; gives that line.
    fn after_its_line(mut program: Command) -> Result<(Self, String)> {
        let name = program.get_program().to_string_lossy().into_owned();
        program.stdout(Stdio::piped()).stderr(Stdio::null());
        let child = program.spawn();
        let mut child =
            child.map_err(|error| Failure::new(format!("could not start {name}: {error}")))?;
        let mut line = String::new();
        if let Some(said) = child.stdout.take() {
            BufReader::new(said).read_line(&mut line).ok();
        }
        let child = Self(child);
        match line.trim() {
            "" => Err(Failure::new(format!("{name} ended without a word"))),
            line => Ok((child, line.to_owned())),
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0.id()).unwrap_or(i32::MAX);
        // Gently: the app ends its server. It may have ended by itself.
        let pid = nix::unistd::Pid::from_raw(pid);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).ok();
        self.0.wait().ok();
    }
}
