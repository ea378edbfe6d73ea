//! Prompts that get lost, crashes between two steps, and what is made up for (X6, X7, X18).

use goal_core::goal::Status;
use goal_core::notice::NoticeCode;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use testkit::world::{Call, Fault, Session, World};

use crate::support::{a_goal_at_work, a_session, ms, secs, until_continued};

/// A goal whose first continuation is about to be written.
async fn an_audited_goal() -> (World, Session) {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    (world, session)
}

fn told(world: &World) -> Vec<NoticeCode> {
    world.notices().iter().map(|notice| notice.code).collect()
}

#[tokio::test(start_paused = true)]
async fn x6_a_crash_between_write_and_prompt_is_finished_with_exactly_one_prompt() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Write, Fault::slow_answer(secs(3)));
    world.until(|_| session.the_goal().turns_used == 1).await;
    world.engine_crashes();
    world.passes(secs(5)).await;
    assert_eq!(session.continuations(), []);
    world.engine_starts().await;
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(world.audits().len(), 1);
    assert_eq!(session.continuations().len(), 1);
    world.passes(secs(1_000)).await;
    assert_eq!(world.count(Call::Prompt), 1);
}

#[tokio::test(start_paused = true)]
async fn x6_x18_a_crash_right_after_the_prompt_makes_no_second_turn() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Prompt, Fault::slow_answer(secs(8)));
    world.until(|_| session.continuations().len() == 1).await;
    world.engine_crashes();
    world.passes(secs(5)).await;
    session.assistant_finishes("three quarters");
    world.engine_starts().await;
    until_continued(&world, &session, 2).await;
    assert_eq!(session.model_calls(), 4);
    assert_eq!(session.the_goal().turns_used, 2);
}

#[tokio::test(start_paused = true)]
async fn x6_a_crash_while_the_prompt_is_on_its_way_sends_it_under_the_same_id() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Prompt, Fault::slow(secs(8)));
    world.until(|world| world.count(Call::Prompt) == 1).await;
    world.engine_crashes();
    world.passes(secs(20)).await;
    world.engine_starts().await;
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(session.continuations()[0].engine, 2);
}

