//! One frame → one event, whatever its envelope looks like.

use opencode_client::{
    Event, MessageError, Parsed, PermissionRequest, QuestionRequest, Status, is_wanted, parse_frame,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

fn parse(kind: &str, properties: &Value) -> Parsed {
    let payload = json!({"id": "evt_1", "properties": properties, "type": kind});
    parse_frame(&json!({"directory": "/p", "payload": payload}).to_string())
}

fn event(kind: &str, properties: Value) -> Event {
    assert!(is_wanted(kind), "{kind}");
    match parse(kind, &properties) {
        Parsed::Event(envelope) => envelope.event,
        other => panic!("{kind}: {other:?}"),
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn events_about_sessions() {
    let id = || text("ses_1");
    assert_eq!(event("server.connected", json!({})), Event::ServerConnected);
    let disposed = event("server.instance.disposed", json!({"directory": "/p"}));
    assert_eq!(
        disposed,
        Event::InstanceDisposed {
            directory: Some(text("/p"))
        }
    );
    let gone = Event::SessionDeleted { id: id() };
    assert_eq!(
        event("session.deleted", json!({"sessionID": "ses_1"})),
        gone
    );
    assert_eq!(
        event("session.deleted", json!({"info": {"id": "ses_1"}})),
        gone
    );
    let busy = Event::SessionStatus {
        id: id(),
        status: Status::Busy,
    };
    let properties = json!({"sessionID": "ses_1", "status": {"type": "busy"}});
    assert_eq!(event("session.status", properties), busy);
    let compacted = event("session.compacted", json!({"sessionID": "ses_1"}));
    assert_eq!(compacted, Event::SessionCompacted { id: id() });
    let error = MessageError {
        name: text("X"),
        message: text("no"),
        status: Some(500),
    };
    let data = json!({"message": "no", "statusCode": 500});
    let failed = event(
        "session.error",
        json!({"error": {"name": "X", "data": data}}),
    );
    assert_eq!(failed, Event::SessionError { id: None, error });
}

#[test]
fn events_about_messages_and_requests() {
    let (session_id, request_id) = (text("ses_1"), text("r_1"));
    let removed = json!({"sessionID": "ses_1", "messageID": "msg_1"});
    let expected = Event::MessageRemoved {
        session_id: session_id.clone(),
        message_id: text("msg_1"),
    };
    assert_eq!(event("message.removed", removed), expected);
    let Event::MessageUpdated(info) = event(
        "message.updated",
        json!({"sessionID": "ses_1", "info": {"id": "msg_1"}}),
    ) else {
        panic!("no message")
    };
    assert_eq!(
        (info.id.as_str(), info.session_id.as_str()),
        ("msg_1", "ses_1")
    );

    let asked = json!({"id": "r_1", "sessionID": "ses_1", "permission": "edit", "patterns": [1]});
    let request = PermissionRequest {
        id: request_id.clone(),
        session_id: session_id.clone(),
        permission: text("edit"),
        patterns: Vec::new(),
    };
    assert_eq!(request.summary(), "edit");
    assert_eq!(
        event("permission.asked", asked),
        Event::PermissionAsked(request)
    );
    let questions = json!([{"question": "Which?"}, {"question": "When?"}]);
    let asked = json!({"id": "r_1", "sessionID": "ses_1", "questions": questions});
    let request = QuestionRequest {
        id: request_id.clone(),
        session_id: session_id.clone(),
        questions: vec![text("Which?"), text("When?")],
    };
    assert_eq!(request.summary(), "Which? / When?");
    assert_eq!(
        event("question.asked", asked),
        Event::QuestionAsked(request)
    );
}

#[test]
fn answers_to_requests() {
    let (session_id, request_id) = (text("ses_1"), text("r_1"));
    let answered = json!({"sessionID": "ses_1", "requestID": "r_1", "reply": "reject"});
    let replied = Event::PermissionReplied {
        session_id: session_id.clone(),
        request_id: request_id.clone(),
        reply: text("reject"),
    };
    assert_eq!(event("permission.replied", answered.clone()), replied);
    let replied = Event::QuestionReplied {
        session_id: session_id.clone(),
        request_id: request_id.clone(),
    };
    assert_eq!(event("question.replied", answered.clone()), replied);
    let rejected = Event::QuestionRejected {
        session_id,
        request_id,
    };
    assert_eq!(event("question.rejected", answered), rejected);
}

/// R16 and E2: where the type and the directory of a status may stand.
#[test]
fn a_status_and_its_directory_are_found_in_every_place() {
    let idle = r#""type":"idle""#;
    for (frame, directory) in [
        (
            format!(
                r#"{{"directory":"/a","payload":{{"type":"session.status","properties":
            {{"sessionID":"s","status":{{{idle}}}}}}}}}"#
            ),
            Some("/a"),
        ),
        (
            format!(
                r#"{{"directory":"/a","payload":{{"type":"session.status","properties":
            {{"sessionID":"s","directory":"/b","status":{{{idle}}}}}}}}}"#
            ),
            Some("/b"),
        ),
        (
            format!(
                r#"{{"directory":"global","payload":{{"type":"session.status","properties":
            {{"sessionID":"s","info":{{{idle},"directory":"/c"}}}}}}}}"#
            ),
            Some("/c"),
        ),
        (
            format!(
                r#"{{"directory":"global","payload":{{"type":"session.status","properties":
            {{"sessionID":"s","directory":"","status":{{{idle}}}}}}}}}"#
            ),
            None,
        ),
        (
            format!(
                r#"{{"type":"session.status","directory":"/d","properties":
            {{"sessionID":"s","status":{{{idle}}}}}}}"#
            ),
            Some("/d"),
        ),
        (
            format!(
                r#"{{"type":"session.status","properties":
            {{"sessionID":"s","status":{{{idle}}}}}}}"#
            ),
            None,
        ),
    ] {
        let Parsed::Event(envelope) = parse_frame(&frame) else {
            panic!("{frame}")
        };
        assert_eq!(envelope.directory.as_deref(), directory, "{frame}");
        let expected = Event::SessionStatus {
            id: text("s"),
            status: Status::Idle,
        };
        assert_eq!(envelope.event, expected);
    }
}

