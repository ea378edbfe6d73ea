//! The server in memory notices whatever a client must never do.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failed set-up fails the test"
)]

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::fake::{Answer, Endpoint, FakeOptions, FakeServer, Fault, Room, Turns};

const PASSWORD: &str = "sesame";
const METADATA: &str = r#"{"theirs":{"a":1},"openchamber":{"goal":{"id":"g","status":"active"}}}"#;

async fn server() -> FakeServer {
    let options = FakeOptions {
        password: Some(PASSWORD.to_owned()),
        ..FakeOptions::default()
    };
    let server = FakeServer::start(options).await.unwrap();
    server.put(Room {
        id: "ses_a".to_owned(),
        directory: "/a".to_owned(),
        metadata: Some(METADATA.to_owned()),
        said: vec!["go".to_owned(), "done".to_owned()],
        busy: false,
    });
    server
}

fn request(server: &FakeServer, method: &str, path: &str) -> RequestBuilder {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let url = format!("{}{path}", server.url());
    let request = client().request(method, url);
    request.basic_auth("opencode", Some(PASSWORD))
}

fn client() -> Client {
    opencode_client::http_client().no_proxy().build().unwrap()
}

fn prompt(message: &str) -> Value {
    json!({
        "messageID": message,
        "agent": "build",
        "model": { "providerID": "acme", "modelID": "big" },
        "parts": [{ "type": "text", "id": format!("prt_{message}"), "text": "on" }],
    })
}

#[tokio::test]
async fn a_good_client_is_not_accused() {
    let mut server = server().await;
    let page = request(
        &server,
        "GET",
        "/session/ses_a/message?directory=/a&limit=1",
    );
    let page = page.send().await.unwrap();
    let next = page.headers()["x-next-cursor"].to_str().unwrap().to_owned();
    let older = format!("/session/ses_a/message?directory=/a&limit=1&before={next}");
    let older = request(&server, "GET", &older).send().await.unwrap();
    assert!(!older.headers().contains_key("x-next-cursor"));
    let patch = json!({ "metadata": serde_json::from_str::<Value>(METADATA).unwrap() });
    let patched = request(&server, "PATCH", "/session/ses_a?directory=/a").json(&patch);
    assert_eq!(patched.send().await.unwrap().status(), 200);
    for _ in 0..2 {
        let sent = request(&server, "POST", "/session/ses_a/prompt_async?directory=/a")
            .json(&prompt("msg_1"));
        assert_eq!(sent.send().await.unwrap().status(), 204);
    }
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(server.prompts("ses_a").len(), 2);
    assert_eq!(server.requests()[&Endpoint::Prompt], 2);
}

#[tokio::test]
async fn what_a_client_must_never_do_is_told() {
    let lost = json!({ "metadata": { "openchamber": {} } });
    let cases: [(&str, &str, Option<Value>, &str); 9] = [
        ("GET", "/session/ses_a", None, "names no directory"),
        ("GET", "/session/ses_a?directory=/b", None, "lives in /a"),
        (
            "GET",
            "/session/status?directory=/b",
            None,
            "no session lives",
        ),
        (
            "GET",
            "/session/ses_a/message?directory=/a",
            None,
            "everything",
        ),
        (
            "GET",
            "/session/ses_a/message?directory=/a&limit=9&before=msg_9",
            None,
            "a cursor nobody gave",
        ),
        ("GET", "/goal", None, "no such call"),
        (
            "DELETE",
            "/session/ses_a?directory=/a",
            None,
            "conversation",
        ),
        (
            "PATCH",
            "/session/ses_a?directory=/a",
            Some(lost),
            "foreign metadata is lost or changed: theirs",
        ),
        (
            "POST",
            "/session?directory=/a",
            Some(json!({ "parentID": "ses_a" })),
            "without an audit's mark",
        ),
    ];
    for (method, path, body, expected) in cases {
        let mut server = server().await;
        let mut request = request(&server, method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.unwrap();
        let violations = server.violations();
        let told = violations
            .iter()
            .any(|violation| violation.contains(expected));
        assert!(told, "{method} {path}: {violations:?}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_told() {
    let mut server = server().await;
    let health = format!("{}/global/health", server.url());
    let wrong = client().get(health).basic_auth("opencode", Some("x"));
    assert_eq!(wrong.send().await.unwrap().status(), 401);
    assert!(server.violations()[0].contains("a wrong password"));
}

#[tokio::test]
async fn a_tail_is_continued_once_and_a_running_turn_never() {
    let mut server = server().await;
    server.set_turns(Turns {
        held: true,
        ..Turns::default()
    });
    for message in ["msg_1", "msg_2"] {
        let path = "/session/ses_a/prompt_async?directory=/a";
        let sent = request(&server, "POST", path).json(&prompt(message));
        sent.send().await.unwrap();
    }
    let violations = server.violations();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert!(violations[0].contains("into a turn that runs"));
}

#[tokio::test]
async fn a_fault_happens_as_often_as_it_was_ordered() {
    let server = server().await;
    let fault = Fault::without_effect(Answer::Cut);
    server.fault(Endpoint::Health, 1, fault);
    let health = || request(&server, "GET", "/global/health").send();
    assert!(health().await.is_err());
    assert_eq!(health().await.unwrap().status(), 200);
}

#[tokio::test]
#[should_panic(expected = "must never do")]
async fn nobody_passes_over_a_violation() {
    let server = server().await;
    request(&server, "GET", "/goal").send().await.unwrap();
}
