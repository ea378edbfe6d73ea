//! Sessions made, written to and copied from the command line, on the real server.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup};
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, Step};

const REPORT: &str = "Done: one.txt. Verified: listed it. Remaining: nothing.";

const MOVE: &str = r#"/move "src old" dist extra"#;

const MOVED: &str = "Move src old to dist extra";

/// Runs `session <words…>` and makes sure that it ends with `code`.
async fn session(house: &House, words: &[&str], code: i32) -> Value {
    let arguments = [&["session"], words].concat();
    let done = house.command.run(&arguments, "", PATIENCE).await.unwrap();
    assert_eq!(done.code, Some(code), "{words:?}: {done:?}");
    done.lines[0].clone()
}

/// A house whose project has a command of its own.
async fn with_a_command(model: ScriptedModel) -> House {
    let mut house = House::build(model, Setup::default()).await.unwrap();
    let folder = house.server.project().join(".opencode/command");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("move.md"), "Move $1 to $2\n").unwrap();
    // A new command is seen after a restart only.
    house.server.restart().await.unwrap();
    house
}

#[tokio::test]
async fn a_session_is_made_for_a_goal_and_followed_to_its_end() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Done: nothing yet. Remaining: one.txt.")])
        .audit_verdict("continue", "one.txt is missing")
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "the file exists")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let _serve = house.serve().await.unwrap();
    let dir = house.server.project();
    let dir = dir.to_str().unwrap();
    let words = [
        "create",
        "--dir",
        dir,
        "--title",
        "T",
        "--prompt",
        "Create one.txt",
        "--goal",
    ];
    let wait = [
        "--goal-token-budget",
        "100000",
        "--wait",
        "--timeout",
        "50",
        "--last-assistant",
    ];
    let told = session(&house, &[&words[..], &wait].concat(), 0).await;

    assert_eq!(told["goal"]["status"], "complete", "{told}");
    assert_eq!(told["goal"]["turnsUsed"], 1);
    assert_eq!(told["goal"]["tokenBudget"], 100_000);
    assert_eq!(told["lastAssistant"], REPORT);
    let id = told["sessionID"].as_str().unwrap();
    let status = session(&house, &["status", "--session", id], 0).await;
    assert_eq!(
        (&status["state"], &status["title"]),
        (&json!("idle"), &json!("T"))
    );
    assert_eq!(status["goal"]["status"], "complete");
    let listed = session(&house, &["list", "--dir", dir], 0).await;
    let listed = listed["sessions"].as_array().unwrap();
    assert!(
        listed.iter().any(|one| one["sessionID"] == id),
        "{listed:?}"
    );
    assert_eq!(listed.len(), 2);
    let read = session(&house, &["messages", "--session", id], 0).await;
    let read = read["messages"].as_array().unwrap();
    assert_eq!(read[0]["messageID"], told["messageID"]);
    assert!(
        read[0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Create one.txt")
    );
    assert_eq!(read.last().unwrap()["text"], REPORT);
}

#[tokio::test]
async fn a_slash_command_of_the_project_becomes_a_goal() {
    let model = ScriptedModel::builder()
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "it was moved")
        .start()
        .unwrap();
    let house = with_a_command(model).await;
    let _serve = house.serve().await.unwrap();
    let words = [
        "send",
        "--session",
        &house.session,
        "--prompt",
        MOVE,
        "--goal",
        "--wait",
    ];
    let told = session(&house, &words, 0).await;

    assert_eq!(told["dispatchedAsCommand"], true, "{told}");
    assert_eq!(told["goal"]["objective"], MOVED);
    assert_eq!(told["goal"]["status"], "complete");
    let messages = house.server.messages(&house.session).await.unwrap();
    assert_eq!(messages[0]["info"]["id"], told["messageID"]);
    assert_eq!(told["goal"]["firstMessageID"], told["messageID"]);
    let parts = messages[0]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 1, "no reminder: {parts:?}");
    assert_eq!(parts[0]["text"], MOVED);
    assert!(house.model.audit_calls()[0].mentions(MOVED));
    assert_eq!(house.model.unused(), (0, 0));
}

#[tokio::test]
async fn a_command_without_a_goal_is_waited_for_by_its_turn_and_an_unknown_one_is_a_prompt() {
    let model = ScriptedModel::builder()
        .turn([Step::say("moved")])
        .turn([Step::say("no such command")])
        .start()
        .unwrap();
    let house = with_a_command(model).await;
    let send = [
        "send",
        "--session",
        &house.session,
        "--wait",
        "--last-assistant",
        "--prompt",
    ];
    let told = session(&house, &[&send[..], &[MOVE]].concat(), 0).await;
    assert_eq!(told["lastAssistant"], "moved", "{told}");
    assert_eq!(told["dispatchedAsCommand"], true);
    let told = session(&house, &[&send[..], &["/nope it"]].concat(), 0).await;
    assert_eq!(told["lastAssistant"], "no such command", "{told}");
    assert_eq!(told["dispatchedAsCommand"], false);
    assert_eq!(house.prompts().await.unwrap(), [MOVED, "/nope it"]);
}

#[tokio::test]
async fn a_copy_has_a_goal_of_its_own_and_never_that_of_its_source() {
    let model = ScriptedModel::builder()
        .turn([Step::say("first answer")])
        .turn([Step::say("answer in the copy")])
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "the file exists")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let id = house.session.as_str();
    house.server.converse(id, "hello").await.unwrap();
    let started = house
        .goal("start", &["--objective", "All of it"])
        .await
        .unwrap();
    assert_eq!(started.code, Some(0), "{started:?}");
    let source = house.stored().await.unwrap();

    let fork = ["fork", "--session", id, "--prompt", "go on", "--wait"];
    let told = session(&house, &fork, 0).await;
    let copy = told["sessionID"].as_str().unwrap();
    assert_ne!(copy, id);
    assert_eq!(
        (&told["sourceSessionID"], &told["goal"]),
        (&json!(id), &Value::Null)
    );
    let status = session(&house, &["status", "--session", copy], 0).await;
    assert_eq!(status["goal"], Value::Null);
    let read = session(&house, &["messages", "--session", copy], 0).await;
    let texts: Vec<&str> = read["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["text"].as_str())
        .collect();
    assert_eq!(
        texts,
        ["hello", "first answer", "go on", "answer in the copy"]
    );

    let paused = house.goal("pause", &[]).await.unwrap();
    assert_eq!(paused.code, Some(0), "{paused:?}");
    let _serve = house.serve().await.unwrap();
    let first = house.server.messages(id).await.unwrap()[0]["info"]["id"].clone();
    let first = first.as_str().unwrap();
    let fork = [
        "fork",
        "--session",
        id,
        "--message",
        first,
        "--prompt",
        "Create one.txt",
    ];
    let told = session(&house, &[&fork[..], &["--goal", "--wait"]].concat(), 0).await;
    assert_eq!(told["goal"]["status"], "complete", "{told}");
    assert_ne!(told["goal"]["goalID"], source["id"]);
    let stored = house.stored().await.unwrap();
    assert_eq!(
        (&stored["id"], &stored["status"]),
        (&source["id"], &json!("paused"))
    );
    let copy = told["sessionID"].as_str().unwrap();
    let read = session(&house, &["messages", "--session", copy], 0).await;
    assert_eq!(read["messages"].as_array().unwrap().len(), 2, "{read}");
}
