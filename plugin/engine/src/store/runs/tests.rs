//! Claims and runs, with several connections on one file as several processes have them.

use std::path::PathBuf;

use futures_util::FutureExt as _;
use goal_core::schedule::{Task, TaskDraft, When};
use jiff::tz;
use pretty_assertions::assert_eq;

use super::*;
use crate::store::{StoredTask, TASKS_MAX};

/// 2026-03-02 08:00 UTC.
const NOW: Wall = Wall(1_772_438_400_000);

const NINE: Wall = Wall(NOW.0 + 3_600_000);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Case {
    dir: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("goals.sqlite3")
    }

    fn open(&self) -> Store {
        Store::open(&self.path())
    }

    fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

fn me() -> Owner {
    Owner::this_process("me")
}

fn task(id: &str, directory: &str) -> StoredTask {
    let draft = TaskDraft {
        name: id.to_owned(),
        directory: directory.to_owned(),
        when: When::Daily {
            times: vec!["09:00".to_owned()],
        },
        timezone: "UTC".to_owned(),
        prompt: "Tidy up".to_owned(),
        model: "acme/big".to_owned(),
        agent: None,
        variant: None,
        goal: true,
        goal_token_budget: None,
        archive: false,
    };
    StoredTask {
        id: TaskId::new(id),
        task: Task::check(draft, tz::db(), NOW).unwrap(),
        enabled: true,
        next: Some(NINE),
        created: NOW,
        updated: NOW,
    }
}

fn claim(id: &str, occurrence: Wall) -> Claim {
    Claim {
        task: TaskId::new(id),
        occurrence,
        next: Some(occurrence.after(DAY)),
        owner: me(),
        now: occurrence,
    }
}

async fn states(store: &Store, id: &str) -> Vec<RunState> {
    let runs = store.runs(TaskId::new(id), 200).await.unwrap();
    runs.iter().map(|run| run.state).collect()
}

/// Claims the next occurrence of the task.
async fn claimed(store: &Store, id: &str) -> Claimed {
    let task = store.task(TaskId::new(id)).await.unwrap().unwrap();
    store
        .claim_run(claim(id, task.next.unwrap()))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn t6_one_of_many_gets_an_occurrence() {
    let case = Case::new();
    let first = case.open();
    for round in 0..10 {
        let id = format!("task_{round}");
        first.create_task(task(&id, "/project")).await.unwrap();
        let claims = (0..8).map(|_| {
            let (store, claim) = (case.open(), claim(&id, NINE));
            tokio::spawn(async move { store.claim_run(claim).await.unwrap() })
        });
        let mut mine = 0;
        for claim in claims.collect::<Vec<_>>() {
            match claim.await.unwrap() {
                Claimed::Mine(_) => mine += 1,
                Claimed::Taken => {}
                other @ (Claimed::Skipped | Claimed::Disabled | Claimed::Gone) => {
                    panic!("{other:?}")
                }
            }
        }
        assert_eq!(mine, 1);
        assert_eq!(states(&first, &id).await, [RunState::Queued]);
        let next = first.task(TaskId::new(id)).await.unwrap().unwrap().next;
        assert_eq!(next, Some(NINE.after(DAY)));
    }
}

#[tokio::test]
async fn t6_an_occurrence_that_was_run_is_not_run_again_however_it_is_armed() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    let Claimed::Mine(run) = claimed(&store, "t").await else {
        panic!("not claimed");
    };
    let done = store.end_run(run, RunState::Complete, String::new(), None, NINE);
    assert!(done.await.unwrap());
    // Somebody edits the task while the clock is set back.
    let tomorrow = Some(NINE.after(DAY));
    for near in [NINE, NINE.after(Duration::from_secs(4))] {
        let id = TaskId::new("t");
        assert!(store.arm_task(id.clone(), tomorrow, near).await.unwrap());
        let again = Claim {
            next: tomorrow,
            ..claim("t", near)
        };
        assert_eq!(store.claim_run(again).await.unwrap(), Claimed::Taken);
        let next = store.task(id).await.unwrap().unwrap().next;
        assert_eq!(next, tomorrow, "and the next one is waited for");
    }
    assert_eq!(states(&store, "t").await, [RunState::Complete]);
}

#[tokio::test]
async fn t6_what_is_disabled_or_deleted_is_not_claimed() {
    let case = Case::new();
    let store = case.open();
    let disabled = StoredTask {
        enabled: false,
        ..task("t", "/project")
    };
    store.create_task(disabled).await.unwrap();
    let refused = store.claim_run(claim("t", NINE)).await.unwrap();
    assert_eq!(refused, Claimed::Disabled);
    let refused = store.claim_run(claim("none", NINE)).await.unwrap();
    assert_eq!(refused, Claimed::Gone);
    let refused = store.claim_now(TaskId::new("t"), me(), NOW).await.unwrap();
    assert_eq!(refused, Claimed::Disabled);
    assert_eq!(states(&store, "t").await, []);
}

