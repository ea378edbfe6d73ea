//! Objectives that are too long for the auditor (O10-O12).

#![expect(
    clippy::unwrap_used,
    reason = "what ought to be refused and is not fails the test"
)]

use std::time::Duration;

use goal_core::goal::Status;
use goal_core::judge::AuditFailure;
use goal_engine::command::{
    self, AuditorCopy, Choices, EditRequest, Edited, StartRequest, Started,
};
use goal_engine::{Code, Error};
use pretty_assertions::assert_eq;
use testkit::world::{Call, Session, World};
use tokio::task::JoinHandle;

use crate::support::{a_goal_at_work, a_goal_continued, a_session, secs, until_continued};

const CRITERIA: &str = "- the tests pass, shown by `cargo test`";

/// A plan of far more than 5,000 characters.
fn plan() -> String {
    let middle = "do this and that\n".repeat(700);
    format!("FIRST LINE\n{middle}LAST LINE")
}

fn a_start(session: &Session, objective: &str) -> StartRequest {
    StartRequest {
        session: session.id().clone(),
        objective: objective.to_owned(),
        token_budget: None,
        send: Some(Choices::default()),
        replace: false,
    }
}

/// Another program starts a goal with a plan.
fn starting(world: &World, request: StartRequest) -> JoinHandle<Result<Started, Error>> {
    let ports = world.command();
    tokio::spawn(async move { command::start(&ports, request).await })
}

/// Another program edits the goal to a plan.
fn editing(world: &World, session: &Session) -> JoinHandle<Result<Edited, Error>> {
    let ports = world.command();
    let request = EditRequest {
        session: session.id().clone(),
        objective: Some(plan()),
        token_budget: None,
    };
    tokio::spawn(async move { command::edit(&ports, request).await })
}

