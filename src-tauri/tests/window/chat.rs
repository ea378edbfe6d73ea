//! A day's work with sessions: send, answer, stop, wait in line.

use serde_json::json;
use testkit::model::{ScriptedModel, Step};
use testkit::window::PATIENCE;

use crate::desktop::{Desktop, app};

#[tokio::test]
async fn a_message_is_answered_and_a_tools_output_is_there() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool(
                "bash",
                json!({ "command": "echo from-the-tool", "description": "Say it" }),
            ),
            Step::say("The tool **has** spoken."),
        ])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("Run the tool").await;
    desktop.shows("The tool has spoken.").await;
    desktop.shows("Run the tool").await;
    desktop.shows("echo from-the-tool").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
    assert_eq!(desktop.written().await, "");
    desktop.picture("answered").await;
}

#[tokio::test]
async fn an_answer_is_shown_while_it_comes_and_survives_a_reload() {
    let model = ScriptedModel::builder()
        .turn([Step::held("rest", "The first half is here.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("Tell it slowly").await;
    desktop.shows("The first half is here.").await;
    desktop.write("not sent yet").await;

    desktop.page.reload().await.unwrap();
    desktop.shows("Tell it slowly").await;
    assert_eq!(desktop.written().await, "not sent yet");
    desktop.model.release("rest");
    desktop.shows("The first half is here.").await;
    assert_eq!(desktop.model.work_calls().len(), 1);
}

#[tokio::test]
async fn a_permission_request_is_answered_by_its_card() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool(
                "bash",
                json!({ "command": "echo allowed > made.txt", "description": "Write" }),
            ),
            Step::say("It was written."),
        ])
        .start()
        .unwrap();
    let mut asking = app();
    asking.opencode = json!({ "permission": { "bash": "ask" } });
    let desktop = Desktop::open_as(model, asking).await;
    desktop.send("Write the file").await;
    desktop.shows("echo allowed > made.txt").await;
    desktop.picture("permission").await;
    desktop.press("Allow once").await;
    desktop.shows("It was written.").await;
    let made = desktop.running.scratch().project().join("made.txt");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "allowed\n");
}

#[tokio::test]
async fn a_question_is_answered_by_its_card() {
    let question = json!({ "questions": [{
        "question": "Which colour shall it have?",
        "header": "Colour",
        "options": [
            { "label": "Red", "description": "like fire" },
            { "label": "Blue", "description": "like the sea" },
        ],
    }] });
    let model = ScriptedModel::builder()
        .turn([Step::tool("question", question), Step::say("Painted it.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("Paint it").await;
    desktop.shows("Which colour shall it have?").await;
    desktop.picture("question").await;
    desktop.choose("Blue").await;
    desktop.press("Answer").await;
    desktop.shows("Painted it.").await;
    let calls = desktop.model.work_calls();
    assert!(calls.last().unwrap().mentions("Blue"));
}

#[tokio::test]
async fn stop_stops_the_turn_and_what_waits_in_line_is_held() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .turn([Step::say("The second answer.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("Begin").await;
    desktop.shows("Working on it.").await;
    desktop.write("And then this").await;
    desktop.press("Queue").await;
    desktop.shows("Queued:").await;
    desktop.press("Stop (Ctrl+.)").await;
    desktop.shows("Held: the turn was stopped or failed.").await;
    assert_eq!(desktop.model.work_calls().len(), 1);

    desktop.press("Send now").await;
    desktop.shows("The second answer.").await;
    desktop.hides("Queued:").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
}

#[tokio::test]
async fn what_waits_in_line_is_sent_when_the_turn_has_ended() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("first"), Step::say("The first answer.")])
        .turn([Step::say("The second answer.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("First").await;
    desktop.model.reached("first", PATIENCE).await.unwrap();
    desktop.write("Second").await;
    desktop.press("Queue").await;
    desktop.shows("Queued:").await;
    desktop.model.release("first");
    desktop.shows("The second answer.").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
}
