//! Tasks: what a host does when they are due, whatever clock, user and other hosts do.

#![expect(
    clippy::unwrap_used,
    reason = "a failed step of a test ends the test with its reason"
)]

use std::time::Duration;

use goal_core::goal::Status;
use goal_core::schedule::{RunState, Task, TaskDraft, TaskId, When};
use goal_core::time::Wall;
use goal_core::verdict::VerdictKind;
use goal_engine::Code;
use goal_engine::Driver;
use goal_engine::ports::Ports;
use goal_engine::schedule::{Scheduler, run_now};
use goal_engine::store::{Owner, ServerKey, StoredRun, StoredTask};
use jiff::tz;
use pretty_assertions::assert_eq;
use testkit::world::{Call, Session, World};

use crate::support::secs;

const HOUR: Duration = Duration::from_secs(60 * 60);

const ID: &str = "task_1";

/// An engine, a task that is due every hour, and the ports of a scheduler that is not running yet.
struct House {
    world: World,
    ports: Ports,
    /// The first occurrence.
    first: Wall,
}

fn draft() -> TaskDraft {
    TaskDraft {
        name: "Hourly".to_owned(),
        directory: "/home/demo/project".to_owned(),
        when: When::Cron {
            cron: "0 * * * *".to_owned(),
        },
        timezone: "UTC".to_owned(),
        prompt: "make the tests pass".to_owned(),
        model: "fake/big".to_owned(),
        agent: None,
        variant: None,
        goal: true,
        goal_token_budget: Some(100_000),
        archive: false,
    }
}

fn server() -> ServerKey {
    ServerKey::attached("http://127.0.0.1:4096").unwrap()
}

impl House {
    async fn build(draft: TaskDraft) -> Self {
        let world = World::new();
        world.engine_starts().await;
        let ports = world.command();
        let now = Wall(world.wall());
        let task = Task::check(draft, tz::db(), now).unwrap();
        let first = task.schedule.next(now).unwrap();
        let stored = StoredTask {
            id: TaskId::new(ID),
            task,
            enabled: true,
            next: Some(first),
            created: now,
            updated: now,
        };
        ports.store.create_task(stored).await.unwrap();
        Self {
            world,
            ports,
            first,
        }
    }

    fn host(&self, name: &str) -> Scheduler {
        let driver = Driver {
            key: server(),
            owner: Owner::this_process(name),
        };
        let updates = self.world.engine().updates();
        Scheduler::start(self.ports.clone(), driver, updates)
    }

    /// Time passes until the first occurrence and its jitter are over.
    async fn until_due(&self) {
        let wait = self.first.since(Wall(self.world.wall()));
        self.world.passes(wait + secs(4)).await;
    }

    async fn runs(&self) -> Vec<StoredRun> {
        let runs = self.ports.store.runs(TaskId::new(ID), 100).await;
        runs.unwrap()
    }

    async fn states(&self) -> Vec<RunState> {
        self.runs().await.iter().map(|run| run.state).collect()
    }

    fn the_session(&self) -> Session {
        let mut made = self.world.made();
        assert_eq!(made.len(), 1);
        made.remove(0)
    }

