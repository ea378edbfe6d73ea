//! What other clients and other hosts do to a session while its goal runs.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use pretty_assertions::assert_eq;
use real::{
    House, PATIENCE, Setup, Stream, continued, events_of, in_phase, looked_again, ready, settled,
};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{Progress, Request, ScriptedModel, Step};

const MORE: &str = "Done: a bit. Verified: yes. Remaining: more.";
const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

/// A goal whose first turn is being judged: `judging` is reached, the session is idle.
async fn being_judged(
    more: impl FnOnce(testkit::model::Builder) -> testkit::model::Builder,
) -> (House, Serve) {
    let builder = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "half done");
    let model = more(builder).start().unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();
    (house, serve)
}

async fn completes(house: &House, serve: &mut Serve) {
    let end = settled(serve).await.unwrap();
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(house.model.unused(), (0, 0), "every answer was asked for");
}

/// A goal in its second turn, rewound to before the continuation.
async fn rewound() -> (House, Serve) {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "nearly done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "2000")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();
    let messages = house.server.messages(&house.session).await.unwrap();
    let continuation = &messages[2]["info"];
    assert_eq!(continuation["role"], "user");

    house
        .post("revert", &json!({ "messageID": continuation["id"] }))
        .await
        .unwrap();
    house.model.release("judging");

    in_phase(&mut serve, "rewound", "rewound").await.unwrap();
    looked_again(&mut serve, "rewound", "rewound")
        .await
        .unwrap();
    assert_eq!(continued(&serve), ["progress"], "nothing is sent");
    assert_eq!(house.model.work_calls().len(), 2);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
    (house, serve)
}

#[tokio::test]
async fn a_rewound_session_is_left_alone_until_the_user_writes() {
    let (house, mut serve) = rewound().await;

    house
        .server
        .prompt(&house.session, "Make it rhyme")
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress"]);
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts, ["Write a poem", "Make it rhyme"]);
}

#[tokio::test]
async fn a_first_prompt_that_is_rewound_and_written_anew_is_gone_on_with() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "2000")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("judging", PATIENCE).await.unwrap();
    let messages = house.server.messages(&house.session).await.unwrap();
    let first = &messages[0]["info"]["id"];
    assert_eq!(house.stored().await.unwrap()["firstMessageID"], *first);

    house
        .post("revert", &json!({ "messageID": first }))
        .await
        .unwrap();
    house.model.release("judging");
    in_phase(&mut serve, "rewound", "rewound").await.unwrap();
    house
        .server
        .prompt(&house.session, "Write a poem that rhymes")
        .await
        .unwrap();

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), Vec::<String>::new());
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts, ["Write a poem that rhymes"]);
}

#[tokio::test]
async fn a_rewound_session_goes_on_with_a_resume() {
    let (house, mut serve) = rewound().await;

    let resumed = house.goal("resume", &[]).await.unwrap();

    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress", "resumed"]);
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts.len(), 2, "the rewound turn is gone: {prompts:?}");
}

#[tokio::test]
async fn a_fork_shows_no_goal_and_gets_no_prompt() {
    let (house, mut serve) = being_judged(|builder| {
        builder
            .turn([Step::say(DONE)])
            .audit_verdict("complete", "done")
    })
    .await;

    let fork = house.post("fork", &json!({})).await.unwrap();
    let copied = &fork["metadata"]["openchamber"]["goal"]["status"];
    assert_eq!(copied, "active", "the stage is set");
    let fork = fork["id"].as_str().unwrap();
    let before = house.server.messages(fork).await.unwrap().len();
    let listed = house.command.run(&["goal", "list"], "", PATIENCE).await;
    let listed = listed.unwrap();
    house.model.release("judging");

    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), ["progress"]);
    assert_eq!(house.server.messages(fork).await.unwrap().len(), before);
    let shown: Vec<&Value> = listed.lines.iter().flat_map(sessions_of).collect();
    assert_eq!(shown, [&json!(house.session)], "{listed:?}");
    let of_the_fork = |event: &Value| event["sessionID"] == fork;
    assert!(!serve.events().iter().any(of_the_fork));
}

