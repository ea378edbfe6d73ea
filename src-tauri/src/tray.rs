//! The tray: how all goals stand, and a short menu. Some desktops show none, so it is never the
//! only way back in: starting the app again is another.

use std::sync::{Mutex, PoisonError};

use tauri::image::Image;
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Listener as _, Manager as _, Runtime};
use tauri_plugin_goal::GoalExt as _;
use tauri_plugin_goal::models::OnAll;

use crate::kept::Keeping;
use crate::overall::{Overall, State};
use crate::window;
use crate::words::{Words, language};

const OPEN: &str = "open";
const PAUSE_ALL: &str = "pauseAll";
const QUIT: &str = "quit";

/// Events after which goals may stand otherwise, or the words are of another language.
const EVENTS: [&str; 3] = ["goal://changed", "goal://connection", "app://preferences"];

/// The tray's parts that change.
struct Tray<R: Runtime> {
    icon: TrayIcon<R>,
    line: MenuItem<R>,
    open: MenuItem<R>,
    pause_all: MenuItem<R>,
    quit: MenuItem<R>,
    /// What is shown: setting the same again would make some desktops blink.
    shown: Mutex<Option<(Overall, String)>>,
}

/// Makes the tray and keeps it up to date. Where there is none, the app goes without.
pub(crate) fn start<R: Runtime>(app: &AppHandle<R>) {
    let made = make(app);
    let tray = match made {
        Ok(tray) => tray,
        Err(error) => return tracing::warn!(%error, "there is no tray"),
    };
    app.manage(tray);
    refresh(app);
    for event in EVENTS {
        let handle = app.clone();
        app.listen_any(event, move |_| refresh(&handle));
    }
}

/// Shows how things stand now, if that is not what is shown. Returns at once: the work is the main
/// thread's, and whoever waits for that one at the end of the app waits for ever.
fn refresh<R: Runtime>(app: &AppHandle<R>) {
    let handle = app.clone();
    let asked = app.run_on_main_thread(move || {
        if let Err(error) = show(&handle) {
            tracing::debug!(%error, "the tray could not be changed");
        }
    });
    if let Err(error) = asked {
        tracing::debug!(%error, "the tray could not be changed");
    }
}

fn make<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<Tray<R>> {
    let item = |id: &str, enabled| MenuItem::with_id(app, id, "", enabled, None::<&str>);
    let (line, open) = (item("line", false)?, item(OPEN, true)?);
    let (pause_all, quit) = (item(PAUSE_ALL, true)?, item(QUIT, true)?);
    let (above, below) = (
        PredefinedMenuItem::separator(app)?,
        PredefinedMenuItem::separator(app)?,
    );
    let menu = Menu::with_items(app, &[&line, &above, &open, &pause_all, &below, &quit])?;
    let icon = TrayIconBuilder::with_id("goals")
        .icon(image(State::Idle)?)
        .menu(&menu)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| match event.id().as_ref() {
            OPEN => window::show(app),
            PAUSE_ALL => pause_all_goals(app),
            QUIT => app.exit(0),
            _ => {}
        })
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click {
                button: MouseButton::Left,
                button_state: MouseButtonState::Up,
                ..
            } = event
            {
                window::show(tray.app_handle());
            }
        })
        .build(app)?;
    Ok(Tray {
        icon,
        line,
        open,
        pause_all,
        quit,
        shown: Mutex::new(None),
    })
}

fn show<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<()> {
    let Some(tray) = app.try_state::<Tray<R>>() else {
        return Ok(());
    };
    let overall = Overall::of(&app.goal().list().goals);
    let language = language(app.state::<Keeping<R>>().preferences().language);
    let now = (overall, language);
    let mut shown = tray.shown.lock().unwrap_or_else(PoisonError::into_inner);
    if shown.as_ref() == Some(&now) {
        return Ok(());
    }
    let words = Words::of(&now.1);
    let line = overall.line(&words);
    tray.line.set_text(&line)?;
    tray.open.set_text(words.text("tray.open"))?;
    tray.pause_all.set_text(words.text("tray.pauseAll"))?;
    tray.quit.set_text(words.text("tray.quit"))?;
    tray.icon.set_icon(Some(image(overall.state())?))?;
    // Linux shows no tooltip: there the menu's first line says it.
    tray.icon
        .set_tooltip(Some(format!("OpenChamber: {line}")))?;
    *shown = Some(now);
    Ok(())
}

fn image(state: State) -> tauri::Result<Image<'static>> {
    Image::from_bytes(match state {
        State::Idle => include_bytes!("../icons/tray-idle.png"),
        State::Active => include_bytes!("../icons/tray-active.png"),
        State::Waiting => include_bytes!("../icons/tray-waiting.png"),
        State::Blocked => include_bytes!("../icons/tray-blocked.png"),
    })
}

fn pause_all_goals<R: Runtime>(app: &AppHandle<R>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        match app.goal().pause_all(OnAll::default()).await {
            Ok(paused) => {
                let failed = paused.iter().filter(|one| one.error.is_some()).count();
                tracing::info!(goals = paused.len(), failed, "all goals were paused");
            }
            Err(error) => tracing::warn!(code = error.code().name(), "goals could not be paused"),
        }
    });
}