    async fn task(&self) -> StoredTask {
        let task = self.ports.store.task(TaskId::new(ID)).await;
        task.unwrap().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn t7_t8_a_due_task_makes_a_session_whose_run_lasts_until_its_goal_is_complete() {
    let house = House::build(draft()).await;
    let host = house.host("host");
    house.until_due().await;

    let session = house.the_session();
    let goal = session.the_goal();
    assert_eq!(goal.status, Status::Active);
    assert_eq!(goal.token_budget, Some(100_000));
    let task = house.task().await;
    assert_eq!(session.title(), task.task.title(house.first));
    assert_eq!(task.next, Some(house.first.after(HOUR)));
    assert_eq!(house.states().await, [RunState::Running]);

    session.assistant_finishes("half of it is done");
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Running], "it lasts");
    house.world.auditor_says(VerdictKind::Complete, "all of it");
    session.assistant_finishes("all of it is done");
    house.world.passes(secs(60)).await;
    assert_eq!(session.the_goal().status, Status::Complete);
    let runs = house.runs().await;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].state, RunState::Complete);
    assert_eq!(runs[0].session.as_ref(), Some(session.id()));
    assert!(!session.is_archived(), "nobody asked for that");
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t5_what_is_due_while_the_goal_runs_or_is_paused_is_skipped_and_shown() {
    let house = House::build(draft()).await;
    let host = house.host("host");
    house.until_due().await;
    let session = house.the_session();
    house.world.engine().pause(session.id()).await.unwrap();
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Paused]);
    house.world.passes(HOUR).await;
    assert_eq!(house.states().await, [RunState::Skipped, RunState::Paused]);
    assert_eq!(house.world.made().len(), 1);
    house.world.engine().clear(session.id()).await.unwrap();
    house.world.passes(HOUR).await;
    let expected = [RunState::Running, RunState::Skipped, RunState::Cleared];
    assert_eq!(house.states().await, expected);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t11_only_the_session_of_a_complete_goal_is_archived_and_only_on_request() {
    let house = House::build(TaskDraft {
        archive: true,
        ..draft()
    })
    .await;
    let host = house.host("host");
    house.until_due().await;
    let session = house.the_session();
    house.world.engine().pause(session.id()).await.unwrap();
    house.world.passes(secs(400)).await;
    assert!(!session.is_archived());
    house.world.engine().complete(session.id()).await.unwrap();
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Complete]);
    assert!(session.is_archived());
    assert_eq!(session.the_goal().status, Status::Complete);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t9_what_was_due_while_no_host_ran_is_missed_and_not_caught_up() {
    let house = House::build(draft()).await;
    house.until_due().await;
    house.world.passes(HOUR * 3).await;
    let host = house.host("host");
    house.world.passes(secs(10)).await;
    let runs = house.runs().await;
    let told: Vec<_> = runs
        .iter()
        .map(|run| (run.state, run.occurrence.unwrap(), run.occurrences))
        .collect();
    // The fourth is due just now.
    let due = (RunState::Running, house.first.after(HOUR * 3), 1);
    assert_eq!(told, [due, (RunState::Missed, house.first, 3)]);
    assert_eq!(house.world.made().len(), 1);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t6_a_clock_that_jumps_back_and_forth_runs_no_occurrence_twice() {
    let house = House::build(TaskDraft {
        goal: false,
        goal_token_budget: None,
        ..draft()
    })
    .await;
    let host = house.host("host");
    house.until_due().await;
    house.the_session().assistant_finishes("done");
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Answered]);
    let hour = i64::try_from(HOUR.as_millis()).unwrap();
    for _ in 0..3 {
        house.world.clock_jumps(-hour / 2);
        house.world.passes(secs(60)).await;
        house.world.clock_jumps(hour / 2);
        house.world.passes(secs(60)).await;
    }
    assert_eq!(house.states().await, [RunState::Answered]);
    // Set forward over an occurrence: that one was missed.
    house.world.clock_jumps(hour);
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Missed, RunState::Answered]);
    // Set back again, it comes after all.
    house.world.clock_jumps(-hour);
    house.world.passes(HOUR).await;
    assert_eq!(house.world.made().len(), 2);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t5_t6_many_hosts_run_each_occurrence_once_for_a_day() {
    let house = House::build(TaskDraft {
        goal: false,
        goal_token_budget: None,
        ..draft()
    })
    .await;
    let hosts = ["a", "b", "c"].map(|name| house.host(name));
    house.until_due().await;
    for _ in 0..24 {
        let made = house.world.made();
        for session in made.iter().filter(|session| session.is_busy()) {
            session.assistant_finishes("done");
        }
        house.world.passes(HOUR).await;
    }
    let runs = house.runs().await;
    let mut occurrences: Vec<_> = runs.iter().map(|run| run.occurrence.unwrap()).collect();
    occurrences.reverse();
    let expected: Vec<Wall> = (0..25).map(|n| house.first.after(HOUR * n)).collect();
    assert_eq!(occurrences, expected);
    assert_eq!(house.world.made().len(), 25);
    for host in hosts {
        host.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn t7_what_fails_is_in_the_history_with_its_reason_and_the_next_one_is_tried() {
    let house = House::build(TaskDraft {
        agent: Some("nobody".to_owned()),
        ..draft()
    })
    .await;
    let host = house.host("host");
    house.until_due().await;
    let runs = house.runs().await;
    assert_eq!(runs[0].state, RunState::Failed);
    assert!(
        runs[0].reason.starts_with("invalidPrompt: `agent`"),
        "{:?}",
        runs[0].reason
    );
    assert_eq!(house.world.made().len(), 0, "nothing was made");
    house.world.passes(HOUR).await;
    assert_eq!(house.states().await, [RunState::Failed, RunState::Failed]);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_without_its_host_and_the_next_one_sees_its_end() {
    let house = House::build(draft()).await;
    let host = house.host("host");
    house.until_due().await;
    host.shutdown().await;
    let session = house.the_session();
    house.world.engine().complete(session.id()).await.unwrap();
    house.world.passes(secs(60)).await;
    assert_eq!(house.states().await, [RunState::Running]);
    let host = house.host("the next one");
    house.world.passes(secs(10)).await;
    assert_eq!(house.states().await, [RunState::Complete]);
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn t6_run_now_is_beside_the_schedule_and_refused_while_a_run_goes_on() {
    let house = House::build(draft()).await;
    let host = house.host("host");
    let task = house.task().await;
    let sent = run_now(&house.ports, &server(), &task).await.unwrap();
    assert_eq!(sent.session.facts.id, *house.the_session().id());
    let refused = run_now(&house.ports, &server(), &task).await.unwrap_err();
    assert_eq!(refused.error.code(), Code::TaskRuns);
    let runs = house.runs().await;
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (runs[0].state, runs[0].occurrence),
        (RunState::Running, None)
    );
    assert_eq!(
        house.task().await.next,
        Some(house.first),
        "it claims nothing"
    );
    assert_eq!(
        house
            .world
            .calls()
            .iter()
            .filter(|one| one.call == Call::Create)
            .count(),
        1
    );
    host.shutdown().await;
}
