//! Sessions over HTTP: what is asked, what is made of the answers, and of failures.

use goal_core::goal::{MessageId, SessionId};
use goal_core::message::{ErrorKind, Part};
use goal_core::snapshot::RequestKind;
use goal_engine::ports::{Address, CallErrorKind, PromptOut, Sessions};
use goal_engine::server::OpenCode;
use opencode_client::{DEFAULT_USERNAME, Target};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fake::{Fake, Reply, client, dead_target, not_found};

fn id() -> SessionId {
    SessionId::new("ses_1")
}

fn prompt() -> PromptOut {
    PromptOut {
        message: MessageId::new("msg_1"),
        part: Some("prt_1".to_owned()),
        to: Address::default(),
        text: "go on".to_owned(),
        attachments: Vec::new(),
        reminder: None,
    }
}

async fn with(call: &'static str, reply: Reply) -> (Fake, OpenCode) {
    let fake = Fake::start().await;
    fake.script(call, [reply]);
    let server = OpenCode::new(fake.client());
    (fake, server)
}

#[tokio::test]
async fn failures_are_told_apart_by_what_follows_from_them() {
    let error = |status| Reply::Json(status, json!({"name": "X", "data": {"message": "m"}}));
    let cases = [
        (not_found(), CallErrorKind::Gone),
        (error(400), CallErrorKind::Refused),
        (error(409), CallErrorKind::Refused),
        (error(408), CallErrorKind::NotSent),
        (error(429), CallErrorKind::NotSent),
        (Reply::Json(401, json!(null)), CallErrorKind::Unauthorized),
        (error(500), CallErrorKind::Unknown),
        (error(503), CallErrorKind::Unknown),
        (Reply::Html, CallErrorKind::NotOpenCode),
        (Reply::Break, CallErrorKind::Unknown),
        (Reply::Hang, CallErrorKind::Unknown),
    ];
    for (reply, expected) in cases {
        let shown = format!("{reply:?}");
        let (_fake, server) = with("POST", reply).await;
        let failed = server.prompt(&id(), "/d", &prompt()).await.unwrap_err();
        assert_eq!(failed.kind, expected, "{shown}");
    }
    let away = OpenCode::new(client(dead_target().await));
    let failed = away.prompt(&id(), "/d", &prompt()).await.unwrap_err();
    assert_eq!(failed.kind, CallErrorKind::NotSent);
}

#[tokio::test]
async fn an_answer_in_another_shape_leaves_the_effect_open() {
    let (_fake, server) = with("PATCH", Reply::Json(200, json!([]))).await;
    let failed = server.write_metadata(&id(), "/d", "{}").await.unwrap_err();
    assert_eq!(failed.kind, CallErrorKind::Unknown);
}

#[tokio::test]
async fn a_malformed_id_is_refused_without_a_call() {
    let fake = Fake::start().await;
    let server = OpenCode::new(fake.client());
    let failed = server
        .session(&SessionId::new("nope"), None)
        .await
        .unwrap_err();
    assert_eq!(failed.kind, CallErrorKind::Refused);
    assert_eq!(fake.seen(""), []);
}

#[tokio::test]
async fn a_prompt_is_sent_as_it_was_made() {
    let fake = Fake::start().await;
    let server = OpenCode::new(fake.client());
    server.prompt(&id(), "/d e", &prompt()).await.unwrap();
    let seen = &fake.seen("")[0];
    assert_eq!(seen.call, "POST /session/ses_1/prompt_async");
    assert_eq!(seen.query, "directory=%2Fd+e");
    let part = json!({"type": "text", "id": "prt_1", "text": "go on"});
    assert_eq!(seen.body, json!({"messageID": "msg_1", "parts": [part]}));
}

