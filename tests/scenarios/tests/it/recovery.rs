//! Starts, reconnections and restarts: nothing is forgotten (X9, X10, X21).

use std::time::Duration;

use goal_core::goal::Status;
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use serde_json::json;
use testkit::world::{Call, Fault, World};

use crate::support::{a_goal_at_work, a_goal_continued, a_session, ms, secs, until_continued};

#[tokio::test(start_paused = true)]
async fn x10_goals_of_all_folders_and_pages_are_found_at_the_start() {
    let world = World::new();
    let mut sessions = Vec::new();
    for n in 0..8 {
        let session = world.session_in(&format!("s{n}"), &format!("/home/demo/p{n}"));
        let _ = session.user_says("go");
        session.assistant_finishes("half");
        session.goal("make the tests pass");
        sessions.push(session);
    }
    world.engine_starts().await;
    assert_eq!(world.engine().list().len(), 8);
    for session in &sessions {
        until_continued(&world, session, 1).await;
    }
    assert_eq!(world.audits().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn x10_an_idle_that_was_missed_is_made_up_for_after_the_reconnection() {
    let (world, session) = a_goal_continued().await;
    world.stream_breaks();
    session.assistant_finishes("half");
    world.passes(secs(30)).await;
    world.stream_returns();
    let took = until_continued(&world, &session, 2).await;
    assert!((secs(17)..secs(18)).contains(&took), "{took:?}");
    assert_eq!(world.audits().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn x9_an_idle_that_was_lost_on_an_unbroken_stream_is_found_within_five_minutes() {
    let (world, session) = a_goal_continued().await;
    session.finishes_unheard("half");
    let took = until_continued(&world, &session, 2).await;
    assert!(took <= secs(310), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn x10_a_live_event_during_the_recovery_makes_no_second_cycle() {
    let (world, session) = a_goal_at_work().await;
    world.stream_breaks();
    world.passes(secs(1)).await;
    world.stream_returns();
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 1);
    assert_eq!(world.count(Call::Prompt), 1);
}

#[tokio::test(start_paused = true)]
async fn x10_a_turn_cut_off_by_a_server_restart_is_continued_after_the_grace_unaudited() {
    let (world, session) = a_goal_continued().await;
    world.server_dies();
    world.passes(secs(20)).await;
    world.server_returns();
    let took = until_continued(&world, &session, 2).await;
    assert!((secs(74)..secs(78)).contains(&took), "{took:?}");
    assert_eq!(world.audits().len(), 1);
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn x10_a_goal_untouched_for_a_day_waits_for_a_click() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.engine_ends().await;
    world.passes(Duration::from_hours(25)).await;
    world.engine_starts().await;
    world.passes(secs(1_000)).await;
    assert_eq!(session.phase(), Some(Phase::NeedsClick));
    assert_eq!(world.audits().len(), 0);
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x10_a_live_busy_ends_the_wait_for_a_click() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.engine_ends().await;
    world.passes(Duration::from_hours(25)).await;
    world.engine_starts().await;
    world.passes(secs(60)).await;
    let _ = session.user_says("still there?");
    session.assistant_finishes("yes");
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x10_a_server_that_is_away_is_asked_again_once_it_is_back() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.server_dies();
    world.passes(secs(100)).await;
    assert_eq!(session.phase(), Some(Phase::Retrying));
    world.server_returns();
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn e14_an_engine_that_ends_during_an_audit_cancels_it_and_changes_nothing() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    let before = session.the_goal();
    world.engine_ends().await;
    assert_eq!(world.cancelled_audits(), 1);
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal(), before);
    assert!(world.engine().pause(session.id()).await.is_err());
    world.engine_starts().await;
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn e14_an_engine_that_ends_while_it_writes_leaves_a_whole_step_behind() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|_| session.the_goal().turns_used == 1).await;
    world.engine_ends().await;
    world.engine_starts().await;
    until_continued(&world, &session, 1).await;
    assert_eq!(world.count(Call::Prompt), 1);
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn x21_a_started_goal_sends_its_objective_once_and_audits_only_the_answer_to_it() {
    let (world, session) = a_session().await;
    let started = session
        .starts_goal("make the tests pass", true)
        .await
        .unwrap();
    assert_eq!(session.the_goal().first_message, started.message);
    world.settles().await;
    assert!(session.is_busy());
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits()[0].evidence.text, "half");
    assert_eq!(world.audits()[0].objective, "make the tests pass");
}

#[tokio::test(start_paused = true)]
async fn x21_the_id_of_the_first_prompt_follows_the_servers_clock() {
    let mut times = Vec::new();
    for ahead in [0, 3_600_000, -3_600_000] {
        let (world, session) = a_session().await;
        world.clock_jumps(ahead);
        let started = session
            .starts_goal("make the tests pass", true)
            .await
            .unwrap();
        let message = started.message.unwrap();
        times.push(message.as_str()[..16].to_owned());
    }
    assert_eq!(times[1..], [times[0].clone(), times[0].clone()]);
}

#[tokio::test(start_paused = true)]
async fn x21_a_first_message_that_never_comes_pauses_after_a_minute() {
    let (world, session) = a_session().await;
    session.goal_with(
        "make the tests pass",
        json!({ "firstMessageID": "msg_never" }),
    );
    world.passes(secs(50)).await;
    assert_eq!(session.phase(), Some(Phase::WaitingForYou));
    world.passes(secs(30)).await;
    let goal = session.the_goal();
    assert_eq!(goal.status, Status::Paused);
    assert_eq!(
        goal.status_reason,
        "the first message of the goal never arrived"
    );
    world.engine().resume(session.id(), None).await.unwrap();
    assert_eq!(session.the_goal().first_message, None);
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x21_a_goal_without_a_prompt_audits_the_last_turn_after_the_kickoff() {
    let (world, session) = a_session().await;
    session
        .starts_goal("make the tests pass", false)
        .await
        .unwrap();
    world.auditor_says(VerdictKind::Complete, "it was done before");
    world.passes(secs(6)).await;
    assert_eq!(session.the_goal().status, Status::Complete);
    assert_eq!(world.audits()[0].evidence.text, "I have a plan");
}

#[tokio::test(start_paused = true)]
async fn r30_a_goal_in_an_empty_session_waits_for_the_first_message() {
    let world = World::new();
    let session = world.session("s");
    world.engine_starts().await;
    let started = session
        .starts_goal("make the tests pass", false)
        .await
        .unwrap();
    assert!(started.waits_for_first_message);
    world.passes(secs(400)).await;
    assert_eq!(session.view().unwrap().why, "noAssistantYet");
    let _ = session.user_says("go");
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn r10_x13_a_missing_objective_leaves_the_goal_active_and_waiting() {
    let (world, session) = a_session().await;
    session
        .starts_goal("make the tests pass", false)
        .await
        .unwrap();
    world.objectives().delete(session.id().as_str()).await;
    world.passes(secs(60)).await;
    assert_eq!(session.phase(), Some(Phase::ObjectiveMissing));
    assert_eq!(session.the_goal().status, Status::Active);
    let objectives = world.objectives();
    let id = session.id().as_str();
    objectives.write(id, "anew").await.unwrap();
    world.passes(secs(310)).await;
    assert_eq!(world.audits()[0].objective, "anew");
}

#[tokio::test(start_paused = true)]
async fn x9_a_clock_that_jumps_changes_no_deadline() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.passes(secs(5)).await;
    world.clock_jumps(-3_600_000);
    let took = until_continued(&world, &session, 1).await;
    assert!(took < secs(13), "{took:?}");
    world.clock_jumps(80_000_000);
    session.assistant_finishes("done");
    world.auditor_says(VerdictKind::Complete, "done");
    // Up to a heartbeat longer: it looks as if the computer had slept.
    world.passes(secs(25)).await;
    assert_eq!(session.the_goal().status, Status::Complete);
    let told: Vec<NoticeCode> = world.notices().iter().map(|notice| notice.code).collect();
    assert_eq!(told, [NoticeCode::GoalComplete]);
    world.passes(ms(1)).await;
}

#[tokio::test(start_paused = true)]
async fn x9_a_list_that_cannot_be_read_at_the_start_is_read_later() {
    for fault in [Fault::status_500(), Fault::lost(), Fault::not_sent()] {
        let world = World::new();
        let session = world.session("s");
        let _ = session.user_says("go");
        session.assistant_finishes("half");
        session.goal("make the tests pass");
        world.next(Call::List, fault.clone());
        world.engine_starts().await;
        until_continued(&world, &session, 1).await;
        assert!(world.age() < secs(400), "{fault:?}");
    }
}