/// The session ids in a line of `goal list`.
fn sessions_of(line: &Value) -> Vec<&Value> {
    match line["goals"].as_array() {
        Some(goals) => goals.iter().map(|goal| &goal["sessionID"]).collect(),
        None => vec![&line["sessionID"]],
    }
}

#[tokio::test]
async fn an_archived_session_pauses_its_goal() {
    let (house, mut serve) = being_judged(|builder| builder).await;

    house
        .patch(&json!({ "time": { "archived": 1 } }))
        .await
        .unwrap();

    let paused = settled(&mut serve).await.unwrap();
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["reason"], "session archived");
    judging_was_given_up(&house).await;
    assert_eq!(house.prompts().await.unwrap().len(), 1);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 0);
}

/// The audit that is held at its gate ends and leaves no session.
async fn judging_was_given_up(house: &House) {
    let given_up = |requests: &[Request]| {
        requests
            .iter()
            .any(|request| request.number == 2 && request.progress == Progress::ClientGone)
    };
    house.model.wait_for(given_up, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn a_goal_cleared_by_another_client_is_left_cleared() {
    let (house, serve) = being_judged(|builder| builder).await;
    let mut stream = house.stream().await.unwrap();
    let kept = json!({ "other": { "keep": "this" } });

    house.write_metadata(&kept).await.unwrap();

    audit_deleted(&mut stream).await;
    judging_was_given_up(&house).await;
    assert_eq!(house.metadata().await.unwrap(), kept, "nothing was written");
    assert_eq!(house.prompts().await.unwrap().len(), 1, "nothing was sent");
    assert_eq!(continued(&serve), [""; 0]);
    assert_eq!(events_of(&serve, "notice").len(), 0);
    let file = house.server.scratch().data_dir().join("goals");
    let file = file.join(format!("{}.md", house.session));
    assert!(file.exists(), "only a deleted session loses its file");
}

async fn audit_deleted(stream: &mut Stream) {
    let deleted = |event: &Value| {
        event["type"] == "session.deleted"
            && event["properties"]["info"]["metadata"]["openchamber"]["goalAudit"].is_object()
    };
    stream.next(deleted, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn what_others_keep_beside_the_goal_survives_it() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let siblings = json!({
        "zebra": { "z": [null, { "deep": [[1, 2], {}] }], "a": 1.5e300, "ü": "\u{1F3AF} \\ \"" },
        "apple": false,
        "openchamber": { "panel": { "open": true, "order": ["b", "a"] }, "n": 9_007_199_254_740_991_u64 },
    });
    house.write_metadata(&siblings).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    let foreign = json!({ "by": "another client", "n": [1, null] });
    let mut metadata = house.metadata().await.unwrap();
    metadata["openchamber"]["goal"]["foreign"] = foreign.clone();
    house.write_metadata(&metadata).await.unwrap();
    house.model.release("half");

    completes(&house, &mut serve).await;

    let mut metadata = house.metadata().await.unwrap();
    let openchamber = metadata["openchamber"].as_object_mut().unwrap();
    let goal = openchamber.remove("goal").unwrap();
    assert_eq!(goal["foreign"].to_string(), foreign.to_string());
    assert_eq!(metadata.to_string(), siblings.to_string());
}

#[tokio::test]
async fn a_second_host_watches_and_takes_over_when_the_first_dies() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::held("half", "I go on with")])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut first = house.serve().await.unwrap();
    let (mut second, told) = ready(&house.command, &[]).await.unwrap();
    assert_eq!(told["driver"], "passive");
    assert_eq!(told["pid"], first.pid());
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    assert_eq!(house.prompts().await.unwrap().len(), 2, "one for one tail");
    assert_eq!(continued(&second), [""; 0]);

    first.kill();
    first.wait(PATIENCE).await.unwrap();
    let driving = |event: &Value| event["event"] == "connection" && event["driver"] == "driving";
    second.next_event(driving, PATIENCE).await.unwrap();
    house.model.release("half");

    completes(&house, &mut second).await;
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(house.model.audit_calls().len(), 2);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 1);
}

