//! Prompts and writes that get lost, come late, or are refused: each continuation runs once.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{
    House, Kind, PATIENCE, Proxy, Setup, Way, continued, events_of, in_phase, looked_again,
    notices, settled,
};
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{Progress, Request, ScriptedModel, Step};

const MORE: &str = "Done: a bit. Verified: yes. Remaining: more.";
const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

/// Short, and long enough for a busy machine.
const LIMITS: [(&str, &str); 3] = [
    ("--call-timeout-ms", "3000"),
    ("--delivery-window-ms", "1000"),
    ("--recheck-max-ms", "1500"),
];

/// A goal behind a door, its first turn being judged; the verdict will be to continue, and then
/// the goal is complete.
async fn behind_a_door() -> (House, Proxy, Serve) {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "half done")
        .turn([Step::gate("answer"), Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let door = Proxy::open(&house.server.url()).await;
    let serve = house.serve_at(door.url(), &LIMITS).await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();
    (house, door, serve)
}

/// The goal is complete after one continuation that was stored, run and counted once.
async fn completes_after_one(house: &House, serve: &mut Serve) {
    let end = settled(serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.model.unused(), (0, 0), "every answer was asked for");
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    assert_eq!(house.model.work_calls().len(), 2);
    assert_eq!(house.model.audit_calls().len(), 2);
    let messages = house.server.messages(&house.session).await.unwrap();
    let prompts: Vec<usize> = messages
        .iter()
        .filter(|message| message["info"]["role"] == "user")
        .map(|message| message["parts"].as_array().map_or(0, Vec::len))
        .collect();
    // The first prompt has its text and the reminder.
    assert_eq!(prompts, [2, 1]);
    assert_eq!(messages.len(), 4);
    assert_eq!(notices(serve, 1).await.unwrap().len(), 1);
    assert_eq!(house.audits_left().await.unwrap(), 0);
}

#[tokio::test]
async fn a_prompt_that_was_only_said_to_be_taken_is_sent_again() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set_for(Kind::Prompt, Way::Pretend, 1);
    house.model.release("answer");
    house.model.release("judging");

    completes_after_one(&house, &mut serve).await;
    assert_eq!(door.met(Kind::Prompt), 1);
    assert_eq!(continued(&serve), ["progress"]);
}

