//! The verbs that change goals: what they write, and what they leave alone.

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
    let shown = command.goal("start ses_5678 --objective x").await.stdout;
    for said in ["waits for the first message", "acme/small"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

/// An objective that does not fit.
fn long() -> String {
    format!("Do {}", "it ".repeat(2_000))
}

#[tokio::test]
async fn a_long_objective_is_condensed_and_both_are_told() {
    let fake = Fake::start().await;
    fake.put_reply("- it is done");
    let command = Command::at(&fake.url);
    let long = long();
    let cases: [(&str, &[&str], &str); 3] = [
        ("start", &["--replace"], "agent the same shortened copy"),
        (
            "start",
            &["--replace", "--send"],
            "The agent gets all of it",
        ),
        ("edit", &[], "agent the same shortened copy"),
    ];
    for (verb, more, told) in cases {
        fake.put_goal("ses_1234", goal("g_1", "paused", ""));
        let line = ["goal", verb, "ses_1234", "--objective", &long];
        let done = command.run(&[&line, more].concat(), "").await;
        assert_eq!(done.code, 0, "{}", done.stderr);
        for said in ["condensed by acme/small", told] {
            assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
        }
        assert!(done.stderr.contains("6002 characters"), "{}", done.stderr);
        let shown = command.goal("show ses_1234 --json").await.json();
        assert_eq!(shown["goal"]["objective"], "- it is done", "{verb}");
        assert_eq!(fake.sessions().1, ["ses_1234"]);
    }
    let line = ["goal", "edit", "ses_1234", "--json", "--objective", &long];
    let told = command.run(&line, "").await.json();
    assert_eq!(
        (
            &told["shortened"],
            &told["distilledBy"],
            &told["notDistilled"]
        ),
        (&json!(true), &json!("acme/small"), &json!(null))
    );
    assert_eq!(fake.asked().len(), 4);
}

#[tokio::test]
async fn an_objective_that_cannot_be_condensed_is_cut_with_the_reason() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({}));
    let command = Command::at(&fake.url);
    let long = long();
    let start = ["goal", "start", "ses_1234", "--objective", &long];
    let done = command.run(&start, "").await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    for said in [
        "could not be condensed",
        "the model's provider failed",
        "5000",
    ] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    let again = [&start[..], &["--replace", "--json"]].concat();
    let told = command.run(&again, "").await.json();
    assert_eq!(
        (
            &told["shortened"],
            &told["distilledBy"],
            &told["notDistilled"]
        ),
        (&json!(true), &json!(null), &json!("provider"))
    );
    assert_eq!(fake.sessions().1, ["ses_1234"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_while_an_objective_is_condensed_leaves_nothing_behind() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({}));
    fake.have_the_model_think();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), long()).unwrap();
    let line = format!("start ses_1234 --objective-file {}", file.path().display());
    let running = Command::at(&fake.url).start(&line);
    fake.until_asked().await;
    running.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(running.end().await.0, 130);
    assert_eq!(fake.sessions(), (1, vec!["ses_1234".to_owned()]));
    assert_eq!(fake.metadata("ses_1234"), json!({}));
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

#[tokio::test]
async fn an_edit_changes_objective_and_budget_and_nothing_else() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "paused", ""));
    let command = Command::at(&fake.url);
    let line = "edit ses_1234 --json --objective better --token-budget 900";
    for _ in 0..2 {
        let done = command.goal(line).await;
        assert_eq!(done.code, 0, "{}", done.stdout);
        let told = done.json();
        assert_eq!(told["goal"]["objective"], "better");
        assert_eq!(told["goal"]["phase"], json!(null));
        let stored = fake.metadata("ses_1234")["openchamber"]["goal"].clone();
        let expected = json!(["g_1", "active", 900, 2, [1, 2]]);
        let fields = [
            "id",
            "status",
            "tokenBudget",
            "turnsUsed",
            "ofAnotherClient",
        ];
        assert_eq!(json!(fields.map(|field| &stored[field])), expected);
    }
    let shown = command.goal("show ses_1234 --json").await.json();
    assert_eq!(shown["goal"]["objective"], "better");

    let done = command
        .run(
            &["goal", "edit", "ses_1234", "-", "--no-token-budget"],
            "from here",
        )
        .await;
    assert_eq!(done.code, 0, "{}", done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    let expected = [
        "Goal of ses_1234 changed",
        "  5 tokens",
        "Pursued while `openchamber goal serve` runs. To follow it:",
        "  openchamber goal watch ses_1234",
    ];
    assert_eq!(lines, expected);
    let done = command.goal("edit ses_1234 --token-budget 5").await;
    assert!(
        done.stdout.contains("stays out of budget"),
        "{}",
        done.stdout
    );
    let stored = fake.metadata("ses_1234")["openchamber"]["goal"].clone();
    assert_eq!(stored["status"], "budgetLimited");
}