#[tokio::test(start_paused = true)]
async fn x7_a_prompt_whose_answer_is_lost_is_not_sent_twice() {
    for fault in [Fault::answer_lost(), Fault::effective_500()] {
        let (world, session) = an_audited_goal().await;
        world.next(Call::Prompt, fault.clone());
        until_continued(&world, &session, 1).await;
        world.passes(secs(60)).await;
        assert_eq!(world.count(Call::Prompt), 1, "{fault:?}");
        assert_eq!(session.model_calls(), 3, "{fault:?}");
        assert_eq!(session.phase(), Some(Phase::Working), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x7_a_prompt_that_never_arrived_is_sent_again_in_the_same_cycle() {
    for fault in [Fault::lost(), Fault::status_500(), Fault::swallowed()] {
        let (world, session) = an_audited_goal().await;
        world.next(Call::Prompt, fault.clone());
        let took = until_continued(&world, &session, 1).await;
        assert!(took < secs(30), "{fault:?}: {took:?}");
        assert_eq!(world.count(Call::Prompt), 2, "{fault:?}");
        assert_eq!(world.audits().len(), 1, "{fault:?}");
        assert_eq!(session.the_goal().turns_used, 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x7_a_refused_connection_is_tried_again_later_without_a_second_audit() {
    for fault in [Fault::not_sent(), Fault::unauthorized()] {
        let (world, session) = an_audited_goal().await;
        world.next(Call::Prompt, fault.clone());
        until_continued(&world, &session, 1).await;
        assert_eq!(world.count(Call::Prompt), 2, "{fault:?}");
        assert_eq!(world.audits().len(), 1, "{fault:?}");
        assert_eq!(session.the_goal().turns_used, 1, "{fault:?}");
        assert_eq!(session.the_goal().status, Status::Active, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x7_three_unconfirmed_cycles_stall_with_one_notice_and_resume_goes_on() {
    let (world, session) = an_audited_goal().await;
    world.always(Call::Prompt, Fault::swallowed());
    world
        .until(|_| session.phase() == Some(Phase::Stalled))
        .await;
    assert_eq!(world.count(Call::Prompt), 6);
    world.passes(secs(2_000)).await;
    assert_eq!(world.count(Call::Prompt), 6);
    assert_eq!(session.phase(), Some(Phase::Stalled));
    assert_eq!(told(&world), [NoticeCode::Stalled]);
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(world.audits().len(), 1);
    world.heals();
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
    assert_eq!(told(&world), [NoticeCode::Stalled]);
}

#[tokio::test(start_paused = true)]
async fn x7_a_stalled_goal_goes_on_when_the_stream_comes_back() {
    let (world, session) = an_audited_goal().await;
    world.always(Call::Prompt, Fault::swallowed());
    world
        .until(|_| session.phase() == Some(Phase::Stalled))
        .await;
    world.heals();
    world.stream_breaks();
    world.passes(secs(1)).await;
    world.stream_returns();
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x7_a_refused_prompt_gives_the_turn_back_and_blocks_with_the_servers_text() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Prompt, Fault::refused("Bad request: no such agent"));
    world
        .until(|_| session.the_goal().status == Status::Blocked)
        .await;
    let goal = session.the_goal();
    assert_eq!(goal.status_reason, "Bad request: no such agent");
    assert_eq!((goal.turns_used, goal.continued_after.clone()), (0, None));
    world.passes(secs(600)).await;
    assert_eq!(told(&world), [NoticeCode::GoalBlocked]);
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn x7_an_error_without_an_answer_blocks_and_gives_the_turn_back() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Prompt, Fault::stored_only());
    world.until(|_| session.continuations().len() == 1).await;
    session.server_reports("UnknownError: Model not found: fake/big.");
    session.repeats_status();
    world
        .until(|_| session.the_goal().status == Status::Blocked)
        .await;
    let goal = session.the_goal();
    assert_eq!(
        goal.status_reason,
        "UnknownError: Model not found: fake/big."
    );
    assert_eq!(goal.turns_used, 0);
    world.passes(secs(600)).await;
    assert_eq!(world.count(Call::Prompt), 1);
    assert_eq!(told(&world), [NoticeCode::GoalBlocked]);
}

#[tokio::test(start_paused = true)]
async fn x18_a_stored_prompt_that_nothing_runs_is_sent_again_twice_then_stalls() {
    let (world, session) = an_audited_goal().await;
    world.always(Call::Prompt, Fault::stored_only());
    world
        .until(|_| session.phase() == Some(Phase::Stalled))
        .await;
    assert_eq!(world.count(Call::Prompt), 3);
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(session.continuations()[0].texts.len(), 1);
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(told(&world), [NoticeCode::Stalled]);
    world.heals();
    world.engine().resume(session.id(), None).await.unwrap();
    world.until(|_| session.is_busy()).await;
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn x18_a_server_killed_right_after_the_204_runs_our_prompt_once() {
    let (world, session) = an_audited_goal().await;
    world.until(|_| session.continuations().len() == 1).await;
    world.server_dies();
    world.passes(secs(10)).await;
    world.server_returns();
    world.until(|_| session.is_busy()).await;
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(session.continuations()[0].texts.len(), 1);
    assert_eq!(session.model_calls(), 3);
    assert_eq!(session.the_goal().turns_used, 1);
}

#[tokio::test(start_paused = true)]
async fn x18_an_idle_behind_a_broken_stream_proves_no_stop() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Prompt, Fault::stored_only());
    world.until(|world| world.count(Call::Prompt) == 1).await;
    world.passes(secs(10)).await;
    world.stream_breaks();
    world.stream_returns();
    session.repeats_status();
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(world.count(Call::Prompt), 2);
}

#[tokio::test(start_paused = true)]
async fn x18_our_prompt_stopped_before_anything_answered_pauses() {
    let (world, session) = an_audited_goal().await;
    world.aborts_catch_fresh_prompts();
    world.until(|_| session.continuations().len() == 1).await;
    session.user_aborts();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(world.count(Call::Prompt), 1);
}

#[tokio::test(start_paused = true)]
async fn x18_a_message_of_the_user_that_nothing_answers_keeps_the_loop_away_until_resume() {
    let (world, session) = an_audited_goal().await;
    let _ = session.user_says("and another thing");
    world.passes(secs(1)).await;
    world.stream_breaks();
    let _ = session.user_says("or rather this");
    session.user_aborts();
    world.passes(secs(1)).await;
    world.stream_returns();
    world.passes(secs(1_000)).await;
    assert_eq!(session.view().unwrap().why, "userPending");
    assert_eq!(session.continuations(), []);
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn r26_a_failed_write_sends_nothing_and_is_tried_again() {
    for fault in [Fault::status_500(), Fault::not_sent(), Fault::lost()] {
        let (world, session) = an_audited_goal().await;
        world.next(Call::Write, fault.clone());
        world.passes(secs(14)).await;
        assert_eq!(world.count(Call::Prompt), 0, "{fault:?}");
        until_continued(&world, &session, 1).await;
        assert_eq!(session.the_goal().turns_used, 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x6_a_write_whose_answer_is_lost_is_continued_without_a_second_audit() {
    let (world, session) = an_audited_goal().await;
    world.next(Call::Write, Fault::answer_lost());
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r80_a_settling_write_whose_answer_is_lost_is_told_once() {
    for crash in [false, true] {
        let (world, session) = a_session().await;
        let _ = session.user_says("go");
        session.goal("make the tests pass");
        world.auditor_says(goal_core::verdict::VerdictKind::Complete, "done");
        world.next(Call::Write, Fault::answer_lost());
        session.assistant_finishes("done");
        world
            .until(|_| session.the_goal().status == Status::Complete)
            .await;
        if crash {
            world.engine_crashes();
            world.passes(ms(1)).await;
            world.engine_starts().await;
        }
        world.passes(secs(600)).await;
        assert_eq!(told(&world), [NoticeCode::GoalComplete], "crash: {crash}");
        assert_eq!(world.audits().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn r80_a_crash_before_the_settling_write_is_told_once_it_is_written() {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    session.goal("make the tests pass");
    world.auditor_says(goal_core::verdict::VerdictKind::Complete, "done");
    world.next(Call::Write, Fault::slow(secs(5)));
    session.assistant_finishes("done");
    world.until(|world| world.count(Call::Write) == 1).await;
    world.passes(secs(1)).await;
    world.engine_crashes();
    world.passes(secs(10)).await;
    world.engine_starts().await;
    world.passes(secs(10)).await;
    assert_eq!(told(&world), []);
    world.auditor_says(goal_core::verdict::VerdictKind::Complete, "done");
    world.passes(secs(600)).await;
    assert_eq!(session.the_goal().status, Status::Complete);
    assert_eq!(told(&world), [NoticeCode::GoalComplete]);
}

#[tokio::test(start_paused = true)]
async fn r80_a_restart_tells_nobody_twice() {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    session.goal("make the tests pass");
    world.auditor_says(goal_core::verdict::VerdictKind::Complete, "done");
    session.assistant_finishes("done");
    world.until(|world| !world.notices().is_empty()).await;
    for crash in [false, true] {
        world.passes(secs(60)).await;
        if crash {
            world.engine_crashes();
        } else {
            world.engine_ends().await;
        }
        world.engine_starts().await;
        world.passes(secs(600)).await;
        assert_eq!(told(&world), [NoticeCode::GoalComplete], "crash: {crash}");
    }
}

#[tokio::test(start_paused = true)]
async fn x9_a_session_that_the_server_does_not_know_ends_the_watch() {
    let (world, session) = a_goal_at_work().await;
    world.next(Call::Session, Fault::gone());
    session.assistant_finishes("half");
    world.passes(secs(16)).await;
    world.forgets_calls();
    world.passes(secs(1_000)).await;
    assert_eq!(world.calls(), []);
    assert_eq!(session.view(), None);
}
