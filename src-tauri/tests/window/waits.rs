//! What a goal waits for: an answer of its user, a sub-agent.

use serde_json::json;
use testkit::model::{ScriptedModel, Step};
use testkit::window::PATIENCE;

use crate::desktop::{Desktop, app};

#[tokio::test]
async fn a_permission_is_waited_for_and_asked_for_once() {
    let write = json!({ "command": "echo allowed > made.txt", "description": "Write" });
    let model = ScriptedModel::builder()
        .turn([Step::tool("bash", write), Step::say("It was written.")])
        .audit_verdict("complete", "the file is there")
        .start()
        .unwrap();
    let mut asking = app();
    asking.opencode = json!({ "permission": { "bash": "ask" } });
    let mut desktop = Desktop::open_as(model, asking).await;
    desktop.arm_and_send("Write the file").await;
    desktop.goal_says("Waiting for you: bash").await;
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "A permission is asked for");
    desktop.picture("goal-waiting").await;

    desktop.press("Allow once").await;
    desktop.shows("It was written.").await;
    desktop.goal_says("the file is there").await;
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");
    assert_eq!(
        desktop.told().await,
        ["waitingForPermission", "goalComplete"]
    );
    assert_eq!(desktop.notifyd.others(), []);
}

#[tokio::test]
async fn a_sub_agent_in_the_background_is_waited_for() {
    let task = json!({
        "description": "look around",
        "prompt": "Look around in the project",
        "subagent_type": "general",
        "background": true,
    });
    let model = ScriptedModel::builder()
        .turn([
            Step::tool("task", task),
            Step::say("Somebody looks around."),
        ])
        .turn([Step::held("sub", "A file.")])
        .turn([Step::say("All of it was seen.")])
        .audit_verdict("complete", "everything was seen")
        .start()
        .unwrap();
    let app = app().with("OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS", "true");
    let desktop = Desktop::open_as(model, app).await;
    desktop.arm_and_send("Have somebody look around").await;
    desktop.model.reached("sub", PATIENCE).await.unwrap();
    desktop.shows("Somebody looks around.").await;
    desktop.goal_says("a sub-agent works").await;
    desktop.picture("goal-sub-agent").await;
    assert_eq!(desktop.model.audit_calls().len(), 0);
    desktop.model.release("sub");

    desktop.shows("All of it was seen.").await;
    desktop.goal_says("everything was seen").await;
    assert_eq!(desktop.model.audit_calls().len(), 1);
    assert_eq!(desktop.model.unused(), (0, 0));
    assert_eq!(desktop.told().await, ["goalComplete"]);
}
