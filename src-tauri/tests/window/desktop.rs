//! The app on a desktop of its own, used as a person uses it: by what is written on it.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::ScriptedModel;
use testkit::notifyd::Notifyd;
use testkit::window::{App, Page, Running};

/// The page's elements by the names that a screen reader says.
const NAMED: &str = "
    const nameOf = (element) => (
        element.getAttribute('aria-label')
        ?? document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent
        ?? element.textContent ?? ''
    ).replace(/\\s+/g, ' ').trim();
    const controls = 'button, a, summary, textarea, input, select, [role=button], [role=option], '
        + '[role=menuitem], [role=menuitemradio], [role=checkbox], [role=radio], [role=switch], '
        + '[role=combobox], [role=tab]';
    const named = (name) => [...document.querySelectorAll(controls)].find(
        (element) => nameOf(element) === name && element.checkVisibility());
";

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
        let (running, page) = Running::driven(app, &model.url()).await;
        let offers = ["actions", "body-markup"];
        let notifyd = Notifyd::start(running.bus().address(), &offers).await;
        let desktop = Self {
            model,
            page,
            notifyd: notifyd.unwrap(),
            running,
        };
        desktop.is_connected().await;
        desktop.goes_to_project().await;
        desktop
    }

    /// Waits until the page says that its server is there.
    pub(crate) async fn is_connected(&self) {
        self.shows("connected").await;
    }

    /// Makes the project the folder of new sessions, as if it had been chosen before.
    async fn goes_to_project(&self) {
        let project = self.running.scratch().project();
        let patch = json!({ "patch": { "lastDirectory": project } });
        self.invoke("preferences_set", patch).await.unwrap();
        self.page.reload().await.unwrap();
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
            "{NAMED} const found = [...document.querySelectorAll(controls + ', label')].find(
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
        let focus = format!(
            "{NAMED} const found = named(arguments[0]);
            if (!found) return false;
            found.focus(); found.select(); return document.activeElement === found;"
        );
        self.until_page("the composer is there", &focus, "Message to the agent")
            .await;
        self.page.press(text).await.unwrap();
        let script =
            format!("{NAMED} return named('Message to the agent')?.value === arguments[0];");
        self.until_page(&format!("{text:?} is written"), &script, text)
            .await;
    }

    /// Writes a message and sends it.
    pub(crate) async fn send(&self, text: &str) {
        self.write(text).await;
        self.press("Send").await;
    }

    /// What stands in the composer.
    pub(crate) async fn written(&self) -> String {
        let script = format!("{NAMED} return named('Message to the agent')?.value ?? '';");
        let value = self.page.run(&script, json!([])).await.unwrap();
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Puts a picture of the page where people look for them.
    pub(crate) async fn picture(&self, name: &str) {
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
    let limits = json!({
        "idleQuietMs": 1_000, "kickoffQuietMs": 500, "interruptedGraceMs": 4_000,
    });
    App::new(env!("CARGO_BIN_EXE_openchamber-desktop"))
        .with("LANGUAGE", "en")
        .with("LC_ALL", "C.UTF-8")
        .with(
            "OPENCHAMBER_GOAL_CONFIG",
            json!({ "limits": limits }).to_string(),
        )
}
