//! Errors, budget, cap, truncation, compaction and empty replies (R48-R60, X20).

use goal_core::goal::Status;
use goal_core::notice::NoticeCode;
use pretty_assertions::assert_eq;
use serde_json::json;
use testkit::world::{Call, Session, World};

use crate::support::{a_goal_at_work, a_goal_continued, a_session, secs, until_continued};

async fn until_settled(world: &World, session: &Session) -> (Status, String) {
    world
        .until(|_| session.the_goal().status != Status::Active)
        .await;
    world.settles().await;
    let goal = session.the_goal();
    (goal.status, goal.status_reason)
}

fn told(world: &World) -> Vec<NoticeCode> {
    world.notices().iter().map(|notice| notice.code).collect()
}

#[tokio::test(start_paused = true)]
async fn r49_a_failed_turn_blocks_with_the_providers_text() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_fails("APIError", "no credit");
    let settled = until_settled(&world, &session).await;
    assert_eq!(settled, (Status::Blocked, "APIError: no credit".to_owned()));
    assert_eq!(told(&world), [NoticeCode::GoalBlocked]);
    assert_eq!(world.audits().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn r53_resume_over_a_failure_blocks_again() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_fails("APIError", "no credit");
    until_settled(&world, &session).await;
    world.engine().resume(session.id(), None).await.unwrap();
    let settled = until_settled(&world, &session).await;
    assert_eq!(settled, (Status::Blocked, "APIError: no credit".to_owned()));
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn r50_x16_a_spent_budget_ends_the_goal_and_a_larger_one_goes_on() {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    session.goal_with("make the tests pass", json!({ "tokenBudget": 5_000 }));
    world.settles().await;
    session.next_tokens(4_000);
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().tokens_used, 3_000);
    session.next_tokens(6_100);
    session.assistant_finishes("more");
    let settled = until_settled(&world, &session).await;
    assert_eq!(
        settled,
        (Status::BudgetLimited, "token budget reached".to_owned())
    );
    assert_eq!(session.the_goal().tokens_used, 5_100);
    assert_eq!(told(&world), [NoticeCode::GoalBudgetLimited]);
    assert_eq!(world.audits().len(), 1);
    let engine = world.engine();
    let refused = engine.resume(session.id(), None).await.unwrap_err();
    assert_eq!(refused.code(), goal_engine::Code::BudgetSpent);
    engine
        .resume(session.id(), Some(Some(20_000)))
        .await
        .unwrap();
    until_continued(&world, &session, 2).await;
    assert_eq!(session.the_goal().token_budget, Some(20_000));
}

#[tokio::test(start_paused = true)]
async fn r51_the_cap_blocks_and_resume_gives_fresh_turns() {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    session.goal_with("make the tests pass", json!({ "turnsUsed": 19 }));
    world.settles().await;
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    session.assistant_finishes("more");
    let settled = until_settled(&world, &session).await;
    let reason = "auto-continuation limit reached".to_owned();
    assert_eq!(settled, (Status::Blocked, reason));
    assert_eq!(world.audits().len(), 1);
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 2).await;
    assert_eq!(session.the_goal().turns_used, 1);
}

