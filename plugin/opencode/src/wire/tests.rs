use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn message(text: &str) -> Message {
    Message::read(&raw(text))
}

/// The parts a trace ended with, in order of their ids.
fn parts_of(trace: &str) -> Vec<Part> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/traces");
    let text = std::fs::read_to_string(folder.join(format!("{trace}.sse"))).unwrap();
    let mut parts = BTreeMap::new();
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(data).unwrap();
        if event["payload"]["type"] == "message.part.updated" {
            let part = &event["payload"]["properties"]["part"];
            parts.insert(part["id"].to_string(), Part::read(&raw(&part.to_string())));
        }
    }
    parts.into_values().collect()
}

fn tools_of(trace: &str) -> Vec<ToolPart> {
    let tool = |part| {
        if let Part::Tool(tool) = part {
            Some(tool)
        } else {
            None
        }
    };
    parts_of(trace).into_iter().filter_map(tool).collect()
}

#[test]
fn an_assistant_message_is_read_whole() {
    let read = message(
        r#"{"info":{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":5,
        "completed":9},"parentID":"msg_1","modelID":"big","providerID":"fake","mode":"build",
        "agent":"plan","variant":"high","cost":0.25,"tokens":{"total":1020,"input":400,
        "output":20,"reasoning":3,"cache":{"read":600,"write":7}},"finish":"stop"},
        "parts":[{"type":"step-start","snapshot":"x"},{"id":"prt_1","type":"text","text":"done"},
        {"type":"step-finish","reason":"stop"}]}"#,
    );
    let some = |text: &str| Some(text.to_owned());
    let info = MessageInfo {
        id: "msg_2".to_owned(),
        session_id: "ses_1".to_owned(),
        role: Role::Assistant,
        parent_id: some("msg_1"),
        created: 5,
        completed: Some(9),
        summary: false,
        finish: some("stop"),
        error: None,
        tokens: Some(Tokens {
            input: 400,
            output: 20,
            reasoning: 3,
            cache_read: 600,
            cache_write: 7,
        }),
        cost: 0.25,
        provider_id: some("fake"),
        model_id: some("big"),
        agent: some("plan"),
        mode: some("build"),
        variant: some("high"),
    };
    let text = TextPart {
        id: "prt_1".to_owned(),
        text: "done".to_owned(),
        ..TextPart::default()
    };
    let parts = vec![
        Part::StepStart,
        Part::Text(text),
        Part::StepFinish {
            reason: some("stop"),
        },
    ];
    assert_eq!(read, Message { info, parts });
}

#[test]
fn a_user_message_names_its_model_in_an_object_and_has_no_summary() {
    let read = message(
        r#"{"info":{"id":"msg_1","role":"user","time":{"created":5},"summary":{"diffs":[]},
        "agent":"build","model":{"providerID":"fake","modelID":"big","variant":"low"}},
        "parts":[{"type":"text","text":"t","synthetic":true,
        "metadata":{"compaction_continue":true}},
        {"type":"compaction","auto":true,"overflow":false},{"type":"file"},{"type":"subtask"},
        {"type":"patch"}]}"#,
    );
    assert!(!read.info.summary);
    assert_eq!(read.info.role, Role::User);
    assert_eq!(read.info.model_id.as_deref(), Some("big"));
    assert_eq!(read.info.provider_id.as_deref(), Some("fake"));
    assert_eq!(read.info.variant.as_deref(), Some("low"));
    let Part::Text(text) = &read.parts[0] else {
        panic!("{:?}", read.parts)
    };
    assert!(text.synthetic && !text.ignored);
    assert_eq!(
        text.metadata.as_ref().unwrap().get(),
        r#"{"compaction_continue":true}"#
    );
    let expected = [
        Part::Compaction {
            auto: true,
            overflow: false,
        },
        Part::File,
        Part::Subtask,
        Part::Other {
            kind: "patch".to_owned(),
        },
    ];
    assert_eq!(read.parts[1..], expected);
}

