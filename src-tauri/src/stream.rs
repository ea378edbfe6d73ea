//! `server_events`: one event stream of the server for all windows, each told once per frame.
//!
//! ```text
//!                                        ┌─ pending ─ pump ─▶ page in window `main`
//!  server ──▶ follow ──▶ hear / resync ──┤
//!             only while a page listens  └─ pending ─ pump ─▶ page in another window
//! ```
//!
//! A page that does not keep up holds nobody else up: what waits for it is bounded, and beyond the
//! bound it is told to read anew. Its stream ends with the page.

pub(crate) mod event;
pub(crate) mod pending;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opencode_client::{Client, EventOptions, RawItem};
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::{Runtime, Webview};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::event::{Event, is_wanted};
use self::pending::{Away, Pending};

/// One frame of a screen: a page that is told more often draws the same picture.
const FRAME: Duration = Duration::from_millis(16);

/// A page that has not looked at what it was sent is asked again after so long.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Where a page's messages go.
pub(crate) trait Page: Send + Sync + 'static {
    /// Sends a message; says whether there is still somebody to send to.
    fn send(&self, message: String) -> bool;

    /// Lets `seen` go once the page has come to what was sent before.
    fn ask(&self, seen: oneshot::Sender<()>);
}

/// The event stream of the server, for all windows.
pub(crate) struct Streams {
    state: Mutex<State>,
    /// How many pages listen.
    listening: watch::Sender<usize>,
    now: fn() -> u64,
}

struct State {
    line: Line,
    windows: BTreeMap<String, Window>,
    made: u64,
}

/// How the stream from the server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing is known yet.
    Unknown,
    Up,
    Away(Away),
}

struct Window {
    id: u64,
    waiting: Arc<Waiting>,
    ended: CancellationToken,
}

/// What waits for one page.
struct Waiting {
    pending: Mutex<Pending>,
    news: Notify,
}

/// A page's end of the stream.
pub(crate) struct Opened {
    window: String,
    id: u64,
    waiting: Arc<Waiting>,
    ended: CancellationToken,
}

impl Default for Streams {
    fn default() -> Self {
        Self::with_clock(now)
    }
}

impl Streams {
    fn with_clock(now: fn() -> u64) -> Self {
        Self {
            state: Mutex::new(State {
                line: Line::Unknown,
                windows: BTreeMap::new(),
                made: 0,
            }),
            listening: watch::Sender::new(0),
            now,
        }
    }

    /// Opens the stream of the page in `window`, in place of an earlier one. It ends with `page`.
    pub(crate) fn open(&self, window: &str, page: &CancellationToken) -> Opened {
        let mut state = self.lock();
        let mut pending = Pending::default();
        match state.line {
            Line::Unknown => {}
            Line::Up => pending.resync(),
            Line::Away(away) => pending.away(away),
        }
        state.made += 1;
        let opened = Opened {
            window: window.to_owned(),
            id: state.made,
            waiting: Arc::new(Waiting {
                pending: Mutex::new(pending),
                news: Notify::new(),
            }),
            ended: page.child_token(),
        };
        opened.waiting.news.notify_one();
        let entry = Window {
            id: opened.id,
            waiting: Arc::clone(&opened.waiting),
            ended: opened.ended.clone(),
        };
        if let Some(before) = state.windows.insert(window.to_owned(), entry) {
            before.ended.cancel();
        }
        self.listening.send_replace(state.windows.len());
        opened
    }

    /// Tells the page what waits for it, at most once per frame and never before it came to what it
    /// was told last, until one of the two goes.
    pub(crate) async fn pump(&self, opened: Opened, page: impl Page) {
        let telling = async {
            loop {
                opened.waiting.news.notified().await;
                let messages = opened.waiting.lock().take();
                if messages.is_empty() {
                    continue;
                }
                if !messages.into_iter().all(|message| page.send(message)) {
                    break;
                }
                tokio::join!(sleep(FRAME), seen(&page));
            }
        };
        tokio::select! {
            () = opened.ended.cancelled() => {}
            () = telling => {}
        }
        self.close(&opened);
    }

