//! The stream to pages: on recorded traces, and with pages that are slow, gone or replaced.

use std::path::Path;
use std::sync::mpsc;

use opencode_client::{
    DEFAULT_USERNAME, Decoder, FRAME_BYTES_MAX, Frame, Target, Timeouts, peek_type,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use testkit::fake::{FakeOptions, FakeServer, Room};
use tokio::task::JoinHandle;

use super::pending::{BYTES_MAX, EVENTS_MAX};
use super::*;

/// A trace's events that pages are told of, and how many of them if one batch takes all.
const TRACES: [(&str, usize, usize); 20] = [
    ("aborted_during_retry", 17, 17),
    ("aborted_during_tool", 22, 19),
    ("aborted_turn", 28, 28),
    ("bad_model", 10, 10),
    ("compaction_auto", 55, 55),
    ("compaction_manual", 43, 43),
    ("error_401", 17, 17),
    ("length_no_text", 27, 27),
    ("length_with_text", 24, 24),
    ("normal_turn", 48, 48),
    ("normal_turn_bash_tool", 40, 35),
    ("permission_ask_once", 41, 37),
    ("permission_ask_reject", 25, 23),
    ("question_answered", 39, 37),
    ("queued_prompt_while_busy", 52, 52),
    ("retry_exhausted_429_retry_after", 27, 27),
    ("retry_then_success", 28, 28),
    ("subagent_background", 96, 93),
    ("subagent_turn", 70, 67),
    ("throwaway_audit_child", 26, 26),
];

#[test]
fn every_recorded_trace_is_told_without_twins_and_loses_nothing() {
    for (name, told, batched) in TRACES {
        let events = trace(name);
        let mut pending = Pending::default();
        let mut all = Vec::new();
        for event in &events {
            all.push(serde_json::from_str(&event.json).unwrap());
            pending.event(event);
        }
        let kept = batch(&pending.take());
        assert_eq!((all.len(), kept.len()), (told, batched), "{name}");
        assert_eq!(parts(&all), parts(&kept), "{name}");
        for kind in [
            "sync",
            "plugin.added",
            "server.heartbeat",
            "server.connected",
        ] {
            assert!(
                all.iter().all(|event| event["type"] != kind),
                "{name} {kind}"
            );
        }
        let others = |events: &[Value]| {
            let is_part = |event: &&Value| event["type"] == "message.part.updated";
            events
                .iter()
                .filter(|event| !is_part(event))
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(others(&all), others(&kept), "{name}");
    }
}

#[test]
fn of_a_parts_updates_the_newest_is_told_but_none_over_its_growth() {
    let mut pending = Pending::default();
    for event in [
        updated("prt_1", "a"),
        updated("prt_2", "x"),
        updated("prt_1", "ab"),
        grown("prt_1", "c"),
        updated("prt_1", "abc"),
        updated("prt_1", "abcd"),
    ] {
        pending.event(&event);
    }
    let texts: Vec<String> = batch(&pending.take())
        .iter()
        .map(|event| {
            let properties = &event["properties"];
            let text = properties["part"]["text"].as_str();
            text.or(properties["delta"].as_str()).unwrap().to_owned()
        })
        .collect();
    assert_eq!(texts, ["x", "ab", "c", "abcd"]);
    assert!(pending.take().is_empty());
}

#[test]
fn an_event_keeps_its_folder_and_its_properties_as_they_are() {
    let read = |data: &str| Event::read(data).map(|event| event.json.to_string());
    let properties = r#"{"big":12345678901234567890,"half":"\ud800"}"#;
    let data = format!(
        r#"{{"directory":"/a\"b","project":"p","payload":{{"id":"e","type":"x.y",
            "properties":{properties}}}}}"#
    );
    assert_eq!(
        read(&data),
        Some(format!(
            r#"{{"directory":"/a\"b","type":"x.y","properties":{properties}}}"#
        ))
    );
    let global = r#"{"directory":"global","payload":{"type":"x.y","properties":{}}}"#;
    let alone = r#"{"payload":{"type":"x.y"}}"#;
    assert_eq!(
        read(global).as_deref(),
        Some(r#"{"directory":null,"type":"x.y","properties":{}}"#)
    );
    assert_eq!(
        read(alone).as_deref(),
        Some(r#"{"directory":null,"type":"x.y","properties":null}"#)
    );
    for data in ["", "{}", "[]", r#"{"payload":{}}"#, r#"{"type":"x"}"#] {
        assert_eq!(read(data), None, "{data}");
    }
}

#[test]
fn what_waits_is_bounded_in_number_and_in_bytes() {
    let mut pending = Pending::default();
    for number in 0..=EVENTS_MAX {
        pending.event(&grown("prt_1", &number.to_string()));
    }
    pending.event(&grown("prt_1", "after"));
    let messages = pending.take();
    assert_eq!(
        messages.first().map(String::as_str),
        Some(r#"{"kind":"resync"}"#)
    );
    assert_eq!(batch(&messages).len(), 1);

    let mebibyte = "x".repeat(1024 * 1024);
    for _ in 0..5 {
        pending.event(&grown("prt_1", &mebibyte));
    }
    let messages = pending.take();
    assert_eq!(
        messages.first().map(String::as_str),
        Some(r#"{"kind":"resync"}"#)
    );
    assert!(messages.iter().map(String::len).sum::<usize>() < BYTES_MAX);

    // One part that is told again and again takes the room of one.
    for _ in 0..10 * EVENTS_MAX {
        pending.event(&updated("prt_1", "x"));
    }
    assert_eq!(batch(&pending.take()).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_hears_how_the_line_stands_and_each_event_once_per_frame() {
    let house = House::new();
    let page = house.open("main");
    house.streams.connected();
    assert_eq!(page.next().await, json!({ "kind": "resync" }));
    for text in ["a", "b", "c"] {
        house.streams.hear(&grown("prt_1", text));
    }
    page.look();
    let message = page.next().await;
    assert_eq!(
        message["events"].as_array().map(Vec::len),
        Some(3),
        "{message}"
    );

    page.look();
    house.streams.lost(Some(Duration::from_secs(2)));
    let away = json!({ "kind": "away", "since": 1_000, "nextTryAt": 3_000 });
    assert_eq!(page.next().await, away);
    page.look();
    house.streams.connected();
    assert_eq!(page.next().await, json!({ "kind": "resync" }));
    let late = house.open("late");
    assert_eq!(
        late.next().await,
        json!({ "kind": "resync" }),
        "the line is up"
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_keep_up_is_told_to_read_anew_and_holds_nobody_up() {
    let house = House::new();
    let (slow, quick) = (house.open("slow"), house.open("quick"));
    house.streams.hear(&grown("prt_1", "first"));
    slow.next().await;
    quick.next().await;
    for number in 0..3 * EVENTS_MAX {
        house.streams.hear(&grown("prt_1", &number.to_string()));
        if number % 1_000 == 0 {
            quick.look();
            quick.next().await;
        }
    }
    slow.hears_nothing().await;
    slow.look();
    assert_eq!(slow.next().await, json!({ "kind": "resync" }));
}

#[tokio::test(start_paused = true)]
async fn with_the_page_its_stream_ends_and_nothing_waits_for_it_any_more() {
    let house = House::new();
    let page = house.open("main");
    house.streams.hear(&grown("prt_1", "first"));
    page.next().await;
    let waiting = Arc::downgrade(&house.streams.lock().windows["main"].waiting);
    house.pages.left("main");
    page.pump.await.unwrap();
    assert!(house.streams.lock().windows.is_empty());
    assert_eq!(waiting.strong_count(), 0, "its queue is gone");
    assert_eq!(*house.streams.listening.borrow(), 0);
    house.streams.hear(&grown("prt_1", "nobody hears"));

    let again = house.open("main");
    house.streams.hear(&grown("prt_1", "second"));
    let message = again.next().await;
    assert_eq!(message["events"][0]["properties"]["delta"], "second");
}

#[tokio::test(start_paused = true)]
async fn a_second_stream_takes_the_place_of_the_first() {
    let house = House::new();
    let first = house.open("main");
    let second = house.open("main");
    first.pump.await.unwrap();
    assert_eq!(*house.streams.listening.borrow(), 1);
    house.streams.hear(&grown("prt_1", "x"));
    assert_eq!(second.next().await["kind"], "events");
    assert_eq!(house.streams.lock().windows.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_cannot_be_told_ends_its_stream() {
    let house = House::new();
    let page = house.open("main");
    drop(page.messages);
    house.streams.connected();
    page.pump.await.unwrap();
    assert!(house.streams.lock().windows.is_empty());
}

#[tokio::test]
async fn the_server_in_use_is_followed_for_as_long_as_a_page_listens() {
    let mut fake = FakeServer::start(FakeOptions::default()).await.unwrap();
    fake.put(Room {
        id: "ses_1".to_owned(),
        directory: "/p".to_owned(),
        metadata: None,
        said: Vec::new(),
        busy: false,
    });
    let house = House::new();
    let (clients, following) = watch::channel(None);
    let (streams, ended) = (Arc::clone(&house.streams), CancellationToken::new());
    let end = ended.clone();
    let follow = tokio::spawn(async move { streams.follow(following, &end).await });
    let page = house.open("main");
    let away = json!({ "kind": "away", "since": 1_000, "nextTryAt": null });
    assert_eq!(page.next().await, away, "there is no server");
    page.look();

    let target = Target::parse(&fake.url(), DEFAULT_USERNAME, None).unwrap();
    let client = Client::new(target, Timeouts::DEFAULT).unwrap();
    clients.send_replace(Some(client));
    assert_eq!(page.next().await, json!({ "kind": "resync" }));
    page.look();
    assert!(fake.write_metadata("ses_1", "{}"));
    let message = page.next().await;
    assert_eq!(message["events"][0]["type"], "session.updated", "{message}");
    page.look();

    clients.send_replace(None);
    assert_eq!(page.next().await, away);
    fake.until("it is left", |fake| fake.streams() == 0)
        .await
        .unwrap();
    house.pages.left("main");
    page.pump.await.unwrap();
    ended.cancel();
    follow.await.unwrap();
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn without_a_page_no_stream_is_open() {
    let fake = FakeServer::start(FakeOptions::default()).await.unwrap();
    let target = Target::parse(&fake.url(), DEFAULT_USERNAME, None).unwrap();
    let client = Client::new(target, Timeouts::DEFAULT).unwrap();
    let (house, clients) = (House::new(), watch::Sender::new(Some(client)));
    let (streams, following) = (Arc::clone(&house.streams), clients.subscribe());
    let ended = CancellationToken::new();
    let end = ended.clone();
    let follow = tokio::spawn(async move { streams.follow(following, &end).await });
    let page = house.open("main");
    fake.until("it is listened to", |fake| fake.streams() == 1)
        .await
        .unwrap();
    assert_eq!(page.next().await, json!({ "kind": "resync" }));
    house.pages.left("main");
    page.pump.await.unwrap();
    fake.until("nobody listens", |fake| fake.streams() == 0)
        .await
        .unwrap();
    let late = house.open("main");
    assert_eq!(late.next().await, json!({ "kind": "resync" }));
    ended.cancel();
    follow.await.unwrap();
}

/// Streams, and the pages they go to.
struct House {
    streams: Arc<Streams>,
    pages: crate::pages::Pages,
}

impl House {
    fn new() -> Self {
        Self {
            streams: Arc::new(Streams::with_clock(|| 1_000)),
            pages: crate::pages::Pages::default(),
        }
    }

    fn open(&self, window: &str) -> Shown {
        let opened = self.streams.open(window, &self.pages.page(window));
        let (sender, messages) = tokio::sync::mpsc::unbounded_channel();
        let (asked, questions) = mpsc::channel();
        let page = Fake { sender, asked };
        let streams = Arc::clone(&self.streams);
        Shown {
            messages: tokio::sync::Mutex::new(messages),
            questions,
            pump: tokio::spawn(async move { streams.pump(opened, page).await }),
        }
    }
}

/// A page as the pump sees it.
struct Fake {
    sender: tokio::sync::mpsc::UnboundedSender<String>,
    asked: mpsc::Sender<oneshot::Sender<()>>,
}

impl Page for Fake {
    fn send(&self, message: String) -> bool {
        self.sender.send(message).is_ok()
    }

    fn ask(&self, seen: oneshot::Sender<()>) {
        // The test may have ended.
        let _ = self.asked.send(seen);
    }
}

/// A page as the test sees it.
struct Shown {
    messages: tokio::sync::Mutex<tokio::sync::mpsc::UnboundedReceiver<String>>,
    questions: mpsc::Receiver<oneshot::Sender<()>>,
    pump: JoinHandle<()>,
}

impl Shown {
    async fn next(&self) -> Value {
        let mut messages = self.messages.lock().await;
        let message = timeout(Duration::from_secs(60), messages.recv()).await;
        serde_json::from_str(&message.unwrap().unwrap()).unwrap()
    }

    async fn hears_nothing(&self) {
        let mut messages = self.messages.lock().await;
        let message = timeout(Duration::from_secs(60), messages.recv()).await;
        assert!(message.is_err(), "{message:?}");
    }

    /// The page comes to what it was sent.
    fn look(&self) {
        for question in self.questions.try_iter() {
            // An earlier one may have been given up.
            let _ = question.send(());
        }
    }
}

fn updated(part: &str, text: &str) -> Event {
    let properties = json!({ "part": { "id": part, "text": text } });
    event("message.part.updated", &properties)
}

fn grown(part: &str, delta: &str) -> Event {
    event(
        "message.part.delta",
        &json!({ "partID": part, "delta": delta }),
    )
}

fn event(kind: &str, properties: &Value) -> Event {
    let payload = json!({ "type": kind, "properties": properties });
    Event::read(&json!({ "directory": "/p", "payload": payload }).to_string()).unwrap()
}

/// The events of a batch among messages.
fn batch(messages: &[String]) -> Vec<Value> {
    let last = messages
        .iter()
        .rfind(|message| message.contains(r#""kind":"events""#));
    let last = last.map(|message| serde_json::from_str::<Value>(message).unwrap());
    last.map(|message| message["events"].as_array().unwrap().clone())
        .unwrap_or_default()
}

/// The events of a recorded stream that pages are told of.
fn trace(name: &str) -> Vec<Event> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/traces")
        .join(format!("{name}.sse"));
    let bytes = std::fs::read(path).unwrap();
    let frames = Decoder::wanting(FRAME_BYTES_MAX, is_wanted).push(&bytes);
    let wanted = |data: &String| peek_type(data).is_some_and(|kind| is_wanted(&kind));
    frames
        .into_iter()
        .filter_map(|frame| match frame {
            Frame::Data(data) => Some(data),
            Frame::Oversize { .. } | Frame::Unwanted => None,
        })
        .filter(wanted)
        .map(|data| Event::read(&data).unwrap())
        .collect()
}

/// Each part as a page would show it in the end.
fn parts(events: &[Value]) -> BTreeMap<String, Value> {
    let mut parts = BTreeMap::new();
    for event in events {
        let properties = &event["properties"];
        match event["type"].as_str().unwrap() {
            "message.part.updated" => {
                let part = properties["part"].clone();
                parts.insert(part["id"].as_str().unwrap().to_owned(), part);
            }
            "message.part.delta" => {
                let part = properties["partID"].as_str().unwrap();
                let field = properties["field"].as_str().unwrap();
                let part = parts.entry(part.to_owned()).or_insert(Value::Null);
                let text = part[field].as_str().unwrap_or_default();
                let delta = properties["delta"].as_str().unwrap();
                part[field] = json!(format!("{text}{delta}"));
            }
            _ => {}
        }
    }
    parts
}
