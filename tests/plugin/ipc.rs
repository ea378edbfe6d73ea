//! The commands over the wire of a page: arguments, answers, errors, events.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tauri_plugin_goal::{Code, GoalExt};

use crate::support::House;

#[test]
fn arguments_are_checked_before_anything_happens() {
    let house = House::open();
    let session = "ses_0123456789";
    for (command, arguments) in [
        ("get", json!({})),
        ("get", json!({ "session": session })),
        ("get", json!({ "sessionId": 1 })),
        ("get", json!({ "sessionId": session, "more": 1 })),
        ("list", json!({ "sessionId": session })),
        ("notices", json!({ "limit": 0 })),
        ("notices", json!({ "limit": 201 })),
        ("notices", json!({ "limit": -1 })),
        ("start", json!({ "sessionId": session })),
        ("start", json!({ "sessionId": session, "objective": 1 })),
        ("start", started_with(json!({ "model": "p/m" }))),
        (
            "start",
            started_with(json!({ "model": { "providerId": "p" } })),
        ),
        (
            "start",
            started_with(json!({ "attachments": [{ "name": "a" }] })),
        ),
        ("start", started_with(json!({ "agents": "plan" }))),
        (
            "pause",
            json!({ "sessionId": session, "requestId": "with space" }),
        ),
        ("pause", json!({ "sessionId": session, "requestId": "" })),
        ("auditor_check", json!({})),
        ("auditor_test", json!({ "directory": " " })),
        ("notices_mark_read", json!({ "ids": vec![1; 201] })),
        ("settings_set", json!({ "changes": 1 })),
        ("server_connect", json!({ "server": 1 })),
        (
            "server_connect",
            json!({ "server": { "kind": "attached", "url": "nowhere" } }),
        ),
        (
            "server_connect",
            json!({ "server": { "kind": "managed", "binary": "/bin/sh" } }),
        ),
        ("watch", json!({ "channel": "7" })),
        ("unwatch", json!({ "id": "7" })),
    ] {
        let code = house.refusal(command, arguments.clone());
        assert_eq!(code, "invalidArguments", "{command} {arguments}");
    }
}

/// A start with `more`.
fn started_with(more: Value) -> Value {
    let mut start = json!({ "sessionId": "ses_0123456789", "objective": "The tests pass." });
    let (Some(all), Value::Object(more)) = (start.as_object_mut(), more) else {
        panic!("arguments are objects");
    };
    all.extend(more);
    start
}

#[test]
fn what_is_chosen_for_a_prompt_is_checked_by_field() {
    let house = House::open();
    let file = |url: &str| json!([{ "name": "a.png", "mime": "image/png", "url": url }]);
    for (choice, said) in [
        (json!({ "agent": "two\nlines" }), "`agent` takes"),
        (
            json!({ "model": { "providerId": "p", "modelId": "" } }),
            "`model.modelId` takes",
        ),
        (json!({ "variant": "x".repeat(201) }), "`variant` takes"),
        (
            json!({ "attachments": file("https://example.org/a.png") }),
            "`attachments[0].url` takes",
        ),
        (json!({ "send": false, "agent": "plan" }), "`agent` is for"),
        (
            json!({ "send": false, "attachments": file("data:,a") }),
            "`attachments` is for",
        ),
        (json!({ "send": false, "prompt": "Go." }), "`prompt` is for"),
        (json!({ "prompt": " " }), "`prompt` takes"),
        (
            json!({ "prompt": "Go.", "instructions": "" }),
            "`instructions` takes",
        ),
        (
            json!({ "instructions": "Read it." }),
            "`instructions` goes along with `prompt`",
        ),
    ] {
        let refusal = house.call("start", started_with(choice)).unwrap_err();
        assert_eq!(refusal["code"], "invalidPrompt");
        let message = refusal["message"].as_str().unwrap();
        assert!(message.starts_with(said), "{message}");
    }
    for fine in [
        json!({ "agent": "plan", "variant": null, "attachments": file("data:,a") }),
        json!({ "send": false, "attachments": [], "model": null }),
        json!({ "prompt": "Go.", "instructions": "Read it." }),
    ] {
        let refused = house.refusal("start", started_with(fine));
        assert_eq!(refused, "notConnected");
    }
}

#[test]
fn wrong_values_have_codes_of_their_own() {
    let house = House::open();
    for command in [
        "get",
        "objective",
        "why",
        "pause",
        "resume",
        "complete",
        "clear",
    ] {
        let code = house.refusal(command, json!({ "sessionId": "../../etc" }));
        assert_eq!(code, "invalidSession", "{command}");
    }
    for budget in [json!(-1), json!(1.5), json!("many"), json!([])] {
        for command in ["resume", "edit"] {
            let arguments = json!({ "sessionId": "ses_0123456789", "tokenBudget": budget });
            assert_eq!(
                house.refusal(command, arguments),
                "invalidBudget",
                "{command} {budget}"
            );
        }
    }
    for (changes, code) in [
        (json!({ "volume": 11 }), "unknownSetting"),
        (json!({ "sessionGoalEnabled": "yes" }), "invalidSetting"),
        (json!({ "notificationMode": "sometimes" }), "invalidSetting"),
    ] {
        let refused = house.refusal("settings_set", json!({ "changes": changes }));
        assert_eq!(refused, code);
    }
}

