//! The subscription and its faults.

use std::time::Duration;

use futures_util::FutureExt as _;
use opencode_client::{
    Event, EventOptions, EventStream, LostReason, RawItem, Session, Status, StreamItem, Target,
};
use pretty_assertions::assert_eq;

use crate::fake::{Connection, Fake, GREETING, PATIENT, client, nobody};

/// Never passes within a test.
const NEVER: Duration = Duration::from_secs(3_600);

/// Short, for what a test waits for.
const SOON: Duration = Duration::from_millis(10);

const OPTIONS: EventOptions = EventOptions {
    connect: Duration::from_secs(20),
    liveness: Duration::from_secs(20),
    backoff_min: SOON,
    backoff_max: Duration::from_millis(40),
    frame_bytes_max: 1_000,
};

fn idle(id: &str) -> String {
    format!(
        "data: {{\"directory\":\"/p\",\"payload\":{{\"type\":\"session.idle\",\
         \"properties\":{{\"sessionID\":\"{id}\"}}}}}}\n\n"
    )
}

fn is_idle(item: &StreamItem, expected: &str) -> bool {
    match item {
        StreamItem::Event(envelope) => match &envelope.event {
            Event::SessionIdle { id } => id == expected,
            _ => false,
        },
        _ => false,
    }
}

fn lost(reason: LostReason, retry_in: Duration) -> StreamItem {
    StreamItem::Lost { reason, retry_in }
}

/// The next item, or a failed test.
async fn next(stream: &mut EventStream) -> StreamItem {
    tokio::time::timeout(Duration::from_secs(20), stream.next())
        .await
        .unwrap()
}

#[tokio::test]
async fn events_arrive_whole_however_they_are_cut() {
    let event = idle("ses_1");
    let (left, right) = event.split_at(31);
    let connection = Connection::answering("200 OK", "text/event-stream; charset=utf-8")
        .then(&GREETING[..9])
        .then(&GREETING[9..])
        .then(left)
        .after(SOON, right)
        .hold();
    let fake = Fake::scripted(vec![connection]).await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    let item = next(&mut stream).await;
    assert!(is_idle(&item, "ses_1"), "{item:?}");
    let StreamItem::Event(envelope) = item else {
        panic!("{item:?}")
    };
    assert_eq!(envelope.directory.as_deref(), Some("/p"));
}

#[tokio::test]
async fn unwanted_events_and_rubbish_are_passed_over() {
    let connection = Connection::greeting()
        .then("data: {\"payload\":{\"type\":\"server.heartbeat\",\"properties\":{}}}\n\n")
        .then("data: {\"payload\":{\"type\":\"message.part.delta\",\"properties\":{}}}\n\n")
        .then("data: not json\n\ndata: {\"payload\":{\"type\":\"session.idle\"}}\n\n")
        .then(&idle("ses_1"))
        .hold();
    let fake = Fake::scripted(vec![connection]).await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert!(is_idle(&next(&mut stream).await, "ses_1"));
}

#[tokio::test]
async fn events_without_an_envelope_are_read_too() {
    let connection = Connection::answering("200 OK", "text/event-stream")
        .then("data: {\"type\":\"server.connected\",\"properties\":{}}\n\n")
        .then("data: {\"properties\":{\"sessionID\":\"ses_1\",\"info\":{\"type\":\"busy\",")
        .then("\"directory\":\"/q\"}},\"type\":\"session.status\",\"directory\":\"global\"}\n\n")
        .hold();
    let fake = Fake::scripted(vec![connection]).await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    let StreamItem::Event(envelope) = next(&mut stream).await else {
        panic!("no event")
    };
    assert_eq!(envelope.directory.as_deref(), Some("/q"));
    let expected = Event::SessionStatus {
        id: "ses_1".to_owned(),
        status: Status::Busy,
    };
    assert_eq!(envelope.event, expected);
}

#[tokio::test]
async fn a_closed_connection_is_told_and_made_anew() {
    let script = vec![
        Connection::greeting()
            .then(&idle("ses_1"))
            .then("data: half a fra"),
        Connection::greeting().then(&idle("ses_2")).hold(),
    ];
    let fake = Fake::scripted(script).await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert!(is_idle(&next(&mut stream).await, "ses_1"));
    assert_eq!(next(&mut stream).await, lost(LostReason::Closed, SOON));
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert!(is_idle(&next(&mut stream).await, "ses_2"));
}

