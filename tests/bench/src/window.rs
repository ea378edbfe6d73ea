//! (j) The app's window: how soon it is painted and what it holds, against a window of Tauri with
//! nothing in it, and how large the program is.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::json;
use testkit::notifyd::Bus;
use testkit::opencode::{OpenCode, OpenCodeOptions};
use testkit::window::Display;
use testkit::{Scratch, ScriptedModel};
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat};
use x11rb::rust_connection::RustConnection;

use crate::figure::Figure;
use crate::{Result, Scale, usage};

/// The app, where its own profile puts it: seen from the folder of this program.
const APP: &str = "../app/openchamber-desktop";

/// The window with nothing in it.
const EMPTY: &str = "../app/examples/empty";

/// What both pages are painted on, blue first, as the screen has it.
const GROUND: [u8; 3] = [0xfa, 0xfb, 0xfb];

/// How many times each is started, in turns.
const STARTS: usize = 9;

/// Longest time until a window is painted.
const PAINTED_WITHIN: Duration = Duration::from_secs(60);

/// Between two looks at the screen.
const LOOK: Duration = Duration::from_millis(2);

/// How long a painted window is left to itself before its memory is read: by then the app has
/// asked its server for everything it shows.
const SETTLING: usize = 6_000;

const MEGABYTE: f64 = 1_000_000.0;

pub(crate) async fn cost(scale: Scale) -> Result<Vec<Figure>> {
    let folder = std::env::current_exe()?;
    let folder = folder.parent().ok_or("this program lies nowhere")?;
    let model = ScriptedModel::start()?;
    let server = OpenCode::start(OpenCodeOptions::new(model.url())).await?;
    let attached = json!({ "server": { "kind": "attached", "url": server.url() } });
    let config = vec![("OPENCHAMBER_GOAL_CONFIG".to_owned(), attached.to_string())];
    let screen = Screen::start()?;
    let app = Program::new(folder.join(APP), config)?;
    let empty = Program::new(folder.join(EMPTY), Vec::new())?;
    let settling = Duration::from_millis(u64::try_from(scale.of(SETTLING, 1_000))?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(STARTS, 1) {
        ours.push(app.start(&screen, settling).await?);
        theirs.push(empty.start(&screen, settling).await?);
    }
    told(&ours, &theirs, std::fs::metadata(folder.join(APP))?.len())
}

fn told(ours: &[Start], theirs: &[Start], program: u64) -> Result<Vec<Figure>> {
    let painted = |starts: &[Start]| middle(starts.iter().map(|start| start.painted_ms));
    let held = |starts: &[Start]| middle(starts.iter().map(|start| start.held));
    let (our_paint, their_paint) = (painted(ours)?, painted(theirs)?);
    let (our_memory, their_memory) = (held(ours)? / MEGABYTE, held(theirs)? / MEGABYTE);
    let starts = ours.len();
    Ok(vec![
        Figure::at_most(
            "j",
            format!("first paint behind an empty window's, the middle of {starts}"),
            our_paint - their_paint,
            100.0,
            " ms",
        ),
        Figure::told(
            "j",
            "… from the start, against the empty window's",
            format!("{our_paint:.0} ms, {their_paint:.0} ms"),
        ),
        Figure::at_most(
            "j",
            "memory (PSS, all its processes) above an empty window's",
            our_memory - their_memory,
            60.0,
            " MB",
        ),
        Figure::told(
            "j",
            "… of the app, against the empty window's",
            format!("{our_memory:.0} MB, {their_memory:.0} MB"),
        ),
        Figure::at_most("j", "the program", bytes(program) / MEGABYTE, 15.0, " MB"),
    ])
}

/// What one start came to.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// From the start of the process to the page's ground on the screen.
    painted_ms: f64,
    /// Bytes, when it had settled.
    held: f64,
}

/// A program with a home of its own, that keeps what it learnt at its first start.
struct Program {
    path: PathBuf,
    bus: Bus,
    scratch: Scratch,
    more: Vec<(String, String)>,
}

impl Program {
    fn new(path: PathBuf, more: Vec<(String, String)>) -> Result<Self> {
        Ok(Self {
            path,
            bus: Bus::start()?,
            scratch: Scratch::new("http://127.0.0.1:9")?,
            more,
        })
    }

    /// Starts it, waits until it has settled, and ends it.
    async fn start(&self, screen: &Screen, settling: Duration) -> Result<Start> {
        let began = Instant::now();
        let running = Ended(self.command(screen).spawn().map_err(|error| {
            let path = self.path.display();
            format!("{path}: {error}; `cargo xtask bench j` builds it")
        })?);
        while !screen.shows_ground()? {
            if began.elapsed() > PAINTED_WITHIN {
                return Err(format!("{} paints nothing", self.path.display()).into());
            }
            tokio::time::sleep(LOOK).await;
        }
        let painted_ms = began.elapsed().as_secs_f64() * 1_000.0;
        tokio::time::sleep(settling).await;
        let mut held = 0;
        for pid in self.scratch.processes() {
            held += usage::memory_shared_out(pid)?;
        }
        drop(running);
        screen.is_bare().await?;
        Ok(Start {
            painted_ms,
            held: bytes(held),
        })
    }

    fn command(&self, screen: &Screen) -> Command {
        let mut command = Command::new(&self.path);
        command
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| name == "PATH"))
            .envs(self.scratch.env().iter().cloned())
            .env("XDG_RUNTIME_DIR", self.scratch.home().join("tmp"))
            .env("DBUS_SESSION_BUS_ADDRESS", self.bus.address())
            .env("DISPLAY", screen.display.name())
            .env("GDK_BACKEND", "x11")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("LC_ALL", "C.UTF-8")
            .envs(self.more.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// A virtual display, looked at.
struct Screen {
    display: Display,
    x: RustConnection,
    root: u32,
}

impl Screen {
    fn start() -> Result<Self> {
        let display = Display::start("1280x820")?;
        let (x, at) = x11rb::connect(Some(display.name()))?;
        let screens = &x11rb::connection::Connection::setup(&x).roots;
        let root = screens.get(at).ok_or("no screen")?.root;
        Ok(Self { display, x, root })
    }

    /// Whether the page's ground is to be seen in a line across the middle of the screen.
    fn shows_ground(&self) -> Result<bool> {
        Ok(self.line()?.chunks(4).any(|dot| dot.starts_with(&GROUND)))
    }

    /// Waits until the line is black again.
    async fn is_bare(&self) -> Result<()> {
        let began = Instant::now();
        while self.shows_ground()? {
            if began.elapsed() > PAINTED_WITHIN {
                return Err("a window stays when its program has ended".into());
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    fn line(&self) -> Result<Vec<u8>> {
        let all = ImageFormat::Z_PIXMAP;
        let asked = self
            .x
            .get_image(all, self.root, 0, 400, 1_280, 1, u32::MAX)?;
        Ok(asked.reply()?.data)
    }
}

/// A process that is ended with this, and waited for.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap_or(i32::MAX));
        // It may have ended by itself.
        let _ = nix::sys::signal::kill(pid, Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

/// The one in the middle.
fn middle(values: impl Iterator<Item = f64>) -> Result<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let found = values.get(values.len() / 2).copied();
    found.ok_or_else(|| "nothing was measured".into())
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn bytes(count: u64) -> f64 {
    count as f64
}
