//! Session goals for OpenCode in a Tauri app.
//!
//! A goal is a text that says what shall be reached in one OpenCode session. The plugin waits until
//! the session's agent stops, lets an independent auditor judge what was done, and sends the agent
//! on until the auditor finds the goal reached, a limit is met, or the user steps in. The loop runs
//! in the app's Rust core: closing, reloading or crashing a window changes nothing for it.
//!
//! ```
//! # fn app<R: tauri::Runtime>(builder: tauri::Builder<R>) -> tauri::Builder<R> {
//! // let builder = tauri::Builder::default();
//! builder.plugin(tauri_plugin_goal::init())
//! # }
//! ```
//!
//! A page then asks through commands and hears through events; what it may ask is set by the
//! permissions `goal:default`, `goal:control` and `goal:settings`. Rust code asks the same through
//! [`GoalExt::goal`].
//!
//! The modules, in reading order: [`config`], [`models`], [`error`] (what crosses the boundary);
//! `commands` and `desktop` (the requests), `once` (each carried out once); `host` (the line to the
//! server), `events` (what pages hear), `notifier` and `words` (what the desktop shows).

pub mod config;
pub mod error;
pub mod models;

mod commands;
mod desktop;
mod events;
mod host;
mod notifier;
mod once;
mod words;

#[cfg(test)]
mod contract;

use std::path::PathBuf;
use std::sync::Arc;

use goal_engine::ports::Notices;
use opencode_client::Secret;
use tauri::plugin::{Builder as PluginBuilder, TauriPlugin};
use tauri::webview::PageLoadEvent;
use tauri::{Manager, RunEvent, Runtime, WindowEvent};

pub use crate::config::{Config, Server};
pub use crate::desktop::Goal;
pub use crate::error::{Code, Error, Result};
pub use crate::words::Catalogue;
/// The client that [`Goal::server_client`] gives.
pub use opencode_client;

/// Session goals from anything that knows the app: an `App`, an `AppHandle`, a `Window`.
pub trait GoalExt<R: Runtime> {
    /// The goals of this app.
    ///
    /// # Panics
    /// If the plugin was not added.
    fn goal(&self) -> &Goal<R>;
}

impl<R: Runtime, T: Manager<R>> GoalExt<R> for T {
    fn goal(&self) -> &Goal<R> {
        self.state::<Goal<R>>().inner()
    }
}

/// The plugin as `plugins.goal` of `tauri.conf.json` configures it.
#[must_use]
pub fn init<R: Runtime>() -> TauriPlugin<R, Option<Config>> {
    Builder::new().build()
}

/// The plugin with values from Rust, each in place of that of `tauri.conf.json`.
///
/// ```
/// use tauri_plugin_goal::{Builder, Server};
///
/// # fn app<R: tauri::Runtime>(builder: tauri::Builder<R>) -> tauri::Builder<R> {
/// let goals = Builder::new()
///     .server(Server::Attached { url: "http://127.0.0.1:4096".into(), username: None })
///     .password("secret")
///     .keep_running(true);
/// builder.plugin(goals.build())
/// # }
/// ```
#[derive(Default)]
pub struct Builder {
    config: Config,
    password: Option<Secret>,
    notices: Option<Arc<dyn Notices>>,
}

impl Builder {
    /// Nothing but what the app's configuration says.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All values at once, in place of those named so far.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The OpenCode server.
    #[must_use]
    pub fn server(mut self, server: Server) -> Self {
        self.config.server = Some(server);
        self
    }

    /// The password of an attached server, in place of `OPENCODE_SERVER_PASSWORD`.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(Secret::new(password));
        self
    }

    /// The data folder.
    #[must_use]
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config.data_dir = Some(folder.into());
        self
    }

    /// Whether the app goes on when its last window is closed.
    #[must_use]
    pub fn keep_running(mut self, keep: bool) -> Self {
        self.config.keep_running = Some(keep);
        self
    }

    /// Where notices go in place of native notifications.
    #[must_use]
    pub fn notices(mut self, notices: Arc<dyn Notices>) -> Self {
        self.notices = Some(notices);
        self
    }

    /// The plugin.
    #[must_use]
    pub fn build<R: Runtime>(self) -> TauriPlugin<R, Option<Config>> {
        let Self {
            config: ours,
            password,
            notices,
        } = self;
        PluginBuilder::<R, Option<Config>>::new("goal")
            .invoke_handler(tauri::generate_handler![
                commands::get,
                commands::list,
                commands::objective,
                commands::why,
                commands::notices,
                commands::settings_get,
                commands::server_status,
                commands::auditor_check,
                commands::watch,
                commands::unwatch,
                commands::start,
                commands::edit,
                commands::pause,
                commands::resume,
                commands::complete,
                commands::clear,
                commands::pause_all,
                commands::auditor_test,
                commands::notices_mark_read,
                commands::settings_set,
                commands::server_connect,
            ])
            .setup(move |app, api| {
                let theirs = api.config().clone().unwrap_or_default();
                let setup = desktop::Setup {
                    config: theirs.overlaid(ours),
                    password,
                    notices,
                };
                notifier::prepare(app)?;
                app.manage(Goal::start_up(app, setup)?);
                Ok(())
            })
            .on_page_load(|webview, page| {
                if let (PageLoadEvent::Started, Some(goal)) =
                    (page.event(), webview.try_state::<Goal<R>>())
                {
                    goal.page_left(webview.label());
                }
            })
            .on_event(on_event)
            .build()
    }
}

fn on_event<R: Runtime>(app: &tauri::AppHandle<R>, event: &RunEvent) {
    let Some(goal) = app.try_state::<Goal<R>>() else {
        return;
    };
    // A code says that the app itself wants to end: that is never held back.
    if let RunEvent::ExitRequested {
        code: None, api, ..
    } = event
        && goal.keeps_running()
    {
        api.prevent_exit();
    }
    if let RunEvent::WindowEvent { label, event, .. } = event {
        if let WindowEvent::Focused(has_focus) = event {
            goal.focused(label, *has_focus);
        }
        if matches!(event, WindowEvent::Destroyed) {
            goal.focused(label, /*has_focus*/ false);
            goal.page_left(label);
        }
    }
    // The last call before the process ends.
    if matches!(event, RunEvent::Exit) {
        goal.shut_down();
    }
}
