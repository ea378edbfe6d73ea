//! `auditor test`: what it asks, what it tells, and that nothing stays behind.

use serde_json::json;

use crate::command::Command;
use crate::fake::{DIRECTORY, Fake};

const COMPLETE: &str = r#"{"verdict":"complete","note":"the file says hello"}"#;

#[tokio::test]
async fn the_auditor_answers() {
    let fake = Fake::start().await;
    fake.put_reply(COMPLETE);
    let command = Command::at(&fake.url);
    let done = command.line("auditor test --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let mut told = done.json();
    assert!(told["latencyMs"].take().is_u64(), "{told}");
    let expected = json!({
        "model": "acme/small",
        "source": "config",
        "latencyMs": null,
        "status": "ok",
        "verdict": "complete",
        "note": "the file says hello",
    });
    assert_eq!(told, expected);
    // A session, and in it the audit's own.
    assert_eq!(fake.sessions(), (2, Vec::new()));
    let asked = fake.asked();
    let text = asked[0]["parts"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("The file hello.txt contains the word hello."),
        "{text}"
    );
    assert_eq!(
        asked[0]["model"],
        json!({ "providerID": "acme", "modelID": "small" })
    );

    let done = command.line("auditor test").await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    let auditor = "Auditor   acme/small: small_model of the OpenCode configuration";
    assert_eq!(lines[0], auditor);
    assert!(
        lines[1].ends_with("verdict: complete · the file says hello"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2);
}

#[tokio::test]
async fn a_session_is_asked_for_as_it_stands_and_stays() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({}));
    fake.put_turn("I did it.");
    fake.put_reply(r#"{"verdict":"continue","note":"nothing is there"}"#);
    let done = Command::at(&fake.url).line("auditor test ses_1234").await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("verdict: go on"), "{}", done.stdout);
    assert!(done.stdout.contains("did not say so"), "{}", done.stdout);
    assert_eq!(fake.sessions(), (1, vec!["ses_1234".to_owned()]));
}

#[tokio::test]
async fn an_auditor_that_cannot_judge_is_told_with_what_to_do() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    let done = command.line("auditor test --json").await;
    assert_eq!((done.code, done.error()), (1, "auditFailed".to_owned()));
    assert_eq!(done.json()["reason"], "provider");
    assert_eq!(done.json()["model"], "acme/small");
    fake.put_reply("I like it.");
    let done = command.line("auditor test").await;
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(done.stdout.contains("acme/small"), "{}", done.stdout);
    for said in ["the reply was no verdict", "small_model", "hint: "] {
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
    }
    assert_eq!(fake.sessions().1, Vec::<String>::new());
    fake.take_models();
    let done = command.line("auditor test --json").await;
    assert_eq!((done.code, done.error()), (1, "noAuditor".to_owned()));
    assert_eq!(fake.sessions().1, Vec::<String>::new());
}

#[tokio::test]
async fn places_that_are_none() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    for (line, code, error) in [
        ("auditor test ses_none --json", 2, "unknownSession"),
        ("auditor test ../x --json", 2, "invalidSession"),
        ("auditor test ses_1234 --dir / --json", 2, "usage"),
    ] {
        let done = command.line(line).await;
        assert_eq!(
            (done.code, done.error()),
            (code, error.to_owned()),
            "{line}"
        );
    }
    let done = command
        .line(&format!("auditor test --json --dir {DIRECTORY}"))
        .await;
    assert_eq!(done.error(), "auditFailed");
    assert_eq!(fake.sessions(), (2, Vec::new()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_leaves_nothing_behind() {
    let fake = Fake::start().await;
    fake.have_the_model_think();
    let running = Command::at(&fake.url).start_line("auditor test");
    fake.until_asked().await;
    running.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(running.end().await.0, 130);
    assert_eq!(fake.sessions(), (2, Vec::new()));
}
