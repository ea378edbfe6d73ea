//! The simulation, as far as a run of the tests goes; `scenarios::simulation` says what it is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use goal_engine::store::StoreError;
use pretty_assertions::assert_eq;
use scenarios::simulation::{Failure, Outcome, Play, examine, fingerprint, play_of, run, seeds};
use testkit::world::World;

/// Seeds of one run of the tests.
const SEEDS: usize = 2_000;

/// Failures that are shortened and shown: one fault of the engine shows in many seeds.
const SHOWN: usize = 3;

#[test]
fn x9_x17_whatever_happens_the_goal_comes_to_its_end_and_nothing_is_lost() {
    let base = fingerprint(&root()).unwrap();
    let seeds: Vec<u64> = seeds(&base, SEEDS).collect();
    let next = AtomicUsize::new(0);
    let failures: Mutex<Vec<Failure>> = Mutex::default();
    let found = || failures.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while found().len() < SHOWN
                    && let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Some(failure) = examine(*seed) {
                        found().push(failure);
                    }
                }
            });
        }
    });
    let failures: Vec<String> = found().iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_seed_is_the_same_run_each_time() {
    for seed in 0..5 {
        assert_eq!(run(&play_of(seed)), run(&play_of(seed)), "seed {seed}");
    }
}

/// What was found once is played in each run; every file says what it was.
#[test]
fn kept_cases_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let play: Play = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let Outcome { breaches, log } = run(&play);
        assert_eq!(breaches, [], "{}: {log:#?}", path.display());
    }
}

/// A breach that nobody sees would be worth nothing: what stands in the way of the database does.
#[tokio::test(start_paused = true)]
async fn a_database_that_is_locked_or_damaged_refuses_notices() {
    let world = World::new();
    let store = world.command().store;
    let pending = || store.withdraw_notice(1);
    assert!(pending().await.is_ok());
    world.database_is_locked();
    assert!(matches!(pending().await, Err(StoreError::Busy)));
    world.database_is_damaged();
    assert!(matches!(pending().await, Err(StoreError::Sqlite(_))));
    world.database_heals();
    assert!(pending().await.is_ok());
}

#[test]
fn a_play_is_the_same_after_it_was_written_down() {
    for seed in 0..50 {
        let play = play_of(seed);
        let read: Play = play.to_string().parse().unwrap();
        assert_eq!(read, play);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
