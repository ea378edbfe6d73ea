//! An app in its real window, on a desktop of the test's own: an X server, a message bus, a home.
//!
//! ```text
//! test ──▶ WebKitWebDriver ──▶ app ──▶ X server (xvfb-run)
//!   └────▶ notification daemon ◀──┘ (message bus)
//! ```
//!
//! Everything here ends the test with its reason when it fails: it runs in tests alone.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

mod display;
mod hands;
mod screen;
mod webdriver;

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub use display::Display;
use serde_json::{Value, json};
pub use webdriver::{Page, is_ready};

use crate::Scratch;
use crate::notifyd::Bus;

/// Longest time for one step: OpenCode takes seconds to start on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What the X server is started with: without access control, for the test is a client of it, too.
const SCREEN: &str = "-screen 0 1280x800x24 -ac";

/// The desktop's wish for reduced motion.
const STILL: &str = "[Settings]\ngtk-enable-animations=false\n";

/// How often is looked for what is waited for.
const LOOK: Duration = Duration::from_millis(50);

/// The app under test.
#[derive(Clone, Debug)]
pub struct App {
    /// Its program.
    pub program: PathBuf,
    /// What it finds in its environment beside a home, a bus and a screen.
    pub env: Vec<(String, String)>,
    /// Merged over the configuration of the OpenCode in its home.
    pub opencode: Value,
}

impl App {
    /// `program` as it is.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            env: Vec::new(),
            opencode: json!({}),
        }
    }

    /// With a variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The name of its process, of which the system keeps 15 characters.
    fn process(&self) -> String {
        let name = self.program.file_name().unwrap().to_string_lossy();
        name.chars().take(15).collect()
    }
}

/// An app on its desktop. Everything on it ends with it.
#[derive(Debug)]
pub struct Running {
    leader: Child,
    /// Where the driver listens, if there is one.
    driver: String,
    app: App,
    bus: Bus,
    scratch: Scratch,
}

impl Running {
    /// Starts the app by itself, with a home whose OpenCode asks the model at `model_url`.
    #[must_use]
    pub fn start(app: App, model_url: &str) -> Self {
        let program = [app.program.to_str().unwrap().to_owned()];
        Self::begin(app, model_url, &program, &[])
    }

    /// Starts a driver and, by it, the app; gives its page.
    pub async fn driven(app: App, model_url: &str) -> (Self, Page) {
        let running = Self::driver(app, model_url).await;
        let page = running.page().await;
        (running, page)
    }

    /// Starts the driver alone: [`Running::page`] has it start the app.
    pub async fn driver(app: App, model_url: &str) -> Self {
        let port = free_port();
        let driver = [
            "WebKitWebDriver".to_owned(),
            format!("--port={port}"),
            // It does not notice that an app was killed.
            "--replace-on-new-session".to_owned(),
        ];
        let automated = ("TAURI_WEBVIEW_AUTOMATION", "true");
        let mut running = Self::begin(app, model_url, &driver, &[automated]);
        running.driver = format!("http://127.0.0.1:{port}");
        running
            .until("the driver listens", async || {
                webdriver::is_ready(&running.driver).await.then_some(())
            })
            .await;
        running
    }

    /// Has the driver start the app, and gives its page.
    pub async fn page(&self) -> Page {
        let page = Page::open(&self.driver, self.app.program.to_str().unwrap()).await;
        page.unwrap_or_else(|error| panic!("{error}\n{}", self.said()))
    }

    fn begin(app: App, model_url: &str, program: &[String], more: &[(&str, &str)]) -> Self {
        let bus = Bus::start().unwrap();
        let scratch = Scratch::with_config(model_url, &app.opencode).unwrap();
        // What moves on the page is drawn by the processor here.
        let settings = scratch.home().join("config/gtk-3.0");
        std::fs::create_dir_all(&settings).unwrap();
        std::fs::write(settings.join("settings.ini"), STILL).unwrap();
        let leader = launch(&app, &bus, &scratch, program, more);
        Self {
            leader,
            driver: String::new(),
            app,
            bus,
            scratch,
        }
    }

    /// Starts the program once more beside the running one, with `words`, on a screen of its own
    /// but the same bus and home, and waits for its end.
    #[must_use]
    pub fn second(&self, words: &[&str]) -> ExitStatus {
        let mut program = vec![self.app.program.to_str().unwrap().to_owned()];
        program.extend(words.iter().map(|word| (*word).to_owned()));
        launch(&self.app, &self.bus, &self.scratch, &program, &[])
            .wait()
            .unwrap()
    }

