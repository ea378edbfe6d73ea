//! A desktop of the test's own: X server, message bus, notification daemon, driver, the app.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::notifyd::{Bus, Notifyd};
use testkit::{OpenCode, OpenCodeOptions, Scratch, ScriptedModel};

use crate::webdriver::{self, Page};

/// Longest time for one step: OpenCode takes seconds to start on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How often is looked for what is waited for.
const LOOK: Duration = Duration::from_millis(50);

const PASSWORD: &str = "correct horse";

/// The server with its model, and a session.
pub(crate) struct House {
    pub(crate) model: ScriptedModel,
    pub(crate) server: OpenCode,
    pub(crate) session: String,
}

impl House {
    pub(crate) async fn build(model: ScriptedModel) -> Self {
        let options = OpenCodeOptions {
            password: Some(PASSWORD.to_owned()),
            ..OpenCodeOptions::new(model.url())
        };
        let server = OpenCode::start(options).await.unwrap();
        let project = server.project();
        let session = server.create_session(&project, "The work").await.unwrap();
        Self {
            model,
            server,
            session,
        }
    }

    /// The server as an app is told to use it.
    pub(crate) fn attached(&self) -> Value {
        json!({ "kind": "attached", "url": self.server.url() })
    }
}

/// The app on its desktop. Everything on it ends with it.
pub(crate) struct Running {
    leader: Child,
    bus: Bus,
    scratch: Scratch,
}

/// The app's desktop with a notification daemon, and the page in its window.
pub(crate) struct Desktop<Daemon = Notifyd> {
    pub(crate) page: Page,
    pub(crate) notifyd: Daemon,
    pub(crate) running: Running,
}

impl Desktop {
    /// Opens the app under a driver and waits for its page.
    pub(crate) async fn open(house: &House) -> Self {
        let daemon = async |running: &Running| {
            let abilities = ["actions", "body-markup"];
            Notifyd::start(running.bus.address(), &abilities)
                .await
                .unwrap()
        };
        Self::open_with(house, daemon).await
    }

    /// The app by itself, on `server`.
    pub(crate) fn without_driver(house: &House, server: Value) -> Running {
        let app = env!("CARGO_BIN_EXE_minimal").to_owned();
        Running::start(house, &[app], server, &[])
    }

    /// Clicks on a notification until the app printed `text` behind the first `from` bytes. The app
    /// listens for clicks from a moment after it is shown, which no hand beats but a test may.
    pub(crate) async fn click_until(&self, note: u32, from: usize, text: &str) {
        let what = format!("the app says {text:?}");
        self.running
            .until(&what, async || {
                self.notifyd.click(note, "default").await.ok()?;
                self.said().get(from..)?.contains(text).then_some(())
            })
            .await;
    }
}

impl<Daemon> Desktop<Daemon> {
    /// The same, with another notification daemon, which is started before the app.
    pub(crate) async fn open_with(
        house: &House,
        daemon: impl AsyncFnOnce(&Running) -> Daemon,
    ) -> Self {
        let port = free_port();
        let driver = ["WebKitWebDriver".to_owned(), format!("--port={port}")];
        let automated = ("TAURI_WEBVIEW_AUTOMATION", "true");
        let running = Running::start(house, &driver, house.attached(), &[automated]);
        let url = format!("http://127.0.0.1:{port}");
        running
            .until("the driver listens", async || {
                webdriver::is_ready(&url).await.then_some(())
            })
            .await;
        let notifyd = daemon(&running).await;
        let page = Page::open(&url, env!("CARGO_BIN_EXE_minimal")).await;
        let page = page.unwrap_or_else(|error| panic!("{error}\n{}", running.said()));
        let desktop = Self {
            page,
            notifyd,
            running,
        };
        desktop.server_says("connected").await;
        desktop
    }

    /// Calls a command from the page.
    pub(crate) async fn invoke(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        let script = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(`plugin:goal|${command}`, args)
                .then((ok) => done({ ok }), (error) => done({ error }));";
        let answer = self
            .page
            .run_async(script, json!([command, arguments]))
            .await;
        let answer = answer.unwrap_or_else(|error| panic!("{error}\n{}", self.said()));
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["ok"].clone()),
        }
    }

    /// Starts a goal by the page's form, as a person does.
    pub(crate) async fn start_goal(&self, house: &House, objective: &str) {
        let script = "const [session, objective] = arguments;
            const form = document.getElementById('new');
            form.session.value = session;
            form.objective.value = objective;
            form.requestSubmit();";
        let arguments = json!([house.session, objective]);
        self.page.run(script, arguments).await.unwrap();
    }

    /// Waits until the page says `text` of a session's goal.
    pub(crate) async fn page_says(&self, session: &str, text: &str) {
        self.page_shows(session, text).await;
    }

    /// Destroys the window without asking the page; the app goes on.
    pub(crate) async fn destroy_window(&self) {
        // A driver whose window is gone never answers: so it answers first.
        let script = "setTimeout(() => window.__TAURI__.window.getCurrentWindow().destroy(), 250)";
        self.page.run(script, json!([])).await.unwrap();
    }

    /// Kills the process of the page, as a crash does.
    pub(crate) fn crash_page(&self) {
        self.running.kill("WebKitWebProces", "-KILL");
    }

    /// What the app printed so far.
    pub(crate) fn said(&self) -> String {
        self.running.said()
    }

    /// Waits until the app printed `text` behind the first `from` bytes.
    pub(crate) async fn says_after(&self, from: usize, text: &str) {
        self.running.says_after(from, text).await;
    }

    async fn server_says(&self, text: &str) {
        self.page_shows("server", text).await;
    }

    async fn page_shows(&self, id: &str, text: &str) {
        let script = "return document.getElementById(arguments[0])?.textContent ?? ''";
        let what = format!("the page says {text:?} in #{id}");
        self.running
            .until(&what, async || {
                // A page that is being loaded has no answer.
                let shown = self.page.run(script, json!([id])).await.ok()?;
                shown.as_str()?.contains(text).then_some(())
            })
            .await;
    }
}

