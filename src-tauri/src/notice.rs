//! The one notice of the host itself: the window was closed, and the app keeps running. Notices
//! about goals are the plugin's.

use tauri::{AppHandle, Emitter as _, Manager as _, Runtime};

use crate::commands::change_preferences;
use crate::kept::Keeping;
use crate::words::{Words, language};

/// Says once in the life of the app that it keeps running.
pub(crate) fn keeps_running<R: Runtime>(app: &AppHandle<R>) {
    let preferences = app.state::<Keeping<R>>().preferences();
    if preferences.close_hint_seen {
        return;
    }
    if let Err(error) = app.emit("app://close-hint", ()) {
        tracing::debug!(%error, "pages could not be told");
    }
    let words = Words::of(&language(preferences.language));
    show(
        app,
        words.text("closeHint.title"),
        words.text("closeHint.body"),
    );
    let seen = serde_json::Map::from_iter([("closeHintSeen".to_owned(), true.into())]);
    if let Err(error) = change_preferences(app, seen) {
        let code = error.code().name();
        tracing::warn!(code, "it could not be kept that the hint was shown");
    }
}

#[cfg(target_os = "linux")]
fn show<R: Runtime>(app: &AppHandle<R>, title: String, body: String) {
    use std::time::Duration;

    use notify_rust::{Hint, Notification};

    /// How long the desktop's notification daemon may take.
    const SHOWN_WITHIN: Duration = Duration::from_secs(5);

    let name = app.config().product_name.clone().unwrap_or_default();
    let entry = app.config().identifier.clone();
    tauri::async_runtime::spawn(async move {
        let mut notification = Notification::new();
        notification
            .appname(&name)
            .summary(&title)
            .body(&body)
            .hint(Hint::DesktopEntry(entry));
        match tokio::time::timeout(SHOWN_WITHIN, notification.show_async()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::info!(%error, "a notification could not be shown"),
            Err(_) => tracing::info!("the notification daemon did not answer"),
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn show<R: Runtime>(app: &AppHandle<R>, title: String, body: String) {
    use tauri_plugin_notification::NotificationExt as _;

    // The goals' plugin has set it up.
    let notification = app.notification().builder().title(title).body(body);
    if let Err(error) = notification.show() {
        tracing::info!(%error, "a notification could not be shown");
    }
}
