//! Goals that begin with a slash command (A3, X25).

use goal_core::goal::{ModelRef, Status};
use goal_engine::command::{Choices, StartRequest, Started};
use goal_engine::ports::{Address, Attachment, CommandRead};
use goal_engine::{Code, Error};
use pretty_assertions::assert_eq;
use testkit::world::{Call, Fault, Session, World};

use crate::support::{a_session, until_continued};

const MOVE: &str = r#"/move "src old" dist extra"#;

const MOVED: &str = "Move src old to dist extra";

fn command(name: &str, template: Option<&str>) -> CommandRead {
    CommandRead {
        name: name.to_owned(),
        template: template.map(str::to_owned),
        ..CommandRead::default()
    }
}

/// A running loop on a server that knows a few commands.
async fn a_house() -> (World, Session) {
    let (world, session) = a_session().await;
    world.knows_command(command("move", Some("Move $1 to $2")));
    world.knows_command(command("blank", Some(" \n")));
    world.knows_command(command("mystery", None));
    (world, session)
}

async fn started(world: &World, session: &Session, text: &str) -> Result<Started, Error> {
    started_with(world, session, text, Choices::default()).await
}

async fn started_with(
    world: &World,
    session: &Session,
    text: &str,
    choices: Choices,
) -> Result<Started, Error> {
    let request = StartRequest {
        session: session.id().clone(),
        objective: text.to_owned(),
        token_budget: None,
        send: Some(choices),
        replace: false,
    };
    world.engine().start_goal(request).await
}

/// The session's objective file.
async fn file(world: &World, session: &Session) -> Option<String> {
    world.objectives().read(session.id().as_str()).await
}

fn count(world: &World, call: Call) -> usize {
    let calls = world.calls();
    calls.iter().filter(|called| called.call == call).count()
}