#[tokio::test]
async fn metadata_is_written_whole_and_read_back_byte_for_byte() {
    let session = json!({
        "id": "ses_1", "title": "T", "directory": "/d",
        "time": {"created": 1, "updated": 2, "archived": 0},
        "metadata": {"other": [1, null], "openchamber": {"goal": {"id": "g"}}},
    });
    let (fake, server) = with("PATCH", Reply::Json(200, session.clone())).await;
    let read = server
        .write_metadata(&id(), "/d", r#"{"a": {"b": 1}}"#)
        .await
        .unwrap();
    assert_eq!(fake.seen("")[0].body, json!({"metadata": {"a": {"b": 1}}}));
    assert_eq!(
        read.metadata.as_deref(),
        Some(session["metadata"].to_string().as_str())
    );
    assert!(!read.facts.archived);
}

#[tokio::test]
async fn a_message_is_there_or_not() {
    let fake = Fake::start().await;
    let message = json!({"info": {"id": "msg_1", "role": "user"}, "parts": []});
    fake.script(
        "GET",
        [Reply::Json(200, message), not_found(), Reply::Break],
    );
    let server = OpenCode::new(fake.client());
    let message = MessageId::new("msg_1");
    assert_eq!(server.message_exists(&id(), "/d", &message).await, Ok(true));
    assert_eq!(
        server.message_exists(&id(), "/d", &message).await,
        Ok(false)
    );
    assert!(server.message_exists(&id(), "/d", &message).await.is_err());
}

#[tokio::test]
async fn every_error_that_is_not_null_is_one() {
    let answers: Vec<Value> = [
        json!(null),
        json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}}),
        json!({"name": " "}),
        json!({}),
        json!("boom"),
        json!(false),
        json!(["x"]),
    ]
    .into_iter()
    .enumerate()
    .map(|(n, error)| {
        let info = json!({"id": format!("msg_{n}"), "role": "assistant", "error": error});
        json!({"info": info, "parts": [{"type": "text", "text": "t"}, 7]})
    })
    .collect();
    let (fake, server) = with("GET", Reply::Json(200, json!(answers))).await;
    let page = server.messages(&id(), "/d", Some("cur"), 40).await.unwrap();
    let kinds: Vec<Option<ErrorKind>> = page
        .items
        .iter()
        .map(|message| {
            message
                .step()
                .unwrap()
                .error
                .as_ref()
                .map(|error| error.kind)
        })
        .collect();
    let failure = Some(ErrorKind::Failure);
    let expected = [
        None,
        Some(ErrorKind::Aborted),
        failure,
        failure,
        failure,
        failure,
        failure,
    ];
    assert_eq!(kinds, expected);
    assert_eq!(page.items[0].parts[1], Part::Other { prompt: false });
    assert_eq!(fake.seen("")[0].query, "directory=%2Fd&limit=40&before=cur");
}

#[tokio::test]
async fn permissions_and_questions_are_one_list() {
    let fake = Fake::start().await;
    let permission = json!([{"id": "per_1", "sessionID": "ses_1", "permission": "bash"}]);
    let question =
        json!([{"id": "que_1", "sessionID": "ses_2", "questions": [{"question": "A?"}]}]);
    fake.script(
        "GET /permission",
        [
            Reply::Json(200, permission.clone()),
            Reply::Json(200, permission),
        ],
    );
    fake.script("GET /question", [Reply::Json(200, question), Reply::Html]);
    let server = OpenCode::new(fake.client());
    let open = server.requests("/d").await.unwrap();
    let open: Vec<_> = open
        .iter()
        .map(|it| {
            (
                it.session.as_str(),
                it.request.kind,
                it.request.subject.as_str(),
            )
        })
        .collect();
    let expected = [
        ("ses_1", RequestKind::Permission, "bash"),
        ("ses_2", RequestKind::Question, "A?"),
    ];
    assert_eq!(open, expected);
    assert!(server.requests("/d").await.is_err(), "unknown is not empty");
}

#[tokio::test]
async fn all_sessions_are_listed_archived_ones_too() {
    let child = json!({
        "id": "ses_2", "parentID": "ses_1",
        "metadata": {"openchamber": {"goalAudit": {"owner": "o", "goalID": "g", "until": 5}}},
    });
    let (fake, server) = with("GET", Reply::Json(200, json!([{"id": "ses_1"}, child, {}]))).await;
    let page = server.list(Some("cur"), 7).await.unwrap();
    let marked: Vec<_> = page.items.iter().map(|it| it.audit.is_some()).collect();
    assert_eq!(marked, [false, true]);
    let seen = &fake.seen("")[0];
    assert_eq!(seen.call, "GET /experimental/session");
    assert_eq!(seen.query, "limit=7&archived=true&cursor=cur");
}

#[test]
fn a_server_is_local_if_its_address_is() {
    for (url, expected) in [("http://127.0.0.1:1", true), ("http://192.0.2.1:1", false)] {
        let target = Target::parse(url, DEFAULT_USERNAME, None).unwrap();
        assert_eq!(OpenCode::new(client(target)).is_local(), expected, "{url}");
    }
}
