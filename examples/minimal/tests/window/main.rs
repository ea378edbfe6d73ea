//! The example in its real window, on the real OpenCode with a scripted model behind it.
//!
//! ```text
//! test ──▶ WebKitWebDriver ──▶ minimal (X server and message bus of the test's own) ──▶ OpenCode
//!   └──▶ notification daemon ◀────────────┘                             scripted model ◀──┘
//! ```

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

mod desktop;
mod dunst;

use std::io::Write as _;
use std::net::TcpListener;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, Step};

use crate::desktop::{Desktop, House, PATIENCE};

const REPORT: &str = "Done: all. Verified: ran it. Remaining: nothing.";

#[tokio::test]
async fn a_reload_in_the_middle_of_an_audit_changes_nothing() {
    let model = ScriptedModel::builder()
        .turn([Step::say(REPORT)])
        .audit_gate("audit")
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let house = House::build(model).await;
    let mut desktop = Desktop::open(&house).await;
    desktop.start_goal(&house, "Finish the work").await;
    house.model.reached("audit", PATIENCE).await.unwrap();
    desktop.page_says(&house.session, "auditing").await;

    desktop.page.reload().await.unwrap();
    desktop.page_says(&house.session, "auditing").await;
    house.model.release("audit");
    desktop
        .page_says(&house.session, "complete. everything was checked")
        .await;

    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");
    assert_eq!(note.body, "Finish the work\neverything was checked");
    assert_eq!(house.model.audit_calls().len(), 1);
    assert_eq!(house.model.work_calls().len(), 1);
    let listed = desktop.invoke("notices", json!({})).await.unwrap();
    let codes: Vec<&str> = listed.as_array().unwrap().iter().map(code).collect();
    assert_eq!(codes, ["goalComplete"], "{listed}");
}

#[tokio::test]
async fn a_window_destroyed_during_a_turn_comes_back_with_the_truth() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("turn"), Step::say(REPORT)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let house = House::build(model).await;
    let mut desktop = Desktop::open(&house).await;
    desktop.start_goal(&house, "Finish the work").await;
    house.model.reached("turn", PATIENCE).await.unwrap();
    desktop.page_says(&house.session, "working").await;

    desktop.destroy_window().await;
    house.model.release("turn");
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");

    let before = desktop.said().len();
    let session = &house.session;
    desktop
        .click_until(note.id, before, &format!("open {session}"))
        .await;
    let truth = format!("{session} complete settled");
    desktop.says_after(before, &truth).await;
}

#[tokio::test]
async fn what_one_window_does_the_other_shows() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("never"), Step::say("never said")])
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let house = House::build(model).await;
    let session = &house.session;
    let (mut desktop, [first, second]) = Desktop::open_twice(&house).await;
    desktop.turn_to(&first).await;
    desktop.start_goal(&house, "Finish the work").await;
    house.model.reached("never", PATIENCE).await.unwrap();
    desktop.page_says(session, "working").await;

    desktop.turn_to(&second).await;
    desktop.page_says(session, "working").await;
    desktop.press(session, "Pause").await;
    desktop.turn_to(&first).await;
    desktop.page_says(session, "paused").await;
    desktop.press(session, "Resume").await;
    let truth = "complete. everything was checked";
    desktop.page_says(session, truth).await;
    desktop.turn_to(&second).await;
    desktop.page_says(session, truth).await;

    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");
    assert_eq!(desktop.notifyd.others(), []);
    assert_eq!(house.model.work_calls().len(), 2);
}

#[tokio::test]
async fn a_page_that_crashes_during_a_turn_changes_nothing() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("turn"), Step::say(REPORT)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let house = House::build(model).await;
    let mut desktop = Desktop::open(&house).await;
    desktop.start_goal(&house, "Finish the work").await;
    house.model.reached("turn", PATIENCE).await.unwrap();

    desktop.crash_page();
    house.model.release("turn");
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");
    assert_eq!(house.model.audit_calls().len(), 1);
}

#[tokio::test]
async fn a_page_gets_what_its_capability_says_and_a_foreign_one_nothing() {
    let house = House::build(ScriptedModel::start().unwrap()).await;
    let desktop = Desktop::open(&house).await;
    let paused = desktop
        .invoke("pause", json!({ "sessionId": house.session }))
        .await;
    assert_eq!(code(&paused.unwrap_err()), "noGoal");
    for (command, arguments) in [
        (
            "settings_set",
            json!({ "changes": { "sessionGoalEnabled": false } }),
        ),
        ("server_connect", json!({ "server": { "kind": "none" } })),
    ] {
        let refusal = desktop.invoke(command, arguments).await.unwrap_err();
        let refused = refusal
            .as_str()
            .is_some_and(|text| text.contains("not allowed"));
        assert!(refused, "{command}: {refusal}");
    }

    desktop.page.go(&foreign_page()).await.unwrap();
    let refusal = desktop.invoke("list", json!({})).await.unwrap_err();
    let refused = refusal
        .as_str()
        .is_some_and(|text| text.contains("not allowed"));
    assert!(refused, "{refusal}");
}