#[tokio::test]
async fn t9_a_task_that_comes_once_is_disabled_with_its_run() {
    let case = Case::new();
    let store = case.open();
    let mut once = task("t", "/project");
    once.task.draft.when = When::Once {
        date: "2026-03-02".to_owned(),
        time: "09:00".to_owned(),
    };
    store.create_task(once).await.unwrap();
    let due = Claim {
        next: None,
        ..claim("t", NINE)
    };
    assert!(matches!(
        store.claim_run(due).await.unwrap(),
        Claimed::Mine(_)
    ));
    let task = store.task(TaskId::new("t")).await.unwrap().unwrap();
    assert_eq!((task.enabled, task.next), (false, None));
}

#[tokio::test]
async fn t5_what_is_due_while_the_last_run_goes_on_is_skipped_and_kept() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    let Claimed::Mine(run) = claimed(&store, "t").await else {
        panic!("not claimed");
    };
    assert_eq!(claimed(&store, "t").await, Claimed::Skipped);
    let on_request = store.claim_now(TaskId::new("t"), me(), NINE).await.unwrap();
    assert_eq!(on_request, Claimed::Skipped);
    assert_eq!(
        states(&store, "t").await,
        [RunState::Skipped, RunState::Queued]
    );
    let end = store.end_run(run, RunState::Failed, "why".to_owned(), None, NINE);
    assert!(end.await.unwrap());
    let again = store.end_run(run, RunState::Complete, String::new(), None, NINE);
    assert!(!again.await.unwrap(), "an end is final");
    let on_request = store.claim_now(TaskId::new("t"), me(), NINE).await.unwrap();
    assert!(matches!(on_request, Claimed::Mine(_)));
}

#[tokio::test]
async fn t5_four_run_at_once_and_two_in_one_folder_whoever_started_them() {
    let case = Case::new();
    let (store, other) = (case.open(), case.open());
    let folders = ["/a", "/a", "/a", "/b", "/b", "/c", "/c"];
    for (number, folder) in folders.iter().enumerate() {
        let id = format!("task_{number}");
        store.create_task(task(&id, folder)).await.unwrap();
        assert!(matches!(claimed(&store, &id).await, Claimed::Mine(_)));
    }
    let stranger = Owner::this_process("stranger");
    let none = other.admit_runs(stranger, NINE).await.unwrap();
    assert_eq!(none, [], "each begins its own");
    let names = |runs: Vec<StoredRun>| -> Vec<String> {
        runs.iter().map(|run| run.task.to_string()).collect()
    };
    let admitted = other.admit_runs(me(), NINE).await.unwrap();
    let first = admitted[0].id;
    assert_eq!(names(admitted), ["task_0", "task_1", "task_3", "task_4"]);
    assert_eq!(store.admit_runs(me(), NINE).await.unwrap(), []);
    let end = store.end_run(first, RunState::Complete, String::new(), None, NINE);
    assert!(end.await.unwrap());
    assert_eq!(
        names(store.admit_runs(me(), NINE).await.unwrap()),
        ["task_2"]
    );
}

#[tokio::test]
async fn t6_the_runs_of_a_process_that_is_gone_are_interrupted_and_not_repeated() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    assert!(matches!(claimed(&store, "t").await, Claimed::Mine(_)));
    // No process has that number.
    case.raw()
        .execute("UPDATE runs SET pid = 2147483646", [])
        .unwrap();
    assert_eq!(store.admit_runs(me(), NINE).await.unwrap(), []);
    assert_eq!(states(&store, "t").await, [RunState::Interrupted]);
    assert!(
        matches!(claimed(&store, "t").await, Claimed::Mine(_)),
        "tomorrow's"
    );
}

#[tokio::test]
async fn a_run_that_nobody_sees_for_a_day_is_lost_and_one_that_is_seen_is_not() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    let Claimed::Mine(run) = claimed(&store, "t").await else {
        panic!("not claimed");
    };
    let what = Dispatched {
        session: SessionId::new("ses_1"),
        goal: Some(GoalId::new("goal")),
        message: None,
        server: ServerKey::attached("http://127.0.0.1:1").unwrap(),
    };
    assert!(store.run_dispatched(run, what, NINE).await.unwrap());
    let evening = NINE.after(DAY / 2);
    let live = store.live_runs().await.unwrap().remove(0);
    store
        .run_seen(live, /*paused*/ true, evening)
        .await
        .unwrap();
    assert_eq!(claimed(&store, "t").await, Claimed::Skipped);
    let late = evening.after(LOST_AFTER).after(Duration::from_millis(1));
    let tomorrow = Claim {
        now: late,
        ..claim("t", NINE.after(DAY * 2))
    };
    assert!(matches!(
        store.claim_run(tomorrow).await.unwrap(),
        Claimed::Mine(_)
    ));
    let expected = [RunState::Queued, RunState::Skipped, RunState::Lost];
    assert_eq!(states(&store, "t").await, expected);
}

