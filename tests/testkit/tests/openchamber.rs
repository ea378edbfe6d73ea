//! The handle on the command, held to a shell script that speaks like it.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use serde_json::json;
use testkit::{Error, Openchamber};

const DEADLINE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_finished_command_gives_code_lines_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let command = stand_in(
        &folder,
        r#"read line; echo "{\"args\":\"$*\",\"line\":\"$line\"}"; echo oh >&2; exit 4"#,
    );
    let output = command
        .run(&["goal", "list"], "typed\n", DEADLINE)
        .await
        .unwrap();
    assert_eq!(output.code, Some(4));
    assert_eq!(
        output.lines,
        [json!({ "args": "goal list --json", "line": "typed" })]
    );
    assert_eq!(output.errors, "oh\n");
}

#[tokio::test]
async fn a_command_sees_only_the_variables_given() {
    let folder = tempfile::tempdir().unwrap();
    let command = stand_in(
        &folder,
        r#"echo "{\"own\":\"$OWN\",\"cargo\":\"$CARGO_PKG_NAME\"}""#,
    );
    assert_eq!(std::env::var("CARGO_PKG_NAME").unwrap(), "testkit");
    let command = command.env("OWN", "value");
    assert!(!format!("{command:?}").contains("value"));
    let output = command.run(&[], "", DEADLINE).await.unwrap();
    assert_eq!(output.lines, [json!({ "own": "value", "cargo": "" })]);
}

#[tokio::test]
async fn what_is_not_json_and_what_does_not_end_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let chatty = stand_in(&folder, "echo Hello");
    let error = chatty.run(&[], "", DEADLINE).await.unwrap_err();
    assert!(matches!(error, Error::NotJson(line) if line == "Hello"));
    let endless = stand_in(&folder, "exec sleep 600");
    let error = endless
        .run(&[], "", Duration::from_millis(50))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }));
}

#[tokio::test]
async fn serve_gives_out_events_in_order_and_reports_an_early_end() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        echo "{\"event\":\"ready\",\"args\":\"$*\"}"
        echo '{"event":"phase","n":1}'; echo '{"event":"phase","n":2}'
        echo trouble >&2; exec sleep 600"#;
    let mut serve = stand_in(&folder, script)
        .serve(&["--turns-max", "3"])
        .unwrap();
    let ready = serve
        .next_event(|event| event["event"] == "ready", DEADLINE)
        .await
        .unwrap();
    assert_eq!(ready["args"], "goal serve --turns-max 3 --json");
    let phase = serve
        .next_event(|event| event["event"] == "phase", DEADLINE)
        .await
        .unwrap();
    assert_eq!(phase["n"], 1);
    let phase = serve
        .next_event(|event| event["event"] == "phase", DEADLINE)
        .await
        .unwrap();
    assert_eq!(phase["n"], 2);
    let short = Duration::from_millis(20);
    let late = serve
        .next_event(|event| event["n"] == 1, short)
        .await
        .unwrap_err();
    assert!(matches!(late, Error::Deadline { .. }));
    assert_eq!(serve.events().len(), 3);

    serve.kill();
    let error = serve.next_event(|_| true, DEADLINE).await.unwrap_err();
    assert!(matches!(error, Error::Ended { .. }));
    assert_eq!(serve.wait(DEADLINE).await.unwrap().signal(), Some(9));
    assert!(serve.errors().contains("trouble"));
}

#[tokio::test]
async fn serve_can_be_asked_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"trap 'echo "{\"event\":\"bye\"}"; exit 7' TERM; echo '{"event":"ready"}'
        while :; do sleep 0.02; done"#;
    let mut serve = stand_in(&folder, script).serve(&[]).unwrap();
    serve
        .next_event(|event| event["event"] == "ready", DEADLINE)
        .await
        .unwrap();
    serve.terminate();
    serve
        .next_event(|event| event["event"] == "bye", DEADLINE)
        .await
        .unwrap();
    assert_eq!(serve.wait(DEADLINE).await.unwrap().code(), Some(7));
}

/// A script in place of the command.
fn stand_in(folder: &tempfile::TempDir, script: &str) -> Openchamber {
    let path = folder.path().join("stand-in");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Openchamber::with_binary(path, &[])
}
