//! `show`, `list`, `why`, and servers that cannot be asked.

use serde_json::json;

use crate::command::Command;
use crate::fake::{DIRECTORY, Fake, goal, listen, nobody};

#[tokio::test]
async fn nobody_answers() {
    let url = nobody().await;
    let command = Command::at(&url);
    let (for_programs, for_people, serving) = tokio::join!(
        command.goal("list --json"),
        command.goal("show ses_1234"),
        command.goal("serve --call-timeout-ms 1000")
    );
    assert_eq!(
        (for_programs.code, for_programs.error()),
        (5, "unreachable".to_owned())
    );
    assert_eq!((for_people.code, for_people.stdout.as_str()), (5, ""));
    assert!(
        for_people.stderr.starts_with("error: "),
        "{}",
        for_people.stderr
    );
    assert!(
        for_people.stderr.contains("\nhint: "),
        "{}",
        for_people.stderr
    );
    assert_eq!(serving.code, 5, "{}", serving.stderr);
}

#[tokio::test]
async fn the_password_is_wrong() {
    let locked = Fake::locked().await;
    let command = Command::at(&locked.url).env("OPENCODE_SERVER_PASSWORD", "hunter2");
    for verb in [
        "list",
        "show ses_1234",
        "watch ses_1234",
        "pause ses_1234",
        "serve",
    ] {
        let done = command.goal(&format!("{verb} --json")).await;
        assert_eq!(
            (done.code, done.error()),
            (4, "unauthorized".to_owned()),
            "{verb}"
        );
        assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
    }
}

#[tokio::test]
async fn the_password_is_right() {
    let fake = Fake::with_password("hunter2").await;
    let wrong = Command::at(&fake.url).goal("list --json").await;
    assert_eq!(wrong.code, 4, "{}", wrong.stdout);
    let command = Command::at(&fake.url).env("OPENCODE_SERVER_PASSWORD", "hunter2");
    let right = command.goal("list --json").await;
    assert_eq!(right.json(), json!({ "status": "ok", "goals": [] }));
}

#[tokio::test]
async fn something_else_answers() {
    let foreign = Fake::foreign().await;
    let old = Fake::on(listen().await, "1.14.34");
    for url in [&foreign.url, &old.url] {
        for verb in ["list", "watch ses_1234", "serve"] {
            let done = Command::at(url).goal(&format!("{verb} --json")).await;
            assert_eq!(
                (done.code, done.error()),
                (5, "notOpenCode".to_owned()),
                "{verb}"
            );
        }
    }
    let done = Command::at(&old.url).goal("list").await;
    assert!(done.stderr.contains("1.14.34"), "{}", done.stderr);
}

#[tokio::test]
async fn a_flag_wins_over_its_variable() {
    let fake = Fake::start().await;
    let command = Command::at("http://127.0.0.1:1");
    let done = command
        .goal(&format!("list --json --server {}", fake.url))
        .await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let empty = Command::at("").goal("list --json").await;
    assert_eq!(empty.error(), "noServer");
}

#[tokio::test]
async fn a_goal_is_shown() {
    let fake = Fake::start().await;
    fake.put_goal(
        "ses_1234",
        goal("g_1", "blocked", "auto-continuation limit reached"),
    );
    let command = Command::at(&fake.url);
    let done = command.goal("show ses_1234 --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let shown = done.json();
    assert_eq!(shown["status"], "ok");
    let expected = json!({
        "sessionID": "ses_1234",
        "title": "Fix the parser",
        "directory": DIRECTORY,
        "goalID": "g_1",
        "objective": "All tests pass",
        "status": "blocked",
        "reason": "auto-continuation limit reached",
        "note": "two of three done",
        "phase": "settled",
        "why": "blocked",
        "detail": "",
        "since": 2_000,
        "until": null,
        "tokensUsed": 5,
        "tokenBudget": null,
        "turnsUsed": 2,
        "blockedStreak": 0,
        "auditFailStreak": 0,
        "auditedBy": null,
        "firstMessageID": null,
        "createdAt": 1_000,
        "updatedAt": 2_000,
        "activeMs": 0,
    });
    assert_eq!(shown["goal"], expected);

    let done = command.goal("show ses_1234").await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.starts_with("ses_1234  Fix the parser\n"),
        "{}",
        done.stdout
    );
    let status = "  Status        blocked: the automatic continuations are used up\n";
    assert!(done.stdout.contains(status), "{}", done.stdout);
}

#[tokio::test]
async fn a_session_without_a_goal_and_one_that_is_not_there() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({ "other": 1 }));
    let command = Command::at(&fake.url);
    for verb in ["show", "why", "pause", "resume", "complete"] {
        let done = command.goal(&format!("{verb} ses_1234 --json")).await;
        assert_eq!(
            (done.code, done.error()),
            (1, "noGoal".to_owned()),
            "{verb}"
        );
        let done = command.goal(&format!("{verb} ses_none --json")).await;
        assert_eq!(
            (done.code, done.error()),
            (2, "unknownSession".to_owned()),
            "{verb}"
        );
    }
    let done = command.goal("watch ses_none --json").await;
    assert_eq!((done.code, done.error()), (2, "unknownSession".to_owned()));
}

#[tokio::test]
async fn goals_are_listed_with_active_ones_first_and_nothing_steers_the_terminal() {
    let fake = Fake::start().await;
    let mut ended = goal("g_1", "paused", "\u{1b}[2J\u{9b}2Jlater");
    ended["updatedAt"] = json!(9_000);
    fake.put_goal("ses_1111", ended);
    fake.put_goal("ses_2222", goal("g_2", "active", ""));
    fake.put("ses_3333", json!({}));
    let command = Command::at(&fake.url);
    let done = command.goal("list --json").await;
    let goals = done.json()["goals"].clone();
    let ids: Vec<_> = (0..2).map(|n| goals[n]["sessionID"].clone()).collect();
    assert_eq!(ids, [json!("ses_2222"), json!("ses_1111")]);
    assert_eq!(goals[1]["reason"], "\u{1b}[2J\u{9b}2Jlater");
    let people = command.goal("list").await;
    assert_eq!(people.stdout.lines().count(), 3, "{}", people.stdout);
    for output in [&people.stdout, &done.stdout] {
        let harmful = |c: char| c.is_control() && c != '\n';
        assert!(!output.contains(harmful), "{output:?}");
    }
}

#[tokio::test]
async fn why_nothing_happens_is_explained() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "active", ""));
    let command = Command::at(&fake.url);
    let done = command.goal("why ses_1234 --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let told = done.json();
    assert_eq!(told["look"]["decision"], "rest");
    assert_eq!(told["look"]["why"], "noAssistantYet");
    assert_eq!(told["recent"], json!([]));
    let people = command.goal("why ses_1234").await;
    let look = "A look right now says:\n  rests · the session has no reply yet";
    assert!(people.stdout.contains(look), "{}", people.stdout);
}

#[tokio::test]
async fn a_reader_that_goes_away_is_no_failure() {
    let fake = Fake::start().await;
    let mut running = Command::at(&fake.url).start("list");
    running.close_output();
    assert_eq!(running.end().await.0, 0);
}
