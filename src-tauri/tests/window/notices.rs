//! Notifications of goals: a click on one leads to its session.

use testkit::model::{ScriptedModel, Step};
use testkit::notifyd::Note;
use testkit::window::PATIENCE;

use crate::desktop::Desktop;

#[tokio::test]
async fn a_click_shows_the_session_from_another_one_and_from_no_window() {
    let model = ScriptedModel::builder()
        .turn([Step::say("The bread is baked.")])
        .audit_verdict("complete", "it smells good")
        .turn([Step::say("The soup is cooked.")])
        .audit_verdict("complete", "it is hot")
        .start()
        .unwrap();
    let mut desktop = Desktop::open(model).await;
    let bread = complete(&mut desktop, "Bake the bread", "it smells good").await;
    desktop.press("New session").await;
    desktop.hides("The bread is baked.").await;
    let soup = complete(&mut desktop, "Cook the soup", "it is hot").await;

    desktop
        .click_until_shown(&bread, "The bread is baked.")
        .await;
    desktop.goal_says("it smells good").await;
    desktop.hides("The soup is cooked.").await;
    desktop.picture("clicked").await;

    desktop.close().await;
    let hint = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(hint.summary, "OpenChamber goes on");
    desktop.notifyd.click(soup.id, "default").await.unwrap();
    desktop.is_back().await;
    desktop.shows("The soup is cooked.").await;
    desktop.goal_says("it is hot").await;
    desktop.picture("clicked-without-window").await;
}

/// Pursues a goal in the session that is shown, and gives what was told at its end.
async fn complete(desktop: &mut Desktop, objective: &str, note: &str) -> Note {
    desktop.arm_and_send(objective).await;
    desktop.goal_says(note).await;
    let told = desktop.notifyd.next(PATIENCE).await.unwrap();
    assert_eq!(told.summary, "Goal complete");
    assert_eq!(told.body, format!("{objective}\n{note}"));
    told
}