#[test]
fn unwanted_kinds_are_told_from_wanted_ones_that_lack_something() {
    for kind in [
        "sync",
        "message.part.updated",
        "plugin.added",
        "server.heartbeat",
        "new.one",
    ] {
        assert_eq!(
            parse(kind, &json!({"sessionID": "ses_1"})),
            Parsed::Unwanted
        );
    }
    for (kind, properties) in [
        ("session.updated", json!({"info": {"title": "no id"}})),
        ("session.updated", json!(null)),
        ("session.deleted", json!({})),
        ("session.idle", json!({"sessionID": ""})),
        ("session.status", json!({"sessionID": "ses_1"})),
        ("session.error", json!({"sessionID": "ses_1"})),
        ("message.updated", json!({"info": {"id": "msg_1"}})),
        ("permission.asked", json!({"sessionID": "ses_1"})),
        ("question.replied", json!({"sessionID": "ses_1"})),
    ] {
        assert_eq!(
            parse(kind, &properties),
            Parsed::Malformed,
            "{kind} {properties}"
        );
    }
    for frame in [
        "",
        "[]",
        "7",
        "{}",
        r#"{"payload":{}}"#,
        r#"{"payload":{"type":"session.idle""#,
    ] {
        assert_eq!(parse_frame(frame), Parsed::Malformed, "{frame}");
    }
}

proptest! {
    #[test]
    fn odd_properties_of_wanted_kinds_do_no_harm(
        kind in prop::sample::select(vec![
            "session.updated", "session.status", "session.error", "message.updated",
            "permission.asked", "question.asked", "question.rejected",
        ]),
        values in prop::collection::vec(odd(), 8),
    ) {
        let keys = ["info", "status", "error", "sessionID", "id", "questions", "patterns", "time"];
        let properties: serde_json::Map<String, Value> =
            keys.iter().map(|key| (*key).to_owned()).zip(values).collect();
        let parsed = parse(kind, &Value::Object(properties));
        prop_assert!(!matches!(parsed, Parsed::Unwanted));
    }
}

fn odd() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("ses_1"),
        json!([]),
    ]);
    leaf.prop_recursive(3, 16, 4, |inner| {
        let keys = prop::sample::select(vec!["id", "type", "time", "data", "question", "model"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((keys.prop_map(str::to_owned), inner), 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}
