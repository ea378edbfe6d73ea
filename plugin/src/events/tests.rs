use std::sync::atomic::{AtomicU64, Ordering};

use goal_core::goal::{Goal, GoalId, Status, Unknown};
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;

use super::*;

/// A wall clock that stands still.
struct Still;

impl Clock for Still {
    fn wall(&self) -> Wall {
        Wall(70_000)
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

/// Pages that remember what they heard.
#[derive(Default)]
struct Heard(Mutex<Vec<Event>>);

impl Pages for Heard {
    fn emit(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Heard {
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Sequence, session and phase of each change, oldest first.
    fn changes(&self) -> Vec<(u64, String, Option<&'static str>)> {
        let events = self.take().into_iter();
        let changes = events.filter_map(|event| match event {
            Event::Changed(changed) => {
                let phase = changed.goal.as_ref().map(|goal| goal.phase);
                Some((changed.seq, changed.session_id, phase))
            }
            Event::Settled(_)
            | Event::Connection(_)
            | Event::Notice(_)
            | Event::Settings(_)
            | Event::Open(_) => None,
        });
        changes.collect()
    }
}

fn hub() -> Hub {
    Hub::new(Arc::new(Still))
}

pub(crate) fn view(session: &str, phase: Phase) -> EngineView {
    EngineView {
        session: SessionId::new(session),
        title: "Fix the parser".to_owned(),
        directory: "/project".to_owned(),
        goal: Goal {
            id: GoalId::new("g_1"),
            objective: "All tests pass".to_owned(),
            objective_file: false,
            status: Status::Active,
            token_budget: None,
            tokens_used: 12_345,
            tokens_baseline: 0,
            tokens_committed: 0,
            turns_used: 3,
            blocked_streak: 0,
            audit_fail_streak: 0,
            note: "two of three done".to_owned(),
            status_reason: String::new(),
            evaluation: None,
            last_accounted: None,
            created_at: Wall(1_000),
            updated_at: Wall(60_000),
            session_id: None,
            continued_after: None,
            resumed_over: None,
            first_message: None,
            active_ms: 59_000,
            unknown: Unknown::default(),
        },
        phase,
        why: String::new(),
        detail: String::new(),
        since: Wall(60_000),
        next: None,
        seq: 1,
    }
}

fn update(kind: UpdateKind) -> Update {
    Update {
        at: Wall(70_000),
        kind,
    }
}

fn phase(session: &str, phase: Phase) -> Update {
    update(UpdateKind::Phase(Box::new(view(session, phase))))
}

fn cleared(session: &str) -> Update {
    update(UpdateKind::Cleared(Box::new(view(session, Phase::Settled))))
}

#[test]
fn one_frame_tells_the_newest_change_of_each_session_once() {
    let (hub, pages) = (hub(), Heard::default());
    for _ in 0..1_000 {
        hub.hear(&phase("ses_1", Phase::Working));
    }
    hub.hear(&phase("ses_2", Phase::Quiet));
    hub.hear(&phase("ses_1", Phase::Auditing));
    hub.flush(&pages);
    let told = [
        (1_002, "ses_1".to_owned(), Some("auditing")),
        (1_001, "ses_2".to_owned(), Some("quiet")),
    ];
    assert_eq!(pages.changes(), told);
    hub.flush(&pages);
    assert_eq!(pages.changes(), [], "nothing is told twice");
}

#[test]
fn a_page_that_missed_everything_is_right_after_the_list() {
    let (hub, pages) = (hub(), Heard::default());
    hub.begin(20);
    hub.hear(&phase("ses_1", Phase::Quiet));
    hub.hear(&phase("ses_2", Phase::Working));
    hub.hear(&cleared("ses_2"));
    let list = hub.snapshot();
    assert_eq!(list.seq, 3);
    let [goal] = &list.goals[..] else {
        panic!("one goal is left: {list:?}");
    };
    assert_eq!(
        (goal.session_id.as_str(), goal.seq, goal.turns_max),
        ("ses_1", 1, 20)
    );
    assert_eq!((goal.at, goal.active_ms), (70_000, 69_000));
    assert_eq!(hub.get(&SessionId::new("ses_1")).as_ref(), Some(goal));
    hub.flush(&pages);
    let none = (3, "ses_2".to_owned(), None);
    assert_eq!(pages.changes().last(), Some(&none));
}

#[test]
fn a_listener_that_fell_behind_tells_only_what_is_different() {
    let (hub, pages) = (hub(), Heard::default());
    for session in ["ses_1", "ses_2", "ses_3"] {
        hub.hear(&phase(session, Phase::Working));
    }
    hub.flush(&pages);
    pages.take();
    let now = [view("ses_1", Phase::Working), view("ses_2", Phase::Quiet)];
    hub.catch_up(&now);
    hub.flush(&pages);
    let told = [
        (5, "ses_2".to_owned(), Some("quiet")),
        (4, "ses_3".to_owned(), None),
    ];
    assert_eq!(pages.changes(), told);
}

#[test]
fn another_server_takes_the_goals_of_the_first_away() {
    let (hub, pages) = (hub(), Heard::default());
    hub.hear(&phase("ses_1", Phase::Working));
    hub.flush(&pages);
    pages.take();
    hub.begin(20);
    hub.flush(&pages);
    assert_eq!(pages.changes(), [(2, "ses_1".to_owned(), None)]);
    assert_eq!(hub.snapshot().goals, []);
}

#[test]
fn the_line_is_told_when_it_changes_and_then_only() {
    let (hub, pages) = (hub(), Heard::default());
    let down = || {
        update(UpdateKind::Connection {
            connected: false,
            reason: "refused".to_owned(),
            retry_in: Some(Duration::from_millis(250)),
        })
    };
    hub.hear(&down());
    hub.hear(&down());
    hub.hear(&update(UpdateKind::Driver(DriverState::Passive {
        pid: 42,
    })));
    hub.flush(&pages);
    let told = pages.take();
    assert_eq!(told.len(), 2, "{told:?}");
    let status = hub.status();
    assert_eq!(told.last(), Some(&Event::Connection(status.clone())));
    assert_eq!(status.state, ServerState::Away);
    assert_eq!(status.retry_in_ms, Some(250));
    assert_eq!(
        (status.driver, status.driver_pid),
        (Driver::Passive, Some(42))
    );
}

#[test]
fn a_panic_on_the_way_to_the_pages_costs_one_frame() {
    struct Broken;
    impl Pages for Broken {
        fn emit(&self, _: &Event) {
            std::panic::resume_unwind(Box::new("broken"));
        }
    }
    let (hub, pages) = (hub(), Heard::default());
    hub.hear(&phase("ses_1", Phase::Quiet));
    hub.frame(&Broken);
    hub.hear(&phase("ses_1", Phase::Working));
    hub.frame(&pages);
    assert_eq!(pages.changes(), [(2, "ses_1".to_owned(), Some("working"))]);
}

#[test]
fn settings_are_told_when_they_are_others_than_before() {
    let view = |enabled: bool| {
        let settings = goal_engine::settings::Settings {
            session_goal_enabled: enabled,
            ..goal_engine::settings::Settings::default()
        };
        SettingsView {
            settings: settings.into(),
            defaults: goal_engine::settings::Settings::default().into(),
            source: crate::models::SettingsSource::File,
            complaint: None,
        }
    };
    let (hub, pages) = (hub(), Heard::default());
    let told = |view, changed| {
        hub.settings(view, changed);
        hub.flush(&pages);
        pages.take().len()
    };
    assert_eq!(told(view(true), false), 0, "read at the start");
    assert_eq!(told(view(false), true), 1, "set by a page");
    assert_eq!(told(view(false), false), 0, "and then read in the file");
    assert_eq!(told(view(true), false), 1, "changed by another program");
}

#[test]
fn what_waits_for_a_frame_is_bounded() {
    let (hub, pages) = (hub(), Heard::default());
    for _ in 0..PENDING_MAX + 10 {
        let settled = Box::new(view("ses_1", Phase::Settled));
        hub.hear(&update(UpdateKind::Settled(settled)));
    }
    hub.flush(&pages);
    let told = pages.take();
    assert_eq!(told.len(), PENDING_MAX);
    let newest = u64::try_from(PENDING_MAX).unwrap() + 10;
    assert!(matches!(told.last(), Some(Event::Settled(settled)) if settled.seq == newest));
}

#[tokio::test(start_paused = true)]
async fn a_busy_session_is_told_of_once_a_frame() {
    let (hub, pages) = (Arc::new(hub()), Arc::new(Heard::default()));
    let ended = CancellationToken::new();
    let running = {
        let (hub, pages, ended) = (Arc::clone(&hub), Arc::clone(&pages), ended.clone());
        tokio::spawn(async move { hub.run(pages.as_ref(), &ended).await })
    };
    // A thousand changes in a second.
    for _ in 0..1_000 {
        hub.hear(&phase("ses_1", Phase::Working));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    ended.cancel();
    running.await.unwrap();
    let told = pages.changes();
    assert!(told.len() <= 1_000 / 16 + 2, "{}", told.len());
    assert_eq!(told.last().map(|change| change.0), Some(1_000));
    let rising = told.windows(2).all(|pair| pair[0].0 < pair[1].0);
    assert!(rising);
}

/// Reads a watch until it rests.
async fn read(hub: &Arc<Hub>, watch: Watch, pages: &Heard) -> Vec<WatchMessage> {
    let read = Arc::new(Mutex::new(Vec::new()));
    let pumping = {
        let (hub, read) = (Arc::clone(hub), Arc::clone(&read));
        tokio::spawn(async move {
            let send = |message| -> Result<(), ()> {
                read.lock().unwrap().push(message);
                Ok(())
            };
            hub.pump(watch, send).await;
        })
    };
    hub.flush(pages);
    // The pump reads all there is in its turn.
    tokio::task::yield_now().await;
    hub.page_left("main");
    pumping.await.unwrap();
    std::mem::take(&mut read.lock().unwrap())
}

#[tokio::test]
async fn a_watch_begins_with_everything_and_goes_on_in_order() {
    let (hub, pages) = (Arc::new(hub()), Heard::default());
    hub.hear(&phase("ses_1", Phase::Quiet));
    hub.flush(&pages);
    let watch = hub.watch("main", None).unwrap();
    hub.hear(&phase("ses_1", Phase::Auditing));
    hub.hear(&update(UpdateKind::Verdict {
        session: SessionId::new("ses_1"),
        goal: GoalId::new("g_1"),
        verdict: "complete",
        note: "done".to_owned(),
        model: None,
    }));
    let read = read(&hub, watch, &pages).await;
    let kinds = read
        .iter()
        .map(|message| serde_json::to_value(message).unwrap());
    let kinds: Vec<String> = kinds.map(|message| message["type"].to_string()).collect();
    assert_eq!(kinds, ["\"snapshot\"", "\"changed\"", "\"verdict\""]);
}

#[tokio::test]
async fn a_watch_of_one_session_hears_of_that_one() {
    let (hub, pages) = (Arc::new(hub()), Heard::default());
    let watch = hub.watch("main", Some(SessionId::new("ses_1"))).unwrap();
    hub.hear(&phase("ses_2", Phase::Quiet));
    hub.hear(&phase("ses_1", Phase::Quiet));
    hub.server(|server| server.ready = true);
    let read = read(&hub, watch, &pages).await;
    let about: Vec<Option<&str>> = read.iter().map(session_of).collect();
    assert_eq!(about, [None, Some("ses_1"), None]);
}

#[tokio::test]
async fn a_slow_reader_gets_everything_in_place_of_what_it_missed() {
    let (hub, pages) = (Arc::new(hub()), Heard::default());
    let watch = hub.watch("main", None).unwrap();
    for n in 0..=WATCH_QUEUE_MAX {
        hub.hear(&phase(&format!("ses_{n:04}"), Phase::Quiet));
    }
    let read = read(&hub, watch, &pages).await;
    let [WatchMessage::Snapshot { snapshot, .. }] = &read[..] else {
        panic!("one snapshot: {}", read.len());
    };
    assert_eq!(snapshot.goals.len(), WATCH_QUEUE_MAX + 1);
}

#[tokio::test]
async fn watches_of_a_page_are_bounded_and_end_with_it() {
    let hub = Arc::new(hub());
    let open: Vec<Watch> = (0..WATCHES_MAX)
        .map(|_| hub.watch("main", None).unwrap())
        .collect();
    let refused = hub.watch("main", None).err().map(|error| error.code());
    assert_eq!(refused, Some(crate::Code::InvalidArguments));
    hub.watch("other", None).unwrap();
    let sent = AtomicU64::new(0);
    hub.page_left("main");
    for watch in open {
        let id = watch.watching().id;
        hub.pump(watch, |_| -> Result<(), ()> {
            sent.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .await;
        // One that has ended already is left alone.
        hub.unwatch("main", id);
    }
    assert_eq!(
        sent.load(Ordering::Relaxed),
        u64::try_from(WATCHES_MAX).unwrap()
    );
    hub.watch("main", None).unwrap();
}

#[tokio::test]
async fn a_page_ends_its_own_watches_only() {
    let hub = Arc::new(hub());
    let watch = hub.watch("main", None).unwrap();
    let id = watch.watching().id;
    hub.unwatch("other", id);
    assert_eq!(hub.lock().watchers.len(), 1);
    hub.unwatch("main", id);
    assert_eq!(hub.lock().watchers.len(), 0);
}
