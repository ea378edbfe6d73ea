//! Goals in the app: armed in the composer, pursued to their end, stopped, taken up again.

use testkit::model::{ScriptedModel, Step};
use testkit::window::PATIENCE;

use crate::desktop::Desktop;

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
    desktop.write("Write the parser and its tests").await;
    desktop.press("Make the next message a goal").await;
    desktop.shows("fake/small").await;
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
async fn stop_pauses_the_goal_and_resume_goes_on() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .turn([Step::say("Done after all.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.write("Finish the work").await;
    desktop.press("Make the next message a goal").await;
    desktop.press("Send").await;
    desktop.shows("Working on it.").await;
    desktop.press("Stop (Ctrl+.)").await;
    desktop.shows("Paused").await;
    desktop.picture("goal-paused").await;
    assert_eq!(desktop.model.work_calls().len(), 1);
    desktop.press("Resume").await;
    desktop.shows("Done after all.").await;
    desktop.shows("everything was checked").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
}
