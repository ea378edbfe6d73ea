//! Other clients write the same metadata at the same time (R6, X17), and other engines drive (H28).

use goal_core::goal::Status;
use goal_core::verdict::VerdictKind;
use goal_engine::command::EditRequest;
use goal_engine::update::{DriverState, UpdateKind};
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use serde_json::json;
use testkit::world::{Call, Fault, Session, World};

use crate::support::{a_goal_at_work, a_goal_continued, ms, secs, until_continued};

/// A goal whose first continuation is just being written: the write waits on its way.
async fn a_goal_being_written() -> (World, Session) {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Write, Fault::slow(ms(200)));
    world.until(|world| world.count(Call::Write) == 1).await;
    (world, session)
}

#[tokio::test(start_paused = true)]
async fn x17_siblings_and_unknown_fields_survive_every_write() {
    let (world, session) = a_goal_at_work().await;
    session.client_writes(|metadata| {
        metadata["pins"] = json!([1, 2, { "deep": 12_345_678_901_234_567_890_u64 }]);
        metadata["openchamber"]["assist"] = json!({ "on": true });
        metadata["openchamber"]["goal"]["theirs"] = json!("kept");
    });
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    session.assistant_finishes("done");
    world.auditor_says(VerdictKind::Complete, "done");
    world
        .until(|_| session.the_goal().status == Status::Complete)
        .await;
    let metadata = session.metadata();
    let pins = json!([1, 2, { "deep": 12_345_678_901_234_567_890_u64 }]);
    assert_eq!(metadata["pins"], pins);
    assert_eq!(metadata["openchamber"]["assist"], json!({ "on": true }));
    assert_eq!(metadata["openchamber"]["goal"]["theirs"], "kept");
}

#[tokio::test(start_paused = true)]
async fn x17_siblings_written_between_our_read_and_our_write_are_put_back() {
    let (world, session) = a_goal_being_written().await;
    session.client_writes(|metadata| metadata["pins"] = json!(["a"]));
    until_continued(&world, &session, 1).await;
    assert_eq!(session.metadata()["pins"], json!(["a"]));
    assert_eq!(session.the_goal().turns_used, 1);
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn x17_siblings_written_during_the_audit_are_not_taken_for_lost_ones() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    session.client_writes(|_| {});
    session.client_writes(|metadata| metadata["pins"] = json!(["a"]));
    session.client_writes(|metadata| metadata["pins"] = json!(["a", "b"]));
    until_continued(&world, &session, 1).await;
    assert_eq!(session.metadata()["pins"], json!(["a", "b"]));
    assert_eq!(world.count(Call::Write), 1);
    assert_eq!(world.cancelled_audits(), 0);
}

#[tokio::test(start_paused = true)]
async fn x17_another_goal_written_between_our_read_and_our_write_is_written_back() {
    let (world, session) = a_goal_being_written().await;
    session.goal("something else");
    let other = session.the_goal();
    world.passes(secs(2)).await;
    assert_eq!(session.the_goal().id, other.id);
    assert_eq!(world.count(Call::Prompt), 0);
    until_continued(&world, &session, 1).await;
    let goal = session.the_goal();
    assert_eq!((goal.id.clone(), goal.turns_used), (other.id, 1));
    assert_eq!(world.audits()[1].objective, "something else");
}

#[tokio::test(start_paused = true)]
async fn x17_a_pause_written_between_our_read_and_our_write_is_written_back() {
    let (world, session) = a_goal_being_written().await;
    session.client_edits_goal(json!({ "status": "paused" }));
    world.passes(secs(60)).await;
    let goal = session.the_goal();
    assert_eq!((goal.status, goal.turns_used), (Status::Paused, 0));
    assert_eq!(world.count(Call::Prompt), 0);
    assert_eq!(session.phase(), Some(Phase::Settled));
}

#[tokio::test(start_paused = true)]
async fn x17_a_clear_written_between_our_read_and_our_write_is_written_back() {
    let (world, session) = a_goal_being_written().await;
    session.client_clears();
    world.passes(secs(60)).await;
    assert_eq!(session.stored_goal(), None);
    assert_eq!(world.count(Call::Prompt), 0);
    assert_eq!(session.view(), None);
}

#[tokio::test(start_paused = true)]
async fn x17_another_goal_that_our_settling_write_replaced_is_written_back() {
    let (world, session) = a_goal_at_work().await;
    world.auditor_says(VerdictKind::Complete, "done");
    session.assistant_finishes("half");
    world.next(Call::Write, Fault::slow(ms(200)));
    world.until(|world| world.count(Call::Write) == 1).await;
    session.goal("something else");
    world.passes(secs(1)).await;
    let goal = session.the_goal();
    assert_eq!(goal.objective, "something else");
    assert_eq!(goal.status, Status::Active);
    assert_eq!(world.notices(), []);
}