    /// The desktop's message bus.
    #[must_use]
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// A program on this desktop, with its screen and bus. It ends with it.
    #[must_use]
    pub fn program(&self, name: &str) -> Command {
        let host = ["WebKitWebDriver".to_owned(), self.app.process()];
        let pid = host.iter().find_map(|name| self.process(name)).unwrap();
        let mut program = Command::new(name);
        program.env_clear().stdin(Stdio::null());
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        for variable in environment.split(|byte| *byte == 0) {
            let variable = String::from_utf8_lossy(variable);
            if let Some((name, value)) = variable.split_once('=') {
                program.env(name, value);
            }
        }
        program
    }

    /// What a program on this desktop prints; `None` if it failed.
    #[must_use]
    pub fn ask(&self, name: &str, words: &[&str]) -> Option<String> {
        let output = self.program(name).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(said)
    }

    /// The home it runs in.
    #[must_use]
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// What the app printed so far.
    #[must_use]
    pub fn said(&self) -> String {
        let said = std::fs::read(self.scratch.home().join("app.log")).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Waits until the app printed `text` behind the first `from` bytes.
    pub async fn says_after(&self, from: usize, text: &str) {
        let what = format!("the app says {text:?}");
        self.until(&what, async || {
            let said = self.said();
            said.get(from..)?.contains(text).then_some(())
        })
        .await;
    }

    /// Sends SIGTERM to the app, and gives how it ended.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.kill(&self.app.process(), "-TERM");
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.leader.try_wait().unwrap() {
                return ended;
            }
            assert!(begun.elapsed() < PATIENCE, "{}", self.said());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Kills the app and nothing else, as a crash does.
    pub async fn crash(&self) {
        self.kill(&self.app.process(), "-KILL");
        self.has_no_app().await;
    }

    /// Waits until the app does not run.
    pub async fn has_no_app(&self) {
        self.until("the app has ended", async || {
            self.process(&self.app.process()).is_none().then_some(())
        })
        .await;
    }

    /// The command lines of the servers that run on this desktop.
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        let line = |pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&line).replace('\0', " ");
            format!("{pid}: {words}")
        };
        let lines = self.scratch.processes().into_iter().map(line);
        lines.filter(|line| line.contains(" serve ")).collect()
    }

    /// Waits until no server runs here: what is killed takes a moment to be gone.
    pub async fn has_no_server(&self) {
        let what = format!("no server runs, of {:?}", self.servers());
        self.until(&what, async || self.servers().is_empty().then_some(()))
            .await;
    }

    /// Closes the window of this title, as its cross does.
    pub async fn close_window(&self, title: &str) {
        let what = format!("the window {title:?} can be closed");
        self.until(&what, async || {
            let display = self.display()?;
            screen::close(&display, title).ok()
        })
        .await;
    }

    /// The screen that the app was given.
    fn display(&self) -> Option<String> {
        let pid = self.process(&self.app.process())?;
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let display = environment
            .split('\0')
            .find_map(|entry| entry.strip_prefix("DISPLAY="));
        display.map(str::to_owned)
    }

    /// The process of that name, of which the system keeps 15 characters.
    fn process(&self, name: &str) -> Option<u32> {
        self.scratch.processes().into_iter().find(|pid| {
            let its_name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            its_name.is_ok_and(|its_name| its_name.trim() == name)
        })
    }

    /// Kills the process of the page, as a crash does.
    pub fn crash_page(&self) {
        self.kill("WebKitWebProces", "-KILL");
    }

    /// Sends a signal to the process of that name, of which the system keeps 15 characters.
    pub fn kill(&self, name: &str, signal: &str) {
        let pid = self
            .process(name)
            .unwrap_or_else(|| panic!("no process {name}"))
            .to_string();
        let sent = Command::new("kill").args([signal, pid.as_str()]).status();
        assert!(sent.unwrap().success());
    }

    /// Looks until `look` finds something. After [`PATIENCE`] the test ends with `what`.
    pub async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "not in time: {what}\n{}",
                self.said()
            );
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.scratch.end_processes();
        // It has ended, or does so with the processes it waited for.
        let _ = self.leader.kill();
        let _ = self.leader.wait();
    }
}

fn launch(
    app: &App,
    bus: &Bus,
    scratch: &Scratch,
    program: &[String],
    more: &[(&str, &str)],
) -> Child {
    let log = File::options()
        .create(true)
        .append(true)
        .open(scratch.home().join("app.log"))
        .unwrap();
    let mut command = Command::new("xvfb-run");
    command
        .args(["-a", "-s", SCREEN])
        .args(program)
        .env_clear()
        .envs(std::env::vars().filter(|(name, _)| ["PATH", "LANG"].contains(&name.as_str())))
        .envs(scratch.env().iter().cloned())
        .env("HOME", scratch.home())
        .env("XDG_RUNTIME_DIR", scratch.home().join("tmp"))
        .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
        .env("GDK_BACKEND", "x11")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .envs(app.env.iter().cloned())
        .envs(more.iter().copied())
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .process_group(0);
    command.spawn().unwrap()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
