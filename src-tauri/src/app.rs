//! The app put together: plugins, commands, what happens at its start and at its end.

use std::path::Path;
use std::sync::Arc;

use tauri::webview::PageLoadEvent;
use tauri::{App, AppHandle, Builder, Context, Manager as _, RunEvent, Runtime, WindowEvent, Wry};
use tauri_plugin_deep_link::DeepLinkExt as _;
use tauri_plugin_goal::{Builder as Goals, Config, GoalExt as _};
use tauri_plugin_window_state::StateFlags;
use tokio_util::sync::CancellationToken;

use crate::call::Calls;
use crate::kept::{Keeping, data_folder};
use crate::links::{Opens, session_of};
use crate::pages::Pages;
use crate::stream::Streams;
use crate::trees::Trees;
use crate::words::language;
use crate::{commands, log, notice, server, tray, window};

/// The environment variable with other values for `plugins.goal`, such as
/// `{"server":{"kind":"attached","url":"http://127.0.0.1:4096"}}`: for this run alone.
const CONFIG_VARIABLE: &str = "OPENCHAMBER_GOAL_CONFIG";

/// The argument of a start with the computer: without a window.
const HIDDEN: &str = "--hidden";

/// Ended with the app.
struct Ended(CancellationToken);

/// Runs the app to its end.
///
/// # Errors
/// Why it could not start.
pub(crate) fn run(context: Context<Wry>) -> tauri::Result<()> {
    let app = with_commands(with_system(Builder::default()))
        .setup(|app| {
            start(app)?;
            Ok(())
        })
        .build(context)?;
    app.run(on_event);
    Ok(())
}

/// The plugins that need a real system around them.
fn with_system<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    let single = tauri_plugin_single_instance::init(|app, _arguments, _folder| window::show(app));
    let state = tauri_plugin_window_state::Builder::new()
        .with_state_flags(StateFlags::all() & !StateFlags::VISIBLE);
    let autostart = tauri_plugin_autostart::Builder::new().arg(HIDDEN);
    builder
        // The first of all: a second start must come to nothing else.
        .plugin(single)
        .plugin(tauri_plugin_deep_link::init())
        .plugin(state.build())
        .plugin(autostart.build())
        .plugin(tauri_plugin_dialog::init())
        // Links are opened by the command alone.
        .plugin(
            tauri_plugin_opener::Builder::new()
                .open_js_links_on_click(false)
                .build(),
        )
}

/// The commands, and what they stand on.
pub(crate) fn with_commands<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    builder
        .plugin(tauri_plugin_store::Builder::new().build())
        .manage(Pages::default())
        .manage(Opens::default())
        .manage(Arc::new(Calls::default()))
        .manage(Arc::new(Streams::default()))
        .manage(Trees::default())
        .invoke_handler(tauri::generate_handler![
            commands::server_call,
            commands::server_events,
            commands::models,
            commands::server_attach,
            commands::server_manage,
            commands::server_choice,
            commands::preferences,
            commands::preferences_set,
            commands::drafts,
            commands::draft_set,
            commands::pick_folder,
            commands::open_external,
            commands::diagnostics,
            commands::take_open,
            commands::painted,
            commands::quit,
        ])
        .on_page_load(|webview, page| {
            if page.event() == PageLoadEvent::Started {
                page_left(webview.app_handle(), webview.label());
            }
        })
        .on_window_event(|window, event| {
            if matches!(event, WindowEvent::Destroyed) {
                page_left(window.app_handle(), window.label());
            }
        })
}

/// What the app keeps in `folder`, the goals, and the stream to its pages. `given` stands over what
/// is kept about the server.
///
/// # Errors
/// If the folder or the configuration cannot be used.
pub(crate) fn begin<R: Runtime>(
    app: &AppHandle<R>,
    folder: &Path,
    given: Option<Config>,
) -> tauri::Result<()> {
    let keeping = Keeping::open(app, folder)?;
    let preferences = keeping.preferences();
    let mut config = given.unwrap_or_default();
    config.data_dir.get_or_insert_with(|| folder.to_owned());
    let from_outside = config.server.is_some();
    config
        .server
        .get_or_insert_with(|| keeping.choice().at_start());
    config
        .language
        .get_or_insert_with(|| language(preferences.language));
    // The host decides that itself, by the preference as it is at that moment.
    config.keep_running = Some(false);
    app.manage(keeping);
    app.plugin(Goals::new().config(config).build())?;
    app.goal().open_windows_with(window::show);
    log::follow(app);
    let ended = CancellationToken::new();
    app.manage(Ended(ended.clone()));
    let (streams, clients) = (
        Arc::clone(&app.state::<Arc<Streams>>()),
        app.goal().server_clients(),
    );
    tauri::async_runtime::spawn(async move { streams.follow(clients, &ended).await });
    if !from_outside {
        let app = app.clone();
        tauri::async_runtime::spawn(async move { server::connect_kept(&app).await });
    }
    Ok(())
}

fn start(app: &App<Wry>) -> Result<(), Box<dyn std::error::Error>> {
    let handle = app.handle();
    let folder = data_folder(handle)?;
    log::start(&folder);
    let config = match std::env::var(CONFIG_VARIABLE) {
        Ok(config) => Some(serde_json::from_str(&config)?),
        Err(_) => None,
    };
    begin(handle, &folder, config)?;
    tray::start(handle);
    window::follow_theme(handle);
    let links = handle.clone();
    app.deep_link().on_open_url(move |event| {
        // Of several the last one counts, as it would if they came one by one.
        for session in event.urls().iter().filter_map(session_of) {
            window::open(&links, &session);
        }
    });
    let links = app.deep_link().get_current()?.unwrap_or_default();
    if let Some(session) = links.iter().find_map(session_of) {
        window::open(handle, &session);
    } else if !std::env::args().any(|argument| argument == HIDDEN) {
        window::show(handle);
    }
    Ok(())
}

fn on_event(app: &AppHandle<Wry>, event: RunEvent) {
    match event {
        // A code says that the app itself wants to end: that is never held back.
        RunEvent::ExitRequested {
            code: None, api, ..
        } if app.state::<Keeping<Wry>>().preferences().keep_running => {
            api.prevent_exit();
            notice::keeps_running(app);
        }
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::show(app),
        RunEvent::Exit => {
            if let Some(ended) = app.try_state::<Ended>() {
                ended.0.cancel();
            }
        }
        _ => {}
    }
}

fn page_left<R: Runtime>(app: &AppHandle<R>, window: &str) {
    app.state::<Pages>().left(window);
    app.state::<Opens>().left();
}
