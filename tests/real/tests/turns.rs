//! How a turn may end, and what the goal makes of it.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::cell::Cell;
use std::time::Duration;

use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup, continued, events_of, in_phase, notices, settled};
use serde_json::{Value, json};
use testkit::Serve;
use testkit::model::{Builder, ScriptedModel, Step};

const MORE: &str = "Done: a bit. Verified: yes. Remaining: more.";
const DONE: &str = "Done: all. Verified: yes. Remaining: nothing.";

/// OpenCode tries a failing provider for 65 to 71 seconds, older ones until they are stopped.
const RETRIES: Duration = Duration::from_secs(110);

/// What the server tells, at least, of a tool that prints so much.
const TOLD_BYTES_MIN: usize = 1_000_000;

/// Memory that `serve` may take at most while a tool prints without end.
const MEMORY_KB_MAX: u64 = 200 * 1024;

async fn begun(script: Builder, setup: Setup) -> (House, Serve) {
    let model = script.start().unwrap();
    let house = House::build(model, setup).await.unwrap();
    let serve = house.serve().await.unwrap();
    house.begin("Write a poem").await.unwrap();
    (house, serve)
}

async fn ends(serve: &mut Serve, status: &str) -> Value {
    let end = settled(serve).await.unwrap();
    assert_eq!(end["status"], status, "{end}");
    end
}

fn small_context() -> Setup {
    let limit = json!({ "context": 20_000, "output": 1_000 });
    Setup {
        config: Some(
            json!({ "provider": { "fake": { "models": { "big": { "limit": limit } } } } }),
        ),
        ..Setup::default()
    }
}

/// The tokens in the order in which they were told never fall.
fn assert_tokens_never_fall(serve: &Serve) {
    let told: Vec<u64> = serve
        .events()
        .iter()
        .filter_map(|event| event["tokensUsed"].as_u64())
        .collect();
    assert!(told.is_sorted(), "{told:?}");
    assert!(told.last().is_some_and(|last| *last > 0), "{told:?}");
}

fn decisions(serve: &Serve) -> Vec<String> {
    let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    events_of(serve, "decision")
        .iter()
        .map(|event| format!("{} {}", word(event, "decision"), word(event, "why")))
        .collect()
}

#[tokio::test]
async fn a_provider_that_fails_for_a_while_disturbs_nothing() {
    let script = ScriptedModel::builder()
        .turn([
            Step::error(503).times(1),
            Step::broken_stream().times(1),
            Step::say(DONE),
        ])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, Setup::default()).await;

    ends(&mut serve, "complete").await;

    assert_eq!(decisions(&serve), ["audit finished", "settle complete"]);
    assert_eq!(house.model.work_calls().len(), 3);
    assert_eq!(house.prompts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn slow_a_provider_that_never_recovers_blocks_with_its_text() {
    let (house, mut serve) = begun(
        ScriptedModel::builder().turn([Step::error(503)]),
        Setup::default(),
    )
    .await;

    if house.version().await.unwrap().gives_a_provider_up() {
        let settled = |event: &Value| event["event"] == "settled";
        let end = serve.next_event(settled, RETRIES).await.unwrap();
        assert_eq!(end["status"], "blocked", "{end}");
        assert_eq!(end["reason"], "APIError: fake error 503");
    } else {
        is_tried_until_somebody_pauses(&house, &mut serve).await;
    }
    assert_eq!(house.model.audit_calls().len(), 0);
    assert_eq!(house.prompts().await.unwrap().len(), 1);
}

async fn is_tried_until_somebody_pauses(house: &House, serve: &mut Serve) {
    let mut stream = house.stream().await.unwrap();
    // A newer server gives the provider up instead.
    let sixth = |event: &Value| event["properties"]["status"]["attempt"] == 6;
    stream.next(sixth, RETRIES).await.unwrap();
    in_phase(serve, "working", "providerRetries").await.unwrap();
    let paused = house.goal("pause", &[]).await.unwrap();
    assert_eq!(paused.code, Some(0), "{paused:?}");
    ends(serve, "paused").await;
    stream
        .status(&house.session, "idle", PATIENCE)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_automatic_compaction_is_passed_over() {
    let script = ScriptedModel::builder()
        .turn([Step::say(MORE).usage(19_500, 100)])
        .turn([Step::say(MORE).usage(2_000, 50)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE).usage(3_000, 50)])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, small_context()).await;

    ends(&mut serve, "complete").await;

    let messages = house.server.messages(&house.session).await.unwrap();
    let summaries = messages
        .iter()
        .filter(|message| message["info"]["summary"] == true);
    assert_eq!(summaries.count(), 1, "the stage is set");
    assert_eq!(continued(&serve), ["progress"]);
    assert_eq!(house.model.unused(), (0, 0));
    assert_tokens_never_fall(&serve);
    let used = house.stored().await.unwrap()["tokensUsed"].as_u64();
    assert!(used > Some(19_500), "the closed segment counts: {used:?}");
}