#[tokio::test(start_paused = true)]
async fn a3_x25_a_slash_command_is_judged_by_its_text_and_run_as_a_command() {
    let (world, session) = a_house().await;
    world.forgets_calls();
    let started = started(&world, &session, MOVE).await.unwrap();

    assert_eq!(started.command.as_deref(), Some("move"));
    assert_eq!(started.objective, MOVED);
    assert_eq!(file(&world, &session).await.as_deref(), Some(MOVED));
    let first = session.the_goal().first_message;
    let sent = &session.continuations()[0];
    assert_eq!(Some(&sent.message), first.as_ref());
    assert_eq!(sent.texts, [MOVED], "a command has no room for a reminder");
    let order: Vec<Call> = world.calls().iter().map(|called| called.call).collect();
    let at = |call| order.iter().position(|made| *made == call).unwrap();
    assert!(at(Call::Commands) < at(Call::Write), "{order:?}");
    assert!(at(Call::Write) < at(Call::Command), "{order:?}");
    assert_eq!(count(&world, Call::Prompt), 0);

    world.settles().await;
    session.assistant_finishes("moved it");
    until_continued(&world, &session, 2).await;
    let job = world.audits()[0].clone();
    assert_eq!(job.objective, MOVED);
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn a3_what_the_server_does_not_know_or_gives_no_text_of_is_a_prompt() {
    for text in [
        "/nope x",
        "/blank x",
        "/mystery x",
        "/etc/hosts is wrong",
        "/",
    ] {
        let (world, session) = a_house().await;
        let started = started(&world, &session, text).await.unwrap();
        assert_eq!(started.command, None, "{text}");
        assert_eq!(file(&world, &session).await.as_deref(), Some(text));
        let sent = &session.continuations()[0];
        assert_eq!(sent.texts.len(), 2, "{text}: {:?}", sent.texts);
        assert_eq!(sent.texts[0], text);
        assert!(sent.texts[1].starts_with("<system-reminder>"), "{text}");
        assert_eq!(count(&world, Call::Command), 0, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a3_without_the_list_of_commands_nothing_is_started() {
    let (world, session) = a_house().await;
    world.next(Call::Commands, Fault::status_500());
    let error = started(&world, &session, MOVE).await.unwrap_err();
    assert_eq!(error.code(), Code::Unreachable);
    assert_eq!(session.stored_goal(), None);
    assert_eq!(file(&world, &session).await, None);
    assert_eq!(session.continuations(), []);
}

#[tokio::test(start_paused = true)]
async fn x7_x25_a_command_that_fails_is_not_sent_twice_and_its_goal_is_paused() {
    let (world, session) = a_house().await;
    world.next(Call::Command, Fault::status_500());
    let error = started(&world, &session, MOVE).await.unwrap_err();
    assert_eq!(error.code(), Code::NotDelivered);
    assert!(
        error.message().contains("Unexpected server error"),
        "{error}"
    );
    assert_eq!(session.the_goal().status, Status::Paused);
    assert_eq!(count(&world, Call::Command), 1);
}

#[tokio::test(start_paused = true)]
async fn x7_a_command_that_was_never_sent_is_sent_again() {
    let (world, session) = a_house().await;
    world.next(Call::Command, Fault::not_sent());
    started(&world, &session, MOVE).await.unwrap();
    assert_eq!(count(&world, Call::Command), 2);
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn x7_a_command_whose_answer_is_lost_counts_by_its_message() {
    let (world, session) = a_house().await;
    world.next(Call::Command, Fault::effective_500());
    started(&world, &session, MOVE).await.unwrap();
    assert_eq!(count(&world, Call::Command), 1);
    assert_eq!(session.continuations().len(), 1);
    assert_eq!(session.the_goal().status, Status::Active);
}

#[tokio::test(start_paused = true)]
async fn x7_a_command_that_is_never_stored_is_given_up_after_a_minute() {
    let (world, session) = a_house().await;
    let minutes = std::time::Duration::from_mins(5);
    world.next(Call::Command, Fault::late(minutes));
    let began = tokio::time::Instant::now();
    let error = started(&world, &session, MOVE).await.unwrap_err();
    assert_eq!(error.code(), Code::NotDelivered);
    assert!(began.elapsed() < minutes, "{:?}", began.elapsed());
    assert_eq!(session.the_goal().status, Status::Paused);
}

#[tokio::test(start_paused = true)]
async fn o10_o12_a_long_command_is_condensed_from_its_text() {
    let (world, session) = a_house().await;
    let template = format!("FIRST\n{}LAST $ARGUMENTS", "a step\n".repeat(1_000));
    world.knows_command(command("plan", Some(&template)));
    world.distills("- the steps are done");
    let started = started(&world, &session, "/plan now").await.unwrap();
    let whole = template.replace("$ARGUMENTS", "now");
    assert_eq!(started.objective, whole);
    assert!(started.copy.is_shortened());
    assert_eq!(world.distillations()[0].objective, whole);
    assert_eq!(session.continuations()[0].texts, [whole]);
    let criteria = file(&world, &session).await;
    assert_eq!(criteria.as_deref(), Some("- the steps are done"));
}

#[tokio::test(start_paused = true)]
async fn a4_what_a_command_names_itself_goes_before_what_was_chosen() {
    let (world, session) = a_house().await;
    let small = ModelRef {
        provider: "fake".to_owned(),
        model: "small".to_owned(),
    };
    world.knows_command(CommandRead {
        agent: Some("plan".to_owned()),
        model: Some(small.clone()),
        ..command("own", Some("Plan it"))
    });
    let file = Attachment {
        name: "a.png".to_owned(),
        mime: "image/png".to_owned(),
        url: "data:,a".to_owned(),
    };
    let chosen = Address {
        model: Some(ModelRef {
            provider: "fake".to_owned(),
            model: "big".to_owned(),
        }),
        agent: Some("build".to_owned()),
        variant: Some("high".to_owned()),
    };
    let choices = Choices::new(chosen, vec![file]).unwrap();
    started_with(&world, &session, "/own", choices)
        .await
        .unwrap();
    let (to, files) = world.addressed(&session);
    let expected = Address {
        model: Some(small),
        agent: Some("plan".to_owned()),
        variant: None,
    };
    assert_eq!((to, files), (expected, 1));
}

#[tokio::test(start_paused = true)]
async fn o12_what_is_said_in_the_objectives_place_is_sent_and_the_objective_is_judged() {
    let (world, session) = a_house().await;
    let objective = "/move: implement the plan “Quoting” end to end.";
    let choices = Choices::default().saying("/move it", Some("Read the plan."));
    let started = started_with(&world, &session, objective, choices.unwrap())
        .await
        .unwrap();

    assert_eq!(started.objective, objective);
    assert_eq!(started.command, None, "what was not typed is no command");
    assert_eq!(file(&world, &session).await.as_deref(), Some(objective));
    let sent = &session.continuations()[0];
    assert_eq!(sent.texts.len(), 2, "{:?}", sent.texts);
    assert_eq!(sent.texts[0], "/move it");
    let added = sent.texts[1].as_str();
    assert!(
        added.starts_with("Read the plan.\n\n<system-reminder>"),
        "{added}"
    );

    world.settles().await;
    session.assistant_finishes("implemented it");
    until_continued(&world, &session, 2).await;
    assert_eq!(world.audits()[0].objective, objective);
    assert!(session.continuations()[1].texts[0].contains(objective));
}
