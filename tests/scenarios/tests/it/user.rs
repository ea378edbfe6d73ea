//! The user wins: stops, pauses, messages, edits.

use std::time::Duration;

use goal_core::goal::Status;
use goal_core::verdict::VerdictKind;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use serde_json::json;
use testkit::world::{Call, Fault, Session, World};

use crate::support::{
    a_goal_at_work, a_goal_before_its_prompt, a_goal_continued, an_audited_goal, ms, secs,
    until_continued,
};

const STOPPED: &str = "paused after the turn was stopped";

#[tokio::test(start_paused = true)]
async fn r42_a_stop_pauses_at_once_and_raises_no_notice() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(ms(50)).await;
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, STOPPED)
    );
    world.passes(secs(600)).await;
    assert_eq!(session.the_goal().updated_at, goal.updated_at);
    assert_eq!(session.phase(), Some(Phase::Settled));
    assert_eq!(session.continuations(), []);
    assert_eq!(world.notices(), []);
    assert_eq!(world.count(Call::Abort), 0);
}

#[tokio::test(start_paused = true)]
async fn r42_a_stop_while_the_prompt_is_on_the_wire_pauses_right_after_it() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Prompt, Fault::slow_answer(secs(2)));
    world.until(|_| session.continuations().len() == 1).await;
    world.passes(ms(200)).await;
    assert!(session.is_busy());
    session.user_aborts();
    world.passes(secs(5)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    world.passes(secs(600)).await;
    assert_eq!(world.count(Call::Prompt), 1);
}

#[tokio::test(start_paused = true)]
async fn r43_a_stop_that_was_missed_pauses_at_the_next_look() {
    let (world, session) = a_goal_at_work().await;
    world.stream_breaks();
    session.user_aborts();
    world.passes(secs(2)).await;
    world.stream_returns();
    world.passes(secs(20)).await;
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, STOPPED)
    );
    assert_eq!(world.audits().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn x12_a_stop_during_a_provider_retry_pauses() {
    let (world, session) = a_goal_at_work().await;
    session.provider_retries();
    world.passes(secs(3)).await;
    session.user_aborts();
    world.passes(secs(20)).await;
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, STOPPED)
    );
    assert_eq!(world.audits().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn x12_a_declined_request_pauses() {
    let (world, session) = a_goal_at_work().await;
    session.asks_permission("bash");
    world.passes(secs(5)).await;
    session.user_declines();
    world.passes(secs(20)).await;
    let goal = session.the_goal();
    assert_eq!(goal.status, Status::Paused);
    assert_eq!(goal.status_reason, "paused after you declined a request");
    assert_eq!(world.audits().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn r45_resume_over_a_stop_nudges_without_an_audit() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(secs(30)).await;
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 0);
    let goal = session.the_goal();
    assert_eq!((goal.status, goal.turns_used), (Status::Active, 1));
    session.assistant_finishes("done");
    world.auditor_says(VerdictKind::Complete, "done");
    world.passes(secs(30)).await;
    assert_eq!(session.the_goal().status, Status::Complete);
}

#[tokio::test(start_paused = true)]
async fn r45_x12_a_resume_of_another_client_seen_live_goes_over_a_stop() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(secs(30)).await;
    session.client_resumes();
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 0);
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn x12_a_resume_of_another_client_found_at_the_start_grants_nothing_over_a_stop() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(secs(30)).await;
    world.engine_ends().await;
    session.client_resumes();
    world.engine_starts().await;
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn x12_a_resume_while_the_session_works_goes_over_no_stop_of_that_turn() {
    for heard in [true, false] {
        let (world, session) = a_goal_at_work().await;
        session.user_aborts();
        world.passes(secs(1)).await;
        let _ = session.user_says("try it once more");
        world.passes(secs(1)).await;
        world.engine().resume(session.id(), None).await.unwrap();
        if !heard {
            world.stream_breaks();
        }
        session.user_aborts();
        world.passes(secs(2)).await;
        if !heard {
            world.stream_returns();
        }
        world.passes(secs(600)).await;
        assert_eq!(session.the_goal().status, Status::Paused, "heard: {heard}");
        assert_eq!(session.continuations(), [], "heard: {heard}");
    }
}

