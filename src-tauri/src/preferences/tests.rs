//! Preferences as they are kept, changed and refused.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::error::Code;

fn patch(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

#[test]
fn the_page_gets_every_key_with_its_usual_value() {
    let usual = Value::Object(Preferences::default().fields());
    assert_eq!(
        usual,
        json!({
            "theme": "system", "language": "system", "sidebarWidth": 264.0, "sidebarOpen": true,
            "panelOpen": false, "panelWidth": 320.0, "keepRunning": true, "closeHintSeen": false,
            "autostart": false, "expandReasoning": false, "expandTools": false,
            "sendWithEnter": true, "lastDirectory": null, "lastSession": null,
            "collapsedProjects": [], "model": null, "agent": null, "seen": {}
        })
    );
}

#[test]
fn some_keys_are_changed_and_the_others_stay() {
    let before = Preferences {
        agent: Some("plan".to_owned()),
        ..Preferences::default()
    };
    let change = json!({
        "theme": "dark", "sidebarWidth": 312.5, "lastSession": "ses_1",
        "model": { "providerId": "p", "modelId": "m", "variant": "high" },
        "collapsedProjects": ["/a"], "seen": { "ses_1": 7 }
    });
    let now = before.patched(patch(change.clone())).unwrap().fields();
    for (key, value) in patch(change) {
        assert_eq!(now[&key], value, "{key}");
    }
    assert_eq!(now["agent"], "plan");
}

#[test]
fn a_key_or_value_that_is_none_is_named_and_changes_nothing() {
    for (change, key) in [
        (json!({ "theme": "dark", "colour": 1 }), "colour"),
        (json!({ "theme": "blue" }), "theme"),
        (json!({ "sidebarWidth": 199 }), "sidebarWidth"),
        (json!({ "sidebarWidth": 481 }), "sidebarWidth"),
        (json!({ "sidebarWidth": "300" }), "sidebarWidth"),
        (json!({ "panelWidth": 259 }), "panelWidth"),
        (json!({ "panelWidth": 521 }), "panelWidth"),
        (json!({ "keepRunning": "yes" }), "keepRunning"),
        (json!({ "lastSession": "../x" }), "lastSession"),
        (json!({ "lastDirectory": "" }), "lastDirectory"),
        (
            json!({ "lastDirectory": "a".repeat(5_000) }),
            "lastDirectory",
        ),
        (json!({ "model": { "providerId": "p" } }), "model"),
        (
            json!({ "model": { "providerId": "p", "modelId": "m", "key": "x" } }),
            "model",
        ),
        (
            json!({ "collapsedProjects": vec!["/a"; 501] }),
            "collapsedProjects",
        ),
        (json!({ "seen": { "x": 1 } }), "seen"),
        (json!({ "seen": { "ses_1": -1 } }), "seen"),
    ] {
        let refused = Preferences::default().patched(patch(change)).unwrap_err();
        assert_eq!(refused.code(), Code::Invalid);
        assert!(
            refused.to_string().contains(&format!("`{key}`")),
            "{refused}"
        );
    }
}

#[test]
fn the_latest_looks_are_remembered() {
    let looks: BTreeMap<String, u64> = (0..600).map(|at| (format!("ses_{at}"), at)).collect();
    let now = Preferences::default()
        .patched(patch(json!({ "seen": looks })))
        .unwrap();
    assert_eq!(now.seen.len(), 500);
    assert_eq!(now.seen.values().min(), Some(&100));
}

#[test]
fn what_was_kept_badly_counts_as_usual_and_is_named() {
    let kept = [
        ("theme".to_owned(), json!("dark")),
        ("sidebarWidth".to_owned(), json!(7)),
        ("fromLater".to_owned(), json!(true)),
    ];
    let (preferences, unreadable) = Preferences::of_kept(kept);
    let expected = Preferences {
        theme: Theme::Dark,
        ..Preferences::default()
    };
    assert_eq!(preferences, expected);
    assert_eq!(unreadable, ["sidebarWidth", "fromLater"]);
}