/// The session's objective file.
async fn file(world: &World, session: &Session) -> Option<String> {
    world.objectives().read(session.id().as_str()).await
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> Code {
    result.unwrap_err().code()
}

#[tokio::test(start_paused = true)]
async fn o10_o12_the_auditor_gets_the_criteria_and_the_agent_everything() {
    let (world, session) = a_session().await;
    world.distills(&format!("```\n{CRITERIA}\n```"));
    let start = a_start(&session, &plan());
    let started = world.engine().start_goal(start).await.unwrap();
    assert!(matches!(started.copy, AuditorCopy::Distilled(model) if model.model == "small"));
    assert_eq!(session.continuations()[0].texts[0], plan());
    assert_eq!(file(&world, &session).await.as_deref(), Some(CRITERIA));
    let job = world.distillations()[0].clone();
    assert_eq!(job.objective, plan());
    assert_eq!(job.goal, session.the_goal().id);
    assert_eq!(job.voice.unwrap().model.model, "big");
    assert_eq!(world.open_audits(), 0);
    world.settles().await;
    session.assistant_finishes("half");
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits()[0].objective, CRITERIA);
    let text = session.continuations()[1].texts[0].clone();
    assert!(
        text.contains(CRITERIA) && !text.contains("LAST LINE"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn o10_an_objective_at_the_limit_asks_no_model() {
    let (world, session) = a_session().await;
    let whole = "🎯".repeat(2_500);
    let started = session.starts_goal(&whole, true).await.unwrap();
    assert_eq!(started.copy, AuditorCopy::Whole);
    assert_eq!(file(&world, &session).await, Some(whole.clone()));
    assert!(world.distillations().is_empty());

    let other = world.session("other");
    world.distills(&"🎯".repeat(2_600));
    let started = other.starts_goal(&format!("{whole}x"), true).await.unwrap();
    assert!(matches!(started.copy, AuditorCopy::Distilled(_)));
    assert_eq!(file(&world, &other).await, Some(whole));
    assert_eq!(world.distillations().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn o11_without_criteria_there_are_beginning_and_end_and_the_reason() {
    let reasons = [
        AuditFailure::NoModel,
        AuditFailure::Connection,
        AuditFailure::Timeout,
        AuditFailure::Provider,
        AuditFailure::Unparsable,
    ];
    for reason in reasons {
        let (world, session) = a_session().await;
        world.distillation_fails(reason);
        let started = session.starts_goal(&plan(), true).await.unwrap();
        assert_eq!(started.copy, AuditorCopy::Excerpt(reason));
        let kept = file(&world, &session).await.unwrap();
        assert!(kept.starts_with("FIRST LINE") && kept.ends_with("LAST LINE"));
    }
    let (world, session) = a_session().await;
    world.distills("<think>what is this?</think>\n");
    let started = session.starts_goal(&plan(), true).await.unwrap();
    let empty = AuditorCopy::Excerpt(AuditFailure::Unparsable);
    assert_eq!(started.copy, empty);
    assert_eq!(world.prompts()[0].text, plan());
}

#[tokio::test(start_paused = true)]
async fn o12_nothing_is_written_before_the_criteria_are_there() {
    let (world, session) = a_session().await;
    world.audits_take(Duration::from_hours(1));
    world.distills(CRITERIA);
    let begun = world.age();
    world.forgets_calls();
    let running = starting(&world, a_start(&session, &plan()));
    world.passes(secs(59)).await;
    assert_eq!(world.open_audits(), 1);
    assert_eq!(session.stored_goal(), None);
    assert_eq!(file(&world, &session).await, None);
    assert!(world.calls().iter().all(|call| call.call != Call::Write));
    let started = running.await.unwrap().unwrap();
    let late = AuditorCopy::Excerpt(AuditFailure::Timeout);
    assert_eq!(started.copy, late);
    let took = world.age() - begun;
    assert!((secs(60)..secs(62)).contains(&took), "{took:?}");
    assert_eq!(world.open_audits(), 0);
}

#[tokio::test(start_paused = true)]
async fn o12_a_start_that_nobody_waits_for_leaves_nothing_behind() {
    let (world, session) = a_session().await;
    world.audits_take(secs(30));
    world.distills(CRITERIA);
    let running = starting(&world, a_start(&session, &plan()));
    world.until(|world| world.open_audits() == 1).await;
    running.abort();
    world.passes(secs(60)).await;
    assert_eq!(world.open_audits(), 0);
    assert_eq!(session.stored_goal(), None);
    assert_eq!(file(&world, &session).await, None);
    assert!(world.prompts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn o12_a_start_does_not_write_over_what_came_during_the_wait() {
    for replace in [false, true] {
        let (world, session) = a_session().await;
        world.audits_take(secs(30));
        world.distills(CRITERIA);
        let start = StartRequest {
            replace,
            ..a_start(&session, &plan())
        };
        let running = starting(&world, start);
        world.until(|world| world.open_audits() == 1).await;
        session.goal("the goal of another program");
        let refused = code(running.await.unwrap());
        let expected = if replace {
            Code::Conflict
        } else {
            Code::GoalExists
        };
        assert_eq!(refused, expected);
        assert_eq!(session.the_goal().objective, "the goal of another program");
        assert_eq!(file(&world, &session).await, None);
        assert!(world.prompts().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn o10_a_start_that_will_be_refused_asks_no_model() {
    let (world, session) = a_goal_at_work().await;
    let refused = session.starts_goal(&plan(), true).await;
    assert_eq!(code(refused), Code::GoalExists);
    world.auditor_is(false);
    let other = world.session("other");
    assert_eq!(
        code(other.starts_goal(&plan(), true).await),
        Code::NoAuditor
    );
    assert!(world.distillations().is_empty());
}

#[tokio::test(start_paused = true)]
async fn o12_after_an_edit_continuations_hold_the_criteria() {
    let (world, session) = a_goal_continued().await;
    world.distills(CRITERIA);
    let edited = editing(&world, &session).await.unwrap().unwrap();
    assert!(matches!(edited.copy, Some(AuditorCopy::Distilled(_))));
    assert_eq!(world.distillations()[0].goal, session.the_goal().id);
    session.assistant_finishes("half");
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits()[1].objective, CRITERIA);
    let text = session.continuations()[1].texts[0].clone();
    assert!(
        text.contains("The user has changed the objective"),
        "{text}"
    );
    assert!(
        text.contains(CRITERIA) && !text.contains("LAST LINE"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn o12_an_edit_does_not_undo_what_the_user_did_during_the_wait() {
    type Deed = fn(&Session);
    let deeds: [(Deed, Status, Code); 4] = [
        (Session::client_pauses, Status::Paused, Code::Conflict),
        (Session::client_clears, Status::Active, Code::NoGoal),
        (
            |session| session.goal("another goal"),
            Status::Active,
            Code::Conflict,
        ),
        (
            |session| {
                let other = serde_json::json!({ "objective": "another objective" });
                session.client_edits_goal(other);
            },
            Status::Active,
            Code::Conflict,
        ),
    ];
    for (n, (deed, status, expected)) in deeds.into_iter().enumerate() {
        let (world, session) = a_goal_at_work().await;
        world.audits_take(secs(30));
        world.distills(CRITERIA);
        let running = editing(&world, &session);
        world.until(|world| world.open_audits() == 1).await;
        deed(&session);
        let after = session.stored_goal();
        assert_eq!(code(running.await.unwrap()), expected, "{n}");
        assert_eq!(session.stored_goal(), after, "{n}");
        assert!(after.is_none_or(|goal| goal.status == status), "{n}");
        assert_eq!(file(&world, &session).await, None, "{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn o12_the_loops_own_progress_does_not_refuse_an_edit() {
    let (world, session) = a_goal_at_work().await;
    world.audits_take(secs(30));
    world.distills(CRITERIA);
    session.assistant_finishes("half");
    let running = editing(&world, &session);
    // The session in which the objective is condensed is nobody's sub-agent.
    world.until(|world| world.audits().len() == 1).await;
    assert_eq!(world.open_audits(), 2);
    let views = world.engine().list();
    assert_eq!(views.len(), 1, "{views:?}");
    running.await.unwrap().unwrap();
    assert_eq!(file(&world, &session).await.as_deref(), Some(CRITERIA));
    until_continued(&world, &session, 1).await;
    let text = session.continuations()[0].texts[0].clone();
    assert!(text.contains(CRITERIA), "{text}");
    assert_eq!(world.open_audits(), 0);
}

#[tokio::test(start_paused = true)]
async fn o12_a_pause_does_not_wait_for_an_edits_criteria() {
    let (world, session) = a_goal_at_work().await;
    world.audits_take(secs(30));
    world.distills(CRITERIA);
    let request = EditRequest {
        session: session.id().clone(),
        objective: Some(plan()),
        token_budget: None,
    };
    let engine = world.engine();
    let running = tokio::spawn(async move { engine.edit(request).await });
    world.until(|world| world.open_audits() == 1).await;
    let begun = world.age();
    world.engine().pause(session.id()).await.unwrap();
    assert!(world.age() - begun < secs(3) && !session.is_busy());
    assert_eq!(world.open_audits(), 1);
    assert_eq!(code(running.await.unwrap()), Code::Conflict);
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(file(&world, &session).await, None);
}

#[tokio::test(start_paused = true)]
async fn o12_an_engine_that_ends_gives_its_distillation_up() {
    let (world, session) = a_session().await;
    world.audits_take(secs(30));
    let start = a_start(&session, &plan());
    let engine = world.engine();
    let running = tokio::spawn(async move { engine.start_goal(start).await });
    world.until(|world| world.open_audits() == 1).await;
    let begun = world.age();
    world.engine_ends().await;
    assert_eq!(code(running.await.unwrap()), Code::ShuttingDown);
    assert!(world.age() - begun < secs(1));
    assert_eq!(world.open_audits(), 0);
    assert_eq!(session.stored_goal(), None);
}
