//! The app on a desktop of its own, used as a person uses it: by what is written on it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::notifyd::{Note, Notifyd};
use testkit::window::{App, Page, Running};
use testkit::{OpenCode, ScriptedModel};

/// The strip above the composer.
const STRIP: &str = "
    const strip = document.querySelector('[role=group][aria-label=\"Session goal\"]');
";

/// A key of WebDriver's table.
pub(crate) const ESCAPE: &str = "\u{E00C}";

/// What the composer's field is called.
const COMPOSER: &str = "Message to the agent";

/// The window's title.
const TITLE: &str = "OpenChamber";

/// The app, its page, its notifications and the model behind its OpenCode server.
pub(crate) struct Desktop {
    pub(crate) model: ScriptedModel,
    pub(crate) page: Page,
    pub(crate) notifyd: Notifyd,
    pub(crate) running: Running,
}

impl Desktop {
    /// Opens the app, with a server of its own, and waits until it is connected.
    pub(crate) async fn open(model: ScriptedModel) -> Self {
        Self::open_as(model, app()).await
    }

    /// As [`Desktop::open`], with more in the app's surroundings.
    pub(crate) async fn open_as(model: ScriptedModel, app: App) -> Self {
        let running = Running::driver(app, &model.url()).await;
        Self::of(model, running).await
    }

    /// The app on a desktop that its driver waits on. The app is started by this.
    pub(crate) async fn of(model: ScriptedModel, running: Running) -> Self {
        let offers = ["actions", "body-markup"];
        let notifyd = Notifyd::start(running.bus().address(), &offers).await;
        let desktop = Self {
            model,
            page: running.page().await,
            notifyd: notifyd.unwrap(),
            running,
        };
        desktop.is_connected().await;
        let project = desktop.running.scratch().project();
        desktop.goes_to(&project).await;
        desktop
    }

    /// The app on a server that runs without it, in that server's project.
    pub(crate) async fn open_on(server: &OpenCode, model: ScriptedModel) -> Self {
        let attached = json!({ "kind": "attached", "url": server.url() });
        let desktop = Self::open_as(model, app_with(json!({ "server": attached }))).await;
        desktop.goes_to(&server.project()).await;
        desktop
    }

    /// Waits until the page says that its server is there.
    pub(crate) async fn is_connected(&self) {
        self.server_is("connected").await;
    }

