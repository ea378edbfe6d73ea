//! `doctor`: what it finds, and what it says to do.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use serde_json::{Value, json};

use crate::command::{Command, Done};
use crate::fake::{Fake, listen, nobody};

/// The state of each check, by its name.
fn states(done: &Done) -> Value {
    let checks = done.json()["checks"].clone();
    let checks = checks.as_array().unwrap().iter();
    let pairs = checks.map(|check| {
        let name = check["name"].as_str().unwrap().to_owned();
        (name, check["state"].clone())
    });
    pairs.collect::<serde_json::Map<_, _>>().into()
}

fn check(done: &Done, name: &str) -> Value {
    let checks = done.json()["checks"].clone();
    let mut checks = checks.as_array().unwrap().iter();
    checks.find(|check| check["name"] == name).unwrap().clone()
}

#[tokio::test]
async fn a_server_that_has_all_it_takes() {
    let fake = Fake::with_password("hunter2").await;
    let command = Command::at(&fake.url).env("OPENCODE_SERVER_PASSWORD", "hunter2");
    let done = command.line("doctor --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let expected = json!({
        "server": "ok",
        "password": "ok",
        "program": "ok",
        "version": "ok",
        "auditor": "ok",
        "dataFolder": "ok",
        "database": "ok",
        "settings": "ok",
        "clock": "ok",
        "notifications": "ok",
    });
    assert_eq!(states(&done), expected);
    assert_eq!(check(&done, "auditor")["model"], "acme/small");
    assert_eq!(check(&done, "version")["version"], "1.18.33");
    let people = command.line("doctor").await;
    assert_eq!((people.code, people.stderr.as_str()), (0, ""));
    assert_eq!(people.stdout.lines().count(), 10, "{}", people.stdout);
    assert!(
        people.stdout.starts_with("ok    Server          http://"),
        "{}",
        people.stdout
    );
    assert!(!people.stdout.contains("hunter2"), "{}", people.stdout);
    // It only looked.
    assert_eq!(fake.sessions(), (0, Vec::new()));
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn a_server_that_cannot_be_used() {
    let locked = Fake::locked().await;
    let foreign = Fake::foreign().await;
    let cases = [
        (nobody().await, "server", "ok"),
        (locked.url.clone(), "password", "ok"),
        (foreign.url.clone(), "server", "ok"),
    ];
    for (url, fails, others) in cases {
        let done = Command::at(&url).line("doctor --json").await;
        assert_eq!((done.code, done.error()), (1, "checksFailed".to_owned()));
        assert_eq!(states(&done)[fails], "fail", "{}", done.stdout);
        assert_eq!(states(&done)["dataFolder"], others, "{}", done.stdout);
        let found = check(&done, fails);
        // One of them says what to do.
        let all = format!("{}{}", found["text"], found["advice"]);
        assert!(
            all.contains("OPENCODE_SERVER_PASSWORD") || all.contains("opencode serve"),
            "{all}"
        );
    }
    let done = Command::at(&locked.url).line("doctor").await;
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("\nfail  Password"), "{}", done.stdout);
    assert_eq!(done.stdout.matches("OPENCODE_SERVER_PASSWORD").count(), 1);
    assert!(done.stderr.starts_with("error: 1 of "), "{}", done.stderr);
}

