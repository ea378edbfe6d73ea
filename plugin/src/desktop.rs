//! The handle that owns it all: the same requests for Rust code as for pages.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use goal_core::goal::SessionId;
use goal_core::judge::AuditOutcome;
use goal_core::time::millis;
use goal_engine::audit::{Trial, Whose};
use goal_engine::clock::SystemClock;
use goal_engine::command;
use goal_engine::ports::Notices;
use goal_engine::settings::{self, SettingsFile};
use goal_engine::store::Store;
use goal_engine::turns::Screen;
use goal_engine::view::GoalView as EngineView;
use opencode_client::{Client, Secret};
use tauri::{AppHandle, Emitter, Manager, Runtime, Webview, WebviewWindowBuilder};
use tokio::sync::{OnceCell, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, password_of_environment};
use crate::error::{Code, Error, Result};
use crate::events::{Event, Hub, Pages};
use crate::host::{Base, Host, Line};
use crate::models::{
    AuditorCheck, AuditorModel, AuditorTest, Cleared, Completed, Edit, Edited, Explanation,
    GoalView, ListNotices, MarkRead, MarkedRead, Notice, ObjectiveText, OnAll, OnSession, Open,
    Paused, PausedOne, Resume, Resumed, ServerConnect, ServerStatus, SetSettings, SettingsView,
    Snapshot, Start, Started, TestAuditor, WatchSession, Watching, copy_of, session,
};
use crate::notifier::{self, Action, Click, Notifier};
use crate::once::Once;
use crate::words::Words;

/// How long the app's end may take: 10 s for the loop, 3 s for audits to be taken back, 3 s for a
/// server of ours that is asked to end, and a little more to kill it.
const END_MAX: Duration = Duration::from_secs(20);

/// How often the settings file is looked at, which the command line writes, too.
const SETTINGS_LOOK: Duration = Duration::from_secs(2);

/// Notices that are listed or marked at most by one request.
const NOTICES_MAX: u32 = 200;

/// Notices that are listed if nobody says how many.
const NOTICES_USUAL: u32 = 50;

/// UTF-8 bytes of a folder's name in a request.
const FOLDER_BYTES_MAX: usize = 4_096;

/// Session goals in this app: [`GoalExt::goal`](crate::GoalExt::goal) gives it. It lives as long
/// as the app; no window needs to be open.
pub struct Goal<R: Runtime> {
    app: AppHandle<R>,
    config: Config,
    hub: Arc<Hub>,
    host: Arc<Host>,
    settings: Arc<SettingsFile>,
    /// For as long as there is no server: then the server's own is used.
    store: OnceCell<Store>,
    database: PathBuf,
    once: Once,
    ended: CancellationToken,
    tasks: TaskTracker,
    /// A click that no page could hear yet.
    unheard: Mutex<Option<Open>>,
    focus: Arc<Focus>,
    opener: OnceLock<Opener<R>>,
}

/// Makes the app's window anew.
type Opener<R> = Box<dyn Fn(&AppHandle<R>) + Send + Sync>;

/// The windows that have the focus. They say so by events: asking one would wait for the main
/// thread, which waits for everybody at the end of the app.
#[derive(Default)]
struct Focus(Mutex<BTreeSet<String>>);

impl Screen for Focus {
    fn has_focus(&self) -> bool {
        let focused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !focused.is_empty()
    }
}

/// What [`Goal::start_up`] needs beside the app.
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) password: Option<Secret>,
    /// In place of native notifications.
    pub(crate) notices: Option<Arc<dyn Notices>>,
}

impl<R: Runtime> Goal<R> {
    /// Every goal as it is known now. Answers from memory.
    #[must_use]
    pub fn list(&self) -> Snapshot {
        self.hub.snapshot()
    }

    /// A session's goal as it is known now; `None` if it has none. Answers from memory.
    ///
    /// # Errors
    /// `invalidSession`.
    pub fn get(&self, session_id: &str) -> Result<Option<GoalView>> {
        Ok(self.hub.get(&session(session_id)?))
    }

