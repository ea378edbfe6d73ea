//! The stored goal and its JSON (R1-R8, X11, X17).

mod support;

use goal_core::goal::{Goal, GoalId, SessionId, Status, Unknown};
use goal_core::inherit::{Carrier, is_inherited};
use goal_core::limits::Limits;
use goal_core::payload::{CorruptMetadata, read, write};
use goal_core::time::Wall;
use pretty_assertions::assert_eq;

use support::goals::{goal, session};

const LIMITS: Limits = Limits::DEFAULT;

fn in_metadata(goal: &str) -> String {
    format!(r#"{{"openchamber":{{"goal":{goal}}}}}"#)
}

/// The goal that a payload with a good id, status and objective makes with these fields added.
fn read_with(fields: &str) -> Goal {
    let json = format!(r#"{{"id":"g1","objective":"Ship it","status":"active",{fields}}}"#);
    read(&in_metadata(&json), &LIMITS).unwrap_or_else(|| panic!("no goal: {json}"))
}

/// What such a payload reads as without any field added.
fn bare() -> Goal {
    Goal {
        created_at: Wall(0),
        updated_at: Wall(0),
        session_id: None,
        ..goal("")
    }
}

#[test]
fn r2_every_field_is_read() {
    let json = r#"{
        "id": "g1", "objective": "Ship it", "objectiveFile": true, "status": "budgetLimited",
        "tokenBudget": 9007199254740991, "tokensUsed": 11, "tokensBaseline": 12,
        "tokensCommitted": 13, "turnsUsed": 14, "blockedStreak": 15, "auditFailStreak": 16,
        "note": "half done", "statusReason": "resumed",
        "evaluationProviderID": "fake", "evaluationModelID": "small",
        "lastAccountedMessageID": "msg_9", "createdAt": 1000, "updatedAt": 2000,
        "sessionID": "ses_1", "continuedAfter": {"tail": "msg_8", "at": 2000},
        "resumedOver": {"tail": "msg_7", "revert": "msg_6"}, "firstMessageID": "msg_5",
        "activeMs": 17
    }"#;
    let expected = Goal {
        objective: "Ship it".to_owned(),
        objective_file: true,
        ..goal(
            "budgetLimited budget=9007199254740991 used=11 baseline=12 committed=13 turns=14 \
             blocked=15 fails=16 note='half done' reason=resumed model=fake/small cursor=msg_9 \
             step=msg_8 over=msg_7/msg_6 first=msg_5 active_ms=17",
        )
    };
    assert_eq!(read(&in_metadata(json), &LIMITS), Some(expected));
}

#[test]
fn r2_the_field_names_and_forms_on_the_wire() {
    let full = goal(
        "budget=5 used=11 baseline=12 committed=13 turns=14 blocked=15 fails=16 note=n \
         reason=resumed model=fake/small cursor=msg_9 step=msg_8 over=msg_7/msg_6 first=msg_5 \
         active_ms=17",
    );
    let written = write(None, Some(&full)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&written).unwrap();
    let expected = serde_json::json!({"openchamber": {"goal": {
        "id": "g1", "objective": "Ship it", "objectiveFile": false, "status": "active",
        "tokenBudget": 5, "tokensUsed": 11, "tokensBaseline": 12, "tokensCommitted": 13,
        "turnsUsed": 14, "blockedStreak": 15, "auditFailStreak": 16, "note": "n",
        "statusReason": "resumed", "evaluationProviderID": "fake", "evaluationModelID": "small",
        "lastAccountedMessageID": "msg_9", "createdAt": 1000, "updatedAt": 2000,
        "sessionID": "ses_1", "continuedAfter": {"tail": "msg_8", "at": 2000},
        "resumedOver": {"tail": "msg_7", "revert": "msg_6"}, "firstMessageID": "msg_5",
        "activeMs": 17
    }}});
    assert_eq!(value, expected);
    let empty = write(None, Some(&goal("owner="))).unwrap();
    let value: serde_json::Value = serde_json::from_str(&empty).unwrap();
    let expected = serde_json::json!({"openchamber": {"goal": {
        "id": "g1", "objective": "Ship it", "objectiveFile": false, "status": "active",
        "tokenBudget": null, "tokensUsed": 0, "tokensBaseline": 0, "tokensCommitted": 0,
        "turnsUsed": 0, "blockedStreak": 0, "auditFailStreak": 0, "note": "",
        "statusReason": "", "createdAt": 1000, "updatedAt": 2000, "activeMs": 0
    }}});
    assert_eq!(value, expected, "optional fields are left out");
}

#[test]
fn r3_what_is_no_goal() {
    for metadata in [
        "",
        "null",
        "7",
        "[]",
        "{",
        "{}",
        r#"{"openchamber":null}"#,
        r#"{"openchamber":[]}"#,
        r#"{"openchamber":"goal"}"#,
        r#"{"openchamber":{}}"#,
        r#"{"goal":{"id":"g","objective":"x","status":"active"}}"#,
    ] {
        assert_eq!(read(metadata, &LIMITS), None, "{metadata}");
    }
    for goal in [
        "null",
        "true",
        "[]",
        "\"active\"",
        "{}",
        r#"{"objective":"x","status":"active"}"#,
        r#"{"id":"","objective":"x","status":"active"}"#,
        r#"{"id":" ","objective":"x","status":"active"}"#,
        r#"{"id":7,"objective":"x","status":"active"}"#,
        r#"{"id":["g"],"objective":"x","status":"active"}"#,
        r#"{"id":"g","objective":"x"}"#,
        r#"{"id":"g","objective":"x","status":null}"#,
        r#"{"id":"g","objective":"x","status":"Active"}"#,
        r#"{"id":"g","objective":"x","status":"budget_limited"}"#,
        r#"{"id":"g","objective":"x","status":"done"}"#,
        r#"{"id":"g","objective":"x","status":0}"#,
        r#"{"id":"g","status":"active"}"#,
        r#"{"id":"g","objective":"","status":"active"}"#,
        r#"{"id":"g","objective":" \n\t","status":"active"}"#,
        r#"{"id":"g","objective":{},"status":"active"}"#,
        r#"{"id":"g","objective":"","objectiveFile":"true","status":"active"}"#,
        r#"{"id":"g","objective":"","objectiveFile":1,"status":"active"}"#,
        r#"{"id":"g","objectiveFile":false,"status":"active"}"#,
        r#"{"id":"g","objectiveFile":"../../x","status":"active"}"#,
    ] {
        assert_eq!(read(&in_metadata(goal), &LIMITS), None, "{goal}");
    }
}

#[test]
fn r3_a_file_or_a_text_makes_an_objective() {
    let file = r#"{"id":"g1","objectiveFile":true,"status":"active"}"#;
    let expected = Goal {
        objective: String::new(),
        objective_file: true,
        ..bare()
    };
    assert_eq!(read(&in_metadata(file), &LIMITS), Some(expected));
    assert_eq!(read_with(r#""objectiveFile":false"#), bare());
    assert_eq!(read_with(r#""objectiveFile":"yes""#), bare());
    for status in Status::ALL {
        let json = format!(
            r#"{{"id":"g1","objective":"Ship it","status":"{}"}}"#,
            status.name()
        );
        let found = read(&in_metadata(&json), &LIMITS).map(|goal| goal.status);
        assert_eq!(found, Some(status));
    }
}

#[test]
fn r4_counters_are_normalised() {
    let largest = 9_007_199_254_740_991;
    for (value, expected) in [
        ("7", 7),
        ("7.0", 7),
        ("7.999", 7),
        ("0.5", 0),
        ("0", 0),
        ("-0", 0),
        ("-1", 0),
        ("-1.5", 0),
        ("1e3", 1_000),
        ("1e300", largest),
        ("1e400", 0),
        ("-1e400", 0),
        ("9007199254740991", largest),
        ("9007199254740993", largest),
        ("18446744073709551615", largest),
        ("99999999999999999999999", largest),
        ("null", 0),
        ("true", 0),
        ("\"7\"", 0),
        ("\"NaN\"", 0),
        ("[7]", 0),
        ("{}", 0),
    ] {
        let read = read_with(&format!(
            r#""tokensUsed":{value},"tokensBaseline":{value},"tokensCommitted":{value},
               "turnsUsed":{value},"blockedStreak":{value},"auditFailStreak":{value},
               "createdAt":{value},"updatedAt":{value},"activeMs":{value},"tokenBudget":{value}"#
        ));
        let small = u32::try_from(expected).unwrap_or(u32::MAX);
        let expected = Goal {
            token_budget: Some(expected).filter(|budget| *budget > 0),
            tokens_used: expected,
            tokens_baseline: expected,
            tokens_committed: expected,
            turns_used: small,
            blocked_streak: small,
            audit_fail_streak: small,
            created_at: Wall(expected),
            updated_at: Wall(expected),
            active_ms: expected,
            ..bare()
        };
        assert_eq!(read, expected, "{value}");
    }
}

#[test]
fn r4_texts_are_clamped_in_utf16_units_without_splitting_a_pair() {
    let pair = "\u{1F600}";
    let texts = [("objective", 5_000), ("note", 280), ("statusReason", 200)];
    for (name, max) in texts {
        let long = format!("x{}", pair.repeat(max));
        let read = read_with(&format!(r#""{name}":"{long}""#));
        let found = match name {
            "objective" => read.objective,
            "note" => read.note,
            _ => read.status_reason,
        };
        let expected = format!("x{}", pair.repeat((max - 1) / 2));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn r3_a_pair_that_another_client_split_costs_a_letter_not_the_goal() {
    // JavaScript's `slice` cuts between the halves, and its JSON then holds one of them.
    let read = read_with(r#""note":"half \ud83d","other":"\ud83d","statusReason":"ok""#);
    assert!(read.note.starts_with("half \u{FFFD}"), "{:?}", read.note);
    let expected = Goal {
        note: read.note.clone(),
        status_reason: "ok".to_owned(),
        unknown: Unknown(vec![("other".to_owned(), r#""\ud83d""#.to_owned())]),
        ..bare()
    };
    assert_eq!(read, expected);
}

#[test]
fn r3_fields_of_a_wrong_type_are_absent() {
    let read = read_with(
        r#""note":7,"statusReason":[],"evaluationProviderID":"fake","evaluationModelID":3,
           "lastAccountedMessageID":"","sessionID":null,"continuedAfter":"msg_1",
           "resumedOver":[1],"firstMessageID":{}"#,
    );
    assert_eq!(read, bare());
    let half = read_with(r#""continuedAfter":{"at":7},"resumedOver":{"tail":1}"#);
    let expected = Goal {
        resumed_over: Some(support::goals::over("/")),
        ..bare()
    };
    assert_eq!(half, expected);
}

#[test]
fn r6_r8_x17_whatever_is_not_ours_survives_byte_for_byte() {
    let foreign = r#"{ "a": 1.0e5, "deep": {"x":[1, 2,  null]} }"#;
    let number = "123456789012345678901234567890.10";
    let metadata = format!(
        r#"{{"pins":{foreign},"n":{number},"odd":1e400,"lone":"\ud83d","openchamber":{{"before":{foreign},"goal":{{"id":"g1","objective":"Ship it","status":"active","createdAt":1000,"updatedAt":2000,"sessionID":"ses_1","activeMs":0,"later":{foreign},"big":{number}}},"n":{number}}},"z":[ ]}}"#
    );
    let goal = read(&metadata, &LIMITS).unwrap();
    let mut once = metadata;
    for turn in 1..=100 {
        let next = Goal {
            turns_used: turn,
            ..goal.clone()
        };
        once = write(Some(&once), Some(&next)).unwrap();
        assert_eq!(read(&once, &LIMITS), Some(next));
    }
    for part in [
        format!(r#""pins":{foreign}"#),
        format!(r#""before":{foreign}"#),
        format!(r#""later":{foreign}"#),
        format!(r#""big":{number}"#),
        r#""odd":1e400"#.to_owned(),
        r#""lone":"\ud83d""#.to_owned(),
        r#""z":[ ]"#.to_owned(),
    ] {
        assert!(once.contains(&part), "{part} is gone from {once}");
    }
    assert_eq!(once.matches(number).count(), 3);
}

#[test]
fn x17_an_unknown_field_never_hides_the_goal() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for value in ["1e400", &deep, r#""\ud83d""#] {
        let read = read_with(&format!(r#""later":{value}"#));
        let expected = Goal {
            unknown: Unknown(vec![("later".to_owned(), value.to_owned())]),
            ..bare()
        };
        assert_eq!(read, expected);
        let written = write(None, Some(&read)).unwrap();
        assert!(
            written.contains(value),
            "the value is written back as it was"
        );
    }
}

#[test]
fn r6_a_write_touches_the_goal_alone() {
    for (name, before, after) in [
        ("no metadata", None, r#"{"openchamber":{"goal":G}}"#),
        ("null", Some("null"), r#"{"openchamber":{"goal":G}}"#),
        ("empty", Some("{}"), r#"{"openchamber":{"goal":G}}"#),
        (
            "an empty namespace",
            Some(r#"{"openchamber":null,"a":1}"#),
            r#"{"openchamber":{"goal":G},"a":1}"#,
        ),
        (
            "a goal is replaced where it stands",
            Some(r#"{"openchamber":{"goal":{"id":"old"},"b":2},"a":1}"#),
            r#"{"openchamber":{"goal":G,"b":2},"a":1}"#,
        ),
        (
            "so is what was no goal",
            Some(r#"{"openchamber":{"goal":[]}}"#),
            r#"{"openchamber":{"goal":G}}"#,
        ),
    ] {
        let written = write(before, Some(&goal(""))).unwrap();
        let ours = write(None, Some(&goal(""))).unwrap();
        let payload = ours
            .strip_prefix(r#"{"openchamber":{"goal":"#)
            .and_then(|rest| rest.strip_suffix("}}"))
            .unwrap();
        assert_eq!(written, after.replace('G', payload), "{name}");
    }
}

#[test]
fn r89_clearing_takes_out_the_goal_and_nothing_else() {
    for (before, after) in [
        (None, "{}"),
        (Some("{}"), "{}"),
        (Some(r#"{"a":1}"#), r#"{"a":1}"#),
        (
            Some(r#"{"a":1,"openchamber":{"goal":{"id":"g1"},"b":2}}"#),
            r#"{"a":1,"openchamber":{"b":2}}"#,
        ),
        (
            Some(r#"{"openchamber":{"b":2},"a":1}"#),
            r#"{"openchamber":{"b":2},"a":1}"#,
        ),
    ] {
        assert_eq!(write(before, None).as_deref(), Ok(after), "{before:?}");
    }
}

#[test]
fn g56_metadata_that_is_no_object_is_refused() {
    use CorruptMetadata::{Metadata, Namespace};
    for (metadata, corrupt) in [
        ("", Metadata),
        ("7", Metadata),
        ("[]", Metadata),
        ("\"x\"", Metadata),
        ("{", Metadata),
        (r#"{"openchamber":7}"#, Namespace),
        (r#"{"openchamber":[]}"#, Namespace),
        (r#"{"openchamber":"x"}"#, Namespace),
        (r#"{"openchamber":false}"#, Namespace),
    ] {
        assert_eq!(
            write(Some(metadata), Some(&goal(""))),
            Err(corrupt),
            "{metadata}"
        );
        assert_eq!(write(Some(metadata), None), Err(corrupt), "{metadata}");
    }
}

#[test]
fn x11_an_inherited_goal_is_told_by_its_owner_or_by_an_older_carrier() {
    let carrier = |session: &str, created, goal: &str| Carrier {
        session: SessionId::new(session),
        created: Wall(created),
        goal: GoalId::new(goal),
    };
    let here = || carrier("ses_1", 500, "g1");
    let inherited =
        |line: &str, others: &[Carrier]| is_inherited(&goal(line), &session(), Wall(500), others);
    for (name, line, others, expected) in [
        ("its own", "", vec![], false),
        ("another session's", "owner=ses_0", vec![], true),
        (
            "its own, whoever carries a copy",
            "",
            vec![carrier("ses_0", 1, "g1")],
            false,
        ),
        ("nobody's, carried alone", "owner=", vec![here()], false),
        (
            "nobody's, an older carrier",
            "owner=",
            vec![here(), carrier("ses_0", 499, "g1")],
            true,
        ),
        (
            "nobody's, a younger carrier",
            "owner=",
            vec![here(), carrier("ses_2", 501, "g1")],
            false,
        ),
        (
            "nobody's, an older session with another goal",
            "owner=",
            vec![carrier("ses_0", 1, "g0")],
            false,
        ),
        (
            "equally old: one of the two, always the same",
            "owner=",
            vec![carrier("ses_0", 500, "g1")],
            true,
        ),
        (
            "the goal's own clock decides nothing",
            "owner= created=1 updated=2",
            vec![carrier("ses_2", 501, "g1")],
            false,
        ),
    ] {
        assert_eq!(inherited(line, &others), expected, "{name}");
    }
}
