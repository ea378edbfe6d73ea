//! Merging our configuration into the user's.

use opencode_client::{ConfigError, merge_config};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[test]
fn ours_wins_and_everything_else_stays() {
    let existing = r#"{"model":"a/b","agent":{"x":{"mode":"all"},"y":{"prompt":"old","n":1}}}"#;
    let ours = json!({"agent": {"y": {"prompt": "new"}, "z": {}}, "plugin": ["p"]});
    let merged: Value =
        serde_json::from_str(&merge_config(Some(existing), &ours).unwrap()).unwrap();
    assert_eq!(
        merged,
        json!({
            "model": "a/b",
            "agent": {"x": {"mode": "all"}, "y": {"prompt": "new", "n": 1}, "z": {}},
            "plugin": ["p"],
        })
    );
}

#[test]
fn an_object_replaces_what_is_none_and_the_other_way_round() {
    let ours = json!({"a": {"b": 1}, "c": null});
    let merged = merge_config(Some(r#"{"a":[1],"c":{"d":2}}"#), &ours).unwrap();
    assert_eq!(merged, r#"{"a":{"b":1},"c":null}"#);
}

#[test]
fn unset_and_blank_count_as_empty() {
    for existing in [None, Some(""), Some(" \n")] {
        assert_eq!(
            merge_config(existing, &json!({"a": 1})).unwrap(),
            r#"{"a":1}"#
        );
    }
}

#[test]
fn what_is_no_json_object_is_refused_without_being_repeated() {
    let error = merge_config(Some("{\n\"key\": sk-secret}"), &json!({})).unwrap_err();
    assert!(
        matches!(error, ConfigError::NotJson { line: 2, .. }),
        "{error:?}"
    );
    assert!(!error.to_string().contains("secret"));
    assert_eq!(
        merge_config(Some("[1]"), &json!({})),
        Err(ConfigError::NotObject)
    );
    assert_eq!(merge_config(None, &json!(7)), Err(ConfigError::NotObject));
}