    /// A goal's whole objective, for display.
    ///
    /// # Errors
    /// `invalidSession`, `noGoal`, `unknownSession`, `notConnected`, and the codes of a failed
    /// call.
    pub async fn objective(&self, session_id: &str) -> Result<ObjectiveText> {
        let session = session(session_id)?;
        let line = self.host.line()?;
        let view = match line.engine.get(&session) {
            Some(view) => view,
            None => command::show(&line.ports, &session).await?,
        };
        let text = command::objective(&line.ports, &view).await;
        Ok(ObjectiveText { text })
    }

    /// Why a session's goal does what it does.
    ///
    /// # Errors
    /// Those of [`Goal::objective`].
    pub async fn why(&self, session_id: &str) -> Result<Explanation> {
        let session = session(session_id)?;
        let line = self.host.line()?;
        let told = command::why(&line.ports, &session).await?;
        Ok(Explanation {
            goal: self.hub.show(&told.view),
            look: told.look.into(),
            recent: told.recent.into_iter().map(Into::into).collect(),
        })
    }

    /// What the user was told, newest first.
    ///
    /// # Errors
    /// `invalidArguments` for a limit out of range, `dataFolder` if the database cannot be read.
    pub async fn notices(&self, list: ListNotices) -> Result<Vec<Notice>> {
        let limit = list.limit.unwrap_or(NOTICES_USUAL);
        if !(1..=NOTICES_MAX).contains(&limit) {
            let message = format!("`limit` is a number from 1 to {NOTICES_MAX}.");
            return Err(Error::invalid_arguments(message));
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let rows = self.store().await.notices(limit).await?;
        Ok(rows.into_iter().map(Notice::from).collect())
    }

    /// The settings as they are at this moment.
    pub async fn settings(&self) -> SettingsView {
        let view = settings_view(&self.settings).await;
        settings_read(&self.hub, &self.host, view.clone(), /*changed*/ false).await;
        view
    }

    /// How the server stands. Answers from memory.
    #[must_use]
    pub fn server_status(&self) -> ServerStatus {
        self.hub.status()
    }

    /// Which model an audit would use. No model is asked.
    ///
    /// # Errors
    /// `invalidArguments` if neither a session nor a folder is named, `noAuditor`, and those of
    /// [`Goal::objective`].
    pub async fn auditor_check(&self, whose: AuditorCheck) -> Result<AuditorModel> {
        let place = place(whose.session_id.as_deref(), whose.directory.as_deref())?;
        let line = self.host.line()?;
        let found = line.auditor.would_use(&line.ports, &place).await?;
        Ok(found.into())
    }

    /// Starts a goal.
    ///
    /// ```no_run
    /// use tauri_plugin_goal::{GoalExt, Result, models::Start};
    /// # async fn start<R: tauri::Runtime>(app: tauri::AppHandle<R>) -> Result<()> {
    /// let goal = Start::new("ses_3f2a9c", "All tests pass, with no test removed.");
    /// let started = app.goal().start(goal).await?;
    /// println!("judged by {}", started.auditor.model);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `invalidObjective`, `invalidBudget`, `invalidPrompt`, `unsuitableSession`, `goalExists`,
    /// `noAuditor`, `corruptMetadata`, `notDelivered` (then the goal exists and is paused), and
    /// those of [`Goal::pause`].
    pub async fn start(&self, start: Start) -> Result<Started> {
        let session = session(&start.session_id)?;
        let budget = start.token_budget.check()?;
        let send = start.choices()?;
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let settings = Arc::clone(&self.settings);
        let (objective, replace) = (start.objective.clone(), start.replace);
        let work = async move {
            let line = host.line()?;
            let token_budget = match budget {
                Some(budget) => budget,
                None => settings.read().await.settings.default_budget(),
            };
            let request = command::StartRequest {
                session,
                objective,
                token_budget,
                send,
                replace,
            };
            let started = line.engine.start_goal(request).await?;
            let (shortened, distilled_by, not_distilled) = copy_of(Some(&started.copy));
            Ok(Started {
                goal: hub.show(&started.view),
                shortened,
                distilled_by,
                not_distilled,
                inline: started.inline,
                auditor: started.auditor.into(),
                message_id: started.message.map(|message| message.to_string()),
                waits_for_first_message: started.waits_for_first_message,
            })
        };
        let id = start.request_id.as_deref();
        self.once.run(id, "start", &start, work).await
    }

    /// Edits a goal: another objective, another budget, the same goal.
    ///
    /// # Errors
    /// `invalidObjective` if the text is empty or nothing is to be changed, `invalidBudget`, and
    /// those of [`Goal::pause`].
    pub async fn edit(&self, edit: Edit) -> Result<Edited> {
        let request = command::EditRequest {
            session: session(&edit.session_id)?,
            objective: edit.objective.clone(),
            token_budget: edit.token_budget.check()?,
        };
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            let edited = host.line()?.engine.edit(request).await?;
            let (shortened, distilled_by, not_distilled) = copy_of(edited.copy.as_ref());
            Ok(Edited {
                goal: hub.show(&edited.view),
                shortened,
                distilled_by,
                not_distilled,
                inline: edited.inline,
            })
        };
        let id = edit.request_id.as_deref();
        self.once.run(id, "edit", &edit, work).await
    }

