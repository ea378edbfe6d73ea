//! Goals that their user stops: the turn, the goal, for a while or for good.

use serde_json::json;
use testkit::model::{Progress, Request, ScriptedModel, Step};
use testkit::window::PATIENCE;

use crate::desktop::{Desktop, app_with};

#[tokio::test]
async fn stop_pauses_the_goal_and_resume_goes_on() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .turn([Step::say("Done after all.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.arm_and_send("Finish the work").await;
    desktop.shows("Working on it.").await;
    desktop.press("Stop (Ctrl+.)").await;
    desktop.goal_says("Paused").await;
    desktop.picture("goal-paused").await;
    assert_eq!(desktop.model.work_calls().len(), 1);
    desktop.press("Resume").await;
    desktop.shows("Done after all.").await;
    desktop.goal_says("everything was checked").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
}

#[tokio::test]
async fn pause_ends_the_turn_and_nothing_is_sent_until_resume() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .turn([Step::say("Half of it is done.")])
        .audit_verdict("continue", "the other half is missing")
        .turn([Step::say("Done after all.")])
        .audit_verdict("complete", "everything was checked")
        .start()
        .unwrap();
    // A loop that went on all the same would do so at once.
    let hasty = json!({ "limits": { "idleQuietMs": 1, "kickoffQuietMs": 1, "resumeQuietMs": 1 } });
    let desktop = Desktop::open_as(model, app_with(hasty)).await;
    desktop.arm_and_send("Finish the work").await;
    desktop.shows("Working on it.").await;
    desktop.press("Pause").await;
    desktop.goal_says("Paused by you").await;
    desktop
        .model
        .wait_for(first_has_ended, PATIENCE)
        .await
        .unwrap();

    // A paused goal's session is one to talk in.
    desktop.send("How far are you?").await;
    desktop.shows("Half of it is done.").await;
    desktop.shows("tokens").await;
    desktop.manage().await;
    desktop.picture("goal-paused-dialog").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
    assert_eq!(desktop.model.audit_calls().len(), 0);

    desktop.press("Resume").await;
    desktop.shows("Done after all.").await;
    desktop.goal_says("everything was checked").await;
    assert_eq!(desktop.model.work_calls().len(), 3);
    assert_eq!(desktop.told().await, ["goalComplete"]);
}

#[tokio::test]
async fn a_goal_removed_while_the_agent_works_is_gone() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "Working on it.")])
        .turn([Step::say("Of course.")])
        .start()
        .unwrap();
    let hasty = json!({ "limits": { "idleQuietMs": 1, "kickoffQuietMs": 1, "resumeQuietMs": 1 } });
    let mut desktop = Desktop::open_as(model, app_with(hasty)).await;
    desktop.arm_and_send("Finish the work").await;
    desktop.shows("Working on it.").await;
    desktop.manage().await;
    desktop.press("Remove").await;
    desktop.shows("Remove this goal?").await;
    desktop.picture("goal-remove").await;
    desktop.press("Remove the goal").await;
    desktop.has_no_goal().await;
    desktop
        .model
        .wait_for(first_has_ended, PATIENCE)
        .await
        .unwrap();

    desktop.send("Do something else").await;
    desktop.shows("Of course.").await;
    desktop.shows("tokens").await;
    desktop.picture("goal-removed").await;
    assert_eq!(desktop.model.work_calls().len(), 2);
    assert_eq!(desktop.model.audit_calls().len(), 0);
    assert_eq!(desktop.told().await, [""; 0]);
    assert_eq!(desktop.notifyd.others(), []);
}

/// The answer to the first message was given up by the server.
fn first_has_ended(requests: &[Request]) -> bool {
    let work = |request: &&Request| request.kind == testkit::model::Kind::Work;
    let first = requests.iter().find(work);
    first.is_some_and(|request| request.progress == Progress::ClientGone)
}
