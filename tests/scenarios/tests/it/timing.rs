//! When a cycle begins: quiet windows, kickoffs, and what puts them off.

use std::time::Duration;

use goal_core::goal::Status;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;
use testkit::world::{Call, Fault, World};

use crate::support::{a_goal_at_work, a_goal_continued, a_session, calls, ms, secs};

/// When the engine first asked for a session since the calls were forgotten.
fn looked_at(world: &World, since: Duration) -> Vec<Duration> {
    let looks = world.calls().into_iter();
    let looks = looks.filter(|called| called.call == Call::Session && called.engine > 0);
    looks.map(|called| called.at - since).collect()
}

#[tokio::test(start_paused = true)]
async fn r13_busy_inside_the_window_cancels_and_the_next_idle_begins_it_anew() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.passes(secs(10)).await;
    let _ = session.user_says("one more thing");
    world.forgets_calls();
    world.passes(secs(60)).await;
    assert_eq!(calls(&world), []);
    assert_eq!(session.phase(), Some(Phase::Working));
    session.assistant_finishes("that, too");
    world.passes(secs(10)).await;
    session.repeats_status();
    let from = world.age();
    world.passes(secs(14)).await;
    assert_eq!(calls(&world), []);
    world.passes(secs(2)).await;
    assert_eq!(looked_at(&world, from).first(), Some(&secs(15)));
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r14_a_fresh_goal_on_an_idle_session_is_looked_at_after_three_seconds() {
    let (world, session) = a_session().await;
    world.forgets_calls();
    let from = world.age();
    session.goal("make the tests pass");
    world.passes(secs(4)).await;
    assert_eq!(looked_at(&world, from).first(), Some(&secs(3)));
}

