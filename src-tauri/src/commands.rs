//! The commands of the page.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tauri::ipc::{CommandArg, CommandItem, InvokeBody, InvokeError, JavaScriptChannelId, Response};
use tauri::{AppHandle, Emitter as _, Manager as _, Runtime, Webview, command};
use tauri_plugin_autostart::ManagerExt as _;
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_goal::models::ServerStatus;
use tauri_plugin_opener::OpenerExt as _;
use tokio::sync::oneshot;

use crate::allow::Call;
use crate::drafts::Draft;
use crate::error::{Code, Error, Result};
use crate::kept::Keeping;
use crate::links::{self, Open, Opens};
use crate::models::Models;
use crate::pages::Pages;
use crate::preferences::Preferences;
use crate::server::{Attach, Chosen};
use crate::stream::{Behind, Streams};
use crate::words::{Words, language};
use crate::{call, diagnostics as report, models as catalogue, server};

#[command]
pub(crate) async fn server_call<R: Runtime>(
    app: AppHandle<R>,
    webview: Webview<R>,
    asked: Args<Asked>,
) -> Result<Response> {
    call::call(&app, webview.label(), &asked.0.request).await
}

#[command]
pub(crate) async fn server_events<R: Runtime>(
    app: AppHandle<R>,
    webview: Webview<R>,
    to: Args<To>,
) -> Result<()> {
    let streams = Arc::clone(&app.state::<Arc<Streams>>());
    let opened = streams.open(webview.label(), &app.state::<Pages>().page(webview.label()));
    let channel = to.0.events.channel_on(webview.clone());
    let page = Behind { webview, channel };
    tauri::async_runtime::spawn(async move { streams.pump(opened, page).await });
    Ok(())
}

#[command]
pub(crate) async fn models<R: Runtime>(app: AppHandle<R>, of: Args<InFolder>) -> Result<Models> {
    catalogue::models(&app, of.0.directory.as_deref()).await
}

#[command]
pub(crate) async fn server_attach<R: Runtime>(
    app: AppHandle<R>,
    to: Args<Attach>,
) -> Result<ServerStatus> {
    server::attach(&app, to.0).await
}

#[command]
pub(crate) async fn server_manage<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<ServerStatus> {
    server::manage(&app).await
}

#[command]
pub(crate) async fn server_choice<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<Chosen> {
    Ok(server::chosen(&app).await)
}

#[command]
pub(crate) async fn preferences<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<Preferences> {
    Ok(app.state::<Keeping<R>>().preferences())
}

#[command]
pub(crate) async fn preferences_set<R: Runtime>(
    app: AppHandle<R>,
    set: Args<Set>,
) -> Result<Preferences> {
    on_a_thread(move || change_preferences(&app, set.0.patch)).await
}

#[command]
pub(crate) async fn drafts<R: Runtime>(app: AppHandle<R>, _no: Args<Nothing>) -> Result<Value> {
    Ok(app.state::<Keeping<R>>().drafts())
}

#[command]
pub(crate) async fn draft_set<R: Runtime>(app: AppHandle<R>, set: Args<SetDraft>) -> Result<()> {
    let SetDraft { key, draft } = set.0;
    on_a_thread(move || app.state::<Keeping<R>>().set_draft(&key, draft)).await
}

#[command]
pub(crate) async fn pick_folder<R: Runtime>(
    app: AppHandle<R>,
    from: Args<From>,
) -> Result<Option<String>> {
    let preferences = app.state::<Keeping<R>>().preferences();
    let words = Words::of(&language(preferences.language));
    let mut dialog = app
        .dialog()
        .file()
        .set_title(words.text("pickFolder.title"));
    if let Some(start) = from.0.start.filter(|start| Path::new(start).is_dir()) {
        dialog = dialog.set_directory(start);
    }
    let (sender, picked) = oneshot::channel();
    dialog.pick_folder(move |folder| {
        // The page may have gone.
        let _ = sender.send(folder);
    });
    let folder = picked.await.map_err(|_| unavailable())?;
    let path = folder.and_then(|folder| folder.into_path().ok());
    Ok(path.and_then(|path| path.to_str().map(str::to_owned)))
}