#[tokio::test]
async fn two_hosts_that_know_nothing_of_each_other_send_one_prompt_for_a_tail() {
    let both = || [Step::gate("judging"), Step::say(verdict("half done"))];
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit(both())
        .audit(both())
        .turn([Step::say(MORE)])
        .turn([Step::say(DONE)])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let apart = house.server.scratch().home().join("apart");
    let stranger = house
        .command
        .clone()
        .env("OPENCHAMBER_DATA_DIR", &apart.to_string_lossy());
    let limits = [("--turns-max", "2")];
    let mut first = house.serve_with(&limits).await.unwrap();
    let (mut second, told) = ready(&stranger, &limits).await.unwrap();
    assert_eq!(told["driver"], "driving", "no lease is shared");
    // Inline, so that both can read the objective.
    let goal = json!({
        "id": "goal-of-a-page", "objective": "Write a poem", "objectiveFile": false,
        "status": "active", "tokenBudget": null, "tokensUsed": 0, "tokensBaseline": 0,
        "tokensCommitted": 0, "turnsUsed": 0, "blockedStreak": 0, "auditFailStreak": 0,
        "note": "", "statusReason": "", "createdAt": 1, "updatedAt": 1,
    });
    house
        .server
        .converse(&house.session, "Write a poem")
        .await
        .unwrap();
    house
        .write_metadata(&json!({ "openchamber": { "goal": goal } }))
        .await
        .unwrap();
    let two_audits = |requests: &[Request]| {
        let audits = requests
            .iter()
            .filter(|request| request.kind == testkit::model::Kind::Audit);
        audits.count() == 2
    };
    house.model.wait_for(two_audits, PATIENCE).await.unwrap();

    house.model.release("judging");

    for host in [&mut first, &mut second] {
        let end = settled(host).await.unwrap();
        assert_eq!(end["status"], "blocked", "{end}");
        assert_eq!(end["reason"], "auto-continuation limit reached");
    }
    let messages = house.server.messages(&house.session).await.unwrap();
    let users = messages
        .iter()
        .filter(|message| message["info"]["role"] == "user");
    let parts: Vec<usize> = users
        .map(|message| message["parts"].as_array().unwrap().len())
        .collect();
    assert_eq!(parts, [1, 1, 1], "one message with one part for each tail");
    assert_eq!(messages.len(), 6, "and one answer");
    assert_eq!(house.model.work_calls().len(), 3);
    assert_eq!(house.stored().await.unwrap()["turnsUsed"], 2);
}

fn verdict(note: &str) -> String {
    json!({ "verdict": "continue", "note": note }).to_string()
}

#[tokio::test]
async fn a_prompt_of_the_user_ends_an_audit() {
    let (house, mut serve) = being_judged(|builder| {
        builder
            .turn([Step::say(DONE)])
            .audit_verdict("complete", "done")
    })
    .await;

    house
        .server
        .prompt(&house.session, "In French, please")
        .await
        .unwrap();

    judging_was_given_up(&house).await;
    completes(&house, &mut serve).await;
    assert_eq!(continued(&serve), [""; 0]);
    let prompts = house.prompts().await.unwrap();
    assert_eq!(prompts, ["Write a poem", "In French, please"]);
}

#[tokio::test]
async fn a_deleted_session_takes_its_audit_and_its_objective_along() {
    let (house, mut serve) = being_judged(|builder| builder).await;
    let file = house.server.scratch().data_dir().join("goals");
    let file = file.join(format!("{}.md", house.session));
    assert!(file.exists(), "the stage is set");

    let path = format!("/session/{}", house.session);
    house
        .server
        .call(Method::DELETE, &path, None)
        .await
        .unwrap();

    judging_was_given_up(&house).await;
    serve.terminate();
    assert!(serve.wait(PATIENCE).await.unwrap().success());
    assert!(!file.exists());
    let listed = house.command.run(&["goal", "list"], "", PATIENCE).await;
    let listed = listed.unwrap();
    let shown: Vec<&Value> = listed.lines.iter().flat_map(sessions_of).collect();
    assert_eq!(shown, [&Value::Null; 0], "{listed:?}");
}