#[tokio::test]
async fn every_command_does_its_work_on_the_real_server() {
    let model = ScriptedModel::builder()
        .audit_verdict("complete", "the file says hello")
        .turn([Step::gate("turn"), Step::say(REPORT)])
        .start()
        .unwrap();
    let house = House::build(model).await;
    let desktop = Desktop::open(&house).await;
    let call = async |command: &str, mut arguments: Value| {
        arguments["sessionId"] = json!(house.session);
        let answer = desktop.invoke(command, arguments).await;
        answer.unwrap_or_else(|error| panic!("{command}: {error}\n{}", desktop.said()))
    };
    let status = |answer: &Value| answer["goal"]["status"].as_str().unwrap().to_owned();

    let folder = json!({ "directory": house.server.project() });
    let found = desktop
        .invoke("auditor_check", folder.clone())
        .await
        .unwrap();
    assert_eq!(found["model"], "fake/small");
    let tried = desktop.invoke("auditor_test", folder).await.unwrap();
    assert_eq!(
        (&tried["verdict"], &tried["auditor"]),
        (&json!("complete"), &found)
    );

    let start = json!({ "objective": "Finish it", "tokenBudget": 100_000, "requestId": "r1" });
    let started = call("start", start.clone()).await;
    assert_eq!(
        started,
        call("start", start).await,
        "the same request is carried out once"
    );
    house.model.reached("turn", PATIENCE).await.unwrap();
    assert_eq!(call("objective", json!({})).await["text"], "Finish it");
    assert_eq!(call("get", json!({})).await["tokenBudget"], 100_000);
    assert_eq!(call("why", json!({})).await["look"]["why"], "busy");

    let paused = call("pause", json!({})).await;
    assert_eq!(
        (status(&paused).as_str(), &paused["already"]),
        ("paused", &json!(false))
    );
    assert_eq!(call("pause", json!({})).await["already"], true);
    let edited = call(
        "edit",
        json!({ "objective": "Another", "tokenBudget": null }),
    )
    .await;
    assert_eq!(
        (status(&edited).as_str(), &edited["goal"]["tokenBudget"]),
        ("active", &Value::Null)
    );
    let all = desktop.invoke("pause_all", json!({})).await.unwrap();
    assert_eq!(status(&all[0]["paused"]), "paused");
    assert_eq!(status(&call("resume", json!({})).await), "active");
    assert_eq!(status(&call("complete", json!({})).await), "complete");
    let refused = json!({ "sessionId": house.session });
    let refused = desktop.invoke("resume", refused).await.unwrap_err();
    assert_eq!(code(&refused), "wrongStatus");
    assert_eq!(call("clear", json!({})).await["already"], false);
    assert_eq!(call("clear", json!({})).await["already"], true);
    assert_eq!(call("get", json!({})).await, Value::Null);
}

#[tokio::test]
async fn sigterm_ends_the_app_in_order() {
    let house = House::build(ScriptedModel::start().unwrap()).await;
    let mut desktop = Desktop::without_driver(&house, &house.attached());
    desktop.says_after(0, "server connected").await;
    let ended = desktop.terminate().await;
    assert!(ended.success(), "{ended} {}", desktop.said());
}

#[tokio::test]
async fn a_server_of_the_apps_own_ends_with_the_app() {
    let house = House::build(ScriptedModel::start().unwrap()).await;
    let server = json!({ "kind": "managed", "directory": house.server.project() });
    let mut desktop = Desktop::without_driver(&house, &server);
    desktop.says_after(0, "server connected").await;
    assert!(!desktop.servers().is_empty(), "{}", desktop.said());
    let ended = desktop.terminate().await;
    assert!(ended.success(), "{ended} {}", desktop.said());
    desktop.has_no_server().await;
}

fn code(value: &Value) -> &str {
    value["code"].as_str().unwrap_or_default()
}

/// The address of a page that is not the app's own.
fn foreign_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\
                        connection: close\r\n\r\n<p>Foreign</p>";
            // The browser may have gone.
            let _ = stream.and_then(|mut stream| stream.write_all(page.as_bytes()));
        }
    });
    url
}
