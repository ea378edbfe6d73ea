//! The session waits for somebody: the user, a sub-agent, the provider (X15, R25).

use goal_core::goal::Status;
use goal_core::notice::NoticeCode;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use testkit::world::World;

use crate::support::{a_goal_at_work, a_goal_continued, secs, until_continued};

fn told(world: &World) -> Vec<NoticeCode> {
    world.notices().iter().map(|notice| notice.code).collect()
}

#[tokio::test(start_paused = true)]
async fn x15_an_open_request_is_told_once_and_the_loop_waits() {
    let (world, session) = a_goal_continued().await;
    session.asks_permission("bash");
    world.passes(secs(2)).await;
    assert_eq!(session.phase(), Some(Phase::WaitingForYou));
    assert_eq!(session.view().unwrap().detail, "bash");
    assert_eq!(told(&world), [NoticeCode::WaitingForPermission]);
    world.passes(secs(2_000)).await;
    assert_eq!(session.phase(), Some(Phase::WaitingForYou));
    assert_eq!(told(&world), [NoticeCode::WaitingForPermission]);
    session.user_allows();
    world.passes(secs(2)).await;
    assert_eq!(session.phase(), Some(Phase::Working));
    session.asks_permission("edit");
    world.passes(secs(2)).await;
    assert_eq!(told(&world).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn x15_a_request_of_a_sub_agent_is_the_sessions() {
    let (world, session) = a_goal_continued().await;
    let child = session.starts_subagent("child");
    world.settles().await;
    child.asks_permission("bash");
    world.passes(secs(2)).await;
    assert_eq!(session.phase(), Some(Phase::WaitingForYou));
    assert_eq!(told(&world), [NoticeCode::WaitingForPermission]);
}

#[tokio::test(start_paused = true)]
async fn x15_a_left_over_request_of_a_stopped_turn_is_none() {
    let (world, session) = a_goal_continued().await;
    session.asks_permission("bash");
    world.passes(secs(2)).await;
    session.user_aborts();
    world.passes(secs(5)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 2).await;
    assert_eq!(told(&world).len(), 1);
    assert_eq!(session.phase(), Some(Phase::Working));
}

#[tokio::test(start_paused = true)]
async fn x22_waits_obey_notify_on_question_and_ends_notify_on_completion() {
    let (world, session) = a_goal_continued().await;
    world.setting("notifyOnQuestion", false.into()).await;
    session.asks_permission("bash");
    world.passes(secs(5)).await;
    assert_eq!(told(&world), []);
    world.setting("notifyOnCompletion", false.into()).await;
    session.user_allows();
    session.assistant_fails("APIError", "no credit");
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Blocked);
    assert_eq!(told(&world), []);
}

#[tokio::test(start_paused = true)]
async fn r13_a_provider_that_is_retried_is_work() {
    let (world, session) = a_goal_at_work().await;
    session.provider_retries();
    world.passes(secs(60)).await;
    assert_eq!(session.view().unwrap().why, "providerRetries");
    session.provider_is_tried();
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x2_a_queued_message_is_answered_before_the_loop_goes_on() {
    let (world, session) = a_goal_at_work().await;
    let _ = session.user_says("and the docs");
    session.assistant_finishes("tests");
    world.passes(secs(60)).await;
    assert_eq!(session.phase(), Some(Phase::Working));
    session.assistant_finishes("docs");
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits()[0].evidence.text, "docs");
}

#[tokio::test(start_paused = true)]
async fn x4_an_audit_is_nobodys_sub_agent() {
    let (world, session) = a_goal_at_work().await;
    world.audits_take(secs(60));
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    world.passes(secs(10)).await;
    assert_eq!(session.phase(), Some(Phase::Auditing));
    assert_eq!(world.engine().list().len(), 1);
    session.repeats_status();
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 1);
}
