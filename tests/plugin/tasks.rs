//! Tasks in an app: it runs what is due, whoever made it.

use std::time::Duration;

use goal_core::schedule::{TaskDraft, When};
use goal_engine::clock::SystemClock;
use goal_engine::ports::Clock as _;
use goal_engine::schedule;
use goal_engine::store::Store;
use serde_json::json;
use tauri_plugin_goal::GoalExt as _;
use testkit::fake::{FakeOptions, FakeServer};

use crate::support::{House, PATIENCE};

#[test]
fn t5_a_task_that_another_program_makes_runs_in_the_app_when_it_is_due() {
    let house = House::open();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut server = FakeServer::start(FakeOptions::default()).await.unwrap();
        let attached = json!({ "server": { "kind": "attached", "url": server.url() } });
        let connect = serde_json::from_value(attached).unwrap();
        house.app.goal().server_connect(connect).await.unwrap();
        let store = Store::open(&house.folder.path().join("goals.sqlite3"));
        let draft = TaskDraft {
            name: "Nightly".to_owned(),
            directory: house.folder.path().to_string_lossy().into_owned(),
            when: When::Daily {
                times: vec!["00:00".to_owned()],
            },
            timezone: "UTC".to_owned(),
            prompt: "Tidy up".to_owned(),
            model: "acme/big".to_owned(),
            agent: None,
            variant: None,
            goal: false,
            goal_token_budget: None,
            archive: false,
        };
        let made = schedule::create(&store, &SystemClock, draft, true).await;
        let made = made.unwrap();
        let soon = SystemClock.wall().after(Duration::from_secs(1));
        let armed = store.arm_task(made.id.clone(), made.next, soon).await;
        assert!(armed.unwrap());
        let said = |server: &FakeServer| server.prompts_total() == 1;
        let prompt = server.until_within("the task's prompt", PATIENCE, said);
        prompt.await.unwrap();
        let runs = schedule::history(&store, &made.id, schedule::HISTORY_MAX).await;
        assert_eq!(runs.unwrap().len(), 1);
        // This server takes every new session for an audit's, and this one is none.
        drop(server.violations());
    });
}
