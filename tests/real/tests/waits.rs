//! What the loop waits for: an answer of the user, a sub-agent, the quiet after a turn.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup, continued, in_phase, looked_again, notices, settled};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{ScriptedModel, Step};

const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

fn asks_before_bash() -> Setup {
    Setup {
        config: Some(json!({ "permission": { "bash": "ask" } })),
        ..Setup::default()
    }
}

fn listing() -> Value {
    json!({ "command": "ls", "description": "list" })
}

async fn completes(house: &House, serve: &mut Serve) {
    let end = settled(serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.model.unused(), (0, 0), "every answer was asked for");
}

/// The goal waits for `subject`, and goes on waiting however often it is looked at; there was
/// exactly one notice.
async fn waits_with_one_notice(serve: &mut Serve, subject: &str, code: &str) {
    let waiting = in_phase(serve, "waitingForYou", "waitingForYou").await;
    assert_eq!(waiting.unwrap()["detail"], subject);
    looked_again(serve, "waitingForYou", "waitingForYou")
        .await
        .unwrap();
    looked_again(serve, "waitingForYou", "waitingForYou")
        .await
        .unwrap();
    let notices = notices(serve, 1).await.unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["code"], code);
    assert_eq!(notices[0]["detail"], subject);
}

/// After the answer: one audit, one more notice, no continuation.
async fn goes_on_once(house: &House, serve: &mut Serve) {
    completes(house, serve).await;
    assert_eq!(continued(serve), [""; 0]);
    assert_eq!(house.prompts().await.unwrap().len(), 1);
    assert_eq!(house.model.audit_calls().len(), 1);
    let codes: Vec<Value> = notices(serve, 2)
        .await
        .unwrap()
        .iter()
        .map(|notice| notice["code"].clone())
        .collect();
    assert_eq!(codes.len(), 2, "{codes:?}");
    assert_eq!(codes[1], "goalComplete");
}

async fn answer(house: &House, path: &str, body: Value) {
    house
        .server
        .call(Method::POST, path, Some(&body))
        .await
        .unwrap();
}

#[tokio::test]
async fn an_open_permission_request_is_waited_for() {
    let model = ScriptedModel::builder()
        .turn([Step::tool("bash", listing()), Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, asks_before_bash()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "1500")])
        .await
        .unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("List the files").await.unwrap();
    let asked = stream.of_type("permission.asked", PATIENCE).await.unwrap();

    waits_with_one_notice(&mut serve, "bash", "waitingForPermission").await;

    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    answer(&house, &path, json!({ "reply": "once" })).await;
    goes_on_once(&house, &mut serve).await;
}

#[tokio::test]
async fn a_permission_request_of_a_sub_agent_is_waited_for() {
    let task = json!({
        "description": "list the files",
        "prompt": "List the files",
        "subagent_type": "general",
    });
    let model = ScriptedModel::builder()
        .turn([Step::tool("task", task), Step::say(DONE)])
        .turn([Step::tool("bash", listing()), Step::say("Two files.")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, asks_before_bash()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "1500")])
        .await
        .unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Have the files listed").await.unwrap();
    let asked = stream.of_type("permission.asked", PATIENCE).await.unwrap();
    assert_ne!(asked["sessionID"], house.session.as_str());

    waits_with_one_notice(&mut serve, "bash", "waitingForPermission").await;

    let path = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    answer(&house, &path, json!({ "reply": "once" })).await;
    goes_on_once(&house, &mut serve).await;
}

#[tokio::test]
async fn an_open_question_is_waited_for() {
    let question = json!({ "questions": [{
        "question": "Which colour?",
        "header": "Colour",
        "options": [
            { "label": "Red", "description": "warm" },
            { "label": "Blue", "description": "cold" },
        ],
    }] });
    let model = ScriptedModel::builder()
        .turn([Step::tool("question", question), Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "1500")])
        .await
        .unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Paint the wall").await.unwrap();
    let asked = stream.of_type("question.asked", PATIENCE).await.unwrap();

    waits_with_one_notice(&mut serve, "Which colour?", "waitingForAnswer").await;

    let path = format!("/question/{}/reply", asked["id"].as_str().unwrap());
    answer(&house, &path, json!({ "answers": [["Red"]] })).await;
    goes_on_once(&house, &mut serve).await;
}

#[tokio::test]
async fn a_request_left_over_from_a_stopped_turn_holds_nobody_up() {
    let model = ScriptedModel::builder()
        .turn([Step::tool("bash", listing()), Step::say("never said")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, asks_before_bash()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("List the files").await.unwrap();
    stream.of_type("permission.asked", PATIENCE).await.unwrap();
    house.server.abort(&house.session).await.unwrap();
    assert_eq!(settled(&mut serve).await.unwrap()["status"], "paused");
    let open = house.server.call(Method::GET, "/permission", None).await;
    assert_eq!(
        open.unwrap().as_array().map(Vec::len),
        Some(1),
        "the stage is set: the server goes on listing it"
    );

    house.goal("resume", &[]).await.unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["resumed"]);
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
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let setup = Setup {
        env: vec![(
            "OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS".to_owned(),
            "true".to_owned(),
        )],
        ..Setup::default()
    };
    let house = House::build(model, setup).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "1500")])
        .await
        .unwrap();
    house.begin("Have somebody look around").await.unwrap();
    house.model.reached("sub", PATIENCE).await.unwrap();

    let waiting = in_phase(&mut serve, "waitingForSubagent", "subagentBusy").await;
    let child = waiting.unwrap()["detail"].clone();
    assert_eq!(
        house.busy().await.unwrap(),
        [child.as_str().unwrap()],
        "the session itself rests"
    );
    looked_again(&mut serve, "waitingForSubagent", "subagentBusy")
        .await
        .unwrap();
    assert_eq!(house.model.audit_calls().len(), 0);
    house.model.release("sub");

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), [""; 0], "the server itself goes on");
    assert_eq!(house.model.audit_calls().len(), 1);
    assert_eq!(house.model.work_calls().len(), 4);
}

#[tokio::test]
async fn what_the_user_types_in_the_quiet_window_goes_first() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Done: a bit. Verified: yes. Remaining: more.")])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[
            ("--idle-quiet-ms", "3000"),
            ("--interrupted-grace-ms", "9000"),
        ])
        .await
        .unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    stream
        .status(&house.session, "idle", PATIENCE)
        .await
        .unwrap();

    house
        .server
        .prompt(&house.session, "In French, please")
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), [""; 0]);
    assert_eq!(house.model.audit_calls().len(), 1);
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts, ["Write a poem", "In French, please"]);
}
