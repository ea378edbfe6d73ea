//! The app on a desktop of its own, used as a person uses it: by what is written on it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::notifyd::{Note, Notifyd};
use testkit::window::{App, Page, Running};
use testkit::{OpenCode, ScriptedModel};

/// The page's elements by the names that a screen reader says. While a dialog is open, nothing
/// else can be reached.
const NAMED: &str = "
    const nameOf = (element) => (
        element.getAttribute('aria-label')
        ?? document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent
        ?? element.labels?.[0]?.textContent
        ?? element.textContent ?? ''
    ).replace(/\\s+/g, ' ').trim();
    const dialogs = document.querySelectorAll(
        '[role=dialog][data-state=open], [role=alertdialog][data-state=open]');
    const reached = [...dialogs].at(-1) ?? document;
    const controls = 'button, a, summary, textarea, input, select, [role=button], [role=option], '
        + '[role=menuitem], [role=menuitemradio], [role=checkbox], [role=radio], [role=switch], '
        + '[role=combobox], [role=tab]';
    const named = (name) => [...reached.querySelectorAll(controls)].find(
        (element) => nameOf(element) === name && element.checkVisibility());
";

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
        self.until_page(&format!("the server is {state:?}"), script, state)
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
        let script = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, args)
                .then((ok) => done({ ok }), (error) => done({ error }));";
        let answer = self.page.run_async(script, json!([command, arguments]));
        let answer = answer.await.unwrap_or_else(|error| self.broken(&error));
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["ok"].clone()),
        }
    }

    /// Waits until the page shows `text`.
    pub(crate) async fn shows(&self, text: &str) {
        self.until_page(&format!("the page shows {text:?}"), &is_shown(true), text)
            .await;
    }

    /// Waits until the page shows `text` no more.
    pub(crate) async fn hides(&self, text: &str) {
        self.until_page(&format!("the page hides {text:?}"), &is_shown(false), text)
            .await;
    }

    /// Waits for a control of that name, and presses it.
    pub(crate) async fn press(&self, name: &str) {
        let script = format!(
            "{NAMED} const found = named(arguments[0]);
            if (!found || found.disabled) return false;
            found.scrollIntoView({{ block: 'nearest' }});
            const at = {{ bubbles: true, cancelable: true, composed: true, button: 0 }};
            found.focus();
            found.dispatchEvent(new PointerEvent('pointerdown', at));
            found.dispatchEvent(new PointerEvent('pointerup', at));
            found.click();
            return true;"
        );
        self.until_page(&format!("{name:?} can be pressed"), &script, name)
            .await;
    }

    /// Chooses among the answers of a card: its name begins with `label`.
    pub(crate) async fn choose(&self, label: &str) {
        let script = format!(
            "{NAMED} const found = [...reached.querySelectorAll(controls + ', label')].find(
                (element) => nameOf(element).startsWith(arguments[0]) && element.checkVisibility());
            if (!found) return false;
            found.click();
            return true;"
        );
        self.until_page(&format!("{label:?} can be chosen"), &script, label)
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
        let focus = format!(
            "{NAMED} const found = named(arguments[0]);
            if (!found) return false;
            found.focus(); found.select(); return document.activeElement === found;"
        );
        self.until_page(&format!("{field:?} can be written in"), &focus, field)
            .await;
        self.page.press(text).await.unwrap();
        let field = json!(field);
        let script = format!("{NAMED} return named({field})?.value === arguments[0];");
        self.until_page(&format!("{text:?} is written"), &script, text)
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
        self.until_page(&format!("the goal says {text:?}"), &script, text)
            .await;
    }

    /// Waits until there is no strip: the session has no goal.
    pub(crate) async fn has_no_goal(&self) {
        let script = format!("{STRIP} return strip === null;");
        self.until_page("the goal is gone", &script, "").await;
    }

    /// Clicks on a notification until the page shows `text`. The app listens for clicks from a
    /// moment after it is shown, which no hand beats but a test may.
    pub(crate) async fn click_until_shown(&self, note: &Note, text: &str) {
        self.running
            .until(
                &format!("a click on {note:?} leads to {text:?}"),
                async || {
                    self.notifyd.click(note.id, "default").await.ok()?;
                    let shown = self.page.run(&is_shown(true), json!([text])).await.ok()?;
                    (shown == json!(true)).then_some(())
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
        let script = format!("{NAMED} return named(arguments[0])?.value ?? '';");
        let value = self.page.run(&script, json!([COMPOSER])).await.unwrap();
        value.as_str().unwrap_or_default().to_owned()
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

    async fn until_page(&self, what: &str, script: &str, argument: &str) {
        let begun = std::time::Instant::now();
        loop {
            // A page that is being loaded has no answer.
            let answer = self.page.run(script, json!([argument])).await;
            if answer.is_ok_and(|answer| answer == json!(true)) {
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

fn is_shown(wanted: bool) -> String {
    format!("return document.body.innerText.includes(arguments[0]) === {wanted};")
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
