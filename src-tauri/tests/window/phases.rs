//! What befalls window and app in the middle of a goal: at each phase the truth is shown again, and
//! the goal goes on as if nothing had been.

use serde_json::json;
use testkit::model::{ScriptedModel, Step};
use testkit::window::PATIENCE;
use testkit::{OpenCode, OpenCodeOptions};

use crate::desktop::{Desktop, app_with};

/// Long enough for a window to be closed and to come back in it.
const QUIET_MS: u64 = 6_000;

#[tokio::test]
async fn a_reload_at_each_phase_changes_nothing() {
    let mut desktop = slow_desktop().await;
    at_each_phase(&desktop, async || desktop.reload().await).await;
    desktop.picture("goal-reloaded").await;
    ends_once(&mut desktop, &["Goal complete"]).await;
}

#[tokio::test]
async fn a_window_closed_at_each_phase_comes_back_with_the_truth() {
    let mut desktop = slow_desktop().await;
    at_each_phase(&desktop, async || desktop.close_and_come_back().await).await;
    desktop.picture("goal-reopened").await;
    ends_once(&mut desktop, &["OpenChamber goes on", "Goal complete"]).await;
}

/// An app whose goal has a quiet window to look at.
async fn slow_desktop() -> Desktop {
    let model = ScriptedModel::builder()
        .turn([Step::gate("first"), Step::say("Half of it is done.")])
        .audit_gate("audit")
        .audit_verdict("continue", "the tests are missing")
        .turn([Step::gate("second"), Step::say("All of it is done.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let limits = json!({ "idleQuietMs": QUIET_MS, "interruptedGraceMs": 3 * QUIET_MS });
    Desktop::open_as(model, app_with(json!({ "limits": limits }))).await
}

/// Pursues a goal, and has `befall` happen at each of its phases.
async fn at_each_phase(desktop: &Desktop, befall: impl AsyncFn()) {
    let before_and_after = async |words: &str| {
        desktop.goal_says(words).await;
        befall().await;
        desktop.goal_says(words).await;
    };
    desktop.arm_and_send("Write the parser and its tests").await;
    desktop.model.reached("first", PATIENCE).await.unwrap();
    before_and_after("the session works").await;
    desktop.model.release("first");
    before_and_after("evaluating: quiet").await;
    desktop.shows("Half of it is done.").await;
    desktop.model.reached("audit", PATIENCE).await.unwrap();
    before_and_after("evaluating: audit").await;
    desktop.model.release("audit");
    desktop.model.reached("second", PATIENCE).await.unwrap();
    before_and_after("the tests are missing").await;
    desktop.goal_says("the session works").await;
    desktop.shows("Continued by the goal").await;
    desktop.model.release("second");
    before_and_after("everything was checked").await;
    desktop.goal_says("Complete").await;
    desktop.shows("All of it is done.").await;
}

/// One continuation, one audit for each turn, one notice of the end.
async fn ends_once(desktop: &mut Desktop, shown: &[&str]) {
    for summary in shown {
        let note = desktop.notifyd.next(PATIENCE).await.unwrap();
        assert_eq!(note.summary, *summary);
    }
    assert_eq!(desktop.notifyd.others(), []);
    assert_eq!(desktop.told().await, ["goalComplete"]);
    assert_eq!(desktop.model.work_calls().len(), 2);
    assert_eq!(desktop.model.unused(), (0, 0));
}

#[tokio::test]
async fn an_app_killed_at_each_phase_goes_on_with_the_server_that_outlived_it() {
    let model = ScriptedModel::builder()
        .turn([Step::gate("first"), Step::say("Half of it is done.")])
        .audit([Step::held("never", "{")])
        .audit_verdict("continue", "the tests are missing")
        .turn([Step::gate("second"), Step::say("All of it is done.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let server = OpenCode::start(OpenCodeOptions::new(model.url()))
        .await
        .unwrap();
    let mut desktop = Desktop::open_on(&server, model).await;
    desktop.arm_and_send("Write the parser and its tests").await;
    desktop.model.reached("first", PATIENCE).await.unwrap();
    desktop.goal_says("the session works").await;
    desktop.crash_and_come_back().await;
    desktop.goal_says("the session works").await;

    desktop.model.release("first");
    desktop.model.reached("never", PATIENCE).await.unwrap();
    desktop.crash_and_come_back().await;
    desktop.model.reached("second", PATIENCE).await.unwrap();
    desktop.crash_and_come_back().await;
    desktop.goal_says("the session works").await;
    desktop.shows("Continued by the goal").await;
    desktop.picture("goal-after-crashes").await;

    desktop.model.release("second");
    desktop.goal_says("everything was checked").await;
    assert_eq!(desktop.model.audit_calls().len(), 3, "one was asked again");
    ends_once(&mut desktop, &["Goal complete"]).await;
}

#[tokio::test]
async fn an_app_killed_with_its_own_server_goes_on_after_the_grace() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "I begin with")])
        .turn([Step::say("All of it is done.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    desktop.arm_and_send("Write the parser").await;
    desktop.shows("I begin with").await;
    desktop.crash_and_come_back().await;
    desktop.shows("the turn was interrupted").await;
    desktop
        .shows("Interrupted: the server ended before this reply was complete.")
        .await;
    desktop.goal_says("everything was checked").await;
    desktop.picture("goal-after-a-crash").await;
    assert_eq!(
        desktop.running.servers().len(),
        1,
        "the first one was ended"
    );
    ends_once(&mut desktop, &["Goal complete"]).await;
}
