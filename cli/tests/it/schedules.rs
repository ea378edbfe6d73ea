//! `schedule`: tasks without a server, and hosts that share them.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use goal_core::schedule::{RunState, TaskId};
use goal_core::time::Wall;
use goal_engine::store::Store;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::command::{Command, DEADLINE, Done};
use crate::fake::Fake;

/// Lines that are refused, each with its code and a word of the message; `~` stands for a blank.
const REFUSED: &[(&str, &str, &str)] = &[
    ("CREATE", "usage", "--daily"),
    ("CREATE --time 09:00", "usage", "--weekly"),
    ("CREATE --weekly mon", "usage", "--time"),
    ("CREATE --weekly noday --time 09:00", "usage", "noday"),
    (
        "CREATE --once 2099-01-01 --time 09:00,10:00",
        "usage",
        "--once",
    ),
    ("CREATE --daily 09:00 --cron x", "usage", "--cron"),
    ("CREATE --daily 9:00", "invalidTask", "`times`"),
    ("CREATE --cron *~*~*", "invalidTask", "`cron`"),
    (
        "CREATE --once 2001-01-01 --time 09:00",
        "invalidTask",
        "`date`",
    ),
    (
        "CREATE --daily 09:00 --timezone Mars/Base",
        "invalidTask",
        "`timezone`",
    ),
    (
        "CREATE --daily 09:00 --goal-token-budget 5000",
        "usage",
        "--goal",
    ),
    ("CREATE --daily 09:00 --archive", "usage", "--goal"),
    (
        "CREATE --daily 09:00 --goal --goal-token-budget 999",
        "invalidBudget",
        "budget",
    ),
    ("CREATE --daily 09:00 --quiet", "usage", "--quiet"),
    (
        "create --dir /no/such --name a --prompt b --model c/d --daily 09:00",
        "invalidPrompt",
        "--dir",
    ),
    (
        "create --dir HERE --name a --prompt b --daily 09:00",
        "usage",
        "--model",
    ),
    (
        "create --dir HERE --name a --prompt b --model c --daily 09:00",
        "invalidTask",
        "`model`",
    ),
    ("update nothing --name b", "unknownTask", "task"),
    ("run nothing", "noServer", "server"),
    ("history nothing", "unknownTask", "task"),
    ("delete nothing", "unknownTask", "task"),
];

async fn schedule(command: &Command, line: &str) -> Done {
    let here = command.home().to_str().unwrap().to_owned();
    let create = "create --dir HERE --name Nightly --prompt Tidy --model acme/small";
    let line = line.replace("CREATE", create);
    let words = line.split(' ').map(|word| match word {
        "HERE" => here.clone(),
        word => word.replace('~', " "),
    });
    let words: Vec<String> = std::iter::once("schedule".to_owned())
        .chain(words)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    command.run(&words, "").await
}

async fn done(command: &Command, line: &str) -> Value {
    let done = schedule(command, &format!("{line} --json")).await;
    assert_eq!(done.code, 0, "{line}: {done:?}");
    done.json()
}

#[tokio::test]
async fn a1_t1_what_is_wrong_is_refused_by_field_before_anything_is_kept() {
    let command = Command::new();
    for (line, code, word) in REFUSED {
        let done = schedule(&command, &format!("{line} --json")).await;
        assert_eq!(done.error(), *code, "{line}");
        assert_eq!(done.code, 2, "{line}");
        let message = done.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(word), "{line}: {message}");
    }
    assert_eq!(done(&command, "list").await["tasks"], json!([]));
}

#[tokio::test]
async fn t1_t2_a_task_is_made_changed_listed_and_deleted_without_a_server() {
    let command = Command::new();
    let goal = "--goal --goal-token-budget 5000 --archive";
    let line = format!("CREATE --weekly fri,mon --time 18:00,09:00 --timezone Europe/Paris {goal}");
    let task = done(&command, &line).await["task"].clone();
    let expected = json!({ "weekdays": [1, 5], "times": ["09:00", "18:00"], "kind": "weekly" });
    assert_eq!(task["schedule"], expected);
    assert_eq!(task["timezone"], "Europe/Paris");
    assert_eq!(
        (&task["goal"], &task["goalTokenBudget"]),
        (&json!(true), &json!(5_000))
    );
    assert_eq!(task["archive"], true);
    assert!(task["nextRunAt"].as_u64().unwrap() > now().0);
    let id = task["taskID"].as_str().unwrap();

    let unchanged = schedule(&command, "update Nightly --name Nightly --json").await;
    assert_eq!(unchanged.error(), "usage");
    let changed =
        done(&command, &format!("update {id} --daily 03:30 --no-goal")).await["task"].clone();
    assert_eq!(
        changed["schedule"],
        json!({ "times": ["03:30"], "kind": "daily" })
    );
    assert_eq!(changed["goal"], false);
    assert_eq!(
        changed["goalTokenBudget"],
        Value::Null,
        "it goes with the goal"
    );
    assert_eq!(changed["archive"], false);
    assert_eq!(changed["prompt"], "Tidy");

    let disabled = done(&command, "disable Nightly").await["task"].clone();
    assert_eq!(
        (&disabled["enabled"], &disabled["nextRunAt"]),
        (&json!(false), &Value::Null)
    );
    let enabled = done(&command, "enable Nightly").await["task"].clone();
    assert_eq!(enabled["enabled"], true);
    let listed = schedule(&command, "list").await;
    assert!(
        listed.stdout.contains("daily 03:30 (Europe/Paris)"),
        "{}",
        listed.stdout
    );
    assert!(listed.stdout.contains("goal:no"), "{}", listed.stdout);
    let quiet = schedule(&command, "list --quiet").await;
    assert_eq!(quiet.stdout.trim(), id);
    assert_eq!(done(&command, "history Nightly").await["runs"], json!([]));
    assert_eq!(done(&command, "delete Nightly").await["taskID"], id);
    assert_eq!(done(&command, "list").await["tasks"], json!([]));
}

