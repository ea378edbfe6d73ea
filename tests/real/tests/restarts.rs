//! Crashes and reloads in the middle of things: one continuation follows, never none or two.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup, continued, events_of, notices};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{Progress, Request, ScriptedModel, Step};

const MORE: &str = "Done: a bit. Verified: yes. Remaining: more.";
const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

async fn completes(house: &House, serve: &mut Serve) {
    let complete = |event: &Value| event["event"] == "settled" && event["status"] == "complete";
    serve.next_event(complete, PATIENCE).await.unwrap();
    assert_eq!(house.stored().await.unwrap()["status"], "complete");
    assert_eq!(house.model.unused(), (0, 0), "every answer was asked for");
}

/// A goal whose first turn is being answered.
async fn in_the_first_turn() -> (House, Serve) {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", "I begin with")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    (house, serve)
}

#[tokio::test]
async fn a_server_killed_in_a_turn_goes_on_after_the_grace() {
    let (mut house, mut serve) = in_the_first_turn().await;

    house.server.restart().await.unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["interrupted"]);
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    let grace = events_of(&serve, "decision")
        .iter()
        .any(|event| event["why"] == "withinGrace");
    assert!(grace, "not before the grace has ended");
}

#[tokio::test]
async fn a_server_killed_in_a_tool_of_a_continuation_goes_on_once() {
    let wait = json!({ "command": "echo begun; sleep 60", "description": "wait" });
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::tool("bash", wait), Step::say("never said")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let mut house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Wait for a minute").await.unwrap();
    let begun = |event: &Value| event["properties"]["part"]["state"]["status"] == "running";
    stream.next(begun, PATIENCE).await.unwrap();

    house.server.restart().await.unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress", "interrupted"]);
    assert_eq!(house.prompts().await.unwrap().len(), 3);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 2);
}

#[tokio::test]
async fn server_and_loop_killed_in_a_turn_go_on_once() {
    let (mut house, mut first) = in_the_first_turn().await;
    first.kill();
    first.wait(PATIENCE).await.unwrap();
    house.server.restart().await.unwrap();

    let mut serve = house.serve().await.unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["interrupted"]);
    assert_eq!(house.prompts().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_server_killed_during_an_audit_is_audited_again() {
    let model = ScriptedModel::builder()
        .turn([Step::say(DONE)])
        .audit([Step::held("judging", "{")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let mut house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();

    house.server.restart().await.unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), [""; 0], "a crash is no failed audit");
    assert_eq!(house.prompts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_loop_killed_during_an_audit_judges_again_and_sweeps_when_its_time_has_passed() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit([Step::held("judging", "{")])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut first = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();
    first.kill();
    first.wait(PATIENCE).await.unwrap();
    let left = house.audit_sessions().await.unwrap();
    assert_eq!(left.len(), 1, "the server goes on with it");

    let mut second = house.serve().await.unwrap();
    completes(&house, &mut second).await;

    // The left-over still works, and yet held nobody up.
    assert_eq!(continued(&second), ["progress"]);
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    let left_over = left[0]["id"].as_str().unwrap();
    let busy = house.busy().await.unwrap();
    assert_eq!(busy, [left_over], "it may be another program's audit");
    second.terminate();
    second.wait(PATIENCE).await.unwrap();

    let mut metadata = left[0]["metadata"].clone();
    metadata["openchamber"]["goalAudit"]["until"] = json!(1);
    let path = format!("/session/{left_over}");
    let body = json!({ "metadata": metadata });
    house
        .server
        .call(Method::PATCH, &path, Some(&body))
        .await
        .unwrap();
    let third = house.serve().await.unwrap();
    assert_eq!(house.audits_left().await.unwrap(), 0);
    let stopped = |requests: &[Request]| {
        requests
            .iter()
            .any(|request| request.number == 2 && request.progress == Progress::ClientGone)
    };
    house.model.wait_for(stopped, PATIENCE).await.unwrap();
    drop(third);
}

#[tokio::test]
async fn a_loop_that_ends_during_an_audit_leaves_no_session() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit([Step::held("judging", "{")])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();

    serve.terminate();
    assert!(serve.wait(PATIENCE).await.unwrap().success());

    assert_eq!(house.audits_left().await.unwrap(), 0);
    assert_eq!(house.stored().await.unwrap()["status"], "active");
}

#[tokio::test]
async fn a_disposed_instance_is_no_stop() {
    let (house, mut serve) = in_the_first_turn().await;

    house
        .server
        .call(Method::POST, "/instance/dispose", Some(&json!({})))
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    one_continuation_after_a_reload(&house, &mut serve).await;
}

#[tokio::test]
async fn a_changed_configuration_is_no_stop() {
    let (house, mut serve) = in_the_first_turn().await;

    house
        .server
        .call(
            Method::PATCH,
            "/global/config",
            Some(&json!({ "username": "somebody" })),
        )
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    one_continuation_after_a_reload(&house, &mut serve).await;
}

async fn one_continuation_after_a_reload(house: &House, serve: &mut Serve) {
    assert_eq!(continued(serve).len(), 1, "{:?}", serve.events());
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    assert_eq!(
        notices(serve, 1).await.unwrap().len(),
        1,
        "only the end is worth a word"
    );
}

#[tokio::test]
async fn a_reload_during_an_audit_is_asked_again() {
    let model = ScriptedModel::builder()
        .turn([Step::say(DONE)])
        .audit([Step::held("judging", "{")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();

    house
        .server
        .call(Method::POST, "/instance/dispose", Some(&json!({})))
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), [""; 0]);
    assert_eq!(house.prompts().await.unwrap().len(), 1);
    assert_eq!(house.audits_left().await.unwrap(), 0);
}