    /// Waits until the page says so of its server.
    pub(crate) async fn server_is(&self, state: &str) {
        let script = "return [...document.querySelectorAll('footer [role=status]')].some(
            (mark) => mark.textContent.startsWith(arguments[0]));";
        let what = format!("the server is {state:?}");
        self.until(&what, async |page| page.holds(script, state).await)
            .await;
    }

    /// Makes a project the folder of new sessions, as if it had been chosen before.
    async fn goes_to(&self, project: &Path) {
        let patch = json!({ "patch": { "lastDirectory": project } });
        self.invoke("preferences_set", patch).await.unwrap();
        self.page.reload().await.unwrap();
        self.is_connected().await;
    }

    /// Loads the page anew.
    pub(crate) async fn reload(&self) {
        self.page.reload().await.unwrap();
        self.is_connected().await;
    }

    /// Closes the window, as its cross does; the app goes on.
    pub(crate) async fn close(&self) {
        self.running.close_window(TITLE).await;
    }

    /// Closes the window and starts the app once more, which brings it back.
    pub(crate) async fn close_and_come_back(&self) {
        self.close().await;
        let ended = self.running.second(&[]);
        assert!(ended.success(), "{ended}\n{}", self.running.said());
        self.is_back().await;
    }

    /// Waits for the window that comes after one that was closed.
    pub(crate) async fn is_back(&self) {
        self.running
            .until("there is a window again", async || {
                self.page.follow().await.ok()
            })
            .await;
        self.is_connected().await;
    }

    /// Kills the app, as a crash does, and starts it again.
    pub(crate) async fn crash_and_come_back(&mut self) {
        self.running.crash().await;
        self.page = self.running.page().await;
        self.is_connected().await;
    }

    /// The address of the server that is connected.
    pub(crate) async fn server(&self) -> String {
        self.running
            .until("a server is connected", async || {
                let status = self.invoke("plugin:goal|server_status", json!({})).await;
                let status = status.ok()?;
                let connected = status["state"] == "connected";
                connected.then(|| status["url"].as_str().map(str::to_owned))?
            })
            .await
    }

    /// Calls a command as the page does.
    pub(crate) async fn invoke(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self.page.invoke(command, arguments).await;
        answer.unwrap_or_else(|error| self.broken(&error))
    }

    /// Waits until the page shows `text`.
    pub(crate) async fn shows(&self, text: &str) {
        let what = format!("the page shows {text:?}");
        self.until(&what, async |page| page.shows(text).await).await;
    }

    /// Waits until the page shows `text` no more.
    pub(crate) async fn hides(&self, text: &str) {
        let what = format!("the page hides {text:?}");
        self.until(&what, async |page| Ok(!page.shows(text).await?))
            .await;
    }

    /// Waits for a control of that name, and presses it.
    pub(crate) async fn press(&self, name: &str) {
        let what = format!("{name:?} can be pressed");
        self.until(&what, async |page| page.press_control(name).await)
            .await;
    }

    /// Chooses among the answers of a card: its name begins with `label`.
    pub(crate) async fn choose(&self, label: &str) {
        let what = format!("{label:?} can be chosen");
        self.until(&what, async |page| page.choose_control(label).await)
            .await;
    }

    /// The session that the page shows, by what it remembers for its next start.
    pub(crate) async fn session(&self) -> String {
        self.running
            .until("the page remembers its session", async || {
                let kept = self.invoke("preferences", json!({})).await.ok()?;
                kept["lastSession"].as_str().map(str::to_owned)
            })
            .await
    }

    /// Writes into the composer, in place of what stands there.
    pub(crate) async fn write(&self, text: &str) {
        self.fill(COMPOSER, text).await;
    }

    /// Writes into the field of that name, in place of what stands there.
    pub(crate) async fn fill(&self, field: &str, text: &str) {
        let what = format!("{field:?} can be written in");
        self.until(&what, async |page| page.focus_control(field).await)
            .await;
        self.page.press(text).await.unwrap();
        let what = format!("{text:?} is written");
        self.until(&what, async |page| Ok(page.value_of(field).await? == text))
            .await;
    }

    /// Writes a message and sends it.
    pub(crate) async fn send(&self, text: &str) {
        self.write(text).await;
        self.press("Send").await;
    }

    /// Writes a message that is to become the session's goal.
    pub(crate) async fn arm(&self, objective: &str) {
        self.write(objective).await;
        self.press("Make the next message a goal").await;
        self.shows("fake/small will audit it").await;
    }

    /// Starts a goal by its first message.
    pub(crate) async fn arm_and_send(&self, objective: &str) {
        self.arm(objective).await;
        self.press("Send").await;
    }

    /// Waits until the strip above the composer says `text`, or says it to a screen reader.
    pub(crate) async fn goal_says(&self, text: &str) {
        let script = format!("{STRIP} return strip?.innerText.includes(arguments[0]) === true;");
        let what = format!("the goal says {text:?}");
        self.until(&what, async |page| page.holds(&script, text).await)
            .await;
    }

    /// Waits until there is no strip: the session has no goal.
    pub(crate) async fn has_no_goal(&self) {
        let script = format!("{STRIP} return strip === null;");
        let gone = async |page: &Page| page.holds(&script, "").await;
        self.until("the goal is gone", gone).await;
    }

    /// Clicks on a notification until the page shows `text`. The app listens for clicks from a
    /// moment after it is shown, which no hand beats but a test may.
    pub(crate) async fn click_until_shown(&self, note: &Note, text: &str) {
        self.running
            .until(
                &format!("a click on {note:?} leads to {text:?}"),
                async || {
                    self.notifyd.click(note.id, "default").await.ok()?;
                    self.page.shows(text).await.ok()?.then_some(())
                },
            )
            .await;
    }

    /// Opens the dialog of the session's goal.
    pub(crate) async fn manage(&self) {
        self.choose("Session goal:").await;
        self.shows("Objective").await;
    }

    /// The codes of all that the app told of goals and turns, oldest first.
    pub(crate) async fn told(&self) -> Vec<String> {
        let listed = self.invoke("plugin:goal|notices", json!({})).await.unwrap();
        let listed = listed.as_array().unwrap().iter().rev();
        listed
            .map(|notice| notice["code"].as_str().unwrap().to_owned())
            .collect()
    }

    /// What stands in the composer.
    pub(crate) async fn written(&self) -> String {
        self.page.value_of(COMPOSER).await.unwrap()
    }

    /// Puts a picture of the page where people look for them.
    pub(crate) async fn picture(&self, name: &str) {
        // What was changed last is drawn with the next frame; a page that nobody sees draws none.
        let drawn = "const done = arguments[0];
            setTimeout(done, 5000);
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));";
        let drawn = self.page.run_async(drawn, json!([])).await;
        drawn.unwrap_or_else(|error| self.broken(&error));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../pictures/window");
        std::fs::create_dir_all(&folder).unwrap();
        let picture = self.page.picture().await.unwrap();
        std::fs::write(folder.join(format!("{name}.png")), picture).unwrap();
    }

    async fn until(&self, what: &str, look: impl AsyncFn(&Page) -> Result<bool, String>) {
        let begun = std::time::Instant::now();
        loop {
            // A page that is being loaded has no answer.
            if look(&self.page).await == Ok(true) {
                return;
            }
            if begun.elapsed() > testkit::window::PATIENCE {
                self.picture("not-in-time").await;
                let text = self.page.run("return document.body.innerText", json!([]));
                let text = text.await.unwrap_or_default();
                panic!("not in time: {what}\n{text:#}\n{}", self.running.said());
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    fn broken(&self, error: &str) -> ! {
        panic!("{error}\n{}", self.running.said())
    }
}

/// The app with short limits and words in English.
pub(crate) fn app() -> App {
    app_with(json!({}))
}

/// As [`app`], with `more` in its configuration; limits in there stand beside the short ones.
pub(crate) fn app_with(mut more: Value) -> App {
    let mut limits = json!({
        "idleQuietMs": 1_000, "kickoffQuietMs": 500, "interruptedGraceMs": 4_000,
        "continueGapMs": 0,
    });
    if let (Some(usual), Some(others)) = (limits.as_object_mut(), more["limits"].as_object()) {
        usual.extend(others.clone());
    }
    more["limits"] = limits;
    App::new(env!("CARGO_BIN_EXE_openchamber-desktop"))
        .with("LANGUAGE", "en")
        .with("LC_ALL", "C.UTF-8")
        .with("OPENCHAMBER_GOAL_CONFIG", more.to_string())
}
