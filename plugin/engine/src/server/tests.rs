use std::time::Duration;

use goal_core::message::ErrorKind;
use opencode_client::{Envelope, Parsed, parse_frame};
use pretty_assertions::assert_eq;

use super::*;

/// What the engine hears of a recorded stream.
fn heard(trace: &str) -> Vec<ServerEvent> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/traces");
    let recorded = std::fs::read_to_string(format!("{folder}/{trace}.sse")).unwrap();
    let mut pairs = IdlePairs::default();
    let frames = recorded
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    frames
        .filter_map(|data| match parse_frame(data) {
            Parsed::Event(envelope) => translate(StreamItem::Event(envelope), &mut pairs),
            Parsed::Unwanted => None,
            Parsed::Malformed => panic!("unreadable frame in {trace}"),
        })
        .collect()
}

/// The events that show what becomes of a turn, as words.
fn course(trace: &str) -> Vec<&'static str> {
    let mut course = Vec::new();
    for event in heard(trace) {
        let word = match event {
            ServerEvent::Idle(_) => "idle",
            ServerEvent::Busy(_, Presence::Busy) => "busy",
            ServerEvent::Busy(_, Presence::Retry) => "retry",
            ServerEvent::Error { kind, .. } => match kind {
                ErrorKind::Aborted => "abort error",
                ErrorKind::OutputLength => "length error",
                ErrorKind::ContextOverflow => "overflow error",
                ErrorKind::Failure => "failure",
            },
            ServerEvent::Message { aborted: true, .. } => "aborted message",
            ServerEvent::Request { open: true, .. } => "asked",
            ServerEvent::Request { open: false, .. } => "answered",
            ServerEvent::Message { .. }
            | ServerEvent::Session(_)
            | ServerEvent::Deleted(_)
            | ServerEvent::Connected
            | ServerEvent::Lost { .. }
            | ServerEvent::Disposed { .. } => continue,
        };
        if course.last() != Some(&word) || word == "idle" {
            course.push(word);
        }
    }
    course
}

fn status(id: &str, status: Status) -> StreamItem {
    event(Event::SessionStatus {
        id: id.to_owned(),
        status,
    })
}

fn idle(id: &str) -> StreamItem {
    event(Event::SessionIdle { id: id.to_owned() })
}

fn event(event: Event) -> StreamItem {
    StreamItem::Event(Envelope {
        directory: None,
        event,
    })
}

#[test]
fn a_recorded_turn_becomes_idle_once() {
    assert_eq!(course("normal_turn"), ["busy", "idle"]);
    assert_eq!(course("normal_turn_bash_tool"), ["busy", "idle"]);
}

#[test]
fn a_recorded_abort_keeps_its_two_ends() {
    let expected = ["busy", "abort error", "idle", "aborted message", "idle"];
    assert_eq!(course("aborted_turn"), expected);
}

#[test]
fn a_recorded_retry_shows() {
    let expected = ["busy", "retry", "busy", "retry", "busy", "idle"];
    assert_eq!(course("retry_then_success"), expected);
}

#[test]
fn recorded_requests_open_and_close() {
    let expected = ["busy", "asked", "answered", "busy", "idle"];
    assert_eq!(course("permission_ask_once"), expected);
    assert_eq!(course("question_answered"), expected);
    assert_eq!(
        course("permission_ask_reject"),
        ["busy", "asked", "answered", "idle"]
    );
}

#[test]
fn a_recorded_failure_carries_its_text() {
    let failures: Vec<String> = heard("bad_model")
        .into_iter()
        .filter_map(|event| match event {
            ServerEvent::Error { text, .. } => Some(text),
            ServerEvent::Connected
            | ServerEvent::Lost { .. }
            | ServerEvent::Session(_)
            | ServerEvent::Deleted(_)
            | ServerEvent::Idle(_)
            | ServerEvent::Busy(..)
            | ServerEvent::Message { .. }
            | ServerEvent::Request { .. }
            | ServerEvent::Disposed { .. } => None,
        })
        .collect();
    assert!(
        failures[0].starts_with("UnknownError: Model not found"),
        "{failures:?}"
    );
}

#[test]
fn a_recorded_audit_is_seen_from_its_making_to_its_end() {
    let events = heard("throwaway_audit_child");
    let deleted = events
        .iter()
        .filter(|it| matches!(it, ServerEvent::Deleted(_)));
    assert_eq!(deleted.count(), 1);
}

#[test]
fn answers_name_their_prompt_and_prompts_name_none() {
    let mut seen = [0, 0];
    for event in heard("normal_turn") {
        if let ServerEvent::Message { parent, .. } = event {
            seen[usize::from(parent.is_some())] += 1;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn the_second_word_about_idle_is_swallowed_whatever_comes_between() {
    let mut pairs = IdlePairs::default();
    let mut hear = |item| translate(item, &mut pairs).is_some();
    assert!(hear(status("a", Status::Idle)));
    assert!(hear(status("b", Status::Idle)));
    assert!(!hear(idle("a")), "the second word");
    assert!(hear(idle("a")), "a word of its own");
    assert!(!hear(idle("b")));
    assert!(hear(status("a", Status::Idle)));
    assert!(hear(status("a", Status::Busy)));
    assert!(hear(idle("a")), "busy came between");
    assert!(hear(status("a", Status::Idle)));
    assert!(hear(StreamItem::Connected));
    assert!(hear(idle("a")), "a new connection begins anew");
}

#[test]
fn the_awaited_second_words_are_bounded() {
    let mut pairs = IdlePairs::default();
    for n in 0..=IDLE_PAIRS_MAX {
        translate(status(&format!("s{n}"), Status::Idle), &mut pairs);
    }
    assert_eq!(pairs.open.len(), IDLE_PAIRS_MAX);
    assert!(
        translate(idle("s0"), &mut pairs).is_some(),
        "the oldest is forgotten"
    );
    assert!(translate(idle("s1"), &mut pairs).is_none());
}

#[test]
fn a_lost_line_says_whether_the_password_is_wrong() {
    for (reason, expected) in [
        (LostReason::Unauthorized, true),
        (LostReason::Silent, false),
    ] {
        let retry_in = Duration::from_secs(1);
        let lost = StreamItem::Lost { reason, retry_in };
        let heard = translate(lost, &mut IdlePairs::default());
        let expected = ServerEvent::Lost {
            reason: reason.to_string(),
            unauthorized: expected,
            retry_in,
        };
        assert_eq!(heard, Some(expected));
    }
}

#[test]
fn an_overlong_event_and_an_error_without_a_session_tell_nothing() {
    let skipped = StreamItem::Skipped { bytes: 1 };
    assert_eq!(translate(skipped, &mut IdlePairs::default()), None);
    let homeless = event(Event::SessionError {
        id: None,
        error: opencode_client::MessageError {
            name: "UnknownError".to_owned(),
            message: String::new(),
            status: None,
        },
    });
    assert_eq!(translate(homeless, &mut IdlePairs::default()), None);
}