#[command]
pub(crate) async fn open_external<R: Runtime>(app: AppHandle<R>, link: Args<Link>) -> Result<()> {
    let link = links::external(&link.0.url)?;
    on_a_thread(move || {
        let opened = app.opener().open_url(link.as_str(), None::<&str>);
        opened.map_err(|error| {
            tracing::warn!(%error, "a link could not be opened");
            unavailable()
        })
    })
    .await
}

#[command]
pub(crate) async fn diagnostics<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<String> {
    on_a_thread(move || Ok(report::diagnostics(&app))).await
}

#[command]
pub(crate) async fn take_open<R: Runtime>(
    app: AppHandle<R>,
    _no: Args<Nothing>,
) -> Result<Option<Open>> {
    Ok(app.state::<Opens>().take())
}

#[command]
pub(crate) async fn painted<R: Runtime>(webview: Webview<R>, _no: Args<Nothing>) -> Result<()> {
    tracing::info!(window = webview.label(), "painted");
    Ok(())
}

#[command]
pub(crate) async fn quit<R: Runtime>(app: AppHandle<R>, _no: Args<Nothing>) -> Result<()> {
    app.exit(0);
    Ok(())
}

/// Changes some preferences, and tells the pages and whoever listens in the host.
///
/// # Errors
/// `invalid`, `unwritable`, `unavailable` if the system does not let the app start with it; nothing
/// was changed then.
pub(crate) fn change_preferences<R: Runtime>(
    app: &AppHandle<R>,
    patch: Map<String, Value>,
) -> Result<Preferences> {
    let keeping = app.state::<Keeping<R>>();
    let before = keeping.preferences();
    // Looked at as a whole before anything is done about a part of it.
    let wanted = before.patched(patch.clone())?.autostart;
    if wanted != before.autostart {
        set_autostart(app, wanted)?;
    }
    let now = keeping.set_preferences(patch)?;
    if let Err(error) = app.emit("app://preferences", &now) {
        tracing::debug!(%error, "pages could not be told");
    }
    Ok(now)
}

fn set_autostart<R: Runtime>(app: &AppHandle<R>, wanted: bool) -> Result<()> {
    let autostart = app.autolaunch();
    let set = if wanted {
        autostart.enable()
    } else {
        autostart.disable()
    };
    // Taking away what is not there fails on some systems.
    let done = set.is_ok() || autostart.is_enabled().is_ok_and(|is| is == wanted);
    if done { Ok(()) } else { Err(unavailable()) }
}

/// Does what waits for a disk or the system away from the tasks.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tauri::async_runtime::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(unavailable()))
}

fn unavailable() -> Error {
    Error::new(
        Code::Unavailable,
        "The system did not do what was asked of it.",
    )
}

/// No argument.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// What to ask the server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    request: Call,
}

/// Where events go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct To {
    events: JavaScriptChannelId,
}

/// A folder, or the server's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InFolder {
    #[serde(default)]
    directory: Option<String>,
}

/// What to change.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Set {
    patch: Map<String, Value>,
}

/// Which draft is what.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetDraft {
    key: String,
    draft: Option<Draft>,
}

/// Where a dialog begins.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    #[serde(default)]
    start: Option<String>,
}

/// A link out of the app.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    url: String,
}

/// Characters of what is wrong with arguments: enough for a name, too few for a prompt.
const COMPLAINT_MAX: usize = 200;

/// All arguments of a call as one value, checked before the command begins. Tauri's own reading
/// would pass over unknown ones and answer with a bare text.
pub(crate) struct Args<T>(T);

impl<'de, R: Runtime, T: DeserializeOwned> CommandArg<'de, R> for Args<T> {
    fn from_command(command: CommandItem<'de, R>) -> std::result::Result<Self, InvokeError> {
        let value = match command.message.payload() {
            InvokeBody::Json(Value::Null) => Value::Object(Map::new()),
            InvokeBody::Json(value) => value.clone(),
            InvokeBody::Raw(_) => return Err(Error::invalid("Arguments are JSON.").into()),
        };
        T::deserialize(value).map(Self).map_err(|error| {
            let complaint: String = error.to_string().chars().take(COMPLAINT_MAX).collect();
            Error::invalid(complaint).into()
        })
    }
}
