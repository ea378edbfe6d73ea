//! A goal is pursued to its verified end.

use goal_core::goal::Status;
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use testkit::world::Call;

use crate::support::{a_goal_at_work, calls, ms, secs, until_continued};

#[tokio::test(start_paused = true)]
async fn r12_r27_r74_idle_then_fifteen_seconds_then_one_audit_and_one_prompt() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half of it is done");
    world.forgets_calls();
    world.passes(ms(14_900)).await;
    assert_eq!(calls(&world), []);
    assert_eq!(session.phase(), Some(Phase::Quiet));
    world.passes(ms(1_100)).await;
    assert_eq!(
        calls(&world),
        [Call::Session, Call::Status, Call::Children, Call::Messages]
    );
    assert_eq!(session.phase(), Some(Phase::Auditing));
    assert_eq!(world.audits().len(), 1);
    until_continued(&world, &session, 1).await;
    assert_eq!(
        calls(&world)[4..],
        [
            Call::Session,
            Call::Write,
            Call::Session,
            Call::Status,
            Call::Messages,
            Call::Prompt
        ]
    );
    assert_eq!(world.audits().len(), 1);
    assert_eq!(session.phase(), Some(Phase::Working));
    let goal = session.the_goal();
    assert_eq!((goal.turns_used, goal.status), (1, Status::Active));
    assert_eq!(goal.note, "step 1 is done");
    assert_eq!(goal.session_id.as_ref(), Some(session.id()));
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn r66_r79_r80_two_continuations_then_complete_with_one_notice() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half of it is done");
    until_continued(&world, &session, 1).await;
    session.assistant_uses_tool("bash", "cargo test");
    session.assistant_finishes("nearly");
    until_continued(&world, &session, 2).await;
    session.assistant_finishes("all tests pass");
    world.auditor_says(VerdictKind::Complete, "all tests pass");
    world
        .until(|_| session.the_goal().status == Status::Complete)
        .await;
    world.passes(secs(600)).await;

    let goal = session.the_goal();
    assert_eq!(goal.status_reason, "verified by audit");
    assert_eq!((goal.turns_used, goal.note.as_str()), (2, "all tests pass"));
    assert_eq!(session.phase(), Some(Phase::Settled));
    let sent = session.continuations();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].texts[0].contains("make the tests pass"));
    assert_eq!(session.model_calls(), 5);
    assert_eq!(world.audits().len(), 3);
    assert_eq!(world.count(Call::Prompt), 2);
    let told: Vec<NoticeCode> = world.notices().iter().map(|notice| notice.code).collect();
    assert_eq!(told, [NoticeCode::GoalComplete]);
    assert_eq!(
        world.decisions(),
        [
            "audit:finished",
            "continue:progress",
            "audit:finished",
            "continue:progress",
            "audit:finished",
            "settle:complete"
        ]
    );
}
