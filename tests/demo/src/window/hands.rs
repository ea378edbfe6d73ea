//! What a person does in the window and sees there, and what the page hears.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::ScriptedModel;
use testkit::window::Page;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use crate::conduct::{Scene, beat};
use crate::play;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// Longest time for what the page shows: OpenCode takes seconds to start on a busy machine.
const STEP_MAX: Duration = Duration::from_secs(60);

/// Between two looks at the page.
const LOOK: Duration = Duration::from_millis(50);

/// How many words a person types at a stretch.
const STRETCH: usize = 4;

/// The escape key, as drivers write it.
const ESCAPE: &str = "\u{E00C}";

const COMPOSER: &str = "Message to the agent";
const ARM: &str = "Make the next message a goal";

/// The moments that are kept as pictures.
const ARMED: &str = "1-armed.png";
const WORKING: &str = "2-working.png";
const CONTINUED: &str = "3-continued.png";
const COMPLETE: &str = "4-complete.png";

/// Has the page keep what the app tells of its goals, in its order.
const WATCH: &str = "
    const done = arguments[0];
    const told = window.demoTold = [];
    const { invoke, transformCallback } = window.__TAURI_INTERNALS__;
    const id = transformCallback(({ index, message }) => { told[index] = message; });
    invoke('plugin:goal|watch', { channel: `__CHANNEL__:${id}` })
        .then(() => done(true), (error) => done(JSON.stringify(error)));
";

/// What was told from a number on, without what came too early.
const TOLD: &str = "
    const told = window.demoTold;
    let end = arguments[0];
    while (told[end] !== undefined) end += 1;
    return told.slice(arguments[0], end);
";

/// The session's messages, asked for as the page does.
const MESSAGES: &str = "
    const [session, directory, done] = arguments;
    const request = {
        method: 'GET', path: `/session/${session}/message`, query: [['directory', directory]],
    };
    window.__TAURI_INTERNALS__.invoke('server_call', { request }).then((answer) => {
        const text = new TextDecoder().decode(answer);
        done(JSON.parse(text.slice(text.indexOf('\\n') + 1)));
    }, (error) => done(JSON.stringify(error)));
";

/// The window in the hands of the demo.
pub(crate) struct Hands<'a> {
    /// One command at a time.
    page: Mutex<Page>,
    model: &'a ScriptedModel,
    project: &'a Path,
    pictures: PathBuf,
    session: OnceCell<String>,
}