#[test]
fn any_error_is_an_error() {
    let error = |text: &str| {
        let read = message(&format!(r#"{{"info":{{"error":{text}}}}}"#))
            .info
            .error;
        read.map(|error| (error.name, error.message, error.status))
    };
    let expect = |name: &str, said: &str, status| Some((name.to_owned(), said.to_owned(), status));
    assert_eq!(error("null"), None);
    let api = r#"{"name":"APIError","data":{"message":"no","statusCode":401,"isRetryable":false}}"#;
    assert_eq!(error(api), expect("APIError", "no", Some(401)));
    assert_eq!(error(r#"{"name":"X"}"#), expect("X", "", None));
    assert_eq!(error(r#"{"message":"m"}"#), expect("", "m", None));
    assert_eq!(error(r#""boom""#), expect("", "boom", None));
    assert_eq!(error("7"), expect("", "", None));
}

#[test]
fn odd_numbers_become_counts_or_nothing() {
    let created = |text: &str| {
        message(&format!(r#"{{"info":{{"time":{{"created":{text}}}}}}}"#))
            .info
            .created
    };
    for (text, expected) in [
        ("7", 7),
        ("7.9", 7),
        ("1.796030633e12", 1_796_030_633_000),
        ("-7", 0),
        ("-0.5", 0),
        ("1e300", u64::MAX),
        ("\"7\"", 0),
        ("null", 0),
        ("[7]", 0),
    ] {
        assert_eq!(created(text), expected, "{text}");
    }
}

#[test]
fn zero_is_neither_a_completion_nor_an_archiving() {
    assert_eq!(
        message(r#"{"info":{"time":{"completed":0}}}"#)
            .info
            .completed,
        None
    );
    let session = |text: &str| Session::read(&raw(text)).unwrap();
    let archived = |text: &str| session(text).time.archived;
    assert_eq!(archived(r#"{"id":"ses_1","time":{"archived":0}}"#), None);
    assert_eq!(archived(r#"{"id":"ses_1","time":{"archived":5}}"#), Some(5));
    assert_eq!(Session::read(&raw(r#"{"id":""}"#)), None);
}

#[test]
fn a_revert_is_told_from_none() {
    let revert = |text: &str| {
        Session::read(&raw(&format!(r#"{{"id":"ses_1","revert":{text}}}"#)))
            .unwrap()
            .revert
    };
    assert_eq!(revert("null"), None);
    let read = revert(r#"{"messageID":"msg_1","partID":"prt_1","snapshot":"x"}"#).unwrap();
    assert_eq!(
        (read.message_id.as_str(), read.part_id.as_deref()),
        ("msg_1", Some("prt_1"))
    );
}

#[test]
fn sessions_differ_by_every_field_and_by_metadata() {
    let session = |text: &str| Session::read(&raw(text)).unwrap();
    let one = session(r#"{"id":"ses_1","metadata":{"a":1}}"#);
    assert_eq!(one, one.clone());
    assert_ne!(one, session(r#"{"id":"ses_1","metadata":{"a": 1}}"#));
    assert_ne!(
        one,
        session(r#"{"id":"ses_1","title":"t","metadata":{"a":1}}"#)
    );
}

#[test]
fn a_key_with_a_lone_surrogate_spoils_nothing() {
    let read = message(r#"{"\ud800":1,"info":{"id":"msg_1","\udc00":{}}}"#);
    assert_eq!(read.info.id, "msg_1");
}

#[test]
fn recorded_parts_are_all_known() {
    let mut count = 0;
    for trace in [
        "normal_turn_bash_tool",
        "compaction_auto",
        "subagent_turn",
        "length_no_text",
    ] {
        for part in parts_of(trace) {
            count += 1;
            assert!(!matches!(part, Part::Other { .. }), "{trace}: {part:?}");
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn recorded_tool_calls_tell_what_became_of_them() {
    let bash = &tools_of("normal_turn_bash_tool")[0];
    assert_eq!(
        (bash.tool.as_str(), bash.status),
        ("bash", ToolStatus::Completed)
    );
    assert_eq!(bash.metadata.exit, Some(0));
    assert!(bash.title.is_some() && bash.error.is_none());

    let refused = &tools_of("permission_ask_reject")[0];
    assert_eq!(refused.status, ToolStatus::Error);
    let why = "The user rejected permission to use this specific tool call.";
    assert_eq!(refused.error.as_deref(), Some(why));

    let foreground = &tools_of("subagent_turn")[0];
    assert_eq!(foreground.tool, "task");
    assert!(foreground.metadata.session_id.is_some() && !foreground.metadata.background);
    let background = tools_of("subagent_background");
    assert!(
        background.iter().any(|tool| tool.metadata.background),
        "{background:?}"
    );
}
