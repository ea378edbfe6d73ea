//! What the shipped permission files allow and refuse, command by command.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{House, OWN, call, window};

const READING: [&str; 10] = [
    "get",
    "list",
    "objective",
    "why",
    "notices",
    "settings_get",
    "server_status",
    "auditor_check",
    "watch",
    "unwatch",
];
const CONTROL: [&str; 9] = [
    "start",
    "edit",
    "pause",
    "resume",
    "complete",
    "clear",
    "pause_all",
    "auditor_test",
    "notices_mark_read",
];
const SETTINGS: [&str; 2] = ["settings_set", "server_connect"];

/// The commands that get through to the plugin. None is carried out: an argument is unknown.
fn allowed(house: &House, url: &str) -> Vec<&'static str> {
    let commands = READING.into_iter().chain(CONTROL).chain(SETTINGS);
    commands
        .filter(|command| {
            let answer = call(&house.main, url, command, json!({ "nobodyKnows": 1 }));
            let refusal = answer.unwrap_err();
            let ours = refusal["code"] == "invalidArguments";
            let tauris = refusal.as_str().is_some_and(is_refusal);
            assert!(ours != tauris, "{command}: {refusal}");
            ours
        })
        .collect()
}

/// What Tauri says of a command that no permission allows, or that one denies.
fn is_refusal(text: &str) -> bool {
    text.contains("not allowed") || text.contains("explicitly denied")
}

#[test]
fn default_reads_and_listens() {
    assert_eq!(allowed(&House::with(&["goal:default"]), OWN), READING);
}

#[test]
fn each_set_allows_its_own_and_no_more() {
    assert_eq!(allowed(&House::with(&["goal:control"]), OWN), CONTROL);
    assert_eq!(allowed(&House::with(&["goal:settings"]), OWN), SETTINGS);
    assert_eq!(allowed(&House::with(&["goal:allow-pause"]), OWN), ["pause"]);
}

#[test]
fn a_denied_command_stays_denied_inside_its_set() {
    let house = House::with(&["goal:default", "goal:deny-objective"]);
    let expected: Vec<&str> = READING
        .into_iter()
        .filter(|name| *name != "objective")
        .collect();
    assert_eq!(allowed(&house, OWN), expected);
}

#[test]
fn a_window_outside_the_capability_gets_nothing() {
    let house = House::open();
    let other = window(&house.app, "other");
    let refusal = call(&other, OWN, "list", json!({})).unwrap_err();
    assert!(
        refusal.as_str().unwrap().contains("not allowed"),
        "{refusal}"
    );
}

#[test]
fn a_foreign_page_gets_nothing() {
    let house = House::open();
    for url in [
        "https://evil.example",
        "http://127.0.0.1:4096",
        "http://localhost",
    ] {
        assert_eq!(allowed(&house, url), Vec::<&str>::new(), "{url}");
    }
}

#[test]
fn a_page_from_a_named_loopback_address_gets_what_its_capability_says() {
    let capability = json!({
        "identifier": "remote",
        "windows": ["main"],
        "local": false,
        "remote": { "urls": ["http://127.0.0.1:*"] },
        "permissions": ["goal:default"],
    });
    let house = House::configured(capability, json!({ "server": { "kind": "none" } }));
    assert_eq!(allowed(&house, "http://127.0.0.1:4096"), READING);
    for url in ["http://127.0.0.2:4096", "https://evil.example", OWN] {
        assert_eq!(allowed(&house, url), Vec::<&str>::new(), "{url}");
    }
}

#[test]
fn a_command_that_no_list_names_is_refused() {
    let answer: Result<Value, Value> = House::open().call("format_disk", json!({}));
    let refusal = answer.unwrap_err();
    assert!(refusal.as_str().is_some(), "{refusal}");
}
