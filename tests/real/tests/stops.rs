//! Every way to stop a turn pauses the goal, and Resume goes over each of them.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup, continued, in_phase, looked_again, settled};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{Progress, ScriptedModel, Step};

const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

/// Resumes the paused goal with the command and sees it through to its end: one continuation over
/// the stop, no audit of the stopped turn.
async fn resume_goes_over_it(house: &House, serve: &mut Serve) {
    assert_eq!(
        house.model.audit_calls().len(),
        0,
        "a stopped turn is not audited"
    );
    let before = house.prompts().await.unwrap().len();
    let resumed = house.goal("resume", &[]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    over_the_stop(house, serve, before).await;
}

async fn over_the_stop(house: &House, serve: &mut Serve, prompts_before: usize) {
    let end = settled(serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(continued(serve), ["resumed"]);
    assert_eq!(house.prompts().await.unwrap().len(), prompts_before + 1);
    assert_eq!(house.model.audit_calls().len(), 1);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    assert_eq!(house.model.unused(), (0, 0));
}

async fn paused_for(serve: &mut Serve, reason: &str) {
    let paused = settled(serve).await.unwrap();
    assert_eq!(paused["status"], "paused", "{paused}");
    assert_eq!(paused["reason"], reason, "{paused}");
}

const STOPPED: &str = "paused after the turn was stopped";

#[tokio::test]
async fn an_abort_while_a_tool_runs() {
    let wait = json!({ "command": "echo begun; sleep 60", "description": "wait" });
    let model = ScriptedModel::builder()
        .turn([Step::tool("bash", wait), Step::say("never said")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Wait for a minute").await.unwrap();
    let begun = |event: &Value| {
        let state = &event["properties"]["part"]["state"];
        state["status"] == "running"
            && state["metadata"]["output"]
                .as_str()
                .is_some_and(|output| output.contains("begun"))
    };
    stream.next(begun, PATIENCE).await.unwrap();

    house.server.abort(&house.session).await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn an_abort_while_the_provider_is_retried() {
    let model = ScriptedModel::builder()
        .turn([Step::error_retry_after(429, 60)])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    stream
        .status(&house.session, "retry", PATIENCE)
        .await
        .unwrap();

    house.server.abort(&house.session).await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn an_abort_while_a_broken_answer_is_retried() {
    let model = ScriptedModel::builder()
        .turn([Step::broken_stream()])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    stream
        .status(&house.session, "retry", PATIENCE)
        .await
        .unwrap();

    house.server.abort(&house.session).await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    let messages = house.server.messages(&house.session).await.unwrap();
    let parts = messages.last().unwrap()["parts"].to_string();
    assert!(
        parts.contains("partial answer"),
        "the stage is set: {parts}"
    );
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn a_refused_permission() {
    let list = json!({ "command": "ls", "description": "list" });
    let model = ScriptedModel::builder()
        .turn([Step::tool("bash", list), Step::say("never said")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let setup = Setup {
        config: Some(json!({ "permission": { "bash": "ask" } })),
        ..Setup::default()
    };
    let house = House::build(model, setup).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("List the files").await.unwrap();
    let asked = stream.of_type("permission.asked", PATIENCE).await.unwrap();

    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    let reject = json!({ "reply": "reject" });
    house
        .server
        .call(Method::POST, &path, Some(&reject))
        .await
        .unwrap();

    paused_for(&mut serve, "paused after you declined a request").await;
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn a_dismissed_question() {
    let question = json!({ "questions": [{
        "question": "Which colour?",
        "header": "Colour",
        "options": [
            { "label": "Red", "description": "warm" },
            { "label": "Blue", "description": "cold" },
        ],
    }] });
    let model = ScriptedModel::builder()
        .turn([Step::tool("question", question), Step::say("never said")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Paint the wall").await.unwrap();
    let asked = stream.of_type("question.asked", PATIENCE).await.unwrap();

    let path = format!("/question/{}/reject", asked["id"].as_str().unwrap());
    house
        .server
        .call(Method::POST, &path, Some(&json!({})))
        .await
        .unwrap();

    paused_for(&mut serve, "paused after you declined a request").await;
    resume_goes_over_it(&house, &mut serve).await;
}

/// A goal whose first turn somebody stopped, ready to be resumed.
async fn stopped_goal() -> (House, Serve) {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", "I begin with")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    house.server.abort(&house.session).await.unwrap();
    paused_for(&mut serve, STOPPED).await;
    (house, serve)
}

/// Writes what a client that does not know our fields writes for Resume.
async fn resume_of_another_client(house: &House) {
    let mut metadata = house.metadata().await.unwrap();
    let goal = metadata["openchamber"]["goal"].as_object_mut().unwrap();
    let updated = goal["updatedAt"].as_u64().unwrap() + 1;
    goal.insert("status".to_owned(), json!("active"));
    goal.insert("statusReason".to_owned(), json!("resumed"));
    goal.insert("blockedStreak".to_owned(), json!(0));
    goal.insert("turnsUsed".to_owned(), json!(0));
    goal.insert("updatedAt".to_owned(), json!(updated));
    for ours in ["resumedOver", "continuedAfter", "activeMs"] {
        goal.remove(ours);
    }
    house.write_metadata(&metadata).await.unwrap();
}

#[tokio::test]
async fn another_clients_resume_goes_over_a_stop() {
    let (house, mut serve) = stopped_goal().await;

    resume_of_another_client(&house).await;

    over_the_stop(&house, &mut serve, 1).await;
}

#[tokio::test]
async fn another_clients_resume_that_nobody_saw_grants_nothing() {
    let (house, mut first) = stopped_goal().await;
    first.terminate();
    first.wait(PATIENCE).await.unwrap();
    resume_of_another_client(&house).await;

    let mut serve = house.serve().await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    assert_eq!(house.prompts().await.unwrap().len(), 1, "nothing was sent");
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn a_compaction_after_a_stop_does_not_hide_it() {
    let (house, mut first) = stopped_goal().await;
    first.terminate();
    first.wait(PATIENCE).await.unwrap();
    let summarize = json!({ "providerID": "fake", "modelID": "big" });
    house.post("summarize", &summarize).await.unwrap();
    resume_of_another_client(&house).await;

    let mut serve = house.serve().await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn a_second_abort_pauses_again() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", "I begin with")])
        .turn([Step::held("again", "I go on with")])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    house.server.abort(&house.session).await.unwrap();
    paused_for(&mut serve, STOPPED).await;
    house.goal("resume", &[]).await.unwrap();
    house.model.reached("again", PATIENCE).await.unwrap();

    house.server.abort(&house.session).await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(house.model.audit_calls().len(), 0);
}

#[tokio::test]
async fn an_abort_that_drops_a_queued_prompt() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", "I begin with")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    house
        .server
        .prompt(&house.session, "In French, please")
        .await
        .unwrap();

    house.server.abort(&house.session).await.unwrap();

    paused_for(&mut serve, STOPPED).await;
    assert_eq!(house.prompts().await.unwrap()[1], "In French, please");
    assert_eq!(house.model.work_calls().len(), 1, "it was never run");
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn pausing_stops_the_turn_and_its_sub_agent() {
    let task = json!({
        "description": "look around",
        "prompt": "Look around in the project",
        "subagent_type": "general",
    });
    let model = ScriptedModel::builder()
        .turn([Step::tool("task", task), Step::say("never said")])
        .turn([Step::held("sub", "I look")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Have somebody look around").await.unwrap();
    house.model.reached("sub", PATIENCE).await.unwrap();
    assert_eq!(house.busy().await.unwrap().len(), 2, "both work");

    let paused = house.goal("pause", &[]).await.unwrap();

    assert_eq!(paused.code, Some(0), "{paused:?}");
    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "paused");
    let sub_agent_gone = |requests: &[testkit::model::Request]| {
        requests
            .iter()
            .any(|request| request.number == 2 && request.progress == Progress::ClientGone)
    };
    house
        .model
        .wait_for(sub_agent_gone, PATIENCE)
        .await
        .unwrap();
    assert_eq!(house.busy().await.unwrap(), Vec::<String>::new());
    resume_goes_over_it(&house, &mut serve).await;
}

#[tokio::test]
async fn a_prompt_stopped_before_it_began_waits_for_the_user() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Done: a bit. Verified: yes. Remaining: more.")])
        .audit_gate("judging")
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "2000")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();

    // As a stop right after the prompt leaves it: stored, not answered, nobody at work.
    let note = json!({ "noReply": true, "parts": [{ "type": "text", "text": "In French" }] });
    house.post("prompt_async", &note).await.unwrap();

    in_phase(&mut serve, "waitingForYou", "userPending")
        .await
        .unwrap();
    looked_again(&mut serve, "waitingForYou", "userPending")
        .await
        .unwrap();
    assert_eq!(
        continued(&serve),
        [""; 0],
        "the verdict came too late and nothing is sent"
    );
    let resumed = house.goal("resume", &[]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(continued(&serve), ["resumed"]);
    assert_eq!(house.prompts().await.unwrap().len(), 3);
}