#[tokio::test]
async fn prompts_that_never_arrive_stall_the_goal_until_a_resume() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set(Kind::Prompt, Way::Pretend);
    house.model.release("answer");
    house.model.release("judging");

    in_phase(&mut serve, "stalled", "stalled").await.unwrap();
    looked_again(&mut serve, "stalled", "stalled")
        .await
        .unwrap();
    assert_eq!(
        door.met(Kind::Prompt),
        6,
        "two tries in each of three cycles"
    );
    assert_eq!(house.model.audit_calls().len(), 1, "judged once");
    let notices = notices(&mut serve, 1).await.unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["code"], "stalled");
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1, "one turn");

    door.set(Kind::Prompt, Way::Pass);
    let resumed = house.goal("resume", &[]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    house
        .model
        .push_audit([Step::say(r#"{"verdict":"complete","note":"done"}"#)])
        .unwrap();
    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
}

#[tokio::test]
async fn a_prompt_whose_answer_is_lost_is_not_sent_again() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set_for(Kind::Prompt, Way::LoseAnswer, 1);
    house.model.release("judging");
    assert!(door.meets(Kind::Prompt, 1, PATIENCE).await);
    house.model.reached("answer", PATIENCE).await.unwrap();
    house.model.release("answer");

    completes_after_one(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress"]);
}

#[tokio::test]
async fn a_stored_prompt_that_nobody_runs_is_sent_again_under_its_ids() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set_for(Kind::Prompt, Way::Store, 1);
    house.model.release("answer");
    house.model.release("judging");

    completes_after_one(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress", "resend"]);
}

#[tokio::test]
async fn a_stored_prompt_that_somebody_stopped_pauses() {
    let (house, door, mut serve) = behind_a_door().await;
    let mut stream = house.stream().await.unwrap();
    door.set_for(Kind::Prompt, Way::Store, 1);
    house.model.release("answer");
    house.model.release("judging");
    // The audit's session has a user message, too.
    let stored = |event: &Value| {
        let told = &event["properties"];
        event["type"] == "message.updated"
            && told["sessionID"] == house.session.as_str()
            && told["info"]["role"] == "user"
    };
    stream.next(stored, PATIENCE).await.unwrap();

    house.server.abort(&house.session).await.unwrap();

    let paused = settled(&mut serve).await.unwrap();
    assert_eq!(paused["status"], "paused", "{paused}");
    assert_eq!(house.model.work_calls().len(), 1);
    let resumed = house.goal("resume", &[]).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.model.work_calls().len(), 2);
}

/// The continuation waits at the door while the user runs `verb`; whatever it starts is stopped.
async fn stopped_on_the_wire(verb: &str) -> (House, Serve) {
    let (house, door, mut serve) = behind_a_door().await;
    door.set(Kind::Prompt, Way::Hold);
    house.model.release("judging");
    assert!(door.meets(Kind::Prompt, 1, PATIENCE).await);

    let asked = house.goal(verb, &[]).await.unwrap();
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let gone = |event: &Value| event["event"] == "settled" && event["status"] != "active";
    serve.next_event(gone, PATIENCE).await.unwrap();
    let mut stream = house.stream().await.unwrap();
    door.set(Kind::Prompt, Way::Pass);

    // The model holds its answer back: only an abort ends the turn.
    stream
        .status(&house.session, "busy", PATIENCE)
        .await
        .unwrap();
    stream
        .status(&house.session, "idle", PATIENCE)
        .await
        .unwrap();
    let unanswered = |requests: &[Request]| {
        let work = |request: &&Request| request.kind == testkit::model::Kind::Work;
        let mut later = requests.iter().filter(work).skip(1);
        later.all(|request| request.progress == Progress::ClientGone)
    };
    house.model.wait_for(unanswered, PATIENCE).await.unwrap();
    assert_eq!(house.busy().await.unwrap(), Vec::<String>::new());
    (house, serve)
}

#[tokio::test]
async fn a_pause_stops_the_prompt_that_is_on_its_way() {
    let (house, serve) = stopped_on_the_wire("pause").await;

    assert_eq!(house.stored().await.unwrap()["status"], "paused");
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    assert_eq!(continued(&serve), ["progress"]);
}

#[tokio::test]
async fn clearing_stops_the_prompt_that_is_on_its_way() {
    let (house, _serve) = stopped_on_the_wire("clear").await;

    assert_eq!(house.stored().await.unwrap(), Value::Null);
}

#[tokio::test]
async fn completing_stops_the_prompt_that_is_on_its_way() {
    let (house, serve) = stopped_on_the_wire("complete").await;

    assert_eq!(house.stored().await.unwrap()["status"], "complete");
    assert_eq!(events_of(&serve, "notice").len(), 0, "the user knows");
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_finished_without_a_second_audit() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set_for(Kind::Write, Way::LoseAnswer, 1);
    house.model.release("answer");
    house.model.release("judging");

    completes_after_one(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress", "finish"]);
}

#[tokio::test]
async fn an_ending_whose_answer_is_lost_is_told_once() {
    let (house, door, mut serve) = behind_a_door().await;
    house.model.release("judging");
    house.model.reached("answer", PATIENCE).await.unwrap();
    door.set_for(Kind::Write, Way::LoseAnswer, 1);
    house.model.release("answer");

    let notice = |event: &Value| event["event"] == "notice";
    serve.next_event(notice, PATIENCE).await.unwrap();

    assert_eq!(house.stored().await.unwrap()["status"], "complete");
    assert_eq!(events_of(&serve, "settled").len(), 1);
    serve.terminate();
    serve.wait(PATIENCE).await.unwrap();
    let again = house.serve().await.unwrap();
    assert_eq!(events_of(&serve, "notice").len(), 1);
    assert_eq!(events_of(&again, "notice").len(), 0);
}

#[tokio::test]
async fn a_refused_prompt_blocks_and_gives_the_turn_back() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set(Kind::Prompt, Way::Refuse(400));
    house.model.release("judging");

    let end = settled(&mut serve).await.unwrap();

    assert_eq!(end["status"], "blocked", "{end}");
    let reason = end["reason"].as_str().unwrap();
    assert!(reason.contains("not at this door"), "{reason}");
    assert_eq!(end["turnsUsed"], 0);
    assert_eq!(house.stored().await.unwrap()["continuedAfter"], Value::Null);
    assert_eq!(door.met(Kind::Prompt), 1);
}

#[tokio::test]
async fn a_server_that_is_overloaded_gets_the_prompt_later() {
    let (house, door, mut serve) = behind_a_door().await;
    door.set_for(Kind::Prompt, Way::Refuse(503), 2);
    house.model.release("answer");
    house.model.release("judging");

    completes_after_one(&house, &mut serve).await;
    assert_eq!(door.met(Kind::Prompt), 2);
}

#[tokio::test]
async fn an_audit_session_whose_birth_was_not_heard_of_is_deleted() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", MORE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let door = Proxy::open(&house.server.url()).await;
    let mut serve = house.serve_at(door.url(), &LIMITS).await.unwrap();
    let mut stream = house.stream().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    door.set_for(Kind::NewSession, Way::LoseAnswer, 1);
    house.model.release("half");

    let end = settled(&mut serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(continued(&serve), [""; 0], "asked again, not failed");
    for _ in 0..2 {
        stream.of_type("session.deleted", PATIENCE).await.unwrap();
    }
    assert_eq!(house.audits_left().await.unwrap(), 0);
}

#[tokio::test]
async fn what_happened_while_the_line_was_down_is_found() {
    let (house, door, mut serve) = behind_a_door().await;
    house.model.release("judging");
    house.model.reached("answer", PATIENCE).await.unwrap();
    let mut stream = house.stream().await.unwrap();
    door.set(Kind::Events, Way::Refuse(503));
    let lost = |event: &Value| event["event"] == "connection" && event["connected"] == false;
    serve.next_event(lost, PATIENCE).await.unwrap();
    house.model.release("answer");
    stream
        .status(&house.session, "idle", PATIENCE)
        .await
        .unwrap();

    door.set(Kind::Events, Way::Pass);

    completes_after_one(&house, &mut serve).await;
}

#[tokio::test]
async fn a_stop_while_the_line_was_down_still_pauses() {
    let (house, door, mut serve) = behind_a_door().await;
    house.model.release("judging");
    house.model.reached("answer", PATIENCE).await.unwrap();
    let mut stream = house.stream().await.unwrap();
    door.set(Kind::Events, Way::Refuse(503));
    let lost = |event: &Value| event["event"] == "connection" && event["connected"] == false;
    serve.next_event(lost, PATIENCE).await.unwrap();
    house.server.abort(&house.session).await.unwrap();
    let ended = |event: &Value| {
        let info = &event["properties"]["info"];
        event["type"] == "message.updated" && info["error"]["name"] == "MessageAbortedError"
    };
    stream.next(ended, PATIENCE).await.unwrap();

    door.set(Kind::Events, Way::Pass);

    let paused = settled(&mut serve).await.unwrap();
    assert_eq!(paused["status"], "paused", "{paused}");
    assert_eq!(house.model.work_calls().len(), 2, "nothing was sent");
    assert_eq!(json!(continued(&serve)), json!(["progress"]));
}