#[tokio::test(start_paused = true)]
async fn r54_r55_r59_one_truncation_continues_two_block_and_resume_grants_one_more() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_truncated();
    until_continued(&world, &session, 1).await;
    session.assistant_truncated();
    let reason = "repeated output truncation".to_owned();
    let settled = until_settled(&world, &session).await;
    assert_eq!(settled, (Status::Blocked, reason.clone()));
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 2).await;
    session.assistant_truncated();
    assert_eq!(
        until_settled(&world, &session).await,
        (Status::Blocked, reason)
    );
    assert_eq!(world.audits().len(), 0);
    assert_eq!(session.continuations().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn r58_a_turn_between_two_truncations_breaks_the_row() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_truncated();
    until_continued(&world, &session, 1).await;
    session.assistant_finishes("fine");
    until_continued(&world, &session, 2).await;
    session.assistant_truncated();
    until_continued(&world, &session, 3).await;
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn r60_a_summary_as_tail_is_continued_unaudited() {
    let (world, session) = a_goal_continued().await;
    session.assistant_finishes("half");
    session.user_compacts();
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r35_a_compaction_within_a_turn_closes_a_segment() {
    let (world, session) = a_goal_at_work().await;
    session.next_tokens(9_000);
    session.compacts_by_itself();
    session.next_tokens(2_000);
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    let goal = session.the_goal();
    assert_eq!(goal.tokens_committed, 8_500);
    assert_eq!(goal.tokens_used, 10_500);
    assert_eq!(world.audits()[0].evidence.text, "half");
}

#[tokio::test(start_paused = true)]
async fn x20_compactions_without_work_between_pause() {
    let (world, session) = a_goal_continued().await;
    session.assistant_finishes("half");
    until_continued(&world, &session, 2).await;
    session.compacts_without_a_word();
    session.compacts_without_a_word();
    session.compacts_without_a_word();
    session.assistant_says_nothing();
    let settled = until_settled(&world, &session).await;
    assert_eq!(settled, (Status::Paused, "context too small".to_owned()));
    assert_eq!(told(&world), [NoticeCode::GoalPaused]);
}

#[tokio::test(start_paused = true)]
async fn x20_compactions_of_the_first_turn_count_from_the_goals_beginning() {
    for (before, within, restarts, expected) in [
        (0, 3, false, Status::Paused),
        (2, 2, false, Status::Active),
        (0, 3, true, Status::Active),
    ] {
        let (world, session) = a_session().await;
        let _ = session.user_says("go");
        world.passes(secs(1)).await;
        for _ in 0..before {
            session.compacts_without_a_word();
        }
        world.passes(secs(1)).await;
        session.goal("make the tests pass");
        world.passes(secs(1)).await;
        for _ in 0..within {
            session.compacts_without_a_word();
        }
        if restarts {
            world.engine_ends().await;
            world.engine_starts().await;
        }
        session.assistant_says_nothing();
        world.passes(secs(120)).await;
        let case = format!("{before} before, {within} within, restarts: {restarts}");
        assert_eq!(session.the_goal().status, expected, "{case}");
        let nudged = usize::from(expected == Status::Active);
        assert_eq!(session.continuations().len(), nudged, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn x20_empty_replies_are_nudged_twice_and_then_block() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_says_nothing();
    let took = until_continued(&world, &session, 1).await;
    assert!((secs(75)..secs(80)).contains(&took), "{took:?}");
    session.assistant_says_nothing();
    until_continued(&world, &session, 2).await;
    session.assistant_says_nothing();
    let settled = until_settled(&world, &session).await;
    assert_eq!(settled, (Status::Blocked, "empty replies".to_owned()));
    assert_eq!(world.audits().len(), 0);
    assert_eq!(told(&world), [NoticeCode::GoalBlocked]);
}

#[tokio::test(start_paused = true)]
async fn r77_a_session_without_a_model_blocks_before_anything_is_sent() {
    let (world, session) = a_session_without_a_model().await;
    let settled = until_settled(&world, &session).await;
    assert_eq!(
        settled,
        (Status::Blocked, "no model to continue with".to_owned())
    );
    assert_eq!(world.count(Call::Prompt), 0);
}

async fn a_session_without_a_model() -> (World, Session) {
    let world = World::new();
    let session = world.session("s");
    session.names_no_model();
    world.engine_starts().await;
    session.goal("make the tests pass");
    let _ = session.user_says("go");
    session.assistant_finishes("half");
    (world, session)
}

#[tokio::test(start_paused = true)]
async fn x21_r33_messages_are_paged_back_to_the_newest_turn_before_the_goal() {
    let (world, session) = a_session().await;
    session.next_tokens(10_000);
    let _ = session.user_says("before");
    session.assistant_finishes("the goal");
    let _ = session.user_says("go");
    world.passes(secs(1)).await;
    session.goal("make the tests pass");
    world.passes(secs(1)).await;
    for step in 0..100 {
        session.assistant_uses_tool("bash", &format!("step {step}"));
    }
    session.next_tokens(70_000);
    session.assistant_finishes("half");
    world.forgets_calls();
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().tokens_used, 60_000);
    assert_eq!(session.the_goal().tokens_baseline, 10_000);
    let pages = world.count(Call::Messages);
    assert!((4..6).contains(&pages), "{pages}");
}

#[tokio::test(start_paused = true)]
async fn r61_r76_a_continuation_addresses_the_agent_that_spoke_before_the_summary() {
    let (world, session) = a_goal_continued().await;
    session.assistant_finishes("half");
    session.user_compacts();
    until_continued(&world, &session, 2).await;
    let voice = world.prompts()[1].to.voice().unwrap();
    assert_eq!(voice.agent.as_deref(), Some("build"));
    assert_eq!(voice.model.model, "big");
}
