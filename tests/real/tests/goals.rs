//! Goals on the real server, from the first prompt to their end.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::sync::Arc;

use async_trait::async_trait;
use goal_core::goal::{ModelRef, SessionId};
use goal_core::limits::Limits;
use goal_engine::command::{self, Choices, StartRequest};
use goal_engine::host::{self, CommandConnection};
use goal_engine::paths::DataDir;
use goal_engine::ports::{Address, Attachment, NoticeOut, Notices};
use opencode_client::{DEFAULT_USERNAME, Secret, Target};
use pretty_assertions::assert_eq;
use real::{House, Kind, PATIENCE, Proxy, Setup, Way, notices};
use serde_json::json;
use testkit::Serve;
use testkit::model::{ScriptedModel, Step};

const REPORT: &str = "Done: one step. Verified: ran it. Remaining: the rest.";

async fn settled(serve: &mut Serve) -> serde_json::Value {
    serve
        .next_event(|event| event["event"] == "settled", PATIENCE)
        .await
        .unwrap()
}

#[tokio::test]
async fn continues_twice_then_is_complete() {
    let model = ScriptedModel::builder()
        .turn([
            Step::tool("write", json!({ "filePath": "one.txt", "content": "1" })),
            Step::say(REPORT),
        ])
        .audit_verdict("continue", "one of three files exists")
        .turn([Step::say(REPORT)])
        .audit_verdict("continue", "two of three files exist")
        .turn([Step::say(
            "Done: all. Verified: listed the files. Remaining: nothing.",
        )])
        .audit_verdict("complete", "all three files exist")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();

    let started = house.start("Create three files").await.unwrap();
    assert_eq!(started.code, Some(0), "{started:?}");
    let end = settled(&mut serve).await;

    assert_eq!(end["status"], "complete");
    assert_eq!(end["note"], "all three files exist");
    let goal = house.stored().await.unwrap();
    assert_eq!(goal["status"], "complete");
    assert_eq!(goal["turnsUsed"], 2);
    assert_eq!(goal["statusReason"], "verified by audit");
    assert!(goal["tokensUsed"].as_u64().unwrap() > 0, "{goal}");
    assert_eq!(house.model.unused(), (0, 0));
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts.len(), 3, "{prompts:?}");
    assert_eq!(prompts[0], "Create three files");
    assert!(prompts[1].contains("<objective>"), "{}", prompts[1]);
    let notices = notices(&mut serve, 1).await.unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(house.audits_left().await.unwrap(), 0);
    let watched = house.goal("watch", &["--timeout", "5"]).await.unwrap();
    assert_eq!(
        watched.code,
        Some(0),
        "a settled goal ends the watch at once"
    );
}

/// A picture of one point.
const PICTURE: &str = concat!(
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
);

/// Nobody is told.
struct Untold;

#[async_trait]
impl Notices for Untold {
    async fn deliver(&self, _: &NoticeOut) -> Result<(), String> {
        Ok(())
    }
}

async fn connected(house: &House) -> CommandConnection {
    let password = house.server.password().map(Secret::new);
    let target = Target::parse(&house.server.url(), DEFAULT_USERNAME, password).unwrap();
    let folder = house.server.scratch().data_dir();
    let data_dir = DataDir::resolve(Some(&folder), None).unwrap();
    host::connect_for_command(target, &data_dir, &Limits::DEFAULT, Arc::new(Untold))
        .await
        .unwrap()
}

/// Sends the objective to another model and agent, with a picture.
async fn starts_with_a_picture(house: &House, to: Address) {
    let picture = Attachment {
        name: "point.png".to_owned(),
        mime: "image/png".to_owned(),
        url: PICTURE.to_owned(),
    };
    let request = StartRequest {
        session: SessionId::new(house.session.as_str()),
        objective: "Describe the picture".to_owned(),
        token_budget: None,
        send: Some(Choices::new(to, vec![picture]).unwrap()),
        replace: false,
    };
    let ports = connected(house).await.ports;
    command::start(&ports, request).await.unwrap();
}

