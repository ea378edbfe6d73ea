//! The server goes away and comes back.

use std::sync::Arc;

use goal_engine::Engine;
use goal_engine::audit::ServerAuditor;
use goal_engine::clock::SystemClock;
use goal_engine::objectives::Objectives;
use goal_engine::ports::Ports;
use goal_engine::server::{OpenCode, ServerEvents};
use goal_engine::settings::SettingsFile;
use goal_engine::store::{Owner, ServerKey, Store};
use opencode_client::{Client, EventOptions, Timeouts};
use testkit::fake::{Endpoint, FakeServer, Turns};

use crate::house::{CALL, House, Running, Untold, limits};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_for_a_while() {
    let mut house = House::new().await;
    house.server.set_turns(held());
    let running = house.serve().await;
    house.until_prompted().await;
    house.server.stop().await;
    house.server.restart().await.unwrap();
    // The turn was cut off with the server: whether it is due again is the engine's to see.
    let again = |server: &FakeServer| server.requests()[&Endpoint::List] >= 2;
    house.server.until("a recovery", again).await.unwrap();
    house.server.set_turns(Turns::default());
    house.until_complete().await;
    house.ends_well_after(running, /*steps*/ 1..=2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_moves_to_another_port_with_another_password() {
    let mut house = House::new().await;
    house.server.set_turns(held());
    let client = client(&house);
    let running = follow(&house, &client);
    house.until_prompted().await;
    let before = house.server.url();
    house.server.move_away("open barley").await.unwrap();
    assert_ne!(house.server.url(), before);
    // What a host does with a server of its own, see `host::life`.
    client.suspend();
    client.rebind(house.target()).unwrap();
    house.server.set_turns(Turns::default());
    house.until_complete().await;
    house.ends_well_after(running, /*steps*/ 1..=2).await;
}

fn held() -> Turns {
    Turns {
        held: true,
        ..Turns::default()
    }
}

fn client(house: &House) -> Client {
    let timeouts = Timeouts {
        connect: CALL,
        call: CALL,
    };
    Client::new(house.target(), timeouts).unwrap()
}

/// An engine on a client that can be led elsewhere.
fn follow(house: &House, client: &Client) -> Running {
    let data_dir = house.data_dir();
    let settings = Arc::new(SettingsFile::new(data_dir.settings()));
    let clock = Arc::new(SystemClock);
    let limits = limits();
    let auditor = Arc::new(ServerAuditor::new(
        client.clone(),
        Arc::clone(&settings),
        limits.clone(),
        "wire".to_owned(),
        Arc::clone(&clock) as _,
    ));
    let events = EventOptions {
        connect: CALL,
        liveness: limits.liveness,
        backoff_min: limits.reconnect_min,
        backoff_max: limits.reconnect_max,
        ..EventOptions::DEFAULT
    };
    let ports = Ports {
        sessions: Arc::new(OpenCode::new(client.clone())),
        auditor: Arc::clone(&auditor) as _,
        notices: Arc::new(Untold),
        clock,
        objectives: Objectives::new(data_dir.objectives(), None),
        settings,
        store: Store::open(&data_dir.database()),
        limits,
    };
    let events = Box::new(ServerEvents::new(client.events(events)));
    let driver = goal_engine::Driver {
        key: ServerKey::managed(data_dir.path()),
        owner: Owner::this_process("wire"),
    };
    Running {
        engine: Engine::start(ports, events, driver),
        auditor,
    }
}
