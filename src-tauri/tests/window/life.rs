//! The app's own life: its server dies, it is started twice, its window is closed, it is ended.

use testkit::model::{ScriptedModel, Step};
use testkit::window::Running;
use testkit::{OpenCode, OpenCodeOptions};

use crate::desktop::{Desktop, app};

#[tokio::test]
async fn a_server_that_is_killed_comes_back_by_itself() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Before.")])
        .turn([Step::say("After.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("One").await;
    desktop.shows("Before.").await;
    // The foot of a turn that has ended.
    desktop.shows("tokens").await;
    let first = desktop.server().await;
    desktop.running.kill("opencode", "-KILL");
    desktop
        .running
        .until("another server is connected", async || {
            (desktop.server().await != first).then_some(())
        })
        .await;
    desktop.is_connected().await;
    desktop.send("Two").await;
    desktop.shows("After.").await;
}

#[tokio::test]
async fn a_server_elsewhere_that_comes_back_is_used_again_and_its_goal_goes_on() {
    let model = ScriptedModel::builder()
        .turn([Step::held("never", "I begin with")])
        .turn([Step::say("All of it is done.")])
        .audit_verdict("complete", "everything was checked")
        .turn([Step::say("Gladly.")])
        .start()
        .unwrap();
    let mut server = OpenCode::start(OpenCodeOptions::new(model.url()))
        .await
        .unwrap();
    let desktop = Desktop::open_on(&server, model).await;
    desktop.arm_and_send("Write the parser").await;
    desktop.shows("I begin with").await;
    server.kill();
    desktop.server_is("away").await;
    desktop.picture("server-away").await;

    server.restart().await.unwrap();
    desktop.is_connected().await;
    desktop.shows("the turn was interrupted").await;
    desktop.goal_says("everything was checked").await;
    desktop.send("Thank you").await;
    desktop.shows("Gladly.").await;
    desktop.picture("server-back").await;
    assert_eq!(desktop.model.unused(), (0, 0));
    assert_eq!(desktop.told().await, ["goalComplete"]);
}

#[tokio::test]
async fn a_second_start_ends_and_shows_the_first() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Here I am.")])
        .start()
        .unwrap();
    let desktop = Desktop::open(model).await;
    desktop.send("Hello").await;
    desktop.shows("Here I am.").await;
    let session = desktop.session().await;
    desktop.press("New session").await;
    desktop.hides("Here I am.").await;
    let link = format!("openchamber://session/{session}");
    let ended = desktop.running.second(&[&link]);
    assert!(ended.success(), "{ended}\n{}", desktop.running.said());
    desktop.shows("Here I am.").await;
}

#[tokio::test]
async fn a_window_that_is_closed_leaves_the_app_and_says_so_once() {
    let mut desktop = Desktop::open(ScriptedModel::start().unwrap()).await;
    desktop.running.close_window("OpenChamber").await;
    let note = desktop
        .notifyd
        .next(testkit::window::PATIENCE)
        .await
        .unwrap();
    assert_eq!(note.summary, "OpenChamber goes on");
    assert!(!desktop.running.servers().is_empty());
    let ended = desktop.running.second(&[]);
    assert!(ended.success());
}

#[tokio::test]
async fn sigterm_ends_the_app_and_its_server() {
    let model = ScriptedModel::start().unwrap();
    let mut running = Running::start(app(), &model.url());
    running
        .until("its server runs", async || {
            (!running.servers().is_empty()).then_some(())
        })
        .await;
    let ended = running.terminate().await;
    assert_eq!(ended.code(), Some(0), "{}", running.said());
    running.has_no_server().await;
}
