//! Native notifications: shown within a time limit, clicked or not, and never in the loop's way.
//!
//! On Linux through the notification daemon, where a second notice of a session takes the place of
//! the first and a click comes back. Elsewhere through Tauri's plugin, which shows and no more.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use goal_core::notice::BODY_MAX;
#[cfg(any(test, all(target_os = "linux", feature = "native-notifications")))]
use goal_core::notice::NoticeCode;
use goal_core::text;
use goal_engine::ports::{NoticeOut, Notices};
use tokio::time::timeout;

use crate::words::Words;

#[cfg(all(target_os = "linux", feature = "native-notifications"))]
mod daemon;

/// How long showing may take: a daemon that starts on demand needs half a second, one that hangs
/// is not waited for.
const SHOW_MAX: Duration = Duration::from_secs(5);

/// What was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Click {
    /// The notice.
    pub(crate) notice: NoticeOut,
    /// What the user wants.
    pub(crate) action: Action,
}

/// What a click means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(target_os = "linux", feature = "native-notifications")),
    expect(dead_code, reason = "clicks come back on Linux only")
)]
pub(crate) enum Action {
    /// To see the session.
    Open,
    /// To resume its goal.
    Resume,
}

/// Called for each click.
pub(crate) type OnClick = Arc<dyn Fn(Click) + Send + Sync>;

/// A notice in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    /// The first line.
    pub(crate) title: String,
    /// The rest, as plain text, at most 240 UTF-16 units.
    pub(crate) body: String,
}

/// Shows one notification. The second implementation is that of the tests.
#[async_trait]
pub(crate) trait Show: Send + Sync + 'static {
    /// Shows `wording` of `notice`; may hang or panic.
    ///
    /// # Errors
    /// A sentence for the journal.
    async fn show(&self, notice: &NoticeOut, wording: &Wording) -> Result<(), String>;
}

/// Where the engine's notices go.
pub(crate) struct Notifier {
    words: Words,
    show: Arc<dyn Show>,
}

impl Notifier {
    /// Notices in `words`, shown by `show`.
    pub(crate) fn new(words: Words, show: Arc<dyn Show>) -> Self {
        Self { words, show }
    }
}

#[async_trait]
impl Notices for Notifier {
    async fn deliver(&self, notice: &NoticeOut) -> Result<(), String> {
        let wording = wording(&self.words, notice);
        let (show, notice) = (Arc::clone(&self.show), notice.clone());
        // A task of its own: a panic in a foreign library ends there.
        let mut showing = tokio::spawn(async move { show.show(&notice, &wording).await });
        match timeout(SHOW_MAX, &mut showing).await {
            Ok(Ok(shown)) => shown,
            Ok(Err(_)) => Err("showing the notification broke off".to_owned()),
            Err(_) => {
                showing.abort();
                Err("the notification daemon did not answer in time".to_owned())
            }
        }
    }
}

/// Where nothing leaves the app.
#[cfg(not(feature = "native-notifications"))]
pub(crate) struct Nowhere;

#[cfg(not(feature = "native-notifications"))]
#[async_trait]
impl Show for Nowhere {
    async fn show(&self, _: &NoticeOut, _: &Wording) -> Result<(), String> {
        Err("this app was built without native notifications".to_owned())
    }
}

/// Adds what native notifications need to the app.
///
/// # Errors
/// If Tauri's plugin cannot be added.
#[cfg(any(target_os = "linux", not(feature = "native-notifications")))]
pub(crate) fn prepare<R: tauri::Runtime>(_: &tauri::AppHandle<R>) -> tauri::Result<()> {
    Ok(())
}

#[cfg(all(not(target_os = "linux"), feature = "native-notifications"))]
pub(crate) fn prepare<R: tauri::Runtime>(app: &tauri::AppHandle<R>) -> tauri::Result<()> {
    app.plugin(tauri_plugin_notification::init())
}

/// What shows notifications on this system.
#[cfg(all(target_os = "linux", feature = "native-notifications"))]
pub(crate) fn native<R: tauri::Runtime>(
    app: &tauri::AppHandle<R>,
    words: &Words,
    on_click: OnClick,
) -> Arc<dyn Show> {
    let package = app.package_info();
    let name = app.config().product_name.clone();
    Arc::new(daemon::Daemon::new(
        name.unwrap_or_else(|| package.name.clone()),
        app.config().identifier.clone(),
        words.clone(),
        on_click,
    ))
}

#[cfg(not(feature = "native-notifications"))]
pub(crate) fn native<R: tauri::Runtime>(
    _: &tauri::AppHandle<R>,
    _: &Words,
    _: OnClick,
) -> Arc<dyn Show> {
    Arc::new(Nowhere)
}

#[cfg(all(not(target_os = "linux"), feature = "native-notifications"))]
pub(crate) fn native<R: tauri::Runtime>(
    app: &tauri::AppHandle<R>,
    _: &Words,
    _: OnClick,
) -> Arc<dyn Show> {
    Arc::new(plugin::Plugin(app.clone()))
}

#[cfg(all(not(target_os = "linux"), feature = "native-notifications"))]
mod plugin {
    use async_trait::async_trait;
    use goal_engine::ports::NoticeOut;
    use tauri::{AppHandle, Runtime};
    use tauri_plugin_notification::NotificationExt;

    use super::{Show, Wording};

    /// Tauri's own plugin, which the app has because this one adds it.
    pub(super) struct Plugin<R: Runtime>(pub(super) AppHandle<R>);

    #[async_trait]
    impl<R: Runtime> Show for Plugin<R> {
        async fn show(&self, _: &NoticeOut, wording: &Wording) -> Result<(), String> {
            let notification = self.0.notification().builder();
            let notification = notification.title(&wording.title).body(&wording.body);
            notification.show().map_err(|error| error.to_string())
        }
    }
}

/// Whether a notice offers to resume its goal: where Resume is the way on (R82, X7).
#[cfg(any(test, all(target_os = "linux", feature = "native-notifications")))]
fn offers_resume(code: NoticeCode) -> bool {
    match code {
        NoticeCode::GoalBlocked | NoticeCode::GoalPaused | NoticeCode::Stalled => true,
        // A spent budget needs a larger one first.
        NoticeCode::GoalBudgetLimited
        | NoticeCode::GoalComplete
        | NoticeCode::WaitingForPermission
        | NoticeCode::WaitingForAnswer
        | NoticeCode::TurnReady
        | NoticeCode::TurnFailed => false,
    }
}

/// A notice in words: the objective, then the reason or note (§4.1).
fn wording(words: &Words, notice: &NoticeOut) -> Wording {
    let (title, facts) = if notice.goal.as_str().is_empty() && !notice.objective.is_empty() {
        // About a turn, and with a title of the user's own.
        (notice.objective.clone(), vec![notice.detail.as_str()])
    } else {
        let facts = vec![notice.objective.as_str(), notice.detail.as_str()];
        (words.title(notice.code), facts)
    };
    let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let body = match facts[..] {
        // What has neither is told by its session's name.
        [] => notice.title.clone(),
        _ => facts.join("\n"),
    };
    Wording {
        title,
        body: text::clamp(&body, BODY_MAX).to_owned(),
    }
}

#[cfg(test)]
mod tests;
