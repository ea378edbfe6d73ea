//! `start`, `pause`, `resume`: what they write, and what they leave alone.

use serde_json::json;

use crate::command::Command;
use crate::fake::{Fake, goal};

#[tokio::test]
async fn a_pause_keeps_what_others_wrote() {
    let fake = Fake::start().await;
    let metadata = json!({
        "theirs": { "deep": [1, { "x": null }] },
        "openchamber": { "goal": goal("g_1", "active", ""), "more": true },
    });
    fake.put("ses_1234", metadata);
    let command = Command::at(&fake.url);
    let done = command.goal("pause ses_1234 --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let told = done.json();
    assert_eq!(
        (&told["status"], &told["already"]),
        (&json!("ok"), &json!(false))
    );
    assert_eq!(told["goal"]["status"], "paused");
    let written = fake.metadata("ses_1234");
    assert_eq!(written["theirs"], json!({ "deep": [1, { "x": null }] }));
    assert_eq!(written["openchamber"]["more"], true);
    let stored = &written["openchamber"]["goal"];
    assert_eq!(
        (&stored["status"], &stored["id"]),
        (&json!("paused"), &json!("g_1"))
    );
    assert_eq!(stored["ofAnotherClient"], json!([1, 2]));

    let again = command.goal("pause ses_1234").await;
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("already"), "{}", again.stdout);
    assert_eq!(fake.metadata("ses_1234"), written);
}

#[tokio::test]
async fn a_spent_budget_needs_a_larger_one() {
    let fake = Fake::start().await;
    let mut spent = goal("g_1", "budgetLimited", "token budget reached");
    spent["tokenBudget"] = json!(5);
    fake.put_goal("ses_1234", spent);
    let before = fake.metadata("ses_1234");
    let command = Command::at(&fake.url);
    for line in ["resume ses_1234", "resume ses_1234 --token-budget 5"] {
        let done = command.goal(&format!("{line} --json")).await;
        assert_eq!(
            (done.code, done.error()),
            (1, "budgetSpent".to_owned()),
            "{line}"
        );
    }
    assert_eq!(fake.metadata("ses_1234"), before);
    let done = command
        .goal("resume ses_1234 --token-budget 6 --json")
        .await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let stored = fake.metadata("ses_1234")["openchamber"]["goal"].clone();
    assert_eq!(
        (&stored["status"], &stored["tokenBudget"]),
        (&json!("active"), &json!(6))
    );
    assert_eq!(stored["turnsUsed"], 0);
    let done = command
        .goal("resume ses_1234 --no-token-budget --json")
        .await;
    assert_eq!(done.json()["goal"]["tokenBudget"], json!(null));
}

#[tokio::test]
async fn a_goal_that_is_not_complete_is_replaced_only_on_request() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "paused", ""));
    let before = fake.metadata("ses_1234");
    let command = Command::at(&fake.url);
    let done = command
        .goal("start ses_1234 --objective another --json")
        .await;
    assert_eq!((done.code, done.error()), (1, "goalExists".to_owned()));
    assert_eq!(fake.metadata("ses_1234"), before);
    let done = command
        .goal("start ses_1234 --objective another --replace --json")
        .await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_ne!(done.json()["goal"]["goalID"], "g_1");
}

#[tokio::test]
async fn a_started_goal_says_what_it_waits_for() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({}));
    fake.put("ses_5678", json!({}));
    let command = Command::at(&fake.url);
    let line = [
        "goal",
        "start",
        "ses_1234",
        "-",
        "--token-budget",
        "1000",
        "--json",
    ];
    let done = command.run(&line, "Do it\nwell\n").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    let told = done.json();
    assert_eq!(told["waitsForFirstMessage"], true);
    assert_eq!(told["shortened"], false);
    assert_eq!(
        told["auditor"],
        json!({ "model": "acme/small", "source": "config" })
    );
    assert_eq!(told["goal"]["tokenBudget"], 1_000);
    let shown = command.goal("show ses_1234 --json").await.json();
    assert_eq!(shown["goal"]["objective"], "Do it\nwell");

    let long = format!("Do {}", "it ".repeat(2_000));
    let done = command
        .run(&["goal", "start", "ses_5678", "--objective", &long], "")
        .await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    for said in [
        "waits for the first message",
        "shortened to 5000",
        "acme/small",
    ] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
}

#[tokio::test]
async fn damaged_metadata_is_left_alone() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({ "openchamber": "not an object" }));
    let done = Command::at(&fake.url)
        .goal("start ses_1234 --objective x --json")
        .await;
    assert_eq!((done.code, done.error()), (1, "corruptMetadata".to_owned()));
    assert_eq!(
        fake.metadata("ses_1234"),
        json!({ "openchamber": "not an object" })
    );
}
