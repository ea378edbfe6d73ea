//! The calls: what they send, what they believe, and how they fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use opencode_client::{
    Client, CommandCall, Error, Forward, Kind, ModelRef, NewSession, Part, PermissionRule, Prompt,
    PromptFile, PromptPart, PromptText, Role, Secret, Status, Target, Verb,
};
use pretty_assertions::assert_eq;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fake::{Connection, Fake, PASSWORD, PATIENT, client, nobody};

const SID: &str = "ses_1";
const DIR: Option<&str> = Some("/a b/ü&x=1");
const HEALTHY: &str = r#"{"healthy":true,"version":"1.18.33"}"#;

/// A server that gives every request the same answer.
async fn answering(status: u16, content_type: &'static str, body: &str) -> Fake {
    let body = body.to_owned();
    let answer = move || {
        let body = body.clone();
        let status = StatusCode::from_u16(status).unwrap();
        async move { (status, [(header::CONTENT_TYPE, content_type)], body) }
    };
    Fake::http(Router::new().fallback(any(answer))).await
}

async fn json_answer(body: &str) -> Fake {
    answering(200, "application/json", body).await
}

/// A server that writes down what it is asked, and answers with `body`.
async fn recording(body: &'static str) -> (Fake, Arc<Mutex<Vec<Asked>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let answer = move |request: Request| {
        let log = Arc::clone(&log);
        async move {
            let asked = Asked::read(request).await;
            log.lock().unwrap().push(asked);
            (
                [(header::CONTENT_TYPE, "application/json; charset=utf-8")],
                body,
            )
        }
    };
    (Fake::http(Router::new().fallback(any(answer))).await, asked)
}

#[derive(Clone, Debug)]
struct Asked {
    line: String,
    body: String,
    authorization: String,
}

impl Asked {
    async fn read(request: Request) -> Self {
        let line = format!("{} {}", request.method(), request.uri());
        let authorization = request.headers().get(header::AUTHORIZATION);
        let authorization = authorization.map(|it| it.to_str().unwrap().to_owned());
        let body = axum::body::to_bytes(request.into_body(), 1_000_000)
            .await
            .unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Self {
            line,
            body,
            authorization: authorization.unwrap_or_default(),
        }
    }
}

/// The bodies of everything asked.
fn bodies(asked: &Mutex<Vec<Asked>>) -> Vec<Value> {
    let asked = asked.lock().unwrap();
    asked
        .iter()
        .map(|asked| serde_json::from_str(&asked.body).unwrap())
        .collect()
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[tokio::test]
async fn every_call_asks_what_it_should() {
    let (fake, asked) = recording("{}").await;
    let client = fake.client();
    let prompt = Prompt::default();
    // The answers fit none of the calls; what was asked is all that counts here.
    let _ = client.health().await;
    let _ = client.session(SID, DIR).await;
    let _ = client.patch_metadata(SID, None, &raw("{}")).await;
    let _ = client.create_session(None, &NewSession::default()).await;
    let _ = client.delete_session(SID, None).await;
    let _ = client.abort(SID, None).await;
    let _ = client.status(None).await;
    let _ = client.children(SID, None).await;
    let _ = client.messages(SID, None, 40, Some("a+b=")).await;
    let _ = client.messages(SID, None, 0, None).await;
    let _ = client.message(SID, "msg_1", None).await;
    let _ = client.prompt_async(SID, None, &prompt).await;
    let _ = client.prompt(SID, None, &prompt, PATIENT.call).await;
    let _ = client.command(SID, None, &CommandCall::default()).await;
    let _ = client.commands(None).await;
    let _ = client.permissions(None).await;
    let _ = client.questions(None).await;
    let _ = client.agents(None).await;
    let _ = client.providers(None).await;
    let _ = client.small_model(None).await;
    let _ = client.everywhere(Some("17"), 100, true).await;
    let _ = client.everywhere(None, 100, false).await;
    let asked = asked.lock().unwrap().clone();
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "GET /global/health",
            "GET /session/ses_1?directory=%2Fa+b%2F%C3%BC%26x%3D1",
            "PATCH /session/ses_1",
            "POST /session",
            "DELETE /session/ses_1",
            "POST /session/ses_1/abort",
            "GET /session/status",
            "GET /session/ses_1/children",
            "GET /session/ses_1/message?limit=40&before=a%2Bb%3D",
            "GET /session/ses_1/message?limit=1",
            "GET /session/ses_1/message/msg_1",
            "POST /session/ses_1/prompt_async",
            "POST /session/ses_1/message",
            "POST /session/ses_1/command",
            "GET /command",
            "GET /permission",
            "GET /question",
            "GET /agent",
            "GET /config/providers",
            "GET /config",
            "GET /experimental/session?limit=100&archived=true&cursor=17",
            "GET /experimental/session?limit=100",
        ]
    );
    // opencode:hunter2
    assert!(
        asked
            .iter()
            .all(|asked| asked.authorization == "Basic b3BlbmNvZGU6aHVudGVyMg==")
    );
}