#[tokio::test]
async fn silence_is_death() {
    let script = vec![Connection::greeting().hold(), Connection::greeting().hold()];
    let fake = Fake::scripted(script).await;
    let options = EventOptions {
        liveness: Duration::from_millis(300),
        ..OPTIONS
    };
    let mut stream = fake.client().events(options);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert_eq!(next(&mut stream).await, lost(LostReason::Silent, SOON));
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
}

#[tokio::test]
async fn beats_alone_keep_a_connection_alive() {
    let mut connection = Connection::greeting();
    for _ in 0..8 {
        connection = connection.after(Duration::from_millis(300), ": beat\n\n");
    }
    let fake = Fake::scripted(vec![connection.then(&idle("ses_1")).hold()]).await;
    let options = EventOptions {
        liveness: Duration::from_millis(1_500),
        ..OPTIONS
    };
    let mut stream = fake.client().events(options);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert!(is_idle(&next(&mut stream).await, "ses_1"));
}

#[tokio::test]
async fn a_server_that_does_not_greet_is_left() {
    let options = EventOptions {
        connect: Duration::from_millis(300),
        ..OPTIONS
    };
    let headless = Connection::mute();
    let greetless = Connection::answering("200 OK", "text/event-stream")
        .then(": hi\n\n")
        .hold();
    for connection in [headless, greetless] {
        let fake = Fake::scripted(vec![connection]).await;
        let mut stream = fake.client().events(options);
        assert_eq!(next(&mut stream).await, lost(LostReason::NoGreeting, SOON));
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    for (status, content_type, reason, retry_in) in [
        (
            "401 Unauthorized",
            "text/plain",
            LostReason::Unauthorized,
            OPTIONS.backoff_max,
        ),
        ("200 OK", "text/html", LostReason::NotOpenCode, SOON),
        ("200 OK", "application/json", LostReason::NotOpenCode, SOON),
        ("302 Found", "text/html", LostReason::NotOpenCode, SOON),
        (
            "503 Unavailable",
            "text/html",
            LostReason::Refused { status: 503 },
            SOON,
        ),
    ] {
        let answer = Connection::answering(status, content_type).then("{}");
        let fake = Fake::scripted(vec![answer]).await;
        let mut stream = fake.client().events(OPTIONS);
        assert_eq!(
            next(&mut stream).await,
            lost(reason, retry_in),
            "{status} {content_type}"
        );
    }
}

#[tokio::test]
async fn the_pause_doubles_up_to_its_bound() {
    let mut stream = client(&nobody().await, PATIENT).events(OPTIONS);
    for millis in [10, 20, 40, 40] {
        let retry_in = Duration::from_millis(millis);
        assert_eq!(
            next(&mut stream).await,
            lost(LostReason::Unreachable, retry_in)
        );
    }
}

#[tokio::test]
async fn only_a_connection_that_bears_something_shortens_the_pause() {
    let script = vec![
        Connection::broken(),
        Connection::greeting(),
        Connection::greeting().then("data: {\"payload\":{\"type\":\"server.heartbeat\"}}\n\n"),
    ];
    let fake = Fake::scripted(script).await;
    let mut stream = fake.client().events(OPTIONS);
    let reason = LostReason::Unreachable;
    assert_eq!(
        next(&mut stream).await,
        lost(reason, Duration::from_millis(10))
    );
    for millis in [20, 10] {
        assert_eq!(next(&mut stream).await, StreamItem::Connected);
        let retry_in = Duration::from_millis(millis);
        assert_eq!(next(&mut stream).await, lost(LostReason::Closed, retry_in));
    }
}

#[tokio::test]
async fn a_kick_replaces_an_open_connection_and_ends_a_pause() {
    let options = EventOptions {
        backoff_min: NEVER,
        backoff_max: NEVER,
        ..OPTIONS
    };
    let script = vec![
        Connection::broken(),
        Connection::greeting().hold(),
        Connection::greeting().hold(),
    ];
    let fake = Fake::scripted(script).await;
    let mut stream = fake.client().events(options);
    let kick = stream.kick();
    assert_eq!(
        next(&mut stream).await,
        lost(LostReason::Unreachable, NEVER)
    );
    kick.now();
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    kick.now();
    kick.now();
    assert_eq!(
        next(&mut stream).await,
        lost(LostReason::Kicked, Duration::ZERO)
    );
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
}

#[tokio::test]
async fn an_event_over_the_bound_is_reported_as_skipped() {
    let long = format!("data: {}\n\n", "x".repeat(2_000));
    let fake = Fake::scripted(vec![
        Connection::greeting()
            .then(&long)
            .then(&idle("ses_1"))
            .hold(),
    ])
    .await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert_eq!(
        next(&mut stream).await,
        StreamItem::Skipped { bytes: 2_006 }
    );
    assert!(is_idle(&next(&mut stream).await, "ses_1"));
}

#[tokio::test]
async fn dropping_the_wait_loses_nothing() {
    let ids: Vec<String> = (0..200).map(|number| format!("ses_{number}")).collect();
    let events: Vec<String> = ids.iter().map(|id| idle(id)).collect();
    let mut first = Connection::greeting();
    for event in &events[..100] {
        first = first.then(event);
    }
    let second = Connection::greeting().then(&events[100..].concat()).hold();
    let fake = Fake::scripted(vec![first, second]).await;
    let mut stream = fake.client().events(OPTIONS);
    let mut seen = Vec::new();
    let collect = async {
        while seen.len() < ids.len() {
            match stream.next().now_or_never() {
                Some(StreamItem::Event(envelope)) => match envelope.event {
                    Event::SessionIdle { id } => seen.push(id),
                    other => panic!("{other:?}"),
                },
                Some(_) => {}
                None => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), collect)
        .await
        .unwrap();
    assert_eq!(seen, ids);
}

#[tokio::test]
async fn a_session_in_an_event_keeps_its_metadata_byte_for_byte() {
    let metadata = r#"{ "b":1.0, "a" : [12345678901234567890, "\u00e9"] }"#;
    let event = format!(
        "data: {{\"payload\":{{\"properties\":{{\"info\":{{\"id\":\"ses_1\",\
         \"metadata\":{metadata}}}}},\"type\":\"session.updated\"}}}}\n\n"
    );
    let fake = Fake::scripted(vec![Connection::greeting().then(&event).hold()]).await;
    let mut stream = fake.client().events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    let StreamItem::Event(envelope) = next(&mut stream).await else {
        panic!("no event")
    };
    let Event::SessionUpdated(Session { metadata: kept, .. }) = envelope.event else {
        panic!("{:?}", envelope.event)
    };
    assert_eq!(kept.unwrap().get(), metadata);
}

#[tokio::test]
async fn a_stream_follows_its_client_to_another_server_at_once() {
    let old = Fake::scripted(vec![Connection::greeting().hold()]).await;
    let new = Fake::scripted(vec![Connection::greeting().then(&idle("ses_new")).hold()]).await;
    let client = old.client();
    let options = EventOptions {
        backoff_min: NEVER,
        backoff_max: NEVER,
        ..OPTIONS
    };
    let mut stream = client.clone().events(options);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);

    client.suspend();
    assert_eq!(
        next(&mut stream).await,
        lost(LostReason::Unreachable, NEVER)
    );
    client
        .rebind(Target::clone(&new.client().target()))
        .unwrap();
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    assert!(is_idle(&next(&mut stream).await, "ses_new"));
}

#[tokio::test]
async fn a_move_without_a_pause_is_told_as_a_new_connection() {
    let old = Fake::scripted(vec![Connection::greeting().hold()]).await;
    let new = Fake::scripted(vec![Connection::greeting().hold()]).await;
    let client = old.client();
    let mut stream = client.events(OPTIONS);
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    client
        .rebind(Target::clone(&new.client().target()))
        .unwrap();
    let item = next(&mut stream).await;
    assert_eq!(item, lost(LostReason::Kicked, Duration::ZERO));
    assert_eq!(next(&mut stream).await, StreamItem::Connected);
    let quiet = tokio::time::timeout(SOON, stream.next()).await;
    assert!(quiet.is_err(), "one move makes one connection: {quiet:?}");
}

#[tokio::test]
async fn unread_events_come_as_they_are_but_for_those_nobody_wants() {
    let delta = r#"{"directory":"/p","payload":{"type":"message.part.delta","properties":{}}}"#;
    let connection = Connection::greeting()
        .then("data: {\"payload\":{\"type\":\"sync\",\"syncEvent\":{}}}\n\n")
        .then(&format!("data: {delta}\n\n"));
    let fake = Fake::scripted(vec![connection, Connection::greeting().hold()]).await;
    let mut stream = fake.client().raw_events(OPTIONS, |kind| kind != "sync");
    let mut items = Vec::new();
    for _ in 0..4 {
        let item = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
        items.push(item.unwrap());
    }
    let lost = RawItem::Lost {
        reason: LostReason::Closed,
        retry_in: SOON,
    };
    let event = RawItem::Event(delta.to_owned());
    assert_eq!(items, [RawItem::Connected, event, lost, RawItem::Connected]);
}
