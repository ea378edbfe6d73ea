//! Objectives that are too long for the auditor, on the real server (O10-O12).

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup};
use serde_json::{Value, json};
use testkit::model::{Request, ScriptedModel, Step};
use testkit::openchamber::Output;

const CRITERIA: &str = "- the file one.txt exists, shown by listing the folder";

const REPORT: &str = "Done: one.txt. Verified: listed it. Remaining: nothing.";

/// A plan of far more than 5,000 characters, from its first line to its last.
fn plan() -> String {
    let middle = "Then do the next step of the plan.\n".repeat(300);
    format!("FIRST: create the file one.txt\n{middle}LAST: list the folder")
}

/// Starts a goal with the plan, has it pursued to its end, and gives what the start told and what
/// was asked without tools, in order.
async fn pursued(house: &House) -> (Output, Vec<Request>) {
    let mut serve = house.serve().await.unwrap();
    let started = house.start(&plan()).await.unwrap();
    assert_eq!(started.code, Some(0), "{started:?}");
    assert_eq!(house.audits_left().await.unwrap(), 0, "it waits for that");
    let settled = |event: &Value| event["event"] == "settled";
    let end = serve.next_event(settled, PATIENCE).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.prompts().await.unwrap(), [plan()]);
    (started, house.model.audit_calls())
}

#[tokio::test]
async fn a_long_objective_is_judged_by_its_criteria_and_told_whole() {
    let model = ScriptedModel::builder()
        .audit_raw(CRITERIA)
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "the file exists")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();

    let (started, asked) = pursued(&house).await;

    let told = &started.lines[0];
    assert_eq!(
        (&told["shortened"], &told["notDistilled"]),
        (&json!(true), &json!(null))
    );
    assert!(told["distilledBy"].is_string(), "{told}");
    assert_eq!(asked.len(), 2);
    assert!(asked[0].system_text().contains("completion criteria"));
    assert!(asked[0].mentions("Then do the next step") && asked[0].mentions("LAST: list"));
    assert_eq!(asked[0].tools(), Vec::<String>::new());
    assert!(asked[1].mentions(CRITERIA), "{:?}", asked[1].body);
    assert!(!asked[1].mentions("Then do the next step"));
    assert_eq!(house.model.unused(), (0, 0));
}

#[tokio::test]
async fn a_long_objective_that_nobody_condenses_is_judged_by_its_ends() {
    let model = ScriptedModel::builder()
        .audit_error(401)
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "the file exists")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();

    let (started, asked) = pursued(&house).await;

    assert_eq!(started.lines[0]["notDistilled"], "provider");
    let judged = asked.last().unwrap();
    assert!(judged.mentions("FIRST: create") && judged.mentions("LAST: list"));
    assert!(judged.mentions("trimmed here for the auditor"));
}

#[tokio::test]
async fn a_start_that_is_interrupted_leaves_no_session_and_no_goal() {
    let model = ScriptedModel::builder()
        .audit([Step::held("criteria", "- the file")])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let words = ["goal", "start", &house.session, "--objective", &plan()];
    let mut start = house.command.start(&words).unwrap();
    house.model.reached("criteria", PATIENCE).await.unwrap();
    assert_eq!(house.audits_left().await.unwrap(), 1);

    start.interrupt();
    let end = start.wait(PATIENCE).await.unwrap();
    assert_eq!(end.code(), Some(130), "{}", start.errors());

    assert_eq!(house.audits_left().await.unwrap(), 0);
    assert_eq!(house.stored().await.unwrap(), Value::Null);
}
