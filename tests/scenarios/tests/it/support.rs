//! What most scenarios begin with, and the times they count in.

use std::time::Duration;

use testkit::world::{Call, Fault, Session, World};

/// `n` seconds.
pub(crate) const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// `n` milliseconds.
pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A world with an engine and a session in which the user's first message was answered.
pub(crate) async fn a_session() -> (World, Session) {
    let world = World::new();
    let session = world.session("s");
    let _ = session.user_says("please make the tests pass");
    session.assistant_finishes("I have a plan");
    world.passes(secs(60)).await;
    world.engine_starts().await;
    (world, session)
}

/// The same, with an active goal whose agent is at work on the user's message.
pub(crate) async fn a_goal_at_work() -> (World, Session) {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    session.goal("make the tests pass");
    world.settles().await;
    (world, session)
}

/// The same, with the first continuation at work.
pub(crate) async fn a_goal_continued() -> (World, Session) {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half of it is done");
    until_continued(&world, &session, 1).await;
    (world, session)
}

/// A goal whose turn is being judged.
pub(crate) async fn an_audited_goal() -> (World, Session) {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    (world, session)
}

/// A goal whose first continuation is written and about to be sent.
pub(crate) async fn a_goal_before_its_prompt() -> (World, Session) {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Write, Fault::slow_answer(secs(3)));
    world.until(|_| session.the_goal().turns_used == 1).await;
    (world, session)
}

/// Time passes until the session works on its `n`-th continuation.
pub(crate) async fn until_continued(world: &World, session: &Session, n: usize) -> Duration {
    let reached = world
        .until(|_| session.continuations().len() == n && session.is_busy())
        .await;
    world.settles().await;
    reached
}

/// The calls since they were forgotten, by name.
pub(crate) fn calls(world: &World) -> Vec<Call> {
    world
        .calls()
        .into_iter()
        .map(|called| called.call)
        .collect()
}
