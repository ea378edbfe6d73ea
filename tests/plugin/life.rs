//! From the configuration to the end of the app.

use std::time::{Duration, Instant};

use serde_json::json;
use tauri::RunEvent;
use tauri_plugin_goal::models::ServerState;
use tauri_plugin_goal::{Builder, GoalExt};

use crate::support::{House, app, window};

#[test]
fn an_unknown_key_of_the_configuration_keeps_the_app_from_starting() {
    let capability = json!({ "identifier": "test", "windows": ["main"], "permissions": [] });
    for (plugin, key) in [
        (json!({ "keepAlive": true }), "keepAlive"),
        (json!({ "limits": { "idleMs": 1 } }), "idleMs"),
        (
            json!({ "server": { "kind": "attached", "url": "x", "password": "y" } }),
            "password",
        ),
    ] {
        let refused = app(Builder::new(), capability.clone(), plugin);
        let refusal = refused.err().unwrap().to_string();
        assert!(refusal.contains(key), "{refusal}");
    }
}

#[test]
fn limits_that_contradict_each_other_keep_the_app_from_starting() {
    let capability = json!({ "identifier": "test", "windows": ["main"], "permissions": [] });
    let plugin = json!({ "server": { "kind": "none" }, "limits": { "kickoffQuietMs": 60_000 } });
    let refusal = app(Builder::new(), capability, plugin)
        .err()
        .unwrap()
        .to_string();
    assert!(refusal.contains("kickoffQuietMs"), "{refusal}");
}

/// What only waits is dropped at once.
const END_MAX: Duration = Duration::from_secs(10);

#[test]
fn the_end_is_reached_while_a_server_is_being_reached_that_never_answers() {
    let house = House::open();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let handle = house.app.handle().clone();
    let asked = std::thread::spawn(move || {
        let server = json!({ "server": { "kind": "attached", "url": url } });
        let connect = serde_json::from_value(server).unwrap();
        tauri::async_runtime::block_on(handle.goal().server_connect(connect))
    });
    let held = silent.accept().unwrap();
    let begun = Instant::now();
    house.app.goal().shut_down();
    assert!(begun.elapsed() < END_MAX);
    assert_eq!(asked.join().unwrap().unwrap().state, ServerState::Ended);
    drop(held);
}

#[test]
fn the_end_is_reached_while_a_page_watches() {
    let house = House::open();
    let watching = house.call("watch", json!({ "channel": "__CHANNEL__:1" }));
    assert!(watching.is_ok(), "{watching:?}");
    let begun = Instant::now();
    house.app.goal().shut_down();
    assert!(begun.elapsed() < END_MAX);
}

#[test]
fn the_end_of_the_app_is_the_end_of_the_goals() {
    let folder = tempfile::tempdir().unwrap();
    let capability = json!({ "identifier": "test", "windows": ["main"], "permissions": [] });
    let builder = Builder::new().data_dir(folder.path());
    let app = app(builder, capability, json!({ "server": { "kind": "none" } })).unwrap();
    let main = window(&app, "main");
    let handle = app.handle().clone();
    app.run(move |_, event| {
        // A window that is closed before the loop runs would not end it.
        if matches!(event, RunEvent::Ready) {
            let main = main.clone();
            std::thread::spawn(move || main.close());
        }
    });
    assert_eq!(handle.goal().server_status().state, ServerState::Ended);
}
