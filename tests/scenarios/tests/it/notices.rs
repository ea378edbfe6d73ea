//! The user is told through something that may hang, and no goal waits for it (R80).

use std::time::Duration;

use goal_core::goal::{SessionId, Status};
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use goal_engine::update::UpdateKind;
use pretty_assertions::assert_eq;
use testkit::world::{Session, World};

use crate::support::{a_goal_at_work, a_goal_continued, a_session, ms, secs, until_continued};

fn shown(world: &World) -> Vec<NoticeCode> {
    world.notices().iter().map(|notice| notice.code).collect()
}

/// Whose notices the engines told of, shown or not, in their order.
fn told(world: &World) -> Vec<SessionId> {
    let updates = world.updates().into_iter();
    let sessions = updates.filter_map(|(_, update)| {
        if let UpdateKind::Notice { session, .. } = update.kind {
            Some(session)
        } else {
            None
        }
    });
    sessions.collect()
}

/// Longer than a quiet session waits for its audit and its next prompt; shorter than that with a
/// notice's deadline on top.
const NOT_DELAYED: Duration = secs(20);

/// Goals in sessions of their own are reached, all at the same time.
async fn goals_are_complete(world: &World, names: &[&str]) -> Vec<SessionId> {
    let sessions: Vec<_> = names.iter().map(|name| world.session(name)).collect();
    for session in &sessions {
        let _ = session.user_says("go");
        session.goal("make the docs true");
        world.settles().await;
    }
    for session in &sessions {
        world.auditor_says(VerdictKind::Complete, "they are");
        session.assistant_finishes("they are");
    }
    let is_done = |session: &Session| session.the_goal().status == Status::Complete;
    world.until(|_| sessions.iter().all(is_done)).await;
    world.settles().await;
    sessions
        .iter()
        .map(|session| session.id().clone())
        .collect()
}

fn whose(world: &World) -> Vec<SessionId> {
    world.notices().into_iter().map(|out| out.session).collect()
}

#[tokio::test(start_paused = true)]
async fn r80_a_daemon_that_hangs_delays_no_goal() {
    let (world, session) = a_goal_continued().await;
    world.notices_hang();
    session.asks_permission("bash");
    world.passes(secs(2)).await;
    assert_eq!((told(&world).len(), shown(&world)), (1, Vec::new()));
    session.user_allows();
    session.assistant_finishes("more of it is done");
    let went_on = until_continued(&world, &session, 2).await;
    assert!(went_on < NOT_DELAYED, "{went_on:?}");
}

#[tokio::test(start_paused = true)]
async fn r80_notices_of_an_earlier_engine_keep_the_next_one_from_nothing() {
    let (world, session) = a_goal_at_work().await;
    world.notices_hang();
    goals_are_complete(&world, &["a", "b"]).await;
    world.engine_crashes();
    world.passes(ms(1)).await;
    world.engine_starts().await;
    session.assistant_finishes("half of it is done");
    let went_on = until_continued(&world, &session, 1).await;
    assert!(went_on < NOT_DELAYED, "{went_on:?}");
}

#[tokio::test(start_paused = true)]
async fn r80_notices_of_a_goal_arrive_in_their_order() {
    let (world, session) = a_goal_continued().await;
    world.notices_take(secs(3));
    session.asks_permission("bash");
    world.passes(secs(1)).await;
    world.notices_take(ms(1));
    session.user_allows();
    session.assistant_fails("APIError", "no credit");
    world.passes(secs(60)).await;
    let both = [NoticeCode::WaitingForPermission, NoticeCode::GoalBlocked];
    assert_eq!(shown(&world), both);
}

#[tokio::test(start_paused = true)]
async fn r80_a_notice_that_is_never_shown_is_given_up_for_the_next() {
    let (world, _) = a_session().await;
    world.notices_hang();
    goals_are_complete(&world, &["a"]).await;
    world.notices_take(ms(1));
    let seen = goals_are_complete(&world, &["b"]).await;
    world.passes(secs(60)).await;
    world.engine_ends().await;
    world.engine_starts().await;
    world.passes(secs(60)).await;
    assert_eq!(whose(&world), seen);
}

#[tokio::test(start_paused = true)]
async fn r80_an_end_waits_for_no_daemon_and_what_was_not_begun_is_told_later() {
    let (world, _) = a_session().await;
    world.notices_hang();
    goals_are_complete(&world, &["a", "b"]).await;
    let told = told(&world);
    assert_eq!(told.len(), 2);
    let begin = tokio::time::Instant::now();
    world.engine_ends().await;
    let took = begin.elapsed();
    assert!(took < secs(4), "{took:?}");
    world.notices_take(ms(1));
    for _ in 0..2 {
        world.engine_starts().await;
        world.passes(secs(60)).await;
        assert_eq!(whose(&world), told[1..]);
        world.engine_ends().await;
    }
}