#[tokio::test]
async fn two_tasks_of_one_name_are_told_apart_by_their_ids() {
    let command = Command::new();
    let first = done(
        &command,
        "CREATE --daily 09:00 --goal --goal-token-budget 7000",
    )
    .await;
    done(&command, "CREATE --cron 0~9~*~*~1-5 --disabled").await;
    let unclear = schedule(&command, "delete Nightly --json").await;
    assert_eq!(unclear.error(), "unknownTask");
    let listed = schedule(&command, "list").await.stdout;
    assert!(listed.contains("goal:yes budget:7000"), "{listed}");
    assert!(listed.contains("cron 0 9 * * 1-5 (UTC)"), "{listed}");
    let id = first["task"]["taskID"].as_str().unwrap();
    assert_eq!(done(&command, &format!("delete {id}")).await["taskID"], id);
}

#[tokio::test]
async fn a2_t7_run_makes_the_session_then_file_goal_and_prompt() {
    let fake = Fake::start().await;
    let command = Command::at(&fake.url);
    fake.note_objectives(&command.home().join("data/goals"));
    done(&command, "CREATE --daily 09:00 --goal").await;
    let ran = done(&command, "run Nightly").await;
    assert_eq!(ran["sessionID"], "ses_made0");
    assert_eq!(ran["goalEnabled"], true);
    let expected = [
        "POST session ses_made0",
        "PATCH active ses_made0, file",
        "POST prompt of 2 ses_made0, file",
    ];
    assert_eq!(fake.written(), expected);
    assert!(
        ran["title"].as_str().unwrap().starts_with("Nightly 20"),
        "{ran}"
    );
    let again = schedule(&command, "run Nightly --json").await;
    assert_eq!((again.code, again.error().as_str()), (1, "taskRuns"));
    let runs = done(&command, "history Nightly").await["runs"].clone();
    assert_eq!(runs[0]["state"], "running");
    assert_eq!(runs[0]["sessionID"], "ses_made0");
    let told = schedule(&command, "history Nightly").await.stdout;
    assert!(
        told.contains("on request") && told.contains("ses_made0"),
        "{told}"
    );
}

#[tokio::test]
async fn a6_a_run_that_fails_says_what_remains_and_where() {
    let fake = Fake::start().await;
    fake.hears_nothing();
    let command = Command::at(&fake.url);
    done(&command, "CREATE --daily 09:00").await;
    let failed = schedule(&command, "run Nightly --json").await;
    assert_eq!((failed.code, failed.error().as_str()), (1, "notDelivered"));
    let told = failed.json();
    assert_eq!(
        (&told["partial"], &told["sessionID"]),
        (&json!(true), &json!("ses_made0"))
    );
    let runs = done(&command, "history Nightly").await["runs"].clone();
    assert_eq!(
        (&runs[0]["state"], &runs[0]["sessionID"]),
        (&json!("failed"), &json!("ses_made0"))
    );
}

fn now() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Wall(u64::try_from(since.as_millis()).unwrap())
}

#[cfg(unix)]
#[tokio::test]
async fn t6_two_processes_run_each_occurrence_once() {
    const TASKS: usize = 12;
    let fake = Fake::start().await;
    fake.put_turn("I did it.");
    let command = Command::at(&fake.url);
    let mut first = command.start("serve --json");
    let mut second = command.start("serve --json");
    first.event("ready").await;
    second.event("ready").await;
    let store = Store::open(&command.home().join("data/goals.sqlite3"));
    // Seen by both while they run; each time a folder of its own, so that all find room in turn.
    for number in 0..TASKS {
        let folder = command.home().join(format!("f{number}"));
        std::fs::create_dir(&folder).unwrap();
        let line =
            format!("create --dir HERE/f{number} --name t{number} --prompt a --model acme/small");
        let here = command.home().to_str().unwrap().to_owned();
        let line = format!("{line} --daily 00:00 --json").replace("HERE", &here);
        let made = command.line(&format!("schedule {line}")).await.json();
        let id = TaskId::new(made["task"]["taskID"].as_str().unwrap());
        let next = Wall(made["task"]["nextRunAt"].as_u64().unwrap());
        let soon = now().after(Duration::from_secs(6));
        assert!(store.arm_task(id, Some(next), soon).await.unwrap());
    }
    let deadline = tokio::time::Instant::now() + DEADLINE;
    let mut runs = Vec::new();
    while tokio::time::Instant::now() < deadline {
        runs.clear();
        for task in store.tasks().await.unwrap() {
            runs.extend(store.runs(task.id, 10).await.unwrap());
        }
        let begun = runs.iter().filter(|run| run.session.is_some()).count();
        if begun >= 8 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(runs.len(), TASKS, "each once: {runs:?}");
    let failed = runs.iter().filter(|run| run.state == RunState::Failed);
    assert_eq!(failed.count(), 0, "{runs:?}");
    let begun = runs.iter().filter(|run| run.session.is_some()).count();
    let made = fake
        .written()
        .iter()
        .filter(|line| line.starts_with("POST session"))
        .count();
    assert!(
        made >= begun && made <= TASKS,
        "{made} sessions for {begun} runs"
    );
}