#[tokio::test(start_paused = true)]
async fn r14_a_resumed_goal_is_looked_at_almost_at_once() {
    let (world, session) = a_goal_continued().await;
    session.client_pauses();
    session.user_aborts();
    world.passes(secs(30)).await;
    world.forgets_calls();
    let from = world.age();
    session.client_resumes();
    world.passes(secs(1)).await;
    let looks = looked_at(&world, from);
    assert!(
        looks.iter().any(|at| (ms(250)..ms(300)).contains(at)),
        "{looks:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn r15_x19_a_fresh_goal_does_not_shorten_a_running_window() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    let from = world.age();
    world.forgets_calls();
    world.passes(secs(5)).await;
    session.client_edits_goal(serde_json::json!({ "tokenBudget": 100_000 }));
    world.passes(secs(11)).await;
    assert_eq!(looked_at(&world, from).first(), Some(&secs(15)));
}

#[tokio::test(start_paused = true)]
async fn x19_a_resume_while_the_session_works_waits_for_the_quiet_window() {
    let (world, session) = a_goal_at_work().await;
    session.client_edits_goal(serde_json::json!({ "status": "paused" }));
    world.passes(secs(2)).await;
    session.client_resumes();
    world.forgets_calls();
    world.passes(secs(30)).await;
    assert_eq!(world.audits().len(), 0);
    assert_eq!(session.continuations(), []);
    world.forgets_calls();
    let from = world.age();
    session.assistant_finishes("half");
    world.passes(secs(16)).await;
    assert!(looked_at(&world, from).contains(&secs(15)));
}

#[tokio::test(start_paused = true)]
async fn r22_x11_a_goal_on_a_sub_agent_is_inert() {
    let (world, session) = a_session().await;
    let _ = session.user_says("go");
    let child = session.starts_subagent("child");
    child.goal("sub goal");
    child.assistant_finishes("done");
    session.assistant_finishes("done");
    world.passes(secs(600)).await;
    assert_eq!(world.audits().len(), 0);
    assert_eq!(child.continuations(), []);
    assert_eq!(child.view(), None);
}

#[tokio::test(start_paused = true)]
async fn r24_a_busy_session_is_not_audited_although_its_busy_was_missed() {
    let (world, session) = a_goal_at_work().await;
    world.stream_breaks();
    session.assistant_finishes("half");
    let _ = session.user_says("and that");
    world.stream_returns();
    world.forgets_calls();
    world.passes(secs(20)).await;
    assert_eq!(
        calls(&world),
        [Call::List, Call::Session, Call::Status, Call::Requests]
    );
    assert_eq!(session.phase(), Some(Phase::Working));
}

#[tokio::test(start_paused = true)]
async fn r25_r27_a_busy_sub_agent_holds_the_loop_until_it_rests() {
    let (world, session) = a_goal_at_work().await;
    let child = session.starts_subagent("child");
    session.assistant_finishes("the child works in the background");
    world.forgets_calls();
    world.passes(secs(20)).await;
    assert_eq!(
        calls(&world),
        [
            Call::Session,
            Call::Status,
            Call::Children,
            Call::Children,
            Call::Requests
        ]
    );
    assert_eq!(session.phase(), Some(Phase::WaitingForSubagent));
    assert_eq!(session.view().unwrap().detail, child.id().to_string());
    child.assistant_finishes("my part is done");
    session.hears_of_subagent(&child);
    world.settles().await;
    assert_eq!(session.phase(), Some(Phase::Working));
    session.assistant_finishes("all is done");
    world.passes(secs(16)).await;
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r25_h11_a_sub_agent_in_another_folder_holds_the_loop() {
    let (world, session) = a_goal_at_work().await;
    let child = session.starts_subagent_in("child", "/home/demo/elsewhere");
    session.assistant_finishes("the child works in the background");
    world.passes(secs(600)).await;
    assert_eq!(session.phase(), Some(Phase::WaitingForSubagent));
    assert_eq!(world.audits().len(), 0);
    child.assistant_finishes("my part is done");
    world.passes(secs(20)).await;
    assert_eq!(world.audits().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r26_x9_failed_reads_are_tried_again_in_growing_steps_up_to_five_minutes() {
    for call in [Call::Session, Call::Status, Call::Children, Call::Messages] {
        let (world, session) = a_goal_at_work().await;
        world.always(call, Fault::status_500());
        let from = world.age();
        world.forgets_calls();
        session.assistant_finishes("half");
        world.passes(secs(1_100)).await;
        let looks = looked_at(&world, from);
        let steps: Vec<u64> = looks.windows(2).map(|w| (w[1] - w[0]).as_secs()).collect();
        assert_eq!(looks[0], secs(15), "{call:?}");
        assert_eq!(steps, [15, 30, 60, 120, 240, 300, 300], "{call:?}");
        assert_eq!(session.phase(), Some(Phase::Retrying), "{call:?}");
        assert_eq!(world.audits().len(), 0, "{call:?}");
        assert_eq!(session.the_goal().status, Status::Active);
        world.heals();
        world.passes(secs(310)).await;
        assert_eq!(session.continuations().len(), 1, "{call:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn r26_a_hanging_read_ends_at_its_deadline() {
    let (world, session) = a_goal_at_work().await;
    world.next(Call::Messages, Fault::lost());
    session.assistant_finishes("half");
    world.passes(secs(24)).await;
    assert_eq!(session.phase(), Some(Phase::Checking));
    world.passes(secs(2)).await;
    assert_eq!(session.phase(), Some(Phase::Retrying));
    assert_eq!(session.view().unwrap().why, "messagesUnknown");
}

#[tokio::test(start_paused = true)]
async fn r17_x9_a_trigger_during_a_cycle_runs_one_more_cycle_after_it() {
    let (world, session) = a_goal_at_work().await;
    world.next(Call::Messages, Fault::slow(secs(5)));
    session.assistant_finishes("half");
    world.passes(secs(16)).await;
    world.always(Call::Children, Fault::status_500());
    session.repeats_status();
    world.forgets_calls();
    world.passes(secs(3)).await;
    assert_eq!(calls(&world), []);
    world.until(|world| world.audits().len() == 1).await;
    assert_eq!(session.phase(), Some(Phase::Auditing));
}

#[tokio::test(start_paused = true)]
async fn r21_the_setting_is_read_at_fire_time_and_a_change_is_seen_at_once() {
    let (world, session) = a_goal_at_work().await;
    session.assistant_finishes("half");
    world.passes(secs(10)).await;
    world.setting("sessionGoalEnabled", false.into()).await;
    world.forgets_calls();
    world.passes(secs(10)).await;
    assert_eq!(world.audits().len(), 0);
    assert_eq!(session.view().unwrap().why, "disabled");
    world.setting("sessionGoalEnabled", true.into()).await;
    world.engine().settings_changed().await;
    world.passes(secs(16)).await;
    assert_eq!(world.audits().len(), 1);
}