impl Running {
    fn start(house: &House, program: &[String], server: Value, more: &[(&str, &str)]) -> Self {
        let bus = Bus::start().unwrap();
        let scratch = Scratch::new(&house.model.url()).unwrap();
        let config = json!({
            "server": server,
            "dataDir": house.server.scratch().data_dir(),
            "limits": { "idleQuietMs": 1_000, "kickoffQuietMs": 500, "interruptedGraceMs": 4_000 },
        });
        let log = File::create(scratch.home().join("app.log")).unwrap();
        let mut command = Command::new("xvfb-run");
        command
            .args(["-a", "-s", "-screen 0 1280x800x24"])
            .args(program)
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| ["PATH", "LANG"].contains(&name.as_str())))
            .envs(scratch.env().iter().cloned())
            .env("HOME", scratch.home())
            .env("XDG_RUNTIME_DIR", scratch.home().join("tmp"))
            .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
            .env("GDK_BACKEND", "x11")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
            .env("MINIMAL_GOAL", config.to_string())
            .envs(more.iter().copied())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        let leader = command.spawn().unwrap();
        Self {
            leader,
            bus,
            scratch,
        }
    }

    pub(crate) fn said(&self) -> String {
        let said = std::fs::read(self.scratch.home().join("app.log")).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }

    pub(crate) async fn says_after(&self, from: usize, text: &str) {
        let what = format!("the app says {text:?}");
        self.until(&what, async || {
            let said = self.said();
            said.get(from..)?.contains(text).then_some(())
        })
        .await;
    }

    /// Sends SIGTERM to the app, and gives how it ended.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        self.kill("minimal", "-TERM");
        let begun = Instant::now();
        loop {
            if let Some(ended) = self.leader.try_wait().unwrap() {
                return ended;
            }
            assert!(begun.elapsed() < PATIENCE, "{}", self.said());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The command lines of the servers that run on this desktop.
    pub(crate) fn servers(&self) -> Vec<String> {
        let line = |pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&line).replace('\0', " ");
            format!("{pid}: {words}")
        };
        let lines = self.scratch.processes().into_iter().map(line);
        lines.filter(|line| line.contains(" serve ")).collect()
    }

    /// Waits until no server runs here: what is killed takes a moment to be gone.
    pub(crate) async fn has_no_server(&self) {
        let what = format!("no server runs, of {:?}", self.servers());
        self.until(&what, async || self.servers().is_empty().then_some(()))
            .await;
    }

    /// The process of that name, of which the system keeps 15 characters.
    fn process(&self, name: &str) -> Option<u32> {
        self.scratch.processes().into_iter().find(|pid| {
            let its_name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            its_name.is_ok_and(|its_name| its_name.trim() == name)
        })
    }

    /// Sends a signal to the process of that name.
    fn kill(&self, name: &str, signal: &str) {
        let pid = self.process(name);
        let pid = pid
            .unwrap_or_else(|| panic!("no process {name}"))
            .to_string();
        let sent = Command::new("kill").args([signal, pid.as_str()]).status();
        assert!(sent.unwrap().success());
    }

    /// The message bus.
    pub(crate) fn bus(&self) -> &Bus {
        &self.bus
    }

    /// A program on this desktop. It ends with it.
    pub(crate) fn program(&self, name: &str) -> Command {
        let driver = self.process("WebKitWebDriver").unwrap();
        let mut program = Command::new(name);
        program.env_clear();
        for variable in std::fs::read(format!("/proc/{driver}/environ"))
            .unwrap()
            .split(|byte| *byte == 0)
        {
            let variable = String::from_utf8_lossy(variable);
            if let Some((name, value)) = variable.split_once('=') {
                program.env(name, value);
            }
        }
        program.stdin(Stdio::null());
        program
    }

    /// A folder of this desktop's own.
    pub(crate) fn folder(&self) -> &Path {
        self.scratch.home()
    }

    pub(crate) async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
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

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
