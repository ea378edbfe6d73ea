//! Goals in the app, from the armed message to their end: audits, budget, another objective.

use serde_json::json;
use testkit::model::{ScriptedModel, Step};
use testkit::window::PATIENCE;

use crate::desktop::{Desktop, ESCAPE, app};

#[tokio::test]
async fn an_armed_message_is_pursued_until_the_audit_finds_it_met() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Half of it is done.")])
        .audit_verdict("continue", "the tests are missing")
        .turn([Step::gate("second"), Step::say("All of it is done.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    desktop.arm("Write the parser and its tests").await;
    desktop.picture("armed").await;
    desktop.press("Send").await;
    desktop.shows("Half of it is done.").await;
    desktop.model.reached("second", PATIENCE).await.unwrap();
    desktop.shows("Continued by the goal").await;
    desktop.shows("the tests are missing").await;
    desktop.picture("goal-continued").await;
    desktop.model.release("second");
    desktop.shows("All of it is done.").await;
    desktop.shows("everything was checked").await;
    desktop.picture("goal-complete").await;

    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal complete");
    assert_eq!(desktop.model.work_calls().len(), 2);
    assert_eq!(desktop.model.audit_calls().len(), 2);
}

#[tokio::test]
async fn three_verdicts_of_blocked_end_the_goal_and_resume_goes_on() {
    let model = ScriptedModel::builder()
        .turn([Step::say("The key is missing.")])
        .audit_verdict("blocked", "there is no key")
        .turn([Step::say("I asked for the key.")])
        .audit_verdict("blocked", "the key was asked for")
        .turn([Step::say("Nobody has the key.")])
        .audit_verdict("blocked", "nobody has the key")
        .turn([Step::say("The key was found.")])
        .audit_verdict("complete", "the key works")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    desktop.arm_and_send("Sign the release").await;
    desktop.goal_says("Blocked").await;
    desktop.goal_says("Nobody has the key").await;
    desktop.picture("goal-blocked").await;
    assert_eq!(desktop.model.audit_calls().len(), 3);
    assert_eq!(desktop.model.work_calls().len(), 3);
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal blocked");

    desktop.press("Resume").await;
    desktop.goal_says("the key works").await;
    desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(desktop.told().await, ["goalBlocked", "goalComplete"]);
    assert_eq!(desktop.notifyd.others(), []);
}

#[tokio::test]
async fn a_spent_budget_is_raised_in_the_dialog_and_the_goal_goes_on() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Half of it is done.").usage(2_000, 100)])
        .audit_verdict("continue", "the other half is missing")
        .turn([Step::say("All of it is done.").usage(2_200, 100)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    desktop.arm("Write the report").await;
    desktop.press("No token budget").await;
    desktop.press("Token budget").await;
    desktop.fill("Tokens", "1000").await;
    desktop.picture("armed-budget").await;
    desktop.page.press(ESCAPE).await.unwrap();
    desktop.shows("Budget 1.0K tokens").await;
    desktop.press("Send").await;

    desktop.goal_says("2.1K of 1.0K used").await;
    desktop.picture("goal-budget").await;
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(note.summary, "Goal out of budget");
    assert_eq!(
        desktop.model.audit_calls().len(),
        0,
        "nothing is spent on it"
    );

    desktop.press("Raise and resume").await;
    desktop
        .shows("The budget is spent: give it more to go on.")
        .await;
    desktop.picture("goal-budget-raised").await;
    desktop.press("Raise and resume").await;
    desktop.goal_says("everything was checked").await;
    desktop.goal_says("2.3K / 103K tokens").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
    desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(desktop.told().await, ["goalBudgetLimited", "goalComplete"]);
}

#[tokio::test]
async fn an_objective_changed_during_the_audit_is_not_settled_by_its_verdict() {
    let model = ScriptedModel::builder()
        .turn([Step::say("The report is written.")])
        .audit_gate("audit")
        .audit_verdict("complete", "the report is there")
        .audit_verdict("continue", "the summary is missing")
        .turn([Step::say("The report has a summary.")])
        .audit_verdict("complete", "the summary is there, too")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    desktop.arm_and_send("Write the report").await;
    desktop.model.reached("audit", PATIENCE).await.unwrap();
    desktop.goal_says("evaluating: audit").await;
    desktop.manage().await;
    desktop.picture("goal-dialog").await;
    desktop
        .fill("Objective", "Write the report and a summary")
        .await;
    desktop.press("Save").await;
    desktop.hides("Mark complete").await;
    desktop.model.release("audit");

    desktop.shows("Continued by the goal").await;
    desktop.shows("The report has a summary.").await;
    desktop.goal_says("the summary is there, too").await;
    desktop.picture("goal-edited").await;
    let audits = desktop.model.audit_calls();
    assert_eq!(audits.len(), 3);
    assert!(!audits[0].mentions("and a summary"), "the stage is set");
    assert!(audits[1].mentions("Write the report and a summary"));
    let note = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(
        note.body,
        "Write the report and a summary\nthe summary is there, too"
    );
    assert_eq!(desktop.told().await, ["goalComplete"]);
}

#[tokio::test]
async fn a_condensed_history_does_not_end_the_goal() {
    let model = ScriptedModel::builder()
        .turn([Step::say("The first part is done.").usage(19_500, 100)])
        .turn([Step::say("The second part is done.").usage(2_000, 50)])
        .audit_verdict("continue", "the third part is missing")
        .turn([Step::say("All parts are done.").usage(3_000, 50)])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let mut small = app();
    let limit = json!({ "context": 20_000, "output": 1_000 });
    small.opencode = json!({ "provider": { "fake": { "models": { "big": { "limit": limit } } } } });
    let desktop = Desktop::open_as(model, small).await;
    desktop.arm_and_send("Do all three parts").await;
    desktop.shows("History condensed").await;
    desktop.shows("All parts are done.").await;
    desktop.goal_says("everything was checked").await;
    desktop.picture("goal-condensed").await;
    assert_eq!(desktop.model.unused(), (0, 0));
    assert_eq!(desktop.told().await, ["goalComplete"]);
}