#[tokio::test]
async fn compactions_without_progress_pause() {
    let full = || Step::empty().usage(19_500, 100);
    // After a compaction the conversation looks the same each time: it is one turn.
    let script = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_verdict("continue", "half done")
        .turn([full()])
        .turn([full().times(2), Step::empty().usage(2_000, 50)]);
    let (house, mut serve) = begun(script, small_context()).await;

    let end = ends(&mut serve, "paused").await;

    assert_eq!(end["reason"], "context too small");
    assert_eq!(house.model.unused(), (0, 0), "the stage is set");
    assert_eq!(continued(&serve), ["progress"]);
    assert_eq!(notices(&mut serve, 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_context_that_overflows_is_no_failure() {
    let script = ScriptedModel::builder()
        .turn([Step::context_overflow()])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, Setup::default()).await;

    ends(&mut serve, "complete").await;

    assert_eq!(decisions(&serve), ["audit finished", "settle complete"]);
    assert_eq!(house.model.unused(), (0, 0));
}

#[tokio::test]
async fn a_manual_compaction_goes_on_without_an_audit() {
    let script = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, Setup::default()).await;
    house.model.reached("judging", PATIENCE).await.unwrap();

    house
        .post(
            "summarize",
            &json!({ "providerID": "fake", "modelID": "big" }),
        )
        .await
        .unwrap();

    ends(&mut serve, "complete").await;
    assert_eq!(continued(&serve), ["compacted"]);
    assert_eq!(house.model.unused(), (0, 0));
    assert_tokens_never_fall(&serve);
}

#[tokio::test]
async fn a_sub_agents_turn_is_part_of_its_parents() {
    let task = json!({
        "description": "look around",
        "prompt": "Look around in the project",
        "subagent_type": "general",
    });
    let script = ScriptedModel::builder()
        .turn([Step::tool("task", task), Step::say(DONE)])
        .turn([Step::say("I found one file.")])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, Setup::default()).await;

    ends(&mut serve, "complete").await;

    assert_eq!(decisions(&serve), ["audit finished", "settle complete"]);
    let audit = &house.model.audit_calls()[0];
    assert!(audit.mentions(DONE), "the parent's words are judged");
    assert!(!audit.mentions("I found one file."));
}

#[tokio::test]
async fn empty_replies_are_nudged_twice_and_then_block() {
    let model = ScriptedModel::builder()
        .turn([Step::empty()])
        .turn([Step::empty()])
        .turn([Step::empty()])
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--empty-quiet-ms", "1500")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();

    let end = ends(&mut serve, "blocked").await;

    assert_eq!(end["reason"], "empty replies");
    assert_eq!(continued(&serve), ["emptyReply", "emptyReply"]);
    assert_eq!(house.model.audit_calls().len(), 0);
    assert_eq!(house.prompts().await.unwrap().len(), 3);
}

