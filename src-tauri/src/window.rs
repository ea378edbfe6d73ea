//! The window: made, brought back, kept on the app's own pages.

use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Emitter as _, Listener as _, Manager as _, Runtime, Theme as Around, WebviewWindow,
    WebviewWindowBuilder,
};

use crate::kept::Keeping;
use crate::links::{Open, Opens, is_own};
use crate::preferences::Theme;

/// The window's label, to which the capability is given.
pub(crate) const MAIN: &str = "main";

/// Shows the window: brings it to the front, or makes it anew.
pub(crate) fn show<R: Runtime>(app: &AppHandle<R>) {
    let shown = match app.get_webview_window(MAIN) {
        Some(window) => window
            .unminimize()
            .and_then(|()| window.show())
            .and_then(|()| window.set_focus()),
        None => make(app),
    };
    if let Err(error) = shown {
        tracing::warn!(%error, "the window could not be shown");
    }
}

/// Makes the window. It shows no page but the app's own, and opens no other window.
fn make<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<()> {
    let Some(config) = app.config().app.windows.first() else {
        return Err(tauri::Error::WindowNotFound);
    };
    let window = WebviewWindowBuilder::from_config(app, config)?
        .on_navigation(|page| {
            let own = is_own(page);
            if !own {
                tracing::warn!(scheme = page.scheme(), "a foreign page was refused");
            }
            own
        })
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    draw_plainly(&window)?;
    // One that is made later may come up behind what the user looks at.
    window.set_focus()
}

/// Where there is no graphics processor, WebKitGTK would have the main one play its part: 60 MB and
/// two copies of each picture for nothing (docs/decisions/0011). Not while WebDriver drives the
/// window, which then may wait for a picture for ever.
#[cfg(target_os = "linux")]
fn draw_plainly<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt as _, WebViewExt as _};

    if has_graphics_processor() {
        return Ok(());
    }
    window.with_webview(|view| {
        let view = view.inner();
        if let Some(settings) = view
            .settings()
            .filter(|_| !view.is_controlled_by_automation())
        {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn draw_plainly<R: Runtime>(_window: &WebviewWindow<R>) -> tauri::Result<()> {
    Ok(())
}

/// Whether the kernel offers one to draw with.
#[cfg(target_os = "linux")]
fn has_graphics_processor() -> bool {
    let entries = std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| entry.file_name())
        .any(|name| name.to_string_lossy().starts_with("renderD"))
}

/// Shows a session: tells the page, or lets it ask once it listens.
pub(crate) fn open<R: Runtime>(app: &AppHandle<R>, session: &Open) {
    let listens = app.state::<Opens>().ask(session);
    show(app);
    if listens && let Err(error) = app.emit("app://open", session) {
        tracing::warn!(%error, "the page could not be told what to open");
    }
}

/// Keeps what the system draws around the page in the chosen theme; where that is the system's, the
/// page follows it, too.
pub(crate) fn follow_theme<R: Runtime>(app: &AppHandle<R>) {
    let set = |app: &AppHandle<R>| {
        app.set_theme(match app.state::<Keeping<R>>().preferences().theme {
            Theme::System => None,
            Theme::Light => Some(Around::Light),
            Theme::Dark => Some(Around::Dark),
        });
    };
    set(app);
    let handle = app.clone();
    app.listen_any("app://preferences", move |_| set(&handle));
}