#[tokio::test]
async fn a_prompt_with_a_chosen_model_and_an_image_reaches_it_and_continuations_stay() {
    let model = ScriptedModel::builder()
        .turn([Step::say(REPORT)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(REPORT)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let seeing = json!({
        "name": "seeing",
        "attachment": true,
        "modalities": { "input": ["text", "image"], "output": ["text"] },
        "limit": { "context": 200_000, "output": 8_192 },
    });
    let config = json!({ "provider": { "fake": { "models": { "seeing": seeing } } } });
    let setup = Setup {
        config: Some(config),
        ..Setup::default()
    };
    let house = House::build(model, setup).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let to = Address {
        model: Some(ModelRef {
            provider: "fake".to_owned(),
            model: "seeing".to_owned(),
        }),
        agent: Some("plan".to_owned()),
        variant: None,
    };

    starts_with_a_picture(&house, to).await;

    assert_eq!(settled(&mut serve).await["status"], "complete");
    let calls = house.model.work_calls();
    let asked: Vec<&str> = calls.iter().map(|call| call.model()).collect();
    assert_eq!(asked, ["seeing", "seeing"]);
    assert!(calls[0].body.to_string().contains(PICTURE), "the picture");
    let messages = house.server.messages(&house.session).await.unwrap();
    let agents = messages.iter().map(|message| &message["info"]["agent"]);
    assert!(agents.clone().all(|agent| agent == "plan"), "{messages:?}");
    let parts = messages[0]["parts"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["text", "file", "text"]);
}

#[tokio::test]
async fn an_abort_in_the_middle_of_a_turn_pauses_and_resume_goes_over_it() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", "I begin with")])
        .turn([Step::say("Done: all. Verified: yes. Remaining: nothing.")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.start("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();

    house.server.abort(&house.session).await.unwrap();
    let paused = settled(&mut serve).await;
    assert_eq!(paused["status"], "paused");
    assert_eq!(house.goal("watch", &[]).await.unwrap().code, Some(12));
    assert_eq!(house.model.audit_calls().len(), 0);

    let resumed = house.goal("resume", &[]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let end = settled(&mut serve).await;
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(
        house.model.audit_calls().len(),
        1,
        "the stopped turn is not audited"
    );
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
}

#[tokio::test]
async fn a_provider_that_refuses_blocks_with_its_text() {
    let model = ScriptedModel::builder()
        .turn([Step::error(401)])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.start("Write a poem").await.unwrap();

    let end = settled(&mut serve).await;

    assert_eq!(end["status"], "blocked");
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.starts_with("APIError: "), "{reason}");
    assert_eq!(house.model.audit_calls().len(), 0);
    assert_eq!(house.goal("watch", &[]).await.unwrap().code, Some(10));
}

#[tokio::test]
async fn a_reply_cut_off_twice_in_a_row_blocks() {
    let model = ScriptedModel::builder()
        .turn([Step::length_with_text("This goes on and")])
        .turn([Step::length_no_text()])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.start("Write a long poem").await.unwrap();

    let end = settled(&mut serve).await;

    assert_eq!(end["status"], "blocked");
    assert_eq!(end["reason"], "repeated output truncation");
    assert_eq!(
        house.prompts().await.unwrap().len(),
        2,
        "one recovery was tried"
    );
    assert_eq!(house.model.audit_calls().len(), 0);
}

#[tokio::test]
async fn killed_between_write_and_prompt_sends_exactly_one_prompt() {
    let model = ScriptedModel::builder()
        .turn([Step::say(REPORT)])
        .audit_verdict("continue", "half done")
        .turn([Step::say("Done: all. Verified: yes. Remaining: nothing.")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let door = Proxy::open(&house.server.url()).await;
    door.set(Kind::Prompt, Way::Swallow);
    let mut first = house.serve_at(door.url(), &[]).await.unwrap();
    house.start("Create a file").await.unwrap();
    assert!(
        door.meets(Kind::Prompt, 1, PATIENCE).await,
        "the continuation was on its way"
    );
    let written = house.stored().await.unwrap();
    assert_eq!(written["turnsUsed"], 1, "persisted before it is sent");
    first.kill();
    first.wait(PATIENCE).await.unwrap();
    assert_eq!(house.prompts().await.unwrap().len(), 1);

    let mut second = house.serve().await.unwrap();
    let end = settled(&mut second).await;

    assert_eq!(end["status"], "complete");
    assert_eq!(
        house.prompts().await.unwrap().len(),
        2,
        "the continuation was sent once"
    );
    assert_eq!(
        house.stored().await.unwrap()["turnsUsed"],
        1,
        "and counted once"
    );
    assert_eq!(
        house.model.audit_calls().len(),
        2,
        "no second audit of the same turn"
    );
}

#[tokio::test]
async fn a_wrong_password_is_told_apart() {
    let house = House::build(ScriptedModel::start().unwrap(), Setup::default())
        .await
        .unwrap();
    let stranger = house
        .command
        .clone()
        .env("OPENCODE_SERVER_PASSWORD", "wrong");

    let shown = stranger
        .run(&["goal", "show", &house.session], "", PATIENCE)
        .await
        .unwrap();

    assert_eq!(shown.code, Some(4), "{shown:?}");
    assert_eq!(shown.lines[0]["status"], "error");
    assert_eq!(shown.lines[0]["error"]["code"], "unauthorized");
}