    /// Follows the server in use for as long as a page listens, until `ended`.
    pub(crate) async fn follow(
        &self,
        mut clients: watch::Receiver<Option<Client>>,
        ended: &CancellationToken,
    ) {
        let mut listening = self.listening.subscribe();
        let following = async {
            loop {
                let wanted = listening.wait_for(|pages| *pages > 0).await.is_ok();
                let client = clients.borrow_and_update().clone();
                if !wanted {
                    return;
                }
                tokio::select! {
                    () = self.listen(client) => {}
                    changed = clients.changed() => if changed.is_err() {
                        return;
                    },
                    _ = listening.wait_for(|pages| *pages == 0) => self.forget(),
                }
            }
        };
        tokio::select! {
            () = ended.cancelled() => {}
            () = following => {}
        }
    }

    async fn listen(&self, client: Option<Client>) {
        let Some(client) = client else {
            self.lost(None);
            return std::future::pending().await;
        };
        let mut stream = client.raw_events(EventOptions::DEFAULT, is_wanted);
        loop {
            match stream.next().await {
                RawItem::Connected => self.connected(),
                RawItem::Event(data) => match Event::read(&data) {
                    Some(event) => self.hear(&event),
                    None => tracing::debug!(bytes = data.len(), "an unreadable event"),
                },
                // What it told is lost.
                RawItem::Skipped { .. } => self.connected(),
                RawItem::Lost { retry_in, .. } => self.lost(Some(retry_in)),
            }
        }
    }

    fn hear(&self, event: &Event) {
        self.tell(|pending| pending.event(event));
    }

    fn connected(&self) {
        self.lock().line = Line::Up;
        self.tell(Pending::resync);
    }

    /// There is no line; `retry_in` is when the next try is made, if that is known.
    fn lost(&self, retry_in: Option<Duration>) {
        let now = (self.now)();
        let mut state = self.lock();
        let since = match state.line {
            Line::Away(away) => away.since,
            Line::Unknown | Line::Up => now,
        };
        let wait = retry_in.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let away = Away {
            since,
            next_try_at: wait.map(|wait| now.saturating_add(wait)),
        };
        state.line = Line::Away(away);
        drop(state);
        self.tell(|pending| pending.away(away));
    }

    /// Nobody listens any more, so nobody knows.
    fn forget(&self) {
        self.lock().line = Line::Unknown;
    }

    fn tell(&self, what: impl Fn(&mut Pending)) {
        for window in self.lock().windows.values() {
            what(&mut window.waiting.lock());
            window.waiting.news.notify_one();
        }
    }

    fn close(&self, opened: &Opened) {
        let mut state = self.lock();
        let is_it = |window: &Window| window.id == opened.id;
        if state.windows.get(&opened.window).is_some_and(is_it) {
            state.windows.remove(&opened.window);
        }
        self.listening.send_replace(state.windows.len());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the page came to what it was sent. A hung page never does; it is asked again now and
/// then, as the first question may have met a page that was just being made.
async fn seen(page: &impl Page) {
    loop {
        let (sender, seen) = oneshot::channel();
        page.ask(sender);
        // An error says that it cannot be asked: then a frame's pause must do.
        if timeout(ASK_AGAIN, seen).await.is_ok() {
            return;
        }
    }
}

/// A page behind its channel.
pub(crate) struct Behind<R: Runtime> {
    pub(crate) webview: Webview<R>,
    pub(crate) channel: Channel<InvokeResponseBody>,
}

impl<R: Runtime> Page for Behind<R> {
    fn send(&self, message: String) -> bool {
        self.channel.send(InvokeResponseBody::Json(message)).is_ok()
    }

    fn ask(&self, seen: oneshot::Sender<()>) {
        let seen = Mutex::new(Some(seen));
        let answer = move |_| {
            let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(seen) = seen {
                // Who asked may have gone.
                let _ = seen.send(());
            }
        };
        if let Err(error) = self.webview.eval_with_callback("0", answer) {
            tracing::debug!(%error, "a page cannot be asked");
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