impl<'a> Hands<'a> {
    /// Hands on `page`, with an empty folder for pictures.
    ///
    /// # Errors
    /// If there cannot be one.
    pub(crate) fn on(
        page: Page,
        model: &'a ScriptedModel,
        project: &'a Path,
        pictures: &Path,
    ) -> Result<Self, Trouble> {
        let hands = Self {
            page: Mutex::new(page),
            model,
            project,
            pictures: pictures.to_owned(),
            session: OnceCell::new(),
        };
        let cleared =
            hands
                .pictures()
                .into_iter()
                .map(|picture| match std::fs::remove_file(picture) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                    Ok(()) | Err(_) => Ok(()),
                });
        let cleared: Result<(), std::io::Error> = cleared.collect();
        cleared
            .and_then(|()| std::fs::create_dir_all(pictures))
            .map_err(|error| {
                let folder = pictures.display();
                Trouble::failed(format!("no pictures can be kept in {folder}: {error}"))
            })?;
        Ok(hands)
    }

    /// Where the pictures are, in the order of the play.
    pub(crate) fn pictures(&self) -> Vec<PathBuf> {
        let names = [ARMED, WORKING, CONTINUED, COMPLETE];
        names.map(|name| self.pictures.join(name)).to_vec()
    }

    /// Waits until the app's server is there and the composer can be written into; says which
    /// server it is.
    ///
    /// # Errors
    /// If that takes too long.
    pub(crate) async fn is_connected(&self) -> Result<String, Trouble> {
        let status = async |page: &Page| invoke(page, "plugin:goal|server_status").await;
        self.until("the app is connected to its server", async |page| {
            Ok(status(page).await?["ready"] == json!(true))
        })
        .await?;
        self.until("the composer is there", async |page| {
            page.focus_control(COMPOSER).await
        })
        .await?;
        let status = status(&*self.page().await).await.map_err(broken)?;
        let text = |name: &str| status[name].as_str().unwrap_or("?").to_owned();
        Ok(format!(
            "{} (OpenCode {}, started by the app)",
            text("url"),
            text("version")
        ))
    }

    /// Begins to keep what the app tells of its goals.
    ///
    /// # Errors
    /// If the app refuses.
    pub(crate) async fn watch(&self) -> Result<(), Trouble> {
        let begun = self.page().await.run_async(WATCH, json!([])).await;
        let begun = begun.map_err(broken)?;
        if begun == json!(true) {
            Ok(())
        } else {
            Err(broken(begun.to_string()))
        }
    }

    /// What was told from this number on.
    ///
    /// # Errors
    /// If the page does not answer.
    pub(crate) async fn told(&self, from: usize) -> Result<Vec<Value>, Trouble> {
        let told = self.page().await.run(TOLD, json!([from])).await;
        let told = told.map_err(broken)?;
        Ok(told.as_array().cloned().unwrap_or_default())
    }

    /// Writes the objective, arms it with a budget, and sends it.
    ///
    /// # Errors
    /// If the page does not let it happen.
    pub(crate) async fn arm_and_send(&self, tell: &Tell) -> Result<(), Trouble> {
        tell.of("you", &format!("write: {}", play::OBJECTIVE));
        let words: Vec<&str> = play::OBJECTIVE.split_inclusive(' ').collect();
        for stretch in words.chunks(STRETCH) {
            let written = self.page().await.press(&stretch.concat()).await;
            written.map_err(broken)?;
        }
        self.until("the objective is written", async |page| {
            Ok(page.value_of(COMPOSER).await? == play::OBJECTIVE)
        })
        .await?;
        tell.of("you", &format!("press \"{ARM}\""));
        self.press(ARM).await?;
        self.shows("scripted/auditor").await?;
        tokio::time::sleep(beat()).await;
        tell.of("you", "set a token budget");
        self.press("No token budget").await?;
        self.press("Token budget").await?;
        self.shows("Budget 200K tokens").await?;
        tokio::time::sleep(beat()).await;
        self.page().await.press(ESCAPE).await.map_err(broken)?;
        self.hides("At this many tokens").await?;
        self.picture(ARMED).await?;
        tokio::time::sleep(beat()).await;
        tell.of("you", "press \"Send\"");
        self.press("Send").await
    }

    /// Waits until the end of the goal is to be seen, and keeps a picture of it.
    ///
    /// # Errors
    /// If it is not shown.
    pub(crate) async fn show_end(&self) -> Result<(), Trouble> {
        self.shows(play::LAST_NOTE).await?;
        self.picture(COMPLETE).await
    }

    async fn press(&self, name: &str) -> Result<(), Trouble> {
        let what = format!("{name:?} can be pressed");
        self.until(&what, async |page| page.press_control(name).await)
            .await
    }

    async fn shows(&self, text: &str) -> Result<(), Trouble> {
        let what = format!("the window shows {text:?}");
        self.until(&what, async |page| page.shows(text).await).await
    }

    async fn hides(&self, text: &str) -> Result<(), Trouble> {
        let what = format!("the window hides {text:?}");
        self.until(&what, async |page| Ok(!page.shows(text).await?))
            .await
    }

    async fn picture(&self, name: &str) -> Result<(), Trouble> {
        let picture = self.page().await.picture().await.map_err(broken)?;
        let path = self.pictures.join(name);
        std::fs::write(&path, picture).map_err(|error| {
            Trouble::failed(format!("could not write {}: {error}", path.display()))
        })
    }

    /// The session of the goal.
    async fn session(&self) -> Result<&str, Trouble> {
        let find = async || {
            let first = async |page: &Page| {
                let list = invoke(page, "plugin:goal|list").await?;
                Ok(list["goals"][0]["sessionId"].clone())
            };
            self.until("the message became a goal", async |page| {
                first(page).await.map(|session| session.is_string())
            })
            .await?;
            let session: Result<Value, String> = first(&*self.page().await).await;
            let session = session.map_err(broken)?;
            Ok(session.as_str().unwrap_or_default().to_owned())
        };
        self.session.get_or_try_init(find).await.map(String::as_str)
    }

    async fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().await
    }

    async fn until(
        &self,
        what: &str,
        look: impl AsyncFn(&Page) -> Result<bool, String>,
    ) -> Result<(), Trouble> {
        let begun = Instant::now();
        loop {
            let found = look(&*self.page().await).await;
            match found {
                Ok(true) => return Ok(()),
                // A page that is being loaded has no answer.
                Ok(false) | Err(_) if begun.elapsed() < STEP_MAX => {}
                Ok(false) => return Err(Trouble::failed(format!("not in time: {what}"))),
                Err(error) => {
                    return Err(Trouble::failed(format!("not in time: {what}: {error}")));
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Scene for Hands<'_> {
    fn model(&self) -> &ScriptedModel {
        self.model
    }

    async fn messages(&self) -> Result<Vec<Value>, Trouble> {
        let session = self.session().await?;
        let asked = json!([session, self.project]);
        let messages = self.page().await.run_async(MESSAGES, asked).await;
        let messages = messages.map_err(broken)?;
        let list = messages.as_array().cloned();
        list.ok_or_else(|| broken(messages.to_string()))
    }

    async fn show(&self, act: usize, answer: usize) -> Result<(), Trouble> {
        match (act, answer) {
            // The tests have run for the first time.
            (1, 4) => {
                self.shows("node --test").await?;
                self.picture(WORKING).await
            }
            // Sent on, the agent has repaired the exporter.
            (2, 2) => {
                self.shows("Continued by the goal").await?;
                self.picture(CONTINUED).await
            }
            _ => Ok(()),
        }
    }
}

/// What the app's host answers.
async fn invoke(page: &Page, command: &str) -> Result<Value, String> {
    let answer = page.invoke(command, json!({})).await?;
    answer.map_err(|refusal| format!("{command}: {refusal}"))
}

fn broken(error: String) -> Trouble {
    Trouble::failed(format!("the window does not answer: {error}"))
}
