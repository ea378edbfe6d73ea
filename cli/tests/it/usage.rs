//! Lines that are refused before anything is asked.

use serde_json::json;

use crate::command::Command;
use crate::fake::nobody;

/// The code with which a line is refused, at once: the server it names is nobody.
async fn refusal(line: &str) -> (i32, String) {
    let command = Command::at(&nobody().await);
    let done = command.goal(&format!("{line} --json")).await;
    assert_eq!(done.stderr, "", "{line}");
    (done.code, done.error())
}

#[tokio::test]
async fn a_line_that_cannot_be_understood() {
    let lines = [
        "frob",
        "show",
        "show ses_1234 ses_5678",
        "start ses_1234",
        "start ses_1234 --objective a --objective-file b",
        "start ses_1234 --objective a -",
        "start ses_1234 stdin",
        "start ses_1234 --objective a --agent plan",
        "start ses_1234 --objective a --model p/m",
        "start ses_1234 --objective a --variant high",
        "watch ses_1234 --timeout soon",
        "watch ses_1234 --timeout -1",
        "resume ses_1234 --token-budget 5 --no-token-budget",
        "list --password hunter2",
        "list --server localhost:4096",
        "list --server http://127.0.0.1:1/path",
        "list --username a:b",
        "list --log loud",
        "serve --opencode opencode",
        "edit ses_1234",
        "edit ses_1234 --objective a -",
        "edit ses_1234 --token-budget 5 --no-token-budget",
        "pause",
        "pause ses_1234 --all",
        "complete",
        "clear --all",
    ];
    for line in lines {
        assert_eq!(refusal(line).await, (2, "usage".to_owned()), "{line}");
    }
}

#[tokio::test]
async fn people_get_the_error_and_a_way_on() {
    let done = Command::new().goal("list").await;
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines[0], "error: no server was named");
    assert!(lines[1].starts_with("hint: "), "{lines:?}");
    assert!(lines[1].contains("opencode serve"), "{lines:?}");

    let done = Command::new().goal("list --json").await;
    let error = json!({ "code": "noServer", "message": "no server was named" });
    assert_eq!(done.json(), json!({ "status": "error", "error": error }));
    assert_eq!(done.code, 2);
}

#[tokio::test]
async fn json_is_meant_only_before_the_dashes() {
    let done = Command::new().goal("show -- --json extra").await;
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
}

#[tokio::test]
async fn budgets_that_are_none() {
    for budget in [
        "0",
        "-1",
        "1.5",
        "1e6",
        "9007199254740992",
        "many",
        "200,000",
    ] {
        for line in [
            format!("start ses_1234 --objective a --token-budget {budget}"),
            format!("resume ses_1234 --token-budget {budget}"),
            format!("edit ses_1234 --token-budget {budget}"),
        ] {
            assert_eq!(
                refusal(&line).await,
                (2, "invalidBudget".to_owned()),
                "{line}"
            );
        }
    }
}

#[tokio::test]
async fn choices_that_no_prompt_can_be_sent_with() {
    let long = "x".repeat(201);
    for choice in [
        "--model big",
        "--model /big",
        "--model fake/",
        &format!("--model fake/{long}"),
        &format!("--agent {long}"),
        &format!("--variant {long}"),
    ] {
        let line = format!("start ses_1234 --objective a --send {choice}");
        assert_eq!(
            refusal(&line).await,
            (2, "invalidPrompt".to_owned()),
            "{line}"
        );
    }
}

#[tokio::test]
async fn ids_that_no_server_makes() {
    for line in [
        "show ../../etc/passwd",
        "watch abc",
        "why ses/1234",
        "pause ses%2e",
        "resume ä234",
        "start a.b.c --objective x",
        "edit a.b.c --objective x",
        "complete ..",
        "clear a",
    ] {
        assert_eq!(
            refusal(line).await,
            (2, "invalidSession".to_owned()),
            "{line}"
        );
    }
}

#[tokio::test]
async fn limits_that_contradict_each_other() {
    let cases = [
        (
            "--resume-quiet-ms 4000",
            "resume-quiet-ms must not exceed kickoff-quiet-ms",
        ),
        (
            "--kickoff-quiet-ms 16000",
            "kickoff-quiet-ms must not exceed idle-quiet-ms",
        ),
        (
            "--recheck-max-ms 1000",
            "idle-quiet-ms must not exceed recheck-max-ms",
        ),
        (
            "--interrupted-grace-ms 1000",
            "interrupted-grace-ms must be at least 2000",
        ),
        (
            "--interrupted-grace-ms 44000",
            "interrupted-grace-ms must be at least three times idle-quiet-ms",
        ),
        (
            "--reconnect-min-ms 40000",
            "reconnect-min-ms must not exceed reconnect-max-ms",
        ),
        (
            "--turns-max 0",
            "turns-max takes a whole number from 1 to 1000000",
        ),
        (
            "--idle-quiet-ms -1",
            "idle-quiet-ms takes a whole number from 0 to 31536000000",
        ),
        (
            "--audit-retry-ms 5",
            "audit-retry-ms takes two values, such as 5000,20000",
        ),
        ("--turns-max 1 --turns-max 2", "turns-max takes one value"),
    ];
    for (flags, message) in cases {
        let done = Command::new().goal(&format!("serve --json {flags}")).await;
        assert_eq!(
            (done.code, done.error()),
            (2, "invalidLimits".to_owned()),
            "{flags}"
        );
        assert_eq!(done.json()["error"]["message"], message);
    }
}

#[tokio::test]
async fn objectives_that_say_nothing_or_cannot_be_read() {
    let command = Command::at(&nobody().await);
    std::fs::write(command.home().join("empty.md"), " \n").unwrap();
    std::fs::write(command.home().join("latin1.md"), b"caf\xe9").unwrap();
    std::fs::write(command.home().join("long.md"), vec![b'a'; 1024 * 1024 + 1]).unwrap();
    for name in ["empty.md", "latin1.md", "long.md", "missing.md", "."] {
        let line = format!("start ses_1234 --json --objective-file {name}");
        let done = command.goal(&line).await;
        assert_eq!(
            (done.code, done.error()),
            (2, "invalidObjective".to_owned()),
            "{name}"
        );
        let message = done.json()["error"]["message"].to_string();
        assert!(message.contains(name), "{message}");
    }
    for line in [
        ["goal", "start", "ses_1234", "--json", "-"].as_slice(),
        &[
            "goal",
            "start",
            "ses_1234",
            "--json",
            "--objective-file",
            "-",
        ],
        &["goal", "start", "ses_1234", "--json", "--objective", " \n"],
    ] {
        let done = command.run(line, "\n\t\n").await;
        assert_eq!(
            (done.code, done.error()),
            (2, "invalidObjective".to_owned()),
            "{line:?}"
        );
    }
}