#[tokio::test(start_paused = true)]
async fn x17_what_was_written_while_a_reload_was_undone_is_written_back() {
    for clears in [false, true] {
        let (world, session) = a_goal_continued().await;
        world.forgets_calls();
        world.next(Call::Write, Fault::slow(ms(0)));
        world.next(Call::Write, Fault::slow(ms(200)));
        world.server_reloads().await;
        world.until(|world| world.count(Call::Write) == 2).await;
        world.passes(ms(100)).await;
        if clears {
            session.client_clears();
        } else {
            session.client_edits_goal(json!({ "status": "complete" }));
        }
        let theirs = session.stored_goal();
        world.passes(secs(120)).await;
        assert_eq!(session.stored_goal(), theirs, "clears: {clears}");
        assert_eq!(world.count(Call::Prompt), 0, "clears: {clears}");
    }
}

#[tokio::test(start_paused = true)]
async fn x17_a_command_whose_pause_the_loop_replaced_writes_it_again() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.next(Call::Write, Fault::slow(ms(200)));
    world.until(|world| world.count(Call::Write) == 1).await;
    world.stream_breaks();
    let paused = goal_engine::command::pause(&world.command(), session.id()).await;
    assert_eq!(paused.unwrap().view.goal.status, Status::Paused);
    world.stream_returns();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert!(!session.is_busy());
}

#[tokio::test(start_paused = true)]
async fn x17_a_command_whose_edit_the_loop_replaced_makes_it_again() {
    for verdict in [VerdictKind::Continue, VerdictKind::Complete] {
        let (world, session) = a_goal_at_work().await;
        world.auditor_says(verdict, "as it is");
        session.assistant_finishes("half");
        world.next(Call::Write, Fault::slow(ms(200)));
        world.until(|world| world.count(Call::Write) == 1).await;
        world.stream_breaks();
        let request = EditRequest {
            session: session.id().clone(),
            objective: Some("make all the tests pass".to_owned()),
            token_budget: Some(Some(500_000)),
        };
        let edited = goal_engine::command::edit(&world.command(), request).await;
        let goal = edited.unwrap().view.goal;
        let (status, budget) = (goal.status, goal.token_budget);
        assert_eq!((status, budget), (Status::Active, Some(500_000)));
        assert_eq!(session.the_goal(), goal);
    }
}

#[tokio::test(start_paused = true)]
async fn x17_what_was_written_on_top_of_ours_is_newer_than_what_ours_ran_over() {
    let (world, session) = a_goal_being_written().await;
    session.client_edits_goal(json!({ "tokenBudget": 500_000 }));
    // Whatever the loop does next about it takes its time.
    world.next(Call::Session, Fault::slow(ms(100)));
    world.next(Call::Write, Fault::slow(ms(100)));
    world.until(|_| session.the_goal().turns_used == 1).await;
    session.client_edits_goal(json!({ "status": "paused" }));
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(world.count(Call::Prompt), 0);
}

#[tokio::test(start_paused = true)]
async fn x17_a_goal_that_another_program_continued_meanwhile_is_left_to_it() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    session.client_writes(|metadata| metadata["openchamber"]["goal"]["turnsUsed"] = json!(7));
    world.passes(secs(5)).await;
    assert_eq!(world.count(Call::Prompt), 0);
    assert_eq!(session.the_goal().turns_used, 7);
    until_continued(&world, &session, 1).await;
    assert_eq!(session.the_goal().turns_used, 8);
}

#[tokio::test(start_paused = true)]
async fn r6_a_goal_of_another_id_is_not_written_although_all_else_is_the_same() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    world.next(Call::Session, Fault::slow(ms(500)));
    world.forgets_calls();
    world.until(|world| world.count(Call::Session) == 1).await;
    // Not stamped anew: clients have clocks of their own.
    session.client_writes(|metadata| metadata["openchamber"]["goal"]["id"] = json!("another"));
    let replaced = session.metadata();
    world.passes(secs(5)).await;
    assert_eq!(session.metadata(), replaced);
    assert_eq!(world.count(Call::Prompt), 0);
    until_continued(&world, &session, 1).await;
    assert_eq!(world.audits()[1].goal.as_str(), "another");
}

