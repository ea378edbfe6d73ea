//! Linux: the notification daemon of the session bus.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use goal_core::goal::SessionId;
use goal_engine::ports::NoticeOut;
use notify_rust::{Hint, Notification, NotificationHandle, NotificationResponse, Urgency};
use tokio::task::AbortHandle;

use super::{Action, Click, OnClick, Show, Wording, offers_resume};
use crate::words::Words;

/// Notifications whose clicks are waited for, with a connection each: more than a desktop shows.
const WAITERS_MAX: usize = 16;

/// Notifications that a later one of the same session may replace.
const REPLACEABLE_MAX: usize = 256;

/// The daemon's name on the bus, its object and its interface.
const NAME: &str = "org.freedesktop.Notifications";
const OBJECT: &str = "/org/freedesktop/Notifications";

const OPEN: &str = "default";
const RESUME: &str = "resume";

/// Shows notifications through the daemon.
pub(super) struct Daemon {
    app: String,
    desktop_entry: String,
    words: Words,
    on_click: OnClick,
    /// A plain mutex: it is held for a look at short lists only.
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// The latest notification of each session, oldest first.
    ids: VecDeque<(SessionId, u32)>,
    /// Who waits for clicks, oldest first.
    waiters: VecDeque<(SessionId, AbortHandle)>,
}

/// What the daemon can do, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
struct Abilities {
    actions: bool,
    markup: bool,
}

impl Daemon {
    pub(super) fn new(app: String, desktop_entry: String, words: Words, on_click: OnClick) -> Self {
        Self {
            app,
            desktop_entry,
            words,
            on_click,
            shown: Mutex::default(),
        }
    }

    fn notification(
        &self,
        notice: &NoticeOut,
        wording: &Wording,
        abilities: Abilities,
    ) -> Notification {
        let mut notification = Notification::new();
        let body = if abilities.markup {
            escaped(&wording.body)
        } else {
            wording.body.clone()
        };
        notification
            .appname(&self.app)
            .summary(&wording.title)
            .body(&body)
            .urgency(Urgency::Normal)
            .hint(Hint::DesktopEntry(self.desktop_entry.clone()));
        if abilities.actions {
            notification.action(OPEN, &self.words.open());
            if offers_resume(notice.code) {
                notification.action(RESUME, &self.words.resume());
            }
        }
        if let Some(id) = self.earlier(&notice.session) {
            notification.id(id);
        }
        notification
    }

    /// How many wait for clicks.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.waiters.len()
    }

    fn earlier(&self, session: &SessionId) -> Option<u32> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let found = shown.ids.iter().find(|(of, _)| of == session);
        found.map(|(_, id)| *id)
    }

    /// Remembers what was shown, and waits for a click on it in place of the session's earlier
    /// one.
    fn keep(&self, notice: &NoticeOut, handle: NotificationHandle, clickable: bool) {
        let session = &notice.session;
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.ids.retain(|(of, _)| of != session);
        shown.ids.push_back((session.clone(), handle.id()));
        if shown.ids.len() > REPLACEABLE_MAX {
            shown.ids.pop_front();
        }
        shown.waiters.retain(|(of, waiter)| {
            if of == session {
                waiter.abort();
            }
            of != session && !waiter.is_finished()
        });
        if !clickable {
            return;
        }
        if shown.waiters.len() >= WAITERS_MAX
            && let Some((_, oldest)) = shown.waiters.pop_front()
        {
            oldest.abort();
        }
        let (on_click, notice) = (self.on_click.clone(), notice.clone());
        let waiting = tokio::spawn(async move {
            let clicked = |response: &NotificationResponse| {
                let action = match response {
                    NotificationResponse::Default => Action::Open,
                    NotificationResponse::Action(name) if name == RESUME => Action::Resume,
                    NotificationResponse::Action(_)
                    | NotificationResponse::Reply(_)
                    | NotificationResponse::Closed(_) => return,
                };
                on_click(Click { notice, action });
            };
            handle.wait_for_action_async(clicked).await;
        });
        let session = session.clone();
        shown.waiters.push_back((session, waiting.abort_handle()));
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let shown = self.shown.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, waiter) in &shown.waiters {
            waiter.abort();
        }
    }
}

#[async_trait]
impl Show for Daemon {
    async fn show(&self, notice: &NoticeOut, wording: &Wording) -> Result<(), String> {
        let abilities = abilities().await.map_err(|error| error.to_string())?;
        let notification = self.notification(notice, wording, abilities);
        let shown = notification.show_async().await;
        let handle = shown.map_err(|error| error.to_string())?;
        self.keep(notice, handle, abilities.actions);
        Ok(())
    }
}

/// Asks the daemon: one that cannot show buttons may show a dialogue in their place, and only one
/// that knows markup undoes an escape.
async fn abilities() -> zbus::Result<Abilities> {
    let bus = zbus::Connection::session().await?;
    let answer = bus
        .call_method(Some(NAME), OBJECT, Some(NAME), "GetCapabilities", &())
        .await?;
    let names: Vec<String> = answer.body().deserialize()?;
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    Ok(Abilities {
        actions: has("actions"),
        markup: has("body-markup"),
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
