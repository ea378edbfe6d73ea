//! Every recorded trace, counted.

use std::path::PathBuf;

use opencode_client::{
    Decoder, Event, FRAME_BYTES_MAX, Frame, Parsed, is_wanted, parse_frame, peek_type,
};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// What a trace holds: created, updated, deleted, status, idle, error, compacted, message, asked,
/// answered, unwanted kinds, and how many of those are `sync` twins.
type Counts = [usize; 12];

const TRACES: [(&str, Counts); 20] = [
    (
        "aborted_during_retry",
        [1, 3, 0, 6, 1, 0, 0, 4, 0, 0, 11, 9],
    ),
    (
        "aborted_during_tool",
        [1, 3, 0, 4, 2, 1, 0, 4, 0, 0, 21, 14],
    ),
    ("aborted_turn", [1, 3, 0, 4, 2, 1, 0, 4, 0, 0, 25, 12]),
    ("bad_model", [1, 2, 0, 2, 1, 2, 0, 1, 0, 0, 6, 5]),
    ("compaction_auto", [1, 6, 0, 8, 1, 0, 1, 16, 0, 0, 60, 38]),
    ("compaction_manual", [1, 5, 0, 8, 2, 0, 1, 11, 0, 0, 42, 27]),
    ("error_401", [1, 3, 0, 4, 2, 1, 0, 4, 0, 0, 11, 9]),
    ("length_no_text", [1, 4, 0, 4, 1, 0, 0, 6, 0, 0, 27, 16]),
    ("length_with_text", [1, 4, 0, 4, 1, 0, 0, 6, 0, 0, 24, 16]),
    ("normal_turn", [1, 4, 0, 4, 1, 0, 0, 6, 0, 0, 48, 16]),
    (
        "normal_turn_bash_tool",
        [1, 5, 0, 6, 1, 0, 0, 10, 0, 0, 46, 29],
    ),
    (
        "permission_ask_once",
        [1, 5, 0, 6, 1, 0, 0, 10, 1, 1, 44, 28],
    ),
    (
        "permission_ask_reject",
        [1, 4, 0, 3, 1, 0, 0, 6, 1, 1, 25, 17],
    ),
    ("question_answered", [1, 5, 0, 6, 1, 0, 0, 10, 1, 1, 40, 26]),
    (
        "queued_prompt_while_busy",
        [1, 6, 0, 6, 1, 0, 0, 11, 0, 0, 55, 28],
    ),
    (
        "retry_exhausted_429_retry_after",
        [1, 3, 0, 14, 2, 1, 0, 4, 0, 0, 11, 9],
    ),
    ("retry_then_success", [1, 4, 0, 8, 1, 0, 0, 6, 0, 0, 24, 16]),
    (
        "subagent_background",
        [2, 12, 0, 14, 3, 0, 0, 22, 0, 0, 100, 57],
    ),
    ("subagent_turn", [2, 9, 0, 10, 2, 0, 0, 16, 0, 0, 74, 43]),
    (
        "throwaway_audit_child",
        [2, 5, 1, 4, 1, 0, 0, 5, 0, 0, 26, 18],
    ),
];

#[test]
fn every_trace_holds_what_it_was_recorded_with() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    let listed: Vec<&str> = TRACES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed);
    for (name, expected) in TRACES {
        assert_eq!(count(&frames_of(name)), expected, "{name}");
    }
}

#[test]
fn every_event_of_a_trace_belongs_to_its_project_and_agrees_with_a_full_parse() {
    for (name, _) in TRACES {
        for frame in frames_of(name) {
            let full: Value = serde_json::from_str(&frame).unwrap();
            let payload = &full["payload"];
            assert_eq!(
                peek_type(&frame).as_deref(),
                payload["type"].as_str(),
                "{name}"
            );
            if let Parsed::Event(envelope) = parse_frame(&frame) {
                assert_eq!(
                    envelope.directory.as_deref(),
                    full["directory"].as_str(),
                    "{name}"
                );
                check_event(&envelope.event, &payload["properties"]);
            }
        }
    }
}

#[test]
fn an_aborted_turn_tells_so_before_it_is_idle() {
    let events: Vec<Event> = frames_of("aborted_turn")
        .iter()
        .filter_map(|it| event(it))
        .collect();
    let error = events.iter().position(|event| match event {
        Event::SessionError { id: Some(_), error } => error.name == "MessageAbortedError",
        _ => false,
    });
    let idle = events
        .iter()
        .position(|event| matches!(event, Event::SessionIdle { .. }));
    assert!(error.unwrap() < idle.unwrap());
}

#[test]
fn a_recorded_stream_may_be_cut_anywhere() {
    let bytes = std::fs::read(folder().join("permission_ask_reject.sse")).unwrap();
    let whole = Decoder::new(FRAME_BYTES_MAX).push(&bytes);
    for size in [1, 7, 1024] {
        let mut decoder = Decoder::new(FRAME_BYTES_MAX);
        let cut: Vec<Frame> = bytes.chunks(size).flat_map(|it| decoder.push(it)).collect();
        assert_eq!(cut, whole);
    }
}

