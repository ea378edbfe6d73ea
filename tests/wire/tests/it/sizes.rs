//! Large things: they are read within bounds and written back whole.

use std::time::Duration;

use goal_core::limits::Limits;
use testkit::fake::{Answer, Endpoint, FakeOptions, FakeServer, Fault, Room};

use crate::house::{DIRECTORY, FOREIGN, House, SESSION, goal, limits, room};

/// Metadata of other programs, in bytes.
const LARGE: usize = 20_000_000;

/// Sessions on the server.
const MANY: usize = 10_000;

/// The bytes of large things take their time in a build without optimization.
fn patient() -> Limits {
    Limits {
        call_timeout: Duration::from_secs(20),
        ..limits()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_megabytes_of_metadata_survive_every_write() {
    let house = House::empty(patient()).await;
    let large = "x".repeat(LARGE);
    let goal = goal("active");
    house.server.put(Room {
        metadata: Some(format!(
            r#"{{{FOREIGN},"large":"{large}","openchamber":{{"goal":{goal}}}}}"#
        )),
        ..room(SESSION, &goal)
    });
    let running = house.serve().await;
    house.until_complete().await;
    let metadata = house.server.metadata(SESSION).unwrap();
    assert!(metadata.contains(&large), "{} bytes", metadata.len());
    house.ends_well(running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_goal_among_ten_thousand_sessions_is_found_on_the_last_page() {
    let house = House::empty(patient()).await;
    for number in 0..MANY {
        house.server.put(Room {
            id: format!("ses_other{number:05}"),
            directory: DIRECTORY.to_owned(),
            metadata: Some(format!("{{{FOREIGN}}}")),
            said: Vec::new(),
            busy: false,
        });
    }
    // The oldest of all.
    house.server.put(room(SESSION, &goal("active")));
    // A page that cannot be read is no end of the list.
    let fault = Fault::without_effect(Answer::Status(503));
    house.server.fault(Endpoint::List, 1, fault);
    let running = house.serve().await;
    house.until_complete().await;
    let pages = house.server.requests()[&Endpoint::List];
    // A page begins with the end of the one before; a last look finds what changed meanwhile.
    assert_eq!(
        pages,
        1 + MANY.div_ceil(99) + 1,
        "one failed, one for each 99, one more"
    );
    house.ends_well(running).await;
}

/// Goals of one millisecond, more than fit on a page.
const TOGETHER: usize = 300;

#[tokio::test(flavor = "multi_thread")]
async fn goals_changed_in_the_same_millisecond_are_all_found() {
    let house = House::empty(patient()).await;
    let paused = |number: usize| {
        let goal = goal("paused").replace("goal-1", &format!("same-{number}"));
        room(&format!("ses_same{number:03}"), &goal)
    };
    house.server.put(room(SESSION, &goal("active")));
    house
        .server
        .put_together((0..TOGETHER).map(paused).collect());
    let running = house.serve().await;
    house.until_complete().await;
    assert_eq!(running.engine.list().len(), TOGETHER + 1);
    assert!(house.server.requests()[&Endpoint::List] <= 8);
    house.ends_well(running).await;
}

/// Goals that are all due when the engine starts.
const DUE: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn a_start_at_which_every_goal_is_due_asks_a_bounded_number_of_things_at_once() {
    let options = FakeOptions {
        delay: Duration::from_millis(30),
        deadline: patient().call_timeout,
        ..FakeOptions::default()
    };
    let house = House::on(options, patient()).await;
    for number in 0..DUE {
        let goal = goal("active").replace("goal-1", &format!("goal-{number}"));
        house
            .server
            .put(room(&format!("ses_due{number:03}"), &goal));
    }
    let running = house.serve().await;
    let all = |server: &FakeServer| server.prompts_total() >= DUE;
    house.server.until("a prompt for each", all).await.unwrap();
    // Three reads of each of 32 cycles, and the ends of audits.
    let most = house.server.requests_at_once_max();
    assert!((32..=128).contains(&most), "{most} at once");
    running.stop().await;
}