#[test]
fn without_a_server_reading_answers_and_acting_says_why_not() {
    let house = House::open();
    let session = json!({ "sessionId": "ses_0123456789" });
    assert_eq!(house.call("get", session.clone()), Ok(Value::Null));
    let list = house.call("list", json!({})).unwrap();
    assert_eq!(list["goals"], json!([]));
    assert_eq!(house.call("notices", json!({})), Ok(json!([])));
    let status = house.call("server_status", json!({})).unwrap();
    assert_eq!(status["state"], "none");
    assert_eq!(status["url"], Value::Null);
    for command in ["objective", "why", "pause", "resume", "complete", "clear"] {
        assert_eq!(
            house.refusal(command, session.clone()),
            "notConnected",
            "{command}"
        );
    }
    assert_eq!(house.refusal("pause_all", json!({})), "notConnected");
}

#[test]
fn settings_act_at_once_for_pages_and_for_the_file() {
    let house = House::open();
    let heard = house.listen("goal://settings");
    let before = house.call("settings_get", json!({})).unwrap();
    assert_eq!(before["source"], "defaults");
    assert_eq!(before["settings"], before["defaults"]);

    let changes = json!({ "notifyOnError": false, "sessionGoalDefaultBudget": 1500.9 });
    let after = house
        .call("settings_set", json!({ "changes": changes }))
        .unwrap();
    assert_eq!(after["settings"]["notifyOnError"], false);
    assert_eq!(after["settings"]["sessionGoalDefaultBudget"], 1_500);
    assert_eq!(after["source"], "file");
    assert_eq!(heard.until(|view| *view == after)["complaint"], Value::Null);
    let file = std::fs::read(house.folder.path().join("settings.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(file["notifyOnError"], false);
}

#[test]
fn what_another_program_sets_is_told_while_the_app_runs() {
    let house = House::open();
    let heard = house.listen("goal://settings");
    // What a page has read is what others are compared with.
    house.call("settings_get", json!({})).unwrap();
    let path = house.folder.path().join("settings.json");
    std::fs::write(path, r#"{ "sessionGoalEnabled": false }"#).unwrap();
    let told = heard.until(|view| view["settings"]["sessionGoalEnabled"] == false);
    assert_eq!(told["source"], "file");
}

#[test]
fn a_server_that_cannot_be_reached_is_told_with_its_code_and_no_password() {
    let house = House::open();
    let heard = house.listen("goal://connection");
    let server = json!({ "kind": "attached", "url": "http://127.0.0.1:1", "password": "secret" });
    let connect = json!({ "server": server, "requestId": "r1" });
    let status = house.call("server_connect", connect.clone()).unwrap();
    assert_eq!(
        (&status["state"], &status["code"]),
        (&json!("failed"), &json!("unreachable"))
    );
    assert!(!status.to_string().contains("secret"), "{status}");
    heard.until(|told| told["state"] == "starting");
    let told = heard.until(|told| told["state"] == "failed");
    assert!(
        told["retryInMs"].as_u64().is_some_and(|pause| pause > 0),
        "{told}"
    );

    // The same request again is the same answer, and a request id means one request.
    assert_eq!(house.call("server_connect", connect), Ok(status));
    let other = json!({ "server": null, "requestId": "r1" });
    assert_eq!(house.refusal("server_connect", other), "invalidArguments");
    assert_eq!(house.refusal("pause_all", json!({})), "notConnected");
    let none = json!({ "server": { "kind": "none" } });
    let status = house.call("server_connect", none).unwrap();
    assert_eq!(status["state"], "none");
}

#[test]
fn watches_are_numbered_and_end_when_asked() {
    let house = House::open();
    let watch = |n: u32| house.call("watch", json!({ "channel": format!("__CHANNEL__:{n}") }));
    let first = watch(1).unwrap();
    let second = watch(2).unwrap();
    assert_ne!(first["id"], second["id"]);
    assert_eq!(house.call("unwatch", first.clone()), Ok(Value::Null));
    assert_eq!(house.call("unwatch", first), Ok(Value::Null));
}

#[test]
fn rust_code_asks_the_same() {
    let house = House::open();
    let goal = house.app.goal();
    assert_eq!(goal.list().goals, []);
    assert_eq!(
        goal.get("no id").unwrap_err().code().name(),
        "invalidSession"
    );
    let paused = tauri::async_runtime::block_on(goal.pause("ses_0123456789"));
    assert_eq!(paused.unwrap_err().code(), Code::NotConnected);
}