#[tokio::test]
async fn t9_missed_occurrences_are_one_row_and_can_still_be_claimed_by_a_right_clock() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    let id = TaskId::new("t");
    let next = NINE.after(DAY * 3);
    let miss = |first| store.miss_runs(id.clone(), first, 3, Some(next), me(), next);
    assert!(miss(NINE).await.unwrap());
    assert!(!miss(NINE).await.unwrap(), "once for all processes");
    let runs = store.runs(id.clone(), 9).await.unwrap();
    assert_eq!(runs.len(), 1);
    let told = (runs[0].state, runs[0].occurrence, runs[0].occurrences);
    assert_eq!(told, (RunState::Missed, Some(NINE), 3));
    // The clock was wrong.
    assert!(store.arm_task(id, Some(next), NINE).await.unwrap());
    assert!(matches!(claimed(&store, "t").await, Claimed::Mine(_)));
}

#[tokio::test]
async fn a_tasks_history_is_bounded_and_goes_with_it() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("t", "/project")).await.unwrap();
    assert!(matches!(claimed(&store, "t").await, Claimed::Mine(_)));
    for day in 1..=RUNS_PER_TASK_MAX + 5 {
        let occurrence = NINE.after(DAY * u32::try_from(day).unwrap());
        let due = Claim {
            now: NINE,
            ..claim("t", occurrence)
        };
        assert_eq!(store.claim_run(due).await.unwrap(), Claimed::Skipped);
    }
    let states = states(&store, "t").await;
    assert_eq!(states.len(), RUNS_PER_TASK_MAX + 1);
    assert_eq!(states.last(), Some(&RunState::Queued), "what runs is kept");
    assert!(store.delete_task(TaskId::new("t")).await.unwrap());
    assert!(!store.delete_task(TaskId::new("t")).await.unwrap());
    assert_eq!(store.live_runs().await.unwrap(), []);
}

#[tokio::test]
async fn t1_a_task_that_cannot_be_read_hides_no_other() {
    let case = Case::new();
    let store = case.open();
    store.create_task(task("a", "/project")).await.unwrap();
    store.create_task(task("b", "/project")).await.unwrap();
    let odd = r#"{"name":"a"}"#;
    let raw = case.raw();
    raw.execute(
        "UPDATE tasks SET definition_json = ?1 WHERE id = 'a'",
        [odd],
    )
    .unwrap();
    let names: Vec<String> = store
        .tasks()
        .await
        .unwrap()
        .into_iter()
        .map(|task| task.id.to_string())
        .collect();
    assert_eq!(names, ["b"]);
    assert_eq!(
        store.claim_run(claim("a", NINE)).await.unwrap(),
        Claimed::Gone
    );
}

#[tokio::test]
async fn tasks_come_back_as_they_were_and_two_changes_do_not_pass_each_other() {
    let case = Case::new();
    let store = case.open();
    let before = task("t", "/project");
    store.create_task(before.clone()).await.unwrap();
    store.tasks_changed().await;
    store.look_for_changes();
    store.tasks_changed().await;
    store.look_for_changes();
    assert_eq!(store.tasks_changed().now_or_never(), None, "nobody did");
    let read = case.open().task(TaskId::new("t")).await.unwrap().unwrap();
    assert_eq!(read.task.draft, before.task.draft);
    let changed = StoredTask {
        updated: Wall(NOW.0 + 1),
        ..read
    };
    let other = case.open();
    assert!(other.update_task(changed.clone(), NOW).await.unwrap());
    assert!(!store.update_task(changed, NOW).await.unwrap());
    store.look_for_changes();
    store.tasks_changed().await;
}

#[tokio::test]
async fn there_are_only_so_many_tasks() {
    let case = Case::new();
    let store = case.open();
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO tasks SELECT 'task_' || i, '{}', 0, NULL, 0, 0 FROM n";
    case.raw().execute(fill, [limit_to_sql(TASKS_MAX)]).unwrap();
    let refused = store.create_task(task("t", "/project")).await;
    assert!(
        matches!(refused, Err(StoreError::TooMany { .. })),
        "{refused:?}"
    );
}