#[tokio::test]
async fn a_server_that_is_too_old() {
    let old = Fake::on(listen().await, "1.15.4");
    let command = Command::at(&old.url);
    let done = command.line("doctor --json").await;
    assert_eq!((done.code, done.error()), (1, "checksFailed".to_owned()));
    let found = check(&done, "server");
    assert_eq!(found["state"], "fail");
    for words in ["1.15.4", "needs 1.15.13 or newer", "update OpenCode"] {
        let text = found["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
    let advice = found["advice"].as_str().unwrap();
    assert!(advice.contains("OpenCode 1.15.13 or newer"), "{advice}");
    let people = command.line("doctor").await;
    assert!(
        people
            .stdout
            .starts_with("fail  Server          the OpenCode server is version 1.15.4"),
        "{}",
        people.stdout
    );
}

#[cfg(unix)]
#[tokio::test]
async fn without_a_server_the_program_is_looked_at() {
    let command = Command::new();
    let done = command
        .env("OPENCODE_BINARY", "/nowhere/opencode")
        .line("doctor --json")
        .await;
    assert_eq!((done.code, done.error()), (1, "checksFailed".to_owned()));
    assert_eq!(states(&done)["program"], "fail");
    assert_eq!(states(&done)["server"], "warn");
    let advice = check(&done, "program")["advice"].to_string();
    assert!(advice.contains("npm install -g opencode-ai"), "{advice}");

    for (version, state) in [
        ("1.18.33", "ok"),
        ("1.15.13", "ok"),
        ("1.15.4", "fail"),
        ("0.0.0-dev-1", "ok"),
    ] {
        let command = Command::new();
        let program = command.home().join("opencode");
        command.put_program("opencode", &format!("echo {version}"));
        let done = command
            .env("OPENCODE_BINARY", program.to_str().unwrap())
            .line("doctor --json")
            .await;
        assert_eq!(states(&done)["program"], "ok", "{}", done.stdout);
        assert_eq!(states(&done)["version"], state, "{}", done.stdout);
        assert_eq!(check(&done, "version")["version"], version);
    }
    let command = Command::new();
    let program = command.home().join("opencode");
    command.put_program("opencode", "exit 3");
    let done = command
        .env("OPENCODE_BINARY", program.to_str().unwrap())
        .line("doctor --json")
        .await;
    assert_eq!(states(&done)["program"], "fail", "{}", done.stdout);
}

#[tokio::test]
async fn files_that_are_not_as_they_should_be() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    let data = command.home().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("settings.json"), "no settings").unwrap();
    std::fs::write(
        data.join("goals.sqlite3"),
        "no database, but long enough to be read",
    )
    .unwrap();
    let done = command.line("doctor --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(states(&done)["settings"], "warn");
    assert_eq!(states(&done)["database"], "warn");
    assert_eq!(states(&done)["password"], "warn");

    let newer = r#"{ "version": 9, "sessionGoalEnabled": false }"#;
    std::fs::write(data.join("settings.json"), newer).unwrap();
    let done = command.line("doctor --json").await;
    let found = check(&done, "settings");
    assert_eq!(found["state"], "warn");
    assert_eq!(found["sessionGoalEnabled"], false);
    assert!(found["text"].to_string().contains("version 9"), "{found}");
    std::fs::write(
        data.join("settings.json"),
        r#"{ "sessionGoalEnabled": false }"#,
    )
    .unwrap();
    let done = command.line("doctor --json").await;
    let found = check(&done, "settings");
    assert!(
        found["text"].to_string().contains("switched off"),
        "{found}"
    );

    std::fs::write(command.home().join("file"), "").unwrap();
    let done = command.line("doctor --json --data-dir file/below").await;
    assert_eq!((done.code, done.error()), (1, "checksFailed".to_owned()));
    assert_eq!(states(&done)["dataFolder"], "fail");
    assert_eq!(states(&done)["database"], "fail");
}

#[tokio::test]
async fn no_model_to_audit_with() {
    let fake = Fake::start().await;
    fake.take_models();
    let done = Command::at(&fake.url).line("doctor --json").await;
    assert_eq!((done.code, done.error()), (1, "checksFailed".to_owned()));
    let found = check(&done, "auditor");
    assert_eq!(found["state"], "fail");
    assert!(
        found["advice"].to_string().contains("small_model"),
        "{found}"
    );
}

#[tokio::test]
async fn a_line_that_is_wrong_is_refused() {
    for line in ["doctor ses_1234", "doctor --server localhost --json"] {
        assert_eq!(Command::new().line(line).await.code, 2, "{line}");
    }
}