#[tokio::test]
async fn a_complete_goal_is_not_edited() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "complete", "verified by audit"));
    let before = fake.metadata("ses_1234");
    let done = Command::at(&fake.url)
        .goal("edit ses_1234 --objective more --json")
        .await;
    assert_eq!((done.code, done.error()), (1, "wrongStatus".to_owned()));
    assert_eq!(fake.metadata("ses_1234"), before);
}

#[tokio::test]
async fn a_goal_is_marked_complete_once() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1234", goal("g_1", "blocked", "empty replies"));
    let command = Command::at(&fake.url);
    let done = command.goal("complete ses_1234 --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(done.json()["already"], false);
    let written = fake.metadata("ses_1234");
    let stored = &written["openchamber"]["goal"];
    assert_eq!(
        (&stored["status"], &stored["statusReason"]),
        (&json!("complete"), &json!("marked by user"))
    );
    let again = command.goal("complete ses_1234 --json").await;
    assert_eq!(
        (again.code, again.json()["already"].clone()),
        (0, json!(true))
    );
    assert_eq!(fake.metadata("ses_1234"), written);
    let people = command.goal("complete ses_1234").await;
    assert!(people.stdout.contains("already"), "{}", people.stdout);
}

#[tokio::test]
async fn a_goal_is_taken_out_and_nothing_of_others() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    fake.put("ses_1234", json!({ "theirs": 1 }));
    command.goal("start ses_1234 --objective x").await;
    let file = command.home().join("data/goals");
    assert_eq!(std::fs::read_dir(&file).unwrap().count(), 1);
    let done = command.goal("clear ses_1234 --json").await;
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(done.json()["already"], false);
    assert_eq!(fake.metadata("ses_1234")["theirs"], 1);
    assert_eq!(
        fake.metadata("ses_1234")["openchamber"]["goal"],
        json!(null)
    );
    assert_eq!(std::fs::read_dir(&file).unwrap().count(), 0);
    let again = command.goal("clear ses_1234 --json").await;
    assert_eq!(
        (again.code, again.json()["already"].clone()),
        (0, json!(true))
    );
    let people = command.goal("clear ses_1234").await;
    assert_eq!(people.stdout, "ses_1234 has no goal; nothing was done\n");
    let unknown = command.goal("clear ses_none --json").await;
    assert_eq!(unknown.error(), "unknownSession");
}

#[tokio::test]
async fn all_goals_are_paused_but_those_that_cannot_be() {
    let fake = Fake::start().await;
    fake.put_goal("ses_1111", goal("g_1", "active", ""));
    fake.put_goal("ses_2222", goal("g_2", "active", ""));
    fake.put_goal("ses_3333", goal("g_3", "blocked", "empty replies"));
    fake.put_stuck("ses_1111");
    let command = Command::at(&fake.url);
    let done = command.goal("pause --all --json").await;
    assert_eq!((done.code, done.error()), (1, "notAllPaused".to_owned()));
    let told = done.json();
    let which = told["error"]["message"].to_string();
    assert!(
        which.contains("1 of 2") && which.contains("ses_1111"),
        "{which}"
    );
    assert_eq!(told["goals"].as_array().unwrap().len(), 2, "{told}");
    let status = |id: &str| fake.metadata(id)["openchamber"]["goal"]["status"].clone();
    let all = ["ses_1111", "ses_2222", "ses_3333"].map(status);
    assert_eq!(all, ["active", "paused", "blocked"]);

    fake.put_goal("ses_2222", goal("g_2", "active", ""));
    let people = command.goal("pause --all").await;
    assert_eq!(people.code, 1);
    assert_eq!(people.stdout, "Goal of ses_2222 paused\n");
    assert!(people.stderr.contains("ses_1111"), "{}", people.stderr);
    fake.delete("ses_1111");
    let people = command.goal("pause --all").await;
    assert_eq!(people.code, 0, "{}", people.stderr);
    assert!(
        people.stdout.contains("nothing was done"),
        "{}",
        people.stdout
    );
}

#[tokio::test]
async fn advice_is_given_once() {
    let fake = Fake::start().await;
    fake.put("ses_1234", json!({}));
    let mut spent = goal("g_1", "budgetLimited", "token budget reached");
    spent["tokenBudget"] = json!(5);
    fake.put_goal("ses_5678", spent);
    let command = Command::at(&fake.url);
    for (line, advice) in [
        ("show ses_1234", "openchamber goal start"),
        ("start ses_5678 --objective x", "--replace"),
        ("resume ses_5678", " --token-budget"),
    ] {
        let told = command.goal(line).await.stderr;
        assert_eq!(told.matches(advice).count(), 1, "{line}: {told}");
    }
}
