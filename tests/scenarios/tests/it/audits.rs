//! What audits come to (R64-R73, X5) and what they see (R62, X2).

use goal_core::goal::Status;
use goal_core::judge::AuditFailure;
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use pretty_assertions::assert_eq;
use testkit::world::{Session, World};

use crate::support::{a_goal_at_work, a_session, secs, until_continued};

/// Turns until the goal is no longer active, at most `most`. Gives how many were continued.
async fn turns(world: &World, session: &Session, most: usize) -> usize {
    for turn in 0..most {
        session.assistant_finishes(&format!("turn {turn}"));
        let next = session.continuations().len() + 1;
        world
            .until(|_| {
                let ended = session.the_goal().status != Status::Active;
                ended || session.continuations().len() == next && session.is_busy()
            })
            .await;
        if session.the_goal().status != Status::Active {
            break;
        }
    }
    world.settles().await;
    session.continuations().len()
}

#[tokio::test(start_paused = true)]
async fn r67_three_blocked_verdicts_in_a_row_block() {
    let (world, session) = a_goal_at_work().await;
    for _ in 0..3 {
        world.auditor_says(VerdictKind::Blocked, "there is no compiler");
    }
    assert_eq!(turns(&world, &session, 5).await, 2);
    let goal = session.the_goal();
    assert_eq!(goal.status, Status::Blocked);
    assert_eq!(goal.status_reason, "there is no compiler");
    let told: Vec<NoticeCode> = world.notices().iter().map(|notice| notice.code).collect();
    assert_eq!(told, [NoticeCode::GoalBlocked]);
}

#[tokio::test(start_paused = true)]
async fn r68_a_continue_between_blocked_verdicts_begins_anew() {
    let (world, session) = a_goal_at_work().await;
    let kinds = [
        VerdictKind::Blocked,
        VerdictKind::Blocked,
        VerdictKind::Continue,
        VerdictKind::Blocked,
        VerdictKind::Blocked,
    ];
    for (n, kind) in kinds.into_iter().enumerate() {
        world.auditor_says(kind, &format!("note {n}"));
    }
    assert_eq!(turns(&world, &session, 5).await, 5);
    assert_eq!(session.the_goal().blocked_streak, 2);
}

#[tokio::test(start_paused = true)]
async fn r69_two_failed_audits_in_a_row_block_and_one_does_not() {
    let (world, session) = a_goal_at_work().await;
    world.auditor_fails(AuditFailure::Provider);
    world.auditor_says(VerdictKind::Continue, "fine");
    world.auditor_fails(AuditFailure::Timeout);
    world.auditor_fails(AuditFailure::Unparsable);
    assert_eq!(turns(&world, &session, 6).await, 3);
    let goal = session.the_goal();
    assert_eq!(goal.status, Status::Blocked);
    assert_eq!(goal.status_reason, "progress audit unavailable");
    assert_eq!(goal.note, "fine");
}

#[tokio::test(start_paused = true)]
async fn r62_x2_the_audit_sees_the_last_turn_only() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("first");
    until_continued(&world, &session, 1).await;
    session.assistant_uses_tool("bash", "cargo test");
    session.assistant_finishes("second");
    until_continued(&world, &session, 2).await;
    let job = world.audits()[1].clone();
    assert_eq!(job.evidence.text, "second");
    assert_eq!(job.evidence.tools.len(), 1);
    assert_eq!(job.evidence.tools[0].title, "cargo test");
    assert_eq!(job.objective, "make the tests pass");
    assert_eq!(job.voice.model.model, "big");
}

#[tokio::test(start_paused = true)]
async fn x5_a_goal_without_an_auditor_is_not_started() {
    let (world, session) = a_session().await;
    world.auditor_is(false);
    let refused = session.starts_goal("make the tests pass", true).await;
    assert_eq!(refused.unwrap_err().code(), goal_engine::Code::NoAuditor);
    assert_eq!(session.stored_goal(), None);
    assert_eq!(world.objectives().read(session.id().as_str()).await, None);
}

#[tokio::test(start_paused = true)]
async fn x20_the_same_note_again_and_again_slows_down_and_then_pauses() {
    let (world, session) = a_goal_at_work().await;
    for _ in 0..6 {
        world.auditor_says(VerdictKind::Continue, "the same");
    }
    assert_eq!(turns(&world, &session, 10).await, 5);
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, "no progress")
    );
    let told: Vec<NoticeCode> = world.notices().iter().map(|notice| notice.code).collect();
    assert_eq!(told, [NoticeCode::GoalPaused]);
    let at: Vec<u64> = session
        .continuations()
        .windows(2)
        .map(|pair| (pair[1].at - pair[0].at).as_secs())
        .collect();
    assert_eq!(at, [17, 17, 32, 62]);
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 6).await;
    world.passes(secs(1)).await;
}
