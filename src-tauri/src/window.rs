//! The window: made, brought back, kept on the app's own pages.

use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, Emitter as _, Listener as _, Manager as _, Runtime, Theme as Around,
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
    // One that is made later may come up behind what the user looks at.
    window.set_focus()
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