    /// Pauses a goal; what runs is stopped at once.
    ///
    /// # Errors
    /// `invalidSession`, `unknownSession`, `noGoal`, `wrongStatus`, `conflict`, `notConnected`,
    /// `shuttingDown`, and the codes of a failed call.
    pub async fn pause(&self, on: impl Into<OnSession>) -> Result<Paused> {
        let on = on.into();
        let session = session(&on.session_id)?;
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            let paused = host.line()?.engine.pause(&session).await?;
            Ok(paused_one(&hub, paused))
        };
        let id = on.request_id.as_deref();
        self.once.run(id, "pause", &on, work).await
    }

    /// Resumes a goal, perhaps with another budget.
    ///
    /// # Errors
    /// `budgetSpent` if the budget is used up and no larger one is given, `invalidBudget`, and
    /// those of [`Goal::pause`].
    pub async fn resume(&self, resume: impl Into<Resume>) -> Result<Resumed> {
        let resume = resume.into();
        let session = session(&resume.session_id)?;
        let budget = resume.token_budget.check()?;
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            let resumed = host.line()?.engine.resume(&session, budget).await?;
            Ok(Resumed {
                goal: hub.show(&resumed.view),
                already: resumed.already,
            })
        };
        let id = resume.request_id.as_deref();
        self.once.run(id, "resume", &resume, work).await
    }

    /// Marks a goal complete. What runs in the session goes on.
    ///
    /// # Errors
    /// Those of [`Goal::pause`].
    pub async fn complete(&self, on: impl Into<OnSession>) -> Result<Completed> {
        let on = on.into();
        let session = session(&on.session_id)?;
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            let completed = host.line()?.engine.complete(&session).await?;
            Ok(Completed {
                goal: hub.show(&completed.view),
                already: completed.already,
            })
        };
        let id = on.request_id.as_deref();
        self.once.run(id, "complete", &on, work).await
    }

    /// Takes a goal out of its session; what runs for an active one is stopped.
    ///
    /// # Errors
    /// Those of [`Goal::pause`], but for a session without a goal, where nothing is done.
    pub async fn clear(&self, on: impl Into<OnSession>) -> Result<Cleared> {
        let on = on.into();
        let session = session(&on.session_id)?;
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            match host.line()?.engine.clear(&session).await {
                Ok(cleared) => Ok(Cleared {
                    goal: Some(hub.show(&cleared.view)),
                    already: false,
                    abort_failed: cleared.abort_failed,
                }),
                Err(error) if error.code() == goal_engine::Code::NoGoal => Ok(Cleared {
                    goal: None,
                    already: true,
                    abort_failed: None,
                }),
                Err(error) => Err(error.into()),
            }
        };
        let id = on.request_id.as_deref();
        self.once.run(id, "clear", &on, work).await
    }

    /// Pauses every active goal of the server. Each goal's own outcome is in the answer.
    ///
    /// # Errors
    /// `notConnected`, `shuttingDown`, and the codes of a failed call.
    pub async fn pause_all(&self, on: OnAll) -> Result<Vec<PausedOne>> {
        let (host, hub) = (Arc::clone(&self.host), Arc::clone(&self.hub));
        let work = async move {
            let outcomes = host.line()?.engine.pause_all().await?;
            let told = outcomes.into_iter().map(|one| {
                let (paused, error) = match one.result {
                    Ok(paused) => (Some(paused_one(&hub, paused)), None),
                    Err(error) => (None, Some(error.into())),
                };
                PausedOne {
                    session_id: one.session.to_string(),
                    paused,
                    error,
                }
            });
            Ok(told.collect())
        };
        let id = on.request_id.as_deref();
        self.once.run(id, "pause_all", &on, work).await
    }

    /// Asks the auditor once about something that is done. Costs one small call of a model.
    ///
    /// # Errors
    /// `auditFailed` with the reason, and those of [`Goal::auditor_check`].
    pub async fn auditor_test(&self, whose: TestAuditor) -> Result<AuditorTest> {
        let place = place(whose.session_id.as_deref(), whose.directory.as_deref())?;
        let host = Arc::clone(&self.host);
        let work = async move {
            let Line { ports, auditor, .. } = host.line()?;
            tried(auditor.try_out(&ports, &place).await?)
        };
        let id = whose.request_id.as_deref();
        self.once.run(id, "auditor_test", &whose, work).await
    }

    /// Marks notices as read.
    ///
    /// # Errors
    /// `invalidArguments` for too many of them, `dataFolder` if the database cannot be written.
    pub async fn notices_mark_read(&self, read: MarkRead) -> Result<MarkedRead> {
        if read.ids.len() > usize::try_from(NOTICES_MAX).unwrap_or(usize::MAX) {
            let message = format!("`ids` takes {NOTICES_MAX} numbers at most.");
            return Err(Error::invalid_arguments(message));
        }
        let (store, ids) = (self.store().await, read.ids.clone());
        let work = async move {
            let mut marked = 0;
            for id in ids {
                marked += u32::from(store.mark_notice_read(id).await?);
            }
            Ok(MarkedRead { marked })
        };
        let id = read.request_id.as_deref();
        self.once.run(id, "notices_mark_read", &read, work).await
    }

    /// Sets each key to its value, or to its default; all of them or none. It acts at once.
    ///
    /// # Errors
    /// `unknownSetting`, `invalidSetting`, `settingsUnwritable`: nothing was changed then.
    pub async fn settings_set(&self, set: SetSettings) -> Result<SettingsView> {
        let (host, settings) = (Arc::clone(&self.host), Arc::clone(&self.settings));
        let (hub, changes) = (Arc::clone(&self.hub), set.changes.clone());
        let work = async move {
            settings.update(changes).await?;
            let view = settings_view(&settings).await;
            settings_read(&hub, &host, view.clone(), /*changed*/ true).await;
            Ok(view)
        };
        let id = set.request_id.as_deref();
        self.once.run(id, "settings_set", &set, work).await
    }

    /// Uses another server, or tries the same one again at once. Waits until it is reached or
    /// could not be: the answer says which.
    ///
    /// # Errors
    /// `invalidArguments` for an address that is none, `shuttingDown`.
    pub async fn server_connect(&self, connect: ServerConnect) -> Result<ServerStatus> {
        let home = self.app.path().home_dir().ok();
        let server = match &connect.server {
            Some(server) => Some(self.config.asked(server, home)?),
            None => None,
        };
        let host = Arc::clone(&self.host);
        let work = async move { host.connect(server).await };
        let id = connect.request_id.as_deref();
        self.once.run(id, "server_connect", &connect, work).await
    }

    /// The client of the server in use, for what an app asks the server beside goals. It follows a
    /// server of ours to every new address and password.
    ///
    /// # Errors
    /// `notConnected`, with what is known of the reason; `shuttingDown`.
    pub fn server_client(&self) -> Result<Client> {
        self.host.line().map(|line| line.client)
    }

    /// The client of the server in use, now and whenever another server is used; `None` for as
    /// long as there is none.
    #[must_use]
    pub fn server_clients(&self) -> watch::Receiver<Option<Client>> {
        self.host.clients()
    }

    /// Has `opener` make the window when a notification is clicked and there is none. Without it
    /// the first window of `tauri.conf.json` is made as it stands there. Only the first call
    /// counts.
    pub fn open_windows_with(&self, opener: impl Fn(&AppHandle<R>) + Send + Sync + 'static) {
        // A second one is passed over, as said.
        let _ = self.opener.set(Box::new(opener));
    }

    /// Ends everything in order, within 20 seconds: reading is dropped, a write or prompt under way
    /// comes to its end, audits are taken back, a server of ours is ended. Goals stay as they are.
    /// The app's own end does this; a second call does nothing. Blocks: call it outside of async
    /// code.
    pub fn shut_down(&self) {
        self.ended.cancel();
        self.tasks.close();
        // Timers are made inside of the runtime.
        let ended = async { timeout(END_MAX, self.tasks.wait()).await };
        let ended = tauri::async_runtime::block_on(ended);
        if ended.is_err() {
            tracing::warn!("some tasks did not end in time; the next start cleans up");
        }
    }

    pub(crate) fn watch(&self, webview: Webview<R>, of: WatchSession) -> Result<Watching> {
        let only = of.session_id.as_deref().map(session).transpose()?;
        let watch = self.hub.watch(webview.label(), only)?;
        let watching = watch.watching();
        let channel = of.channel.channel_on(webview);
        let (hub, ended) = (Arc::clone(&self.hub), self.ended.clone());
        self.spawn(async move {
            // A page that reads on must not hold up the end of the app.
            tokio::select! {
                () = ended.cancelled() => {}
                () = hub.pump(watch, |message| channel.send(message)) => {}
            }
        });
        Ok(watching)
    }

    pub(crate) fn unwatch(&self, webview: &Webview<R>, id: u32) {
        self.hub.unwatch(webview.label(), id);
    }

    /// A page asks for all goals: one that lists hears, so what no page could hear is told.
    pub(crate) fn list_for_page(&self) -> Snapshot {
        let unheard = self.unheard.lock();
        let unheard = unheard.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(open) = unheard {
            self.hub.tell(Event::Open(open));
        }
        self.list()
    }

    pub(crate) fn focused(&self, window: &str, has_focus: bool) {
        let mut focused = self.focus.0.lock().unwrap_or_else(PoisonError::into_inner);
        if has_focus {
            focused.insert(window.to_owned());
        } else {
            focused.remove(window);
        }
    }

    pub(crate) fn page_left(&self, webview: &str) {
        self.hub.page_left(webview);
    }

    pub(crate) fn keeps_running(&self) -> bool {
        self.config.keep_running.unwrap_or_default()
    }

    /// Begins everything; the app's own task ends it.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub(crate) fn start_up(app: &AppHandle<R>, setup: Setup) -> Result<Self> {
        let Setup {
            config,
            password,
            notices,
        } = setup;
        let limits = config.limits.limits()?;
        let data_dir = config.data_dir()?;
        let home = app.path().home_dir().ok();
        let choice = config.choice(home, password.or_else(password_of_environment))?;
        let settings = Arc::new(SettingsFile::new(data_dir.settings()));
        let hub = Arc::new(Hub::new(Arc::new(SystemClock)));
        let notices = notices.unwrap_or_else(|| native_notices(app, &config));
        let (database, ended) = (data_dir.database(), CancellationToken::new());
        let focus: Arc<Focus> = Arc::default();
        let base = Base {
            hub: Arc::clone(&hub),
            limits,
            data_dir,
            notices,
            screen: Arc::clone(&focus) as _,
        };
        let (host, keeper) = Host::new(base, choice, ended.clone());
        let goal = Self {
            app: app.clone(),
            config,
            hub,
            host: Arc::new(host),
            settings,
            store: OnceCell::new(),
            database,
            once: Once::default(),
            ended,
            tasks: TaskTracker::new(),
            unheard: Mutex::new(None),
            focus,
            opener: OnceLock::new(),
        };
        goal.spawn(keeper.run());
        goal.begin_telling();
        goal.begin_listening();
        Ok(goal)
    }

    fn begin_telling(&self) {
        let (hub, app, ended) = (Arc::clone(&self.hub), self.app.clone(), self.ended.clone());
        self.spawn(async move { hub.run(&Windows(app), &ended).await });
        let (hub, settings) = (Arc::clone(&self.hub), Arc::clone(&self.settings));
        let (host, ended) = (Arc::clone(&self.host), self.ended.clone());
        self.spawn(async move {
            let watching = tell_settings(&hub, &host, &settings);
            tokio::select! {
                () = ended.cancelled() => {}
                () = watching => {}
            }
        });
    }

    /// Without this, SIGTERM and Ctrl-C would end the process with no event at all.
    fn begin_listening(&self) {
        if !self.config.handle_signals.unwrap_or(true) {
            return;
        }
        let (app, ended) = (self.app.clone(), self.ended.clone());
        self.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = asked_to_end() => app.exit(0),
            }
        });
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tauri::async_runtime::spawn(self.tasks.track_future(task));
    }

    async fn store(&self) -> Store {
        if let Ok(line) = self.host.line() {
            return line.ports.store;
        }
        let open = || async {
            let database = self.database.clone();
            let opened = tokio::task::spawn_blocking(move || Store::open(&database)).await;
            opened.unwrap_or_else(|_| Store::in_memory("the program is ending"))
        };
        self.store.get_or_init(open).await.clone()
    }

    fn clicked(&self, click: Click) {
        let Click { notice, action } = click;
        if action == Action::Resume {
            self.resume_clicked(notice.session.clone());
        }
        let goal = notice.goal.to_string();
        let open = Open {
            session_id: notice.session.to_string(),
            directory: notice.directory,
            goal_id: (!goal.is_empty()).then_some(goal),
            code: notice.code.name(),
        };
        match show_a_window(&self.app, self.opener.get()) {
            Shown::Open => self.hub.tell(Event::Open(open)),
            // Its page asks for the list once it listens.
            Shown::Made => {
                let unheard = self.unheard.lock();
                *unheard.unwrap_or_else(PoisonError::into_inner) = Some(open);
            }
        }
    }

    fn resume_clicked(&self, session: SessionId) {
        let host = Arc::clone(&self.host);
        self.spawn(async move {
            let resumed = match host.line() {
                Ok(line) => line.engine.resume(&session, None).await.map(drop),
                Err(_) => return tracing::warn!("a goal could not be resumed: no server"),
            };
            if let Err(error) = resumed {
                let code = error.code().name();
                tracing::warn!(code, "a goal could not be resumed by its notice");
            }
        });
    }
}

