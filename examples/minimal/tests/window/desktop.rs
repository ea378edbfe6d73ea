//! A desktop of the test's own: X server, message bus, notification daemon, driver, the app.

use serde_json::{Value, json};
use testkit::notifyd::Notifyd;
pub(crate) use testkit::window::PATIENCE;
use testkit::window::{App, Page, Running};
use testkit::{OpenCode, OpenCodeOptions, ScriptedModel};

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

/// The app's desktop with a notification daemon, and the page in its window.
pub(crate) struct Desktop<Daemon = Notifyd> {
    pub(crate) page: Page,
    pub(crate) notifyd: Daemon,
    pub(crate) running: Running,
}

impl Desktop {
    /// Opens the app under a driver and waits for its page.
    pub(crate) async fn open(house: &House) -> Self {
        Self::open_as(house, app(house, &house.attached())).await
    }

    /// The app with two windows; its page is that of the first.
    pub(crate) async fn open_twice(house: &House) -> (Self, [String; 2]) {
        let app = app(house, &house.attached()).with("MINIMAL_TWICE", "1");
        let desktop = Self::open_as(house, app).await;
        let windows = desktop.running.until("there are two windows", async || {
            desktop.page.windows().await.ok()?.try_into().ok()
        });
        let windows = windows.await;
        (desktop, windows)
    }

    async fn open_as(house: &House, app: App) -> Self {
        let daemon = async |running: &Running| {
            let abilities = ["actions", "body-markup"];
            let address = running.bus().address();
            Notifyd::start(address, &abilities).await.unwrap()
        };
        Self::start(house, app, daemon).await
    }

    /// The app by itself, on `server`.
    pub(crate) fn without_driver(house: &House, server: &Value) -> Running {
        Running::start(app(house, server), &house.model.url())
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
        Self::start(house, app(house, &house.attached()), daemon).await
    }

    async fn start(house: &House, app: App, daemon: impl AsyncFnOnce(&Running) -> Daemon) -> Self {
        let running = Running::driver(app, &house.model.url()).await;
        let notifyd = daemon(&running).await;
        let page = running.page().await;
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
        let command = format!("plugin:goal|{command}");
        let answer = self.page.invoke(&command, arguments).await;
        answer.unwrap_or_else(|error| panic!("{error}\n{}", self.said()))
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

    /// Goes on with another window, once its page is there.
    pub(crate) async fn turn_to(&self, window: &str) {
        self.page.turn_to(window).await.unwrap();
        self.server_says("connected").await;
    }

    /// Presses on a button of a session's goal.
    pub(crate) async fn press(&self, session: &str, label: &str) {
        let script = "const [session, label] = arguments;
            const buttons = document.getElementById(session)?.querySelectorAll('button') ?? [];
            const found = [...buttons].find((button) => button.textContent === label);
            found?.click();
            return found !== undefined;";
        self.running
            .until(&format!("{label:?} can be pressed"), async || {
                let pressed = self.page.run(script, json!([session, label])).await.ok()?;
                (pressed == json!(true)).then_some(())
            })
            .await;
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
        self.running.crash_page();
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

/// The example, told of its server.
fn app(house: &House, server: &Value) -> App {
    let config = json!({
        "server": server,
        "dataDir": house.server.scratch().data_dir(),
        "limits": { "idleQuietMs": 1_000, "kickoffQuietMs": 500, "interruptedGraceMs": 4_000 },
    });
    App::new(env!("CARGO_BIN_EXE_minimal"))
        .with("OPENCODE_SERVER_PASSWORD", PASSWORD)
        .with("MINIMAL_GOAL", config.to_string())
}
