//! Starts, reconnections and restarts: nothing is forgotten (X9, X10, X21).

use std::time::Duration;

use goal_core::goal::{ModelRef, Status};
use goal_core::notice::NoticeCode;
use goal_core::verdict::VerdictKind;
use goal_engine::command::{self, Choices, StartRequest};
use goal_engine::ports::{Address, Attachment};
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
async fn x10_goals_changed_in_the_same_millisecond_are_all_found() {
    // More than fit on a page and on the next larger one; others before and after them.
    for (before, equal, after) in [(0, 4, 0), (2, 4, 2), (1, 40, 5)] {
        let world = World::new();
        let mut n = 0;
        for (count, apart) in [(before, true), (equal, false), (after, true)] {
            for _ in 0..count {
                world.session(&format!("s{n}")).goal("make the tests pass");
                n += 1;
                if apart {
                    world.passes(ms(1)).await;
                }
            }
            world.passes(ms(1)).await;
        }
        let listed = command::list(&world.command()).await.unwrap();
        assert_eq!(listed.len(), n);
        world.engine_starts().await;
        assert_eq!(world.engine().list().len(), n);
    }
}

#[tokio::test(start_paused = true)]
async fn x10_a_goal_that_changes_while_the_pages_are_read_is_found() {
    let world = World::new();
    let mut sessions = Vec::new();
    for n in 0..8 {
        let session = world.session(&format!("s{n}"));
        session.goal("make the tests pass");
        sessions.push(session);
        world.passes(ms(1)).await;
    }
    let ports = world.command();
    let moves = async {
        // The first page was read, the last one was not.
        world.passes(ms(2)).await;
        sessions[0].client_edits_goal(json!({ "note": "moved" }));
    };
    let (listed, ()) = tokio::join!(command::list(&ports), moves);
    let listed = listed.unwrap();
    assert_eq!(listed.len(), 8);
    assert_eq!(listed[0].session, *sessions[0].id(), "the newest first");
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
async fn x7_an_engine_that_ends_behind_a_prompt_does_not_wait_for_its_confirmation() {
    // The prompt arrives, or it never does; the engine ends at once, or when it took effect.
    for fault in [Fault::slow(ms(0)), Fault::swallowed()] {
        for after in [ms(0), ms(3), ms(10)] {
            let (world, session) = a_goal_at_work().await;
            world.next(Call::Prompt, fault.clone());
            session.assistant_finishes("half");
            world.until(|world| world.count(Call::Prompt) == 1).await;
            world.passes(after).await;
            let begun = world.age();
            world.engine_ends().await;
            let took = world.age() - begun;
            assert!(took < ms(100), "{fault:?} {after:?}: {took:?}");
            assert_eq!(session.the_goal().status, Status::Active);
            world.passes(secs(10)).await;
            world.engine_starts().await;
            until_continued(&world, &session, 1).await;
            world.passes(secs(600)).await;
            assert_eq!(session.continuations().len(), 1, "{fault:?} {after:?}");
            let sent = world.prompts();
            assert!(sent.iter().all(|prompt| prompt.message == sent[0].message));
            assert_eq!(session.the_goal().turns_used, 1, "{fault:?} {after:?}");
            assert_eq!(world.audits().len(), 1, "{fault:?} {after:?}");
        }
    }
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

/// Another agent, another model with a variant, and a file.
fn a_choice() -> (Address, Attachment) {
    let to = Address {
        model: Some(ModelRef {
            provider: "fake".to_owned(),
            model: "other".to_owned(),
        }),
        agent: Some("plan".to_owned()),
        variant: Some("high".to_owned()),
    };
    let file = Attachment {
        name: "a.png".to_owned(),
        mime: "image/png".to_owned(),
        url: "data:image/png;base64,AA==".to_owned(),
    };
    (to, file)
}

#[tokio::test(start_paused = true)]
async fn x21_the_first_prompt_carries_what_was_chosen_and_continuations_keep_it() {
    let (world, session) = a_session().await;
    let (to, file) = a_choice();
    let choices = Choices::new(to.clone(), vec![file.clone()]).unwrap();
    let started = session.starts_goal_with("make the tests pass", Some(choices));
    started.await.unwrap();
    let first = &world.prompts()[0];
    assert_eq!((&first.to, &first.attachments), (&to, &vec![file]));
    world.settles().await;
    session.assistant_finishes("half");
    until_continued(&world, &session, 1).await;
    session.assistant_finishes("nearly");
    until_continued(&world, &session, 2).await;
    for later in &world.prompts()[1..] {
        assert_eq!((&later.to, &later.attachments), (&to, &Vec::new()));
    }
    assert_eq!(Some(&world.audits()[0].voice), to.voice().as_ref());
}

#[tokio::test(start_paused = true)]
async fn x21_what_is_left_out_of_a_choice_is_as_the_session_has_it() {
    let (world, session) = a_session().await;
    let to = Address {
        agent: Some("plan".to_owned()),
        ..Address::default()
    };
    let choices = Choices::new(to, Vec::new()).unwrap();
    let started = session.starts_goal_with("make the tests pass", Some(choices));
    started.await.unwrap();
    let sent = world.prompts()[0].to.clone();
    assert_eq!(sent.agent.as_deref(), Some("plan"));
    assert_eq!(sent.model.unwrap().model, "big");
}

#[tokio::test(start_paused = true)]
async fn x21_a_prompt_whose_start_dies_takes_its_choice_along_and_is_sent_by_nobody_else() {
    let (world, session) = a_session().await;
    world.next(Call::Prompt, Fault::lost());
    let (to, file) = a_choice();
    let choices = Choices::new(to, vec![file]).unwrap();
    let request = StartRequest {
        session: session.id().clone(),
        objective: "make the tests pass".to_owned(),
        token_budget: None,
        send: Some(choices),
        replace: false,
    };
    let engine = world.engine();
    let start = tokio::spawn(async move { engine.start_goal(request).await });
    world.until(|world| world.prompts().len() == 1).await;
    world.engine_crashes();
    start.await.unwrap().unwrap_err();
    world.engine_starts().await;
    let stopped = |_: &World| session.the_goal().status == Status::Paused;
    let took = world.until(stopped).await;
    assert!(took <= secs(200), "{took:?}");
    let goal = session.the_goal();
    assert_eq!(
        goal.status_reason,
        "the first message of the goal never arrived"
    );
    assert_eq!(world.prompts().len(), 1, "nobody sends it again");
    world.engine().resume(session.id(), None).await.unwrap();
    until_continued(&world, &session, 1).await;
    assert_eq!(world.prompts()[1].to.agent.as_deref(), Some("build"));
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
async fn x9_a_list_that_cannot_be_read_is_read_again_soon_and_then_ever_later() {
    let world = World::new();
    let session = world.session("s");
    let _ = session.user_says("go");
    session.assistant_finishes("half");
    session.goal("make the tests pass");
    world.always(Call::List, Fault::status_500());
    world.engine_starts().await;
    world.passes(secs(2_000)).await;
    let calls = world.calls();
    let lists = calls.iter().filter(|called| called.call == Call::List);
    let at: Vec<Duration> = lists.map(|called| called.at).collect();
    let gaps: Vec<u64> = at
        .windows(2)
        .map(|two| (two[1] - two[0]).as_secs())
        .collect();
    assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
    world.heals();
    let took = until_continued(&world, &session, 1).await;
    assert!(took < secs(330), "{took:?}");

    let world = World::new();
    let session = world.session("s");
    session.goal("make the tests pass");
    world.next(Call::List, Fault::status_500());
    world.engine_starts().await;
    let took = world.until(|_| session.view().is_some()).await;
    assert!(took < ms(1_200), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn x9_an_engine_that_ends_while_it_reads_the_sessions_does_not_wait_for_them() {
    let world = World::new();
    world.session("s").goal("make the tests pass");
    world.always(Call::List, Fault::lost());
    world.engine_starts().await;
    let begun = world.age();
    world.engine_ends().await;
    assert!(world.age() - begun < ms(100), "{:?}", world.age() - begun);
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