/// All windows of the app.
struct Windows<R: Runtime>(AppHandle<R>);

impl<R: Runtime> Pages for Windows<R> {
    fn emit(&self, event: &Event) {
        if let Err(error) = self.0.emit(event.name(), event) {
            tracing::debug!(%error, event = event.name(), "pages could not be told");
        }
    }
}

fn native_notices<R: Runtime>(app: &AppHandle<R>, config: &Config) -> Arc<dyn Notices> {
    let words = Words::of(config.language.as_deref());
    let clicks = app.clone();
    let on_click = Arc::new(move |click: Click| {
        // A click may come before the handle is managed, or after the app's end.
        if let Some(goal) = clicks.try_state::<Goal<R>>() {
            goal.clicked(click);
        }
    });
    let show = notifier::native(app, &words, on_click);
    Arc::new(Notifier::new(words, show))
}

enum Shown {
    /// A window was there.
    Open,
    /// One is made; its page hears nothing yet.
    Made,
}

/// Brings a window to the front: `main`, else any; made anew if all were closed.
fn show_a_window<R: Runtime>(app: &AppHandle<R>, opener: Option<&Opener<R>>) -> Shown {
    let windows = app.webview_windows();
    if let Some(window) = windows.get("main").or_else(|| windows.values().next()) {
        let shown = window
            .unminimize()
            .and_then(|()| window.show())
            .and_then(|()| window.set_focus());
        if let Err(error) = shown {
            tracing::debug!(%error, "the window could not be brought to the front");
        }
        return Shown::Open;
    }
    if let Some(opener) = opener {
        opener(app);
        return Shown::Made;
    }
    let Some(config) = app.config().app.windows.first() else {
        return Shown::Made;
    };
    let made = WebviewWindowBuilder::from_config(app, config).and_then(|window| window.build());
    if let Err(error) = made {
        tracing::warn!(%error, "a window could not be opened again");
    }
    Shown::Made
}

