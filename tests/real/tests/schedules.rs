//! A task on the real server: what is due becomes a session with a goal, and its end is kept.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use goal_core::schedule::TaskId;
use goal_core::time::Wall;
use goal_engine::store::Store;
use pretty_assertions::assert_eq;
use real::{House, PATIENCE, Setup};
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, Step};

/// Runs `schedule <words…>`.
async fn schedule(house: &House, words: &[&str]) -> Value {
    let arguments = [&["schedule"], words].concat();
    let done = house.command.run(&arguments, "", PATIENCE).await.unwrap();
    assert_eq!(done.code, Some(0), "{words:?}: {done:?}");
    done.lines[0].clone()
}

/// The task's newest run, once it stands so.
async fn run_in(house: &House, task: &str, state: &str) -> Value {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let runs = schedule(house, &["history", task]).await["runs"].clone();
        if runs[0]["state"] == state {
            return runs[0].clone();
        }
        let in_time = tokio::time::Instant::now() < deadline;
        assert!(in_time, "the run is not {state}: {runs}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

#[tokio::test]
async fn a_due_task_is_pursued_to_its_end_and_its_session_archived() {
    let model = ScriptedModel::builder()
        .turn([Step::say("Done: one.txt. Remaining: nothing.")])
        .audit_verdict("complete", "the file exists")
        .start()
        .unwrap();
    let house = House::build(model, Setup::default()).await.unwrap();
    let _serve = house.serve().await.unwrap();
    let dir = house.server.project();
    let what = [
        "create",
        "--dir",
        dir.to_str().unwrap(),
        "--name",
        "Nightly",
    ];
    let to = ["--prompt", "Create one.txt", "--model", "fake/big"];
    let when = ["--daily", "03:00", "--timezone", "Asia/Kathmandu"];
    let goal = ["--goal", "--goal-token-budget", "100000", "--archive"];
    let words = [&what[..], &to, &when, &goal].concat();
    let task = schedule(&house, &words).await["task"].clone();
    let id = task["taskID"].as_str().unwrap();

    // As if that hour were near.
    let store = Store::open(&house.server.scratch().data_dir().join("goals.sqlite3"));
    let next = Wall(task["nextRunAt"].as_u64().unwrap());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let soon = Wall(goal_core::time::millis(now)).after(Duration::from_secs(2));
    let armed = store.arm_task(TaskId::new(id), Some(next), soon).await;
    assert!(armed.unwrap());

    let run = run_in(&house, id, "complete").await;
    let session = run["sessionID"].as_str().unwrap();
    let words = ["session", "status", "--session", session];
    let status = house.command.run(&words, "", PATIENCE).await.unwrap();
    let status = status.lines[0].clone();
    assert_eq!(status["goal"]["status"], "complete", "{status}");
    assert_eq!(status["goal"]["tokenBudget"], 100_000);
    let title = status["title"].as_str().unwrap();
    assert!(title.starts_with("Nightly 20"), "{title}");
    assert_eq!(run["occurrence"], json!(soon.0));
    let words = ["session", "list", "--limit", "100"];
    let listed = house.command.run(&words, "", PATIENCE).await.unwrap();
    let listed = listed.lines[0]["sessions"].as_array().unwrap().clone();
    let there = listed.iter().any(|one| one["sessionID"] == session);
    assert!(!there, "it is archived: {listed:?}");
    let runs = schedule(&house, &["history", id]).await["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
}