#[tokio::test(start_paused = true)]
async fn r46_a_new_stop_after_resume_pauses_again() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(secs(30)).await;
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
    session.user_aborts();
    world.passes(secs(30)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r47_x8_a_pause_is_written_first_and_then_stops_what_runs() {
    let (world, session) = a_goal_continued().await;
    world.forgets_calls();
    let paused = world.engine().pause(session.id()).await.unwrap();
    assert!(!paused.already);
    let order: Vec<Call> = world.calls().iter().map(|called| called.call).collect();
    let write = order.iter().position(|call| *call == Call::Write).unwrap();
    let abort = order.iter().position(|call| *call == Call::Abort).unwrap();
    assert!(write < abort, "{order:?}");
    world.passes(secs(30)).await;
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, "")
    );
    assert!(!session.is_busy());
    assert!(world.engine().pause(session.id()).await.unwrap().already);
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_during_the_audit_drops_its_verdict() {
    for complete in [true, false] {
        let (world, session) = a_goal_at_work().await;
        session.assistant_finishes("half");
        if complete {
            world.auditor_says(VerdictKind::Complete, "done");
        }
        world.until(|world| world.audits().len() == 1).await;
        world.engine().pause(session.id()).await.unwrap();
        world.passes(secs(60)).await;
        assert_eq!(session.the_goal().status, Status::Paused);
        assert_eq!(session.continuations(), []);
        assert_eq!(world.cancelled_audits(), 1);
        assert_eq!(world.notices(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_of_another_client_during_the_audit_drops_its_verdict() {
    let (world, session) = an_audited_goal().await;
    session.client_pauses();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations(), []);
    assert_eq!(world.cancelled_audits(), 1);
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_between_write_and_prompt_sends_nothing() {
    let (world, session) = a_goal_before_its_prompt().await;
    world.engine().pause(session.id()).await.unwrap();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(world.count(Call::Prompt), 0);
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_of_another_client_between_write_and_prompt_sends_nothing() {
    let (world, session) = a_goal_before_its_prompt().await;
    session.client_pauses();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(world.count(Call::Prompt), 0);
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_while_the_prompt_is_on_the_wire_stops_its_turn() {
    let slow = [Fault::slow(secs(2)), Fault::slow_answer(secs(2))];
    for fault in slow {
        let (world, session) = a_prompt_on_the_wire(fault.clone()).await;
        world.engine().pause(session.id()).await.unwrap();
        world.passes(secs(60)).await;
        assert_eq!(session.the_goal().status, Status::Paused, "{fault:?}");
        assert!(!session.is_busy(), "{fault:?}");
        assert_eq!(world.count(Call::Prompt), 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_of_another_client_while_the_prompt_is_on_the_wire_stops_its_turn() {
    let slow = [Fault::slow(secs(2)), Fault::slow_answer(secs(2))];
    for fault in slow {
        let (world, session) = a_prompt_on_the_wire(fault.clone()).await;
        session.client_pauses();
        world.passes(secs(60)).await;
        assert_eq!(session.the_goal().status, Status::Paused, "{fault:?}");
        assert!(!session.is_busy(), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x8_an_engine_that_ends_right_after_a_pause_stops_the_turn_of_its_prompt_first() {
    let slow = [Fault::slow(secs(2)), Fault::slow_answer(secs(2))];
    for fault in slow {
        let (world, session) = a_prompt_on_the_wire(fault.clone()).await;
        session.client_pauses();
        world.passes(ms(10)).await;
        world.engine_ends().await;
        // A prompt that was just stored is not worked on yet.
        world.passes(secs(1)).await;
        assert_eq!(session.the_goal().status, Status::Paused, "{fault:?}");
        assert!(!session.is_busy(), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn r42_an_engine_that_ends_right_after_a_stop_pauses_the_goal_first() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Prompt, Fault::slow_answer(secs(2)));
    world.until(|_| session.continuations().len() == 1).await;
    world.passes(ms(200)).await;
    session.user_aborts();
    world.passes(ms(500)).await;
    world.engine_ends().await;
    assert_eq!(session.the_goal().status, Status::Paused);
}

#[tokio::test(start_paused = true)]
async fn x8_a_message_of_the_user_ends_the_cycle_and_the_next_idle_decides() {
    let (world, session) = an_audited_goal().await;
    let _ = session.user_says("wait, do it differently");
    world.passes(secs(60)).await;
    assert_eq!(session.continuations(), []);
    assert_eq!(world.cancelled_audits(), 1);
    session.assistant_finishes("differently then");
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn x8_r78_a_message_between_write_and_prompt_is_not_talked_over() {
    let (world, session) = a_goal_before_its_prompt().await;
    let _ = session.user_says("wait");
    world.passes(secs(60)).await;
    assert_eq!(world.count(Call::Prompt), 0);
    session.assistant_finishes("I waited");
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x8_an_edit_during_the_audit_drops_its_verdict_and_stops_nothing() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.auditor_says(VerdictKind::Complete, "done");
    world.until(|world| world.audits().len() == 1).await;
    session.client_edits_goal(json!({ "objective": "make the tests pass, and the docs build" }));
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(
        world.audits()[1].objective,
        "make the tests pass, and the docs build"
    );
    assert_eq!(world.count(Call::Abort), 0);
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_while_a_verdict_is_about_to_be_written_drops_it() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("all of it");
    world.auditor_says(VerdictKind::Complete, "done");
    world.until(|world| world.audits().len() == 1).await;
    world.next(Call::Messages, Fault::slow_answer(secs(3)));
    world.forgets_calls();
    world.until(|world| world.count(Call::Messages) == 1).await;
    let paused = world.engine().pause(session.id()).await.unwrap();
    assert_eq!(paused.view.goal.status, Status::Paused);
    world.passes(secs(600)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn x8_a_verdict_over_a_message_that_nobody_heard_ends_nothing() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("all of it");
    world.auditor_says(VerdictKind::Complete, "done");
    world.until(|world| world.audits().len() == 1).await;
    session.turns_unheard("and the docs?", "they are to be built yet");
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(world.audits()[1].evidence.text, "they are to be built yet");
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn x8_a_cleared_goal_ends_everything() {
    let (world, session) = an_audited_goal().await;
    session.client_clears();
    world.passes(secs(600)).await;
    assert_eq!(session.stored_goal(), None);
    assert_eq!(session.view(), None);
    assert_eq!(world.count(Call::Write), 0);
    assert_eq!(world.count(Call::Prompt), 0);
}

#[tokio::test(start_paused = true)]
async fn r6_a_replaced_goal_is_pursued_and_the_old_one_forgotten() {
    let (world, session) = a_goal_continued().await;
    world.auditor_says(VerdictKind::Complete, "done");
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 2).await;
    let old = session.the_goal().id;
    session.goal("something else");
    world.settles().await;
    let new = session.the_goal();
    assert_ne!(new.id, old);
    until_continued(&world, &session, 2).await;
    let goal = session.the_goal();
    assert_eq!((goal.id.clone(), goal.turns_used), (new.id, 1));
    assert_eq!(world.audits()[2].objective, "something else");
}

#[tokio::test(start_paused = true)]
async fn x8_a_pause_that_overtakes_a_fresh_prompt_stops_its_turn_when_it_shows_up() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|_| session.continuations().len() == 1).await;
    assert!(
        !session.is_busy(),
        "the prompt is stored and not taken up yet"
    );
    world.engine().pause(session.id()).await.unwrap();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert!(!session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn r44_what_the_user_says_while_paused_does_not_touch_the_goal() {
    let (world, session) = a_goal_continued().await;
    world.engine().pause(session.id()).await.unwrap();
    world.passes(secs(5)).await;
    let paused = session.the_goal();
    let _ = session.user_says("just a question");
    session.assistant_finishes("an answer");
    world.passes(secs(600)).await;
    assert_eq!(session.the_goal(), paused);
    assert_eq!(world.count(Call::Abort), 1);
    let _ = session.user_says("another one");
    world.passes(secs(600)).await;
    assert!(session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn x14_an_archived_session_pauses_its_goal() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    session.user_archives();
    world.passes(secs(20)).await;
    let goal = session.the_goal();
    assert_eq!(
        (goal.status, goal.status_reason.as_str()),
        (Status::Paused, "session archived")
    );
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn x14_a_rewound_session_waits_for_a_message_or_a_resume() {
    let (world, session) = a_goal_continued().await;
    session.assistant_finishes("wrong");
    let point = session.continuations()[0].message.clone();
    session.user_reverts(&point);
    world.passes(secs(400)).await;
    assert_eq!(session.phase(), Some(Phase::Rewound));
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(world.audits().len(), 1);
    world.engine().resume(session.id(), None).await.unwrap();
    world.until(|_| session.is_busy()).await;
    world.settles().await;
    let sent = session.continuations();
    assert_eq!(sent.len(), 1, "the reverted one is gone");
    assert_ne!(sent[0].message, point);
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn x14_a_message_of_the_user_ends_the_rewinding() {
    let (world, session) = a_goal_continued().await;
    session.assistant_finishes("wrong");
    session.user_reverts(&session.continuations()[0].message);
    world.passes(secs(30)).await;
    let _ = session.user_says("better so");
    session.assistant_finishes("yes");
    until_continued(&world, &session, 1).await;
}

#[tokio::test(start_paused = true)]
async fn x14_x21_the_very_first_prompt_rewound_and_rewritten_goes_on() {
    for audited in [false, true] {
        for (waits, restarts) in [(0, false), (400, false), (0, audited)] {
            let case = format!("audited: {audited}, waits: {waits}, restarts: {restarts}");
            let (world, session) = crate::support::a_session().await;
            let started = session.starts_goal("make the tests pass", true).await;
            let first = started.unwrap().message.unwrap();
            world.settles().await;
            session.assistant_finishes("wrong");
            if audited {
                until_continued(&world, &session, 1).await;
                session.assistant_finishes("wrong again");
            }
            world.passes(secs(5)).await;
            session.user_reverts(&first);
            world.passes(secs(waits)).await;
            let _ = session.user_says("make the tests of the parser pass");
            if restarts {
                world.engine_ends().await;
                world.engine_starts().await;
            }
            session.assistant_finishes("better");
            until_continued(&world, &session, 1).await;
            assert_eq!(session.the_goal().status, Status::Active, "{case}");
            let audits = world.audits();
            assert_eq!(audits.last().unwrap().evidence.text, "better", "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn x14_a_deleted_session_ends_the_watch_and_takes_its_objective_along() {
    let (world, session) = crate::support::a_session().await;
    session
        .starts_goal("make the tests pass", false)
        .await
        .unwrap();
    let id = session.id().as_str();
    assert!(world.objectives().read(id).await.is_some());
    world.passes(secs(1)).await;
    session.user_deletes();
    world.settles().await;
    world.forgets_calls();
    world.passes(secs(600)).await;
    assert_eq!(world.calls(), []);
    assert_eq!(world.engine().get(session.id()), None);
    assert_eq!(world.objectives().read(id).await, None);
}

#[tokio::test(start_paused = true)]
async fn x12_a_reload_of_the_server_is_no_stop() {
    let (world, session) = a_goal_continued().await;
    world.server_reloads().await;
    world.passes(secs(2)).await;
    assert_eq!(session.the_goal().status, Status::Active);
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits().len(), 1, "a cut-off turn is not judged");
}

#[tokio::test(start_paused = true)]
async fn x12_a_reload_of_a_slow_server_is_no_stop() {
    let (world, session) = a_goal_continued().await;
    // The turn's message ends 300 ms after the stop, and the reload is told right behind it.
    world.server_reloads_in(ms(310)).await;
    world.passes(secs(2)).await;
    assert_eq!(session.the_goal().status, Status::Active);
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits().len(), 1, "a cut-off turn is not judged");
}

#[tokio::test(start_paused = true)]
async fn x12_a_reload_long_after_a_stop_takes_nothing_back() {
    let (world, session) = a_goal_continued().await;
    world.server_reloads_in(ms(510)).await;
    world.passes(secs(30)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r46_a_late_trace_of_the_stop_that_was_gone_over_pauses_nothing() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(ms(100)).await;
    world.engine().resume(session.id(), None).await.unwrap();
    world.passes(secs(5)).await;
    assert_eq!(session.the_goal().status, Status::Active);
    assert_eq!(session.continuations().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn x12_a_pause_right_behind_a_resume_of_another_client_stands() {
    let (world, session) = a_goal_at_work().await;
    session.user_aborts();
    world.passes(secs(30)).await;
    session.client_resumes();
    session.client_pauses();
    world.passes(secs(30)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    session.client_resumes();
    world.passes(ms(3)).await;
    session.client_pauses();
    world.passes(secs(30)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn x18_resume_goes_over_a_message_although_the_goal_says_resumed_already() {
    let (world, session) = a_goal_at_work().await;
    world.stream_breaks();
    session.client_resumes();
    let _ = session.user_says("or rather this");
    session.user_aborts();
    world.passes(secs(1)).await;
    world.stream_returns();
    world.passes(secs(100)).await;
    assert_eq!(session.view().unwrap().why, "userPending");
    let resumed = world.engine().resume(session.id(), None).await.unwrap();
    assert!(!resumed.already);
    until_continued(&world, &session, 1).await;
    let again = world.engine().resume(session.id(), None).await.unwrap();
    assert!(!again.already, "the first one was consumed");
    let again = world.engine().resume(session.id(), None).await.unwrap();
    assert!(again.already);
}

#[tokio::test(start_paused = true)]
async fn x8_a_prompt_that_arrives_long_after_a_pause_is_stopped() {
    for during in [secs(5), secs(12)] {
        let (world, session) = a_goal_at_work().await;
        session.assistant_finishes("half");
        world.next(Call::Prompt, Fault::late(secs(40)));
        world.until(|world| world.count(Call::Prompt) == 1).await;
        world.passes(during).await;
        world.always(Call::Prompt, Fault::swallowed());
        world.engine().pause(session.id()).await.unwrap();
        world.passes(secs(120)).await;
        assert_eq!(session.continuations().len(), 1, "{during:?}");
        assert_eq!(session.the_goal().status, Status::Paused, "{during:?}");
        assert!(!session.is_busy(), "{during:?}");
    }
}

/// A goal whose continuation is just being sent, and meets this.
async fn a_prompt_on_the_wire(fault: Fault) -> (World, Session) {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Prompt, fault);
    world.until(|world| world.count(Call::Prompt) == 1).await;
    world.passes(ms(20)).await;
    (world, session)
}

/// A goal whose continuation was sent, and arrives so long after that.
async fn a_prompt_that_comes_late(by: Duration) -> (World, Session) {
    let (world, session) = a_prompt_on_the_wire(Fault::late(by)).await;
    world.passes(secs(5)).await;
    world.always(Call::Prompt, Fault::swallowed());
    (world, session)
}

#[tokio::test(start_paused = true)]
async fn x8_a_prompt_is_stopped_however_long_after_the_stop_it_arrives() {
    for clears in [false, true] {
        for by in [secs(200), secs(20 * 3_600)] {
            let (world, session) = a_prompt_that_comes_late(by).await;
            if clears {
                world.engine().clear(session.id()).await.unwrap();
            } else {
                world.engine().pause(session.id()).await.unwrap();
            }
            world.passes(by).await;
            world.passes(secs(120)).await;
            assert_eq!(session.continuations().len(), 1, "{clears} {by:?}");
            assert!(!session.is_busy(), "{clears} {by:?}");
            assert!(session.model_calls() <= 3, "{clears} {by:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn x8_an_earlier_prompt_that_arrives_after_the_stop_of_a_later_one_is_stopped() {
    let (world, session) = a_prompt_that_comes_late(secs(200)).await;
    let _ = session.user_says("something else first");
    session.assistant_finishes("as you like");
    world.passes(secs(5)).await;
    world.heals();
    until_continued(&world, &session, 1).await;
    assert!(world.age() < secs(200));
    world.engine().pause(session.id()).await.unwrap();
    world.until(|_| session.continuations().len() == 2).await;
    world.passes(secs(5)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert!(!session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn x8_a_prompt_that_arrives_while_nobody_hears_it_is_stopped_afterwards() {
    for clears in [false, true] {
        let (world, session) = a_prompt_that_comes_late(secs(200)).await;
        if clears {
            world.engine().clear(session.id()).await.unwrap();
        } else {
            world.engine().pause(session.id()).await.unwrap();
        }
        world.passes(secs(100)).await;
        world.stream_breaks();
        world.until(|_| session.is_busy()).await;
        world.passes(secs(10)).await;
        assert!(session.is_busy());
        world.stream_returns();
        world.passes(secs(2)).await;
        assert!(!session.is_busy(), "clears: {clears}");
    }
}

#[tokio::test(start_paused = true)]
async fn x8_a_prompt_that_arrives_after_a_pause_and_a_restart_is_stopped() {
    let (world, session) = a_prompt_that_comes_late(secs(200)).await;
    world.engine().pause(session.id()).await.unwrap();
    world.engine_ends().await;
    world.until(|_| session.is_busy()).await;
    world.engine_starts().await;
    world.passes(secs(2)).await;
    assert!(!session.is_busy());
    assert_eq!(session.the_goal().status, Status::Paused);
    let _ = session.user_says("go on with this instead");
    world.passes(secs(400)).await;
    assert!(session.is_busy(), "what a person says is not stopped");
}

#[tokio::test(start_paused = true)]
async fn x8_what_ran_before_a_goal_was_completed_goes_on_after_a_restart() {
    for restarts in [false, true] {
        let (world, session) = a_goal_continued().await;
        world.engine().complete(session.id()).await.unwrap();
        if restarts {
            world.engine_ends().await;
            world.engine_starts().await;
        }
        world.passes(secs(10)).await;
        session.assistant_uses_tool("bash", "one more step");
        world.passes(secs(200)).await;
        assert!(session.is_busy(), "restarts: {restarts}");
        assert_eq!(world.count(Call::Abort), 0, "restarts: {restarts}");
    }
}

#[tokio::test(start_paused = true)]
async fn x8_a_prompt_that_arrives_during_the_command_that_pauses_is_stopped() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Prompt, Fault::late(ms(15_400)));
    world.until(|world| world.count(Call::Prompt) == 1).await;
    world.always(Call::Prompt, Fault::swallowed());
    world.passes(secs(5)).await;
    // The prompt's fate is known to be unknown 15 s after it was sent; then the pause is written.
    world.engine().pause(session.id()).await.unwrap();
    world.passes(secs(30)).await;
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(session.the_goal().status, Status::Paused);
    assert!(!session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn x8_a_goal_marked_complete_while_the_prompt_is_on_the_wire_stops_its_turn() {
    for fault in [Fault::slow(secs(2)), Fault::slow_answer(secs(2))] {
        let (world, session) = a_prompt_on_the_wire(fault.clone()).await;
        world.engine().complete(session.id()).await.unwrap();
        world.passes(secs(60)).await;
        assert_eq!(session.the_goal().status, Status::Complete, "{fault:?}");
        assert!(!session.is_busy(), "{fault:?}");
        assert_eq!(world.count(Call::Prompt), 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn x8_a_goal_cleared_while_the_prompt_is_on_the_wire_stops_its_turn() {
    let (world, session) = a_prompt_on_the_wire(Fault::slow(secs(2))).await;
    session.client_clears();
    world.passes(secs(60)).await;
    assert_eq!(session.stored_goal(), None);
    assert!(!session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn x8_an_edit_or_replacement_while_the_prompt_is_on_the_wire_stops_nothing() {
    for replace in [false, true] {
        let (world, session) = a_prompt_on_the_wire(Fault::slow(secs(2))).await;
        if replace {
            session.goal("something else");
        } else {
            session.client_edits_goal(json!({ "objective": "something else" }));
        }
        world.passes(secs(60)).await;
        assert!(session.is_busy(), "replace: {replace}");
        assert_eq!(world.count(Call::Abort), 0, "replace: {replace}");
        session.assistant_finishes("three quarters");
        until_continued(&world, &session, 2).await;
        assert_eq!(world.audits()[1].objective, "something else");
    }
}