/// Tells pages and the engine what the command line or an editor changed in the settings.
async fn tell_settings(hub: &Hub, host: &Host, settings: &SettingsFile) {
    loop {
        let view = settings_view(settings).await;
        settings_read(hub, host, view, /*changed*/ false).await;
        sleep(SETTINGS_LOOK).await;
    }
}

/// Whoever reads the settings first tells pages and the engine what is new in them.
async fn settings_read(hub: &Hub, host: &Host, view: SettingsView, changed: bool) {
    if hub.settings(view, changed)
        && let Ok(line) = host.line()
    {
        line.engine.settings_changed().await;
    }
}

async fn settings_view(settings: &SettingsFile) -> SettingsView {
    let reading = settings.read().await;
    SettingsView {
        settings: reading.settings.into(),
        defaults: settings::Settings::default().into(),
        source: reading.source.into(),
        complaint: settings.complaint().await,
    }
}

fn place(session_id: Option<&str>, directory: Option<&str>) -> Result<Whose> {
    match (session_id, directory) {
        (Some(id), _) => session(id).map(Whose::Session),
        (None, Some(folder)) if (1..=FOLDER_BYTES_MAX).contains(&folder.trim().len()) => {
            Ok(Whose::Folder(folder.trim().to_owned()))
        }
        (None, Some(_) | None) => Err(Error::invalid_arguments(
            "Name the session, or the folder of an empty one, whose auditor is meant.",
        )),
    }
}

fn paused_one(hub: &Hub, paused: command::Paused) -> Paused {
    let view: &EngineView = &paused.view;
    Paused {
        goal: hub.show(view),
        already: paused.already,
        abort_failed: paused.abort_failed,
    }
}

fn tried(trial: Trial) -> Result<AuditorTest> {
    match trial.outcome {
        AuditOutcome::Verdict { verdict, .. } => Ok(AuditorTest {
            auditor: trial.auditor.into(),
            verdict: verdict.kind.as_str(),
            note: verdict.note,
            took_ms: millis(trial.took),
        }),
        AuditOutcome::Failed(why) => Err(Error::new(
            Code::AuditFailed,
            format!(
                "{} could not judge ({}). Goals of this session would be continued unaudited once \
                 and then be blocked.",
                AuditorModel::from(trial.auditor).model,
                why.code()
            ),
        )),
    }
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let both = signal(SignalKind::terminate())
        .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)));
    match both {
        Ok((mut terminate, mut interrupt)) => tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        },
        Err(error) => {
            tracing::warn!(%error, "signals cannot be listened to");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::warn!(%error, "signals cannot be listened to");
        std::future::pending::<()>().await;
    }
}
