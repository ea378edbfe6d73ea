//! `serve` attached to a server: its output, and its end.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::command::Command;
use crate::fake::{Fake, goal};

#[tokio::test]
async fn events_come_as_lines_until_a_signal() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let fake = Fake::start().await;
        fake.put_goal("ses_1234", goal("g_1", "active", ""));
        let command = Command::at(&fake.url);
        let mut serve = command.start("serve --json --kickoff-quiet-ms 250");
        let ready = serve.event("ready").await;
        assert_eq!(ready["url"], fake.url.as_str());
        assert_eq!(ready["version"], "1.18.33");
        assert_eq!(ready["managed"], false);
        assert_eq!(ready["driver"], "driving");
        serve.signal(signal);
        let (code, _) = serve.end().await;
        assert_eq!(code, 0, "{signal}");
    }
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_it_gently() {
    let fake = Fake::start().await;
    let mut serve = Command::at(&fake.url).start("serve --json --kickoff-quiet-ms 250");
    serve.event("ready").await;
    serve.close_output();
    // Whatever it says next, nobody hears.
    let mut fresh = goal("g_1", "active", "");
    fresh["turnsUsed"] = json!(0);
    fake.put_goal("ses_1234", fresh);
    let (code, _) = serve.end().await;
    assert_eq!(code, 0);
}

#[tokio::test]
async fn people_read_a_timeline() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "active", ""));
    let mut serve =
        Command::at(&fake.url).start("serve --idle-quiet-ms 250 --kickoff-quiet-ms 250");
    let first = serve.line(|_| true).await;
    assert!(first.contains("OpenCode 1.18.33"), "{first}");
    assert!(first.contains(&fake.url), "{first}");
    let waits = serve.line(|line| line.contains("waiting for you")).await;
    assert!(waits.contains("Fix the parser"), "{waits}");
    assert!(waits.contains("the session has no reply yet"), "{waits}");
    fake.put_goal("ses_1234", goal("g_1", "paused", ""));
    let paused = serve.line(|line| line.contains("paused")).await;
    assert!(paused.contains("paused by you"), "{paused}");
    assert!(paused.contains("two of three done"), "{paused}");
    serve.signal(Signal::SIGTERM);
    assert_eq!(serve.end().await.0, 0);
}

#[tokio::test]
async fn a_second_one_only_watches() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    let mut first = command.start("serve --json");
    let ready = first.event("ready").await;
    assert_eq!(ready["driver"], "driving");
    let mut second = command.start("serve --json");
    let ready = second.event("ready").await;
    assert_eq!(ready["driver"], "passive");
    assert!(ready["pid"].is_number(), "{ready}");
    for serve in [first, second] {
        serve.signal(Signal::SIGTERM);
        assert_eq!(serve.end().await.0, 0);
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_told() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    std::fs::write(command.home().join("file"), "").unwrap();
    let done = command.goal("serve --json --data-dir file/below").await;
    assert_eq!((done.code, done.error()), (1, "dataFolder".to_owned()));
}

#[tokio::test]
async fn without_opencode_there_is_no_server_to_start() {
    let command = Command::new();
    let done = command.goal("serve --json --opencode ./missing").await;
    assert_eq!((done.code, done.error()), (1, "openCodeMissing".to_owned()));
    let done = command.goal("serve --json --dir ./missing").await;
    assert_eq!((done.code, done.error()), (2, "usage".to_owned()));
    assert_ne!(done.json()["error"]["message"], json!(""));
}

#[tokio::test]
async fn a_running_one_reacts_at_once_to_what_the_user_does() {
    let fake = Fake::start().await;
    for id in ["ses_1111", "ses_2222", "ses_3333"] {
        fake.put_goal(id, goal(id, "active", ""));
    }
    let command = Command::at(&fake.url);
    // Patience alone would take until long after the deadline of this test.
    let mut serve =
        command.start("serve --json --idle-quiet-ms 300000 --interrupted-grace-ms 900000");
    serve.event("ready").await;
    let cases = [
        ("complete ses_1111", "ses_1111", json!("complete")),
        ("pause ses_2222", "ses_2222", json!("paused")),
        (
            "edit ses_3333 --token-budget 5",
            "ses_3333",
            json!("budgetLimited"),
        ),
    ];
    for (line, session, status) in cases {
        let done = command.goal(line).await;
        assert_eq!(done.code, 0, "{line}: {}", done.stderr);
        let heard = serve
            .line(|line| {
                let event: serde_json::Value = serde_json::from_str(line).unwrap();
                event["sessionID"] == session && event["status"] != "active"
            })
            .await;
        let event: serde_json::Value = serde_json::from_str(&heard).unwrap();
        assert_eq!(event["status"], status, "{line}");
    }
    serve.signal(Signal::SIGTERM);
    assert_eq!(serve.end().await.0, 0);
}

#[tokio::test]
async fn the_log_file_tells_what_was_decided_and_nothing_that_was_said() {
    let fake = Fake::with_password("hunter2").await;
    let command = Command::at(&fake.url).env("OPENCODE_SERVER_PASSWORD", "hunter2");
    fake.put("ses_1234", json!({}));
    fake.put_turn("I painted the fence.");
    fake.put_reply(r#"{"verdict":"blocked","note":"the paint is missing"}"#);
    let started = command
        .run(
            &[
                "goal",
                "start",
                "ses_1234",
                "--objective",
                "the fence is green",
            ],
            "",
        )
        .await;
    assert_eq!(started.code, 0, "{}", started.stderr);
    let mut serve =
        command.start("serve --json --idle-quiet-ms 250 --kickoff-quiet-ms 250 --blocked-max 1");
    let settled = serve.event("settled").await;
    assert_eq!(settled["note"], "the paint is missing");
    serve.signal(Signal::SIGTERM);
    assert_eq!(serve.end().await.0, 0);
    let log = command.logged();
    for told in [
        "serving", "ready", "decision", "verdict", "settled", "ses_1234", "blocked",
    ] {
        assert!(log.contains(told), "{told}: {log}");
    }
    for said in ["fence", "paint", "hunter2", "Basic", "Fix the parser"] {
        assert!(!log.contains(said), "{said}: {log}");
    }
}

#[tokio::test]
async fn a_log_file_is_written_only_where_it_is_wanted() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    command.goal("list").await;
    let mut serve = command.start("serve --json --no-log-file");
    serve.event("ready").await;
    serve.signal(Signal::SIGTERM);
    assert_eq!(serve.end().await.0, 0);
    assert_eq!(command.logged(), "");
}