#[tokio::test]
async fn bodies_are_written_as_the_server_reads_them() {
    let (fake, asked) = recording("{}").await;
    let client = fake.client();
    let model = ModelRef {
        provider_id: "fake".to_owned(),
        model_id: "big".to_owned(),
    };
    let session = NewSession {
        parent_id: Some("ses_0".to_owned()),
        title: Some("t".to_owned()),
        metadata: Some(raw(r#"{"b": 1}"#)),
        permission: vec![PermissionRule::deny_all()],
        agent: Some("a".to_owned()),
        model: Some(model.clone()),
    };
    let _ = client.create_session(None, &session).await;
    let prompt = Prompt {
        message_id: Some("msg_1".to_owned()),
        model: Some(model),
        agent: Some("build".to_owned()),
        variant: Some("high".to_owned()),
        system: Some("s".to_owned()),
        no_reply: true,
        parts: vec![
            PromptPart::Text(PromptText {
                id: Some("prt_1".to_owned()),
                text: "go on".to_owned(),
                synthetic: true,
                metadata: Some(raw(r#"{"x":{}}"#)),
            }),
            PromptPart::Text(PromptText {
                text: "plain".to_owned(),
                ..PromptText::default()
            }),
            PromptPart::File(PromptFile {
                id: Some("prt_2".to_owned()),
                mime: "image/png".to_owned(),
                filename: "a.png".to_owned(),
                url: "data:image/png;base64,AA==".to_owned(),
            }),
        ],
    };
    let _ = client.prompt_async(SID, None, &prompt).await;
    let rule = json!({"permission": "*", "pattern": "*", "action": "deny"});
    let expected = [
        json!({
            "parentID": "ses_0", "title": "t", "metadata": {"b": 1}, "permission": [rule],
            "agent": "a", "model": {"id": "big", "providerID": "fake"},
        }),
        json!({
            "messageID": "msg_1", "model": {"providerID": "fake", "modelID": "big"},
            "agent": "build", "variant": "high", "system": "s", "noReply": true,
            "parts": [
                {"type": "text", "id": "prt_1", "text": "go on", "synthetic": true,
                 "metadata": {"x": {}}},
                {"type": "text", "text": "plain"},
                {"type": "file", "id": "prt_2", "mime": "image/png", "filename": "a.png",
                 "url": "data:image/png;base64,AA=="},
            ],
        }),
    ];
    assert_eq!(bodies(&asked), expected);
}

#[tokio::test]
async fn a_command_is_written_as_the_server_reads_it() {
    let (fake, asked) = recording("{}").await;
    let command = CommandCall {
        command: "init".to_owned(),
        arguments: "a b".to_owned(),
        message_id: Some("msg_1".to_owned()),
        agent: None,
        model: Some("fake/big".to_owned()),
        variant: None,
        parts: Vec::new(),
    };
    let _ = fake.client().command(SID, None, &command).await;
    let expected = json!({
        "command": "init", "arguments": "a b", "messageID": "msg_1", "model": "fake/big",
    });
    assert_eq!(bodies(&asked), [expected]);
}

#[tokio::test]
async fn a_fork_names_the_message_that_it_ends_before() {
    let (fake, asked) = recording(r#"{"id":"ses_2","directory":"/p"}"#).await;
    let client = fake.client();
    let fork = client.fork(SID, Some("/p"), Some("msg_1")).await.unwrap();
    assert_eq!((fork.id.as_str(), fork.directory.as_str()), ("ses_2", "/p"));
    client.fork(SID, None, None).await.unwrap();
    assert_eq!(bodies(&asked), [json!({"messageID": "msg_1"}), json!({})]);
    let error = client.fork(SID, None, Some("ses_1")).await.unwrap_err();
    assert_eq!(*error.kind(), Kind::MalformedId);
}

#[tokio::test]
async fn metadata_passes_in_both_directions_byte_for_byte() {
    let metadata = r#"{"z":1.0,"a" : [12345678901234567890, "\ud800\u00e9"],  "a":null}"#;
    let body = format!(r#"{{"id":"ses_1","metadata":{metadata},"time":{{"archived":0}}}}"#);
    let (fake, asked) = recording(Box::leak(body.into_boxed_str())).await;
    let session = fake.client().session(SID, None).await.unwrap();
    assert_eq!(session.time.archived, None);
    let read = session.metadata.unwrap();
    assert_eq!(read.get(), metadata);
    fake.client()
        .patch_metadata(SID, None, &read)
        .await
        .unwrap();
    let sent = asked.lock().unwrap().last().unwrap().body.clone();
    assert_eq!(sent, format!(r#"{{"metadata":{metadata}}}"#));
}

const JSON: &str = "application/json";
const HTML: &str = "text/html";
const NOT_FOUND: &str = r#"{"name":"NotFoundError","data":{"message":"Session not found"}}"#;
const BAD: &str = r#"{"name":"BadRequest","data":{"message":"Missing key","kind":"Payload"}}"#;
const BUSY: &str = r#"{"_tag":"SessionBusyError","sessionID":"ses_1","message":"is busy"}"#;
const FOREIGN: &str = r#"{"_tag":"PermissionNotFoundError","message":"no"}"#;
const FAILED: &str = r#"{"name":"UnknownError","data":{"message":"Unexpected","ref":"err_1"}}"#;

/// How reading a session fails if this is the answer.
async fn failure(status: u16, content_type: &'static str, body: &str) -> Error {
    let fake = answering(status, content_type, body).await;
    let error = fake.client().session(SID, None).await.unwrap_err();
    assert!(!error.message().contains(PASSWORD), "{error}");
    error
}

#[tokio::test]
async fn refusals_and_foreign_answers_had_no_effect() {
    for (status, content_type, body, kind) in [
        (200, HTML, "<html>", Kind::NotOpenCode),
        (200, "", "{}", Kind::NotOpenCode),
        (302, HTML, "", Kind::NotOpenCode),
        (404, JSON, "{}", Kind::NotOpenCode),
        (404, HTML, NOT_FOUND, Kind::NotOpenCode),
        (404, JSON, NOT_FOUND, Kind::NotFound),
        (404, JSON, FOREIGN, Kind::Rejected { status: 404 }),
        (401, HTML, "", Kind::Unauthorized),
        (400, JSON, BAD, Kind::Rejected { status: 400 }),
        (409, JSON, BUSY, Kind::Rejected { status: 409 }),
        (429, HTML, "", Kind::Rejected { status: 429 }),
    ] {
        let error = failure(status, content_type, body).await;
        let found = (error.kind(), error.maybe_sent());
        assert_eq!(found, (&kind, false), "{status} {content_type} {body}");
    }
}

#[tokio::test]
async fn failures_and_unreadable_answers_may_have_had_one() {
    for (status, content_type, body, kind) in [
        (200, JSON, "{\"id\":", Kind::Malformed),
        (200, JSON, "[]", Kind::Malformed),
        (200, JSON, "{\"id\":7}", Kind::Malformed),
        (500, JSON, FAILED, Kind::Server { status: 500 }),
        (503, HTML, "<html>", Kind::Server { status: 503 }),
    ] {
        let error = failure(status, content_type, body).await;
        let found = (error.kind(), error.maybe_sent());
        assert_eq!(found, (&kind, true), "{status} {content_type} {body}");
    }
}

#[tokio::test]
async fn messages_repeat_what_the_server_said() {
    for (status, body, told) in [
        (404, NOT_FOUND, "Session not found"),
        (400, BAD, "BadRequest: Missing key"),
        (400, r#"{"_tag":"OnlyATag"}"#, "status 400: OnlyATag"),
        (409, BUSY, "SessionBusyError: is busy"),
        (429, "{}", "no reason given"),
        (500, FAILED, "Unexpected"),
    ] {
        let error = failure(status, JSON, body).await;
        assert!(error.to_string().contains(told), "{error}");
    }
    let endless = format!(r#"{{"name":"X","message":"{}"}}"#, "é".repeat(5_000));
    assert!(failure(400, JSON, &endless).await.message().chars().count() < 1_100);
}

#[tokio::test]
async fn a_prompt_is_believed_only_without_content_or_with_json() {
    let prompt = Prompt::default();
    let fake = answering(204, "text/plain", "").await;
    assert_eq!(fake.client().prompt_async(SID, None, &prompt).await, Ok(()));
    let fake = answering(200, "text/html", "<html>").await;
    let error = fake
        .client()
        .prompt_async(SID, None, &prompt)
        .await
        .unwrap_err();
    assert_eq!(*error.kind(), Kind::NotOpenCode);
}

#[tokio::test]
async fn a_server_that_never_answers_costs_the_deadline() {
    let fake = Fake::scripted(vec![Connection::mute()]).await;
    let client = fake.impatient_client(Duration::from_millis(200));
    let error = client.session(SID, None).await.unwrap_err();
    assert_eq!((error.kind(), error.maybe_sent()), (&Kind::Timeout, true));
}

#[tokio::test]
async fn a_body_that_never_ends_costs_the_deadline_too() {
    let endless = Connection::answering("200 OK", "application/json")
        .then("{")
        .hold();
    let fake = Fake::scripted(vec![endless]).await;
    let client = fake.impatient_client(Duration::from_millis(200));
    let error = client.session(SID, None).await.unwrap_err();
    assert_eq!(*error.kind(), Kind::Timeout);
}

#[tokio::test]
async fn broken_connections_tell_whether_something_may_have_happened() {
    let error = client(&nobody().await, PATIENT)
        .session(SID, None)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.maybe_sent()),
        (&Kind::Unreachable, false)
    );
    let cut = Connection::answering("200 OK\r\ncontent-length: 99", "application/json").then("{");
    for connection in [Connection::broken(), cut] {
        let fake = Fake::scripted(vec![connection]).await;
        let error = fake.client().abort(SID, None).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.maybe_sent()),
            (&Kind::Unreachable, true)
        );
    }
}

#[tokio::test]
async fn a_body_over_the_bound_is_not_read() {
    let body = format!(r#"{{"id":"ses_1","title":"{}"}}"#, "x".repeat(10_000));
    let fake = json_answer(&body).await;
    let error = fake
        .client()
        .with_body_max(9_000)
        .session(SID, None)
        .await
        .unwrap_err();
    assert_eq!(*error.kind(), Kind::TooLarge);
    assert!(
        fake.client()
            .with_body_max(11_000)
            .session(SID, None)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_malformed_id_is_refused_before_anything_is_sent() {
    let (fake, asked) = recording(r#"{"id":"ses_1"}"#).await;
    let client = fake.client();
    let long = format!("ses_{}", "a".repeat(125));
    for id in [
        "",
        "nope",
        "ses_1/..",
        "ses_1?x",
        "ses_ü",
        "msg_1",
        "ses_ 1",
        long.as_str(),
    ] {
        let results: [Result<(), Error>; 4] = [
            client.session(id, None).await.map(drop),
            client.abort(id, None).await,
            client.delete_session(id, None).await,
            client.prompt_async(id, None, &Prompt::default()).await,
        ];
        for result in results {
            let error = result.unwrap_err();
            assert_eq!(
                (error.kind(), error.maybe_sent()),
                (&Kind::MalformedId, false),
                "{id}"
            );
        }
    }
    let error = client.message(SID, "prt_1", None).await.unwrap_err();
    assert_eq!(*error.kind(), Kind::MalformedId);
    assert_eq!(asked.lock().unwrap().len(), 0);
    client.session(&long[..128], None).await.unwrap();
}

#[tokio::test]
async fn a_missing_message_is_none_and_any_other_trouble_is_not() {
    let gone = r#"{"name":"NotFoundError","data":{"message":"Message not found: msg_1"}}"#;
    let fake = answering(404, "application/json", gone).await;
    assert_eq!(fake.client().message(SID, "msg_1", None).await, Ok(None));
    let fake = answering(404, "text/html", "").await;
    assert!(fake.client().message(SID, "msg_1", None).await.is_err());
    let fake = json_answer(r#"{"info":{"id":"msg_1","role":"user"},"parts":[]}"#).await;
    let message = fake
        .client()
        .message(SID, "msg_1", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (message.info.id.as_str(), message.info.role),
        ("msg_1", Role::User)
    );
}

#[tokio::test]
async fn one_odd_element_hides_no_other() {
    let answer = || async {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        headers.insert("x-next-cursor", "c1".parse().unwrap());
        let body = r#"[
            {"info":{"id":"msg_1","role":"user"},"parts":[{"type":"text","text":"a"}]},
            "what", null, {"info":[],"parts":{}},
            {"info":{"id":"msg_2","role":"assistant","time":7,"tokens":"x","cost":[]},
             "parts":[9,{"type":8},{"type":"text","text":{}},{"type":"text","text":"\ud83d!"}]}
        ]"#;
        (headers, body).into_response()
    };
    let fake = Fake::http(Router::new().fallback(any(answer))).await;
    let page = fake.client().messages(SID, None, 40, None).await.unwrap();
    assert_eq!(page.next.as_deref(), Some("c1"));
    let ids: Vec<&str> = page.items.iter().map(|it| it.info.id.as_str()).collect();
    assert_eq!(ids, ["msg_1", "", "", "", "msg_2"]);
    let texts: Vec<Option<&str>> = page.items[4]
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(part) => Some(part.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        texts,
        [None, None, Some(""), Some("\u{fffd}\u{fffd}\u{fffd}!")]
    );

    let fake = json_answer(r#"[{"id":"ses_1"},{"title":"no id"},3,{"id":"ses_2"}]"#).await;
    let children = fake.client().children(SID, None).await.unwrap();
    let ids: Vec<&str> = children.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["ses_1", "ses_2"]);
}

#[tokio::test]
async fn statuses_are_read_by_session() {
    let body = r#"{"ses_1":{"type":"busy"},"ses_2":{"type":"retry","attempt":2,"message":"429",
        "next":1796030635493},"ses_3":{"type":"idle"},"ses_4":{"type":"new"},"ses_5":0}"#;
    let fake = json_answer(body).await;
    let statuses: Vec<Status> = fake
        .client()
        .status(None)
        .await
        .unwrap()
        .into_values()
        .collect();
    let retry = Status::Retry {
        attempt: 2,
        message: "429".to_owned(),
        next: 1_796_030_635_493,
    };
    let other = |word: &str| Status::Other(word.to_owned());
    assert_eq!(
        statuses,
        [Status::Busy, retry, Status::Idle, other("new"), other("")]
    );
}

#[tokio::test]
async fn no_key_of_a_provider_is_kept() {
    let body = r#"{"providers":[{"id":"p","name":"P","key":"sk-secret","env":["K"],
        "options":{"apiKey":"sk-secret"},"models":{"m":{"id":"m","name":"M","family":"f",
        "release_date":"2026-01-02","status":"active","headers":{"x":"sk-secret"},
        "cost":{"input":1,"output":2.5},"limit":{"context":200000,"output":32000},
        "variants":{"high":{"key":"sk-secret"},"low":{}}}}},{"name":"no id"}],
        "default":{"p":"m","q":0}}"#;
    let fake = json_answer(body).await;
    let providers = fake.client().providers(None).await.unwrap();
    assert!(!format!("{providers:?}").contains("sk-secret"));
    assert_eq!(
        providers.default.into_iter().collect::<Vec<_>>(),
        [("p".into(), "m".into())]
    );
    assert_eq!(providers.providers.len(), 1);
    let model = &providers.providers[0].models[0];
    assert_eq!((model.context, model.output), (Some(200_000), Some(32_000)));
    assert_eq!(
        (model.cost_input, model.cost_output),
        (Some(1.0), Some(2.5))
    );
    assert_eq!(model.variants, ["high", "low"]);
    assert_eq!(model.family.as_deref(), Some("f"));
}

#[tokio::test]
async fn the_small_model_is_read_where_there_is_one() {
    let fake = json_answer(r#"{"small_model":"a/b","provider":{"p":{"apiKey":"k"}}}"#).await;
    assert_eq!(
        fake.client().small_model(None).await.unwrap().as_deref(),
        Some("a/b")
    );
    let fake = json_answer("{}").await;
    assert_eq!(fake.client().small_model(None).await, Ok(None));
}

#[tokio::test]
async fn a_command_outlives_the_deadline_of_calls() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let opened = Arc::clone(&gate);
    let answer = move || {
        let gate = Arc::clone(&opened);
        async move {
            gate.notified().await;
            let body = r#"{"info":{"id":"msg_2","role":"assistant"},"parts":[]}"#;
            ([(header::CONTENT_TYPE, "application/json")], body)
        }
    };
    let fake = Fake::http(Router::new().fallback(any(answer))).await;
    let deadline = Duration::from_millis(50);
    let client = fake.impatient_client(deadline);
    let call = CommandCall::default();
    let mut command = Box::pin(client.command(SID, None, &call));
    assert!(
        tokio::time::timeout(deadline * 4, &mut command)
            .await
            .is_err()
    );
    gate.notify_one();
    assert_eq!(command.await.unwrap().info.id, "msg_2");
    let error = client
        .prompt(SID, None, &Prompt::default(), deadline)
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.maybe_sent()), (&Kind::Timeout, true));
}

#[tokio::test]
async fn connecting_goes_on_over_a_connection_that_is_never_answered() {
    let healthy = Connection::answering("200 OK", "application/json").then(HEALTHY);
    let failing = Connection::answering("500 Failed", "application/json").then("{}");
    let script = vec![Connection::mute(), Connection::broken(), failing, healthy];
    let fake = Fake::scripted(script).await;
    let client = fake.impatient_client(Duration::from_millis(500));
    let health = client.connect(Duration::from_secs(20)).await.unwrap();
    assert_eq!(health.version, "1.18.33");
}

#[tokio::test]
async fn connecting_gives_up_at_its_bound() {
    let client = client(&nobody().await, PATIENT);
    let error = client
        .connect(Duration::from_millis(250))
        .await
        .unwrap_err();
    assert_eq!(*error.kind(), Kind::Unreachable);
}

/// What connecting says of a server that gives this answer; fails if it asks more than once.
async fn connect_once(status: u16, content_type: &'static str, body: &'static str) -> Error {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let answer = move || {
        *count.lock().unwrap() += 1;
        let status = StatusCode::from_u16(status).unwrap();
        async move {
            Response::into_response(
                (status, [("content-type", content_type)], body).into_response(),
            )
        }
    };
    let fake = Fake::http(Router::new().fallback(any(answer))).await;
    let client: Client = fake.client();
    let error = client.connect(Duration::from_secs(20)).await.unwrap_err();
    assert_eq!(*asked.lock().unwrap(), 1);
    error
}

#[tokio::test]
async fn connecting_ends_at_once_where_trying_again_cannot_help() {
    let json = "application/json";
    let old = r#"{"healthy":true,"version":"1.14.34"}"#;
    let error = connect_once(200, json, old).await;
    assert_eq!(
        *error.kind(),
        Kind::TooOld {
            version: "1.14.34".to_owned()
        }
    );
    assert!(
        error.message().contains("1.14.34") && error.message().contains("1.15.13"),
        "{error}"
    );
    for (status, content_type, body, kind) in [
        (401, "text/plain", "", Kind::Unauthorized),
        (200, "text/html", "<html>", Kind::NotOpenCode),
        (200, json, r#"{"status":"ok"}"#, Kind::NotOpenCode),
        (404, "text/plain", "nothing here", Kind::NotOpenCode),
    ] {
        assert_eq!(
            *connect_once(status, content_type, body).await.kind(),
            kind,
            "{status} {body}"
        );
    }
}

#[tokio::test]
async fn versions_are_compared_by_number() {
    for (version, taken) in [
        ("1.15.13", true),
        ("1.15.4", false),
        ("1.15", false),
        ("1.16.0", true),
        ("1.9.99", false),
        ("0.15.13", false),
        ("2.0.0", true),
        ("1.15.13-beta.1", true),
        ("0.0.0-dev-202601", true),
        ("local", true),
    ] {
        let fake = json_answer(&json!({"healthy": true, "version": version}).to_string()).await;
        assert_eq!(
            fake.client().connect(PATIENT.call).await.is_ok(),
            taken,
            "{version}"
        );
    }
}

#[tokio::test]
async fn all_clones_follow_to_another_address_and_password_and_none_asks_a_server_that_ended() {
    let (old, old_asked) = recording(HEALTHY).await;
    let (new, new_asked) = recording(HEALTHY).await;
    let clone = old.client();
    let client = clone.clone().with_body_max(10_000);
    client.health().await.unwrap();

    clone.suspend();
    let error = client.health().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.maybe_sent()),
        (&Kind::Unreachable, false)
    );
    assert_eq!(client.target().url.as_str(), format!("{}/", old.url));
    assert_eq!(
        old_asked.lock().unwrap().len(),
        1,
        "what listens there now may be anybody"
    );

    let password = Some(Secret::new("another"));
    let target = Target::parse(&new.url, "somebody", password).unwrap();
    client.rebind(target.clone()).unwrap();
    clone.health().await.unwrap();
    assert_eq!(*clone.target(), target);
    let asked = new_asked.lock().unwrap().clone();
    // "somebody:another"
    assert_eq!(asked[0].authorization, "Basic c29tZWJvZHk6YW5vdGhlcg==");
    assert_eq!(old_asked.lock().unwrap().len(), 1);
}

fn forward(verb: Verb, path: &[&str]) -> Forward {
    Forward {
        verb,
        path: path.iter().map(|word| (*word).to_owned()).collect(),
        query: Vec::new(),
        body: None,
        deadline: PATIENT.call,
    }
}

#[tokio::test]
async fn a_composed_call_is_sent_with_every_part_escaped() {
    let (fake, asked) = recording("true").await;
    let call = Forward {
        query: vec![("directory".to_owned(), "/a b/ü&x=1".to_owned())],
        body: Some(r#"{"title":"x"}"#.to_owned()),
        ..forward(Verb::Patch, &["session", "ses_1/../config?x#y"])
    };
    let answer = fake.client().forward(&call).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"true"[..]));
    let asked = asked.lock().unwrap().clone();
    let line = "PATCH /session/ses_1%2F..%2Fconfig%3Fx%23y?directory=%2Fa+b%2F%C3%BC%26x%3D1";
    assert_eq!(asked[0].line, line);
    assert_eq!(asked[0].body, r#"{"title":"x"}"#);
}

#[tokio::test]
async fn a_composed_call_gets_the_answer_as_it_came_refusals_too() {
    for (status, kind, body) in [
        (200, "application/json; charset=utf-8", "[1, 2]"),
        (204, "text/plain", ""),
        (401, "text/plain", ""),
        (404, "application/json", r#"{"name":"NotFoundError"}"#),
        (500, "text/html", "<p>broken"),
    ] {
        let fake = answering(status, kind, body).await;
        let answer = fake.client().forward(&forward(Verb::Get, &["path"])).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.body, body.as_bytes(), "{status}");
    }
}

#[tokio::test]
async fn a_composed_call_does_not_believe_a_web_page_or_a_redirect() {
    for (status, kind) in [(200, "text/html"), (302, "application/json")] {
        let fake = answering(status, kind, "<html>").await;
        let answer = fake.client().forward(&forward(Verb::Get, &["path"])).await;
        let error = answer.err().unwrap();
        assert_eq!(*error.kind(), Kind::NotOpenCode, "{status}");
    }
}

#[tokio::test]
async fn a_composed_call_is_bounded_in_time_and_length() {
    let fake = json_answer("[1, 2, 3]").await;
    let client = fake.client().with_body_max(5);
    let answer = client.forward(&forward(Verb::Get, &["path"])).await;
    assert_eq!(*answer.err().unwrap().kind(), Kind::TooLarge);
    let mute = Fake::scripted(vec![Connection::mute()]).await;
    let call = Forward {
        deadline: Duration::from_millis(50),
        ..forward(Verb::Get, &["path"])
    };
    let answer = mute.client().forward(&call).await;
    assert_eq!(*answer.err().unwrap().kind(), Kind::Timeout);
}