#[tokio::test(start_paused = true)]
async fn x11_a_fork_carries_its_goal_without_pursuing_it() {
    for known in [false, true] {
        let (world, session) = a_goal_continued().await;
        if !known {
            // Another client's edit may drop our fields.
            session.client_writes(|metadata| {
                let goal = metadata["openchamber"]["goal"].as_object_mut().unwrap();
                goal.remove("sessionID");
            });
        }
        let fork = session.user_forks("fork");
        let _ = fork.user_says("go");
        fork.assistant_finishes("done");
        world.passes(secs(400)).await;
        assert_eq!(fork.continuations(), [], "known: {known}");
        assert_eq!(fork.view(), None, "known: {known}");
        assert_eq!(world.audits().len(), 1, "known: {known}");
        assert!(session.view().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn h28_a_second_engine_is_passive_and_takes_over_when_the_first_ends() {
    let (world, session) = a_goal_at_work().await;
    let first = world.engine();
    let second = world.engine_starts().await;
    session.assistant_finishes("half");
    world.passes(secs(20)).await;
    world.settles().await;
    assert_eq!(session.continuations()[0].engine, 1);
    assert!(
        world
            .calls()
            .iter()
            .all(|c| c.engine != second || c.call == Call::List)
    );
    let passive = |world: &World| {
        world.updates().iter().any(|(engine, update)| {
            let ready = matches!(
                update.kind,
                UpdateKind::Ready {
                    driver: DriverState::Passive { .. },
                    ..
                }
            );
            *engine == second && ready
        })
    };
    assert!(passive(&world));
    first.shutdown().await;
    session.assistant_finishes("more");
    until_continued(&world, &session, 2).await;
    assert_eq!(session.continuations()[1].engine, second);
    assert_eq!(session.model_calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn h28_a_driver_that_lost_its_lease_while_the_computer_slept_stops() {
    let (world, session) = a_goal_at_work().await;
    world.passes(secs(2)).await;
    let second = world.engine_starts().await;
    // Heartbeats come every five seconds: the first has just written its own, the second is next.
    world.passes(secs(4)).await;
    world.clock_jumps(60_000);
    world.passes(secs(10)).await;
    let drivers: Vec<(usize, bool)> = world
        .updates()
        .into_iter()
        .filter_map(|(engine, update)| {
            let UpdateKind::Driver(driver) = update.kind else {
                return None;
            };
            Some((engine, driver == DriverState::Driving))
        })
        .collect();
    assert_eq!(drivers, [(second, true), (1, false)]);
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    assert_eq!(session.continuations()[0].engine, second);
    assert_eq!(world.audits().len(), 1);
    world.passes(secs(600)).await;
    assert_eq!(world.count(Call::Prompt), 1);
}

#[tokio::test(start_paused = true)]
async fn h28_a_pause_through_the_passive_engine_works() {
    let (world, session) = a_goal_at_work().await;
    world.engine_starts().await;
    session.assistant_finishes("half");
    world.until(|world| world.audits().len() == 1).await;
    world.engine().pause(session.id()).await.unwrap();
    world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn r17_sessions_are_independent_of_each_other() {
    let (world, session) = a_goal_at_work().await;
    let other = world.session_in("other", "/home/demo/elsewhere");
    let _ = other.user_says("go");
    other.goal("write the docs");
    session.assistant_finishes("half");
    other.assistant_finishes("half, too");
    until_continued(&world, &session, 1).await;
    until_continued(&world, &other, 1).await;
    assert_ne!(
        session.continuations()[0].message,
        other.continuations()[0].message
    );
    assert_eq!(world.engine().list().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn x6_two_drivers_that_do_not_know_of_each_other_make_one_continuation_of_a_tail() {
    let (world, session) = a_goal_at_work().await;
    world.engine_starts_elsewhere().await;
    for turn in 1..4 {
        session.assistant_finishes(&format!("turn {turn}"));
        until_continued(&world, &session, turn).await;
        world.passes(secs(60)).await;
        let sent = session.continuations();
        assert_eq!(sent.len(), turn);
        assert!(sent.iter().all(|prompt| prompt.texts.len() == 1));
    }
    assert_eq!(session.model_calls(), 5);
    assert_eq!(session.the_goal().turns_used, 3);
}

#[tokio::test(start_paused = true)]
async fn h28_r80_who_takes_over_tells_what_the_crashed_driver_could_not() {
    let (world, session) = a_goal_at_work().await;
    world.engine_starts().await;
    world.auditor_says(VerdictKind::Complete, "done");
    world.next(Call::Write, Fault::slow_answer(secs(5)));
    session.assistant_finishes("done");
    world
        .until(|_| session.the_goal().status == Status::Complete)
        .await;
    world.crashes(1);
    world.passes(secs(5)).await;
    assert_eq!(world.notices(), []);
    world.passes(secs(60)).await;
    assert_eq!(world.notices().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn h28_who_takes_over_from_a_crashed_driver_finishes_its_step() {
    let (world, session) = a_goal_at_work().await;
    let second = world.engine_starts().await;
    session.assistant_finishes("half");
    world.next(Call::Write, Fault::slow_answer(secs(5)));
    world.until(|_| session.the_goal().turns_used == 1).await;
    world.crashes(1);
    until_continued(&world, &session, 1).await;
    assert_eq!(session.continuations()[0].engine, second);
    assert_eq!(world.audits().len(), 1);
    assert_eq!(session.the_goal().turns_used, 1);
}