#[tokio::test]
async fn an_empty_reply_that_is_made_up_for_is_forgotten() {
    let model = ScriptedModel::builder()
        .turn([Step::empty()])
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house
        .serve_with(&[("--empty-quiet-ms", "1500")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();

    ends(&mut serve, "complete").await;

    assert_eq!(continued(&serve), ["emptyReply"]);
}

#[tokio::test]
async fn a_content_filter_blocks_with_its_name() {
    let (house, mut serve) = begun(
        ScriptedModel::builder().turn([Step::content_filter("I had begun")]),
        Setup::default(),
    )
    .await;

    let end = ends(&mut serve, "blocked").await;

    let reason = end["reason"].as_str().unwrap();
    assert!(reason.starts_with("ContentFilterError"), "{reason}");
    assert_eq!(house.model.audit_calls().len(), 0);
}

#[tokio::test]
async fn a_tool_that_prints_ten_thousand_lines_costs_little() {
    // Pauses make the server tell of the growing output many times.
    let print = json!({
        "command": "for i in $(seq 10000); do echo \"line $i\"; \
                    [ $((i % 50)) = 0 ] && sleep 0.01; done; true",
        "description": "print",
    });
    let script = ScriptedModel::builder()
        .turn([Step::tool("bash", print), Step::say(DONE)])
        .audit_verdict("complete", "done");
    let (house, mut serve) = begun(script, Setup::default()).await;
    let mut stream = house.stream().await.unwrap();
    let told = Cell::new(0);
    let rests = |event: &Value| {
        told.set(told.get() + event.to_string().len());
        event["type"] == "session.idle"
    };
    stream.next(rests, PATIENCE).await.unwrap();
    assert!(told.get() > TOLD_BYTES_MIN, "the stage is set: {told:?}");
    let last = house.model.work_calls().pop().unwrap();
    assert!(last.body.to_string().contains("line 10000"));

    ends(&mut serve, "complete").await;

    assert_eq!(continued(&serve), [""; 0]);
    assert_eq!(house.model.audit_calls().len(), 1);
    let most = memory_peak_kb(serve.pid());
    assert!(most < MEMORY_KB_MAX, "{most} kB");
}

/// The most memory that a process ever had.
fn memory_peak_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
    peak.unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_model_that_is_gone_blocks_and_gives_the_turn_back() {
    let script = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_gate("judging")
        .audit_verdict("continue", "half done");
    let extra = json!({ "name": "extra", "limit": { "context": 200_000, "output": 8_192 } });
    let config = json!({
        "model": "fake/extra",
        "provider": { "fake": { "models": { "extra": extra } } },
    });
    let setup = Setup {
        config: Some(config),
        ..Setup::default()
    };
    let (mut house, mut first) = begun(script, setup).await;
    house.model.reached("judging", PATIENCE).await.unwrap();
    first.terminate();
    first.wait(PATIENCE).await.unwrap();
    let file = house
        .server
        .scratch()
        .home()
        .join("config/opencode/opencode.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    config["model"] = json!("fake/big");
    let models = config["provider"]["fake"]["models"].as_object_mut();
    assert!(models.unwrap().remove("extra").is_some());
    std::fs::write(&file, config.to_string()).unwrap();
    house.server.restart().await.unwrap();
    house.model.release("judging");
    house
        .model
        .push_audit([Step::say(r#"{"verdict":"continue","note":"half done"}"#)])
        .unwrap();

    let mut serve = house.serve().await.unwrap();
    let end = ends(&mut serve, "blocked").await;

    let reason = end["reason"].as_str().unwrap();
    assert!(reason.contains("Model not found: fake/extra"), "{reason}");
    assert_eq!(end["turnsUsed"], 0, "the turn is given back");
    assert_eq!(continued(&serve), ["progress"]);
    assert_eq!(house.prompts().await.unwrap().len(), 2);
    assert_eq!(house.model.work_calls().len(), 1);
}

#[tokio::test]
async fn a_session_of_another_folder_is_asked_for_by_its_folder() {
    let model = ScriptedModel::builder()
        .turn([Step::held("half", MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let mut house = House::build(model, Setup::default()).await.unwrap();
    let folder = house.server.scratch().home().join("another folder & more");
    std::fs::create_dir(&folder).unwrap();
    house.session = house.server.create_session(&folder, "far").await.unwrap();
    let mut serve = house
        .serve_with(&[("--recheck-max-ms", "1500")])
        .await
        .unwrap();
    house.begin("Write a poem").await.unwrap();
    house.model.reached("half", PATIENCE).await.unwrap();
    assert_eq!(
        house.busy().await.unwrap(),
        Vec::<String>::new(),
        "the server's own folder does not know of it"
    );
    in_phase(&mut serve, "working", "busy").await.unwrap();
    house.model.release("half");

    ends(&mut serve, "complete").await;

    assert_eq!(continued(&serve), ["progress"]);
    let audit = house.model.audit_calls().remove(0);
    let messages = house.server.messages(&house.session).await.unwrap();
    let cwd = &messages[1]["info"]["path"]["cwd"];
    assert_eq!(cwd, &json!(folder.to_string_lossy()));
    assert!(audit.mentions("Write a poem"));
}

#[tokio::test]
async fn a_goal_over_history_judges_it_and_keeps_agent_and_model() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let prompt = json!({
        "agent": "plan",
        "model": { "providerID": "fake", "modelID": "small" },
        "parts": [{ "type": "text", "text": "Plan a poem" }],
    });
    house.post("message", &prompt).await.unwrap();

    let started = house.goal("start", &["--objective", "Plan a poem"]).await;
    assert_eq!(started.unwrap().code, Some(0));

    ends(&mut serve, "complete").await;
    assert_eq!(continued(&serve), ["progress"]);
    let messages = house.server.messages(&house.session).await.unwrap();
    let continuation = &messages[2]["info"];
    assert_eq!(continuation["agent"], "plan");
    assert_eq!(continuation["model"]["modelID"], "small");
    assert_eq!(house.model.work_calls()[1].model(), "small");
}

#[tokio::test]
async fn a_turn_longer_than_a_page_is_counted_from_where_the_goal_began() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Hello.").usage(7_000, 100)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    house.server.converse(&house.session, "Hi").await.unwrap();

    house
        .begin(r#"Read [[TOOL read {"filePath":"README.md"}]] [[LOOP 39]] [[USAGE 9000 100]]"#)
        .await
        .unwrap();

    let end = ends(&mut serve, "complete").await;
    let messages = house.server.messages(&house.session).await.unwrap();
    assert!(messages.len() > 42, "the stage is set: {}", messages.len());
    assert_eq!(end["tokensUsed"], 9_100 - 7_100, "{end}");
}

#[tokio::test]
async fn a_spent_budget_ends_the_goal_until_a_larger_one_is_given() {
    let model = ScriptedModel::builder()
        .turn([Step::say(MORE).usage(2_000, 100)])
        .audit_verdict("continue", "half done")
        .turn([Step::say(DONE).usage(2_200, 100)])
        .audit_verdict("complete", "done")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let mut serve = house.serve().await.unwrap();
    let start = ["--objective", "Write", "--send", "--token-budget", "1000"];
    assert_eq!(house.goal("start", &start).await.unwrap().code, Some(0));
    let end = ends(&mut serve, "budgetLimited").await;
    assert_eq!(end["tokensUsed"], 2_100, "{end}");
    assert_eq!(house.model.audit_calls().len(), 0, "nothing is spent on it");

    let refused = house.goal("resume", &[]).await.unwrap();
    assert_eq!(refused.lines[0]["error"]["code"], "budgetSpent");
    assert_eq!(house.stored().await.unwrap()["status"], "budgetLimited");
    let raised = house.goal("resume", &["--token-budget", "100000"]).await;
    assert_eq!(raised.unwrap().code, Some(0));

    let end = ends(&mut serve, "complete").await;
    assert_eq!(end["tokensUsed"], 2_300, "{end}");
    assert_eq!(continued(&serve), ["progress"]);
}