/// As the client reads it: the same events, whatever is passed over.
#[test]
fn passing_over_what_nobody_wants_changes_no_event_of_a_recorded_stream() {
    for (name, _) in TRACES {
        let bytes = std::fs::read(folder().join(format!("{name}.sse"))).unwrap();
        let all = frames_of(name);
        let expected: Vec<Event> = all.iter().filter_map(|frame| event(frame)).collect();
        for size in [300, 1_000, 16_384, bytes.len()] {
            let mut decoder = Decoder::wanting(FRAME_BYTES_MAX, is_wanted);
            let frames = bytes.chunks(size).flat_map(|it| decoder.push(it));
            let frames: Vec<Frame> = frames.collect();
            assert_eq!(frames.len(), all.len(), "{name}");
            let kept = frames.iter().filter_map(|frame| match frame {
                Frame::Data(data) => event(data),
                Frame::Unwanted => None,
                Frame::Oversize { bytes } => panic!("{name}: a frame of {bytes} bytes"),
            });
            assert_eq!(kept.collect::<Vec<_>>(), expected, "{name}, {size}");
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/traces")
}

fn frames_of(name: &str) -> Vec<String> {
    let bytes = std::fs::read(folder().join(format!("{name}.sse"))).unwrap();
    let frames = Decoder::new(FRAME_BYTES_MAX).push(&bytes);
    frames
        .into_iter()
        .map(|frame| match frame {
            Frame::Data(data) => data,
            Frame::Oversize { bytes } => panic!("{name}: a frame of {bytes} bytes"),
            Frame::Unwanted => panic!("{name}: a frame was passed over"),
        })
        .collect()
}

fn event(frame: &str) -> Option<Event> {
    match parse_frame(frame) {
        Parsed::Event(envelope) => Some(envelope.event),
        Parsed::Unwanted => None,
        Parsed::Malformed => panic!("malformed: {frame}"),
    }
}

fn count(frames: &[String]) -> Counts {
    let mut counts = [0; 12];
    for frame in frames {
        let column = match event(frame) {
            Some(Event::ServerConnected) => continue,
            Some(Event::SessionCreated(_)) => 0,
            Some(Event::SessionUpdated(_)) => 1,
            Some(Event::SessionDeleted { .. }) => 2,
            Some(Event::SessionStatus { .. }) => 3,
            Some(Event::SessionIdle { .. }) => 4,
            Some(Event::SessionError { .. }) => 5,
            Some(Event::SessionCompacted { .. }) => 6,
            Some(Event::MessageUpdated(_)) => 7,
            Some(Event::PermissionAsked(_) | Event::QuestionAsked(_)) => 8,
            Some(Event::PermissionReplied { .. } | Event::QuestionReplied { .. }) => 9,
            None => {
                counts[11] += usize::from(peek_type(frame).as_deref() == Some("sync"));
                10
            }
            Some(other) => panic!("no trace has {other:?}"),
        };
        counts[column] += 1;
    }
    counts
}

/// Compares what the tolerant reading kept with the plain JSON tree.
fn check_event(event: &Event, properties: &Value) {
    let info = &properties["info"];
    match event {
        Event::SessionCreated(session) | Event::SessionUpdated(session) => {
            assert_eq!(session.id, info["id"]);
            assert_eq!(session.parent_id.as_deref(), info["parentID"].as_str());
            assert_eq!(session.title, info["title"]);
            assert_eq!(session.directory, info["directory"]);
            assert_eq!(session.time.created, info["time"]["created"]);
            assert_eq!(session.time.updated, info["time"]["updated"]);
            assert_eq!(session.agent.as_deref(), info["agent"].as_str());
            let model = session.model.as_ref().map(|model| model.model_id.as_str());
            assert_eq!(model, info["model"]["id"].as_str());
            let metadata = session.metadata.as_ref().map(|raw| raw.get().to_owned());
            assert_eq!(metadata, info.get("metadata").map(Value::to_string));
        }
        Event::MessageUpdated(message) => {
            assert_eq!(message.id, info["id"]);
            assert_eq!(message.session_id, properties["sessionID"]);
            assert_eq!(message.parent_id.as_deref(), info["parentID"].as_str());
            assert_eq!(message.created, info["time"]["created"]);
            assert_eq!(message.completed, info["time"]["completed"].as_u64());
            assert_eq!(message.finish.as_deref(), info["finish"].as_str());
            assert_eq!(message.summary, info["summary"].as_bool().unwrap_or(false));
            let tokens = message.tokens.map(|tokens| tokens.cache_read);
            assert_eq!(tokens, info["tokens"]["cache"]["read"].as_u64());
            let error = message.error.as_ref().map(|error| error.message.as_str());
            assert_eq!(error, info["error"]["data"]["message"].as_str());
            let model = info["modelID"]
                .as_str()
                .or(info["model"]["modelID"].as_str());
            assert_eq!(message.model_id.as_deref(), model);
            assert!(message.model_id.is_some() && message.agent.is_some());
        }
        Event::SessionStatus { id, .. } | Event::SessionIdle { id } => {
            assert_eq!(*id, properties["sessionID"]);
        }
        Event::PermissionAsked(request) => {
            assert_eq!(request.summary(), "bash: echo hi");
        }
        Event::QuestionAsked(request) => {
            assert_eq!(request.summary(), "Which?");
        }
        _ => {}
    }
}
