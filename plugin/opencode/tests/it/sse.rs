//! Properties of the decoder and of the look at the type.

use opencode_client::{Decoder, FRAME_BYTES_MAX, Frame, is_wanted, peek_type};
use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn decode(bytes: &[u8]) -> Vec<Frame> {
    Decoder::new(1_000).push(bytes)
}

fn data(text: &str) -> Frame {
    Frame::Data(text.to_owned())
}

#[test]
fn frames_end_at_blank_lines_of_every_kind() {
    assert_eq!(
        decode(b"data: a\n\ndata: b\r\n\r\ndata: c\r\r"),
        ["a", "b", "c"].map(data)
    );
}

#[test]
fn data_lines_are_joined_and_everything_else_is_passed_over() {
    let stream = b": beat\n\nid: 7\nevent: x\ndata: {\ndata\ndata:}\nretry: 1\ndatax: no\n\n";
    assert_eq!(decode(stream), [data("{\n\n}")]);
}

#[test]
fn an_unfinished_frame_is_none_yet() {
    let mut decoder = Decoder::new(1_000);
    assert_eq!(decoder.push(b"data: a\n"), []);
    assert_eq!(decoder.push(b"\r\n"), [data("a")]);
}

#[test]
fn a_frame_over_the_bound_is_reported_and_the_stream_goes_on() {
    let mut decoder = Decoder::new(10);
    let mut frames = decoder.push(b"data: 12345678901");
    frames.extend(decoder.push(b"234\ndata: more\n\ndata: ok\n\n"));
    assert_eq!(frames, [Frame::Oversize { bytes: 30 }, data("ok")]);
}

#[test]
fn many_short_lines_count_together() {
    let stream = format!("{}\n", "data: 1234\n".repeat(100));
    let frames = Decoder::new(50).push(stream.as_bytes());
    assert!(matches!(frames[..], [Frame::Oversize { .. }]), "{frames:?}");
}

#[test]
fn the_type_is_found_wherever_it_stands() {
    let cases = [
        (r#"{"payload":{"type":"a"}}"#, Some("a")),
        (
            r#"{"payload":{"properties":{"type":"no"},"type":"a"}}"#,
            Some("a"),
        ),
        (
            r#"{"payload":{"properties":{"x":"\"type\":\"no\"}"},"type":"a"}}"#,
            Some("a"),
        ),
        (
            r#"{"payload":{"properties":[[{"type":"no"}],"}"],"id":1,"type":"a"}}"#,
            Some("a"),
        ),
        (
            r#"{"type":"flat","properties":{"type":"no"}}"#,
            Some("flat"),
        ),
        (r#"{"type":"flat","payload":{"type":"a"}}"#, Some("a")),
        (r#"{"type":"flat","payload":{"kind":"a"}}"#, Some("flat")),
        (r#"{"type":"flat","payload":"text"}"#, Some("flat")),
        (
            r#"{"payload":{"\u0074ype":"sess\u0069on.\"idle\\"}}"#,
            Some("session.\"idle\\"),
        ),
        (
            r#" { "payload" : { "n" : -1.5e3 , "type" : "a" } } "#,
            Some("a"),
        ),
        (r#"{"payload":{"type":7}}"#, None),
        (r#"{"properties":{"type":"no"}}"#, None),
        (r#"["type","a"]"#, None),
        (r#"{"payload":{"x":"unfinished"#, None),
        ("", None),
    ];
    for (frame, expected) in cases {
        assert_eq!(peek_type(frame).as_deref(), expected, "{frame}");
    }
}

#[test]
fn nesting_of_any_depth_is_stepped_over() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let frame = format!(r#"{{"payload":{{"properties":{deep},"type":"a"}}}}"#);
    assert_eq!(peek_type(&frame).as_deref(), Some("a"));
}

proptest! {
    #[test]
    fn cuts_change_nothing(pieces in vec(piece(), 0..40), sizes in vec(1_usize..9, 1..20)) {
        let bytes = pieces.concat();
        for bytes_max in [12, 1_000] {
            let whole = Decoder::new(bytes_max).push(&bytes);
            let mut decoder = Decoder::new(bytes_max);
            let mut rest = &bytes[..];
            let mut cut = Vec::new();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*size).min(rest.len()));
                cut.extend(decoder.push(now));
                rest = later;
            }
            prop_assert_eq!(cut, whole);
        }
    }

    #[test]
    fn frames_are_what_the_format_says(pieces in vec(piece(), 0..40)) {
        let bytes = pieces.concat();
        prop_assert_eq!(Decoder::new(10_000).push(&bytes), reference(&bytes));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..300)) {
        for frame in Decoder::new(100).push(&bytes) {
            if let Frame::Data(data) = frame {
                peek_type(&data);
            }
        }
    }

    #[test]
    fn no_text_makes_the_look_panic(text in r#"[{}\[\]:,"\\ a-t1é\n]{0,60}"#) {
        peek_type(&text);
        peek_type(&format!(r#"{{"payload":{text}"#));
    }

    #[test]
    fn the_look_agrees_with_a_full_parse(
        members in vec((key(), tree()), 0..6),
        payload in vec((key(), tree()), 0..6),
        at in 0_usize..6,
        style in 0_u8..3,
    ) {
        let mut members: Vec<(String, Value)> = members;
        let payload: Map<String, Value> = payload.into_iter().collect();
        members.insert(at.min(members.len()), ("payload".to_owned(), Value::Object(payload)));
        let value = Value::Object(members.into_iter().collect());
        let text = write(&value, style);
        let parsed: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&parsed, &value);
        let expected = parsed["payload"]["type"].as_str().or(parsed["type"].as_str());
        let peeked = peek_type(&text);
        prop_assert_eq!(peeked.as_deref(), expected);
    }
}

/// Pieces of which event streams are made, and some that do not belong.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        &b"data:"[..],
        b"data: ",
        b"data",
        b"id: 1",
        b": beat",
        b"event:x",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b" ",
        b"x",
        b"{\"a\":1}",
        b"\xff",
        "ü".as_bytes(),
    ])
    .prop_map(<[u8]>::to_vec)
}

/// The format in the plainest words, on a stream that is there as a whole.
fn reference(bytes: &[u8]) -> Vec<Frame> {
    let mut lines = vec![Vec::new()];
    let mut previous = 0;
    for byte in bytes {
        match byte {
            b'\n' if previous == b'\r' => {}
            b'\n' | b'\r' => lines.push(Vec::new()),
            _ => lines.last_mut().unwrap().push(*byte),
        }
        previous = *byte;
    }
    lines.pop();
    let mut frames = Vec::new();
    let mut open: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        if line.is_empty() {
            if !open.is_empty() {
                let data = open.join(&b'\n');
                frames.push(Frame::Data(String::from_utf8_lossy(&data).into_owned()));
            }
            open.clear();
        } else if line == b"data" {
            open.push(Vec::new());
        } else if let Some(value) = line.strip_prefix(b"data:") {
            open.push(value.strip_prefix(b" ").unwrap_or(value).to_vec());
        }
    }
    frames
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("type".to_owned()),
        2 => Just("payload".to_owned()),
        2 => Just("properties".to_owned()),
        1 => Just("\"type\":\"x\"".to_owned()),
        1 => r#"[a-c"\\{}:é]{0,4}"#,
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<i64>().prop_map(|number| json!(number)),
        r#"[a-c"\\{}\[\],:\n é😀]{0,8}"#.prop_map(|text| json!(text)),
        Just(json!("session.idle")),
        Just(json!(r#"","type":"no"#)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((key(), inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Compact, with blanks, or with every character of every string escaped.
fn write(value: &Value, style: u8) -> String {
    match style {
        0 => value.to_string(),
        1 => serde_json::to_string_pretty(value).unwrap(),
        _ => write_escaped(value),
    }
}

fn write_escaped(value: &Value) -> String {
    let quote = |text: &str| {
        let units: String = text
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        format!("\"{units}\"")
    };
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(write_escaped).collect();
            format!("[{}]", items.join(" , "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{} : {}", quote(key), write_escaped(value)))
                .collect();
            format!("{{ {} }}", members.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// As the client uses it: events that nobody wants are passed over.
fn picky() -> Decoder {
    Decoder::wanting(FRAME_BYTES_MAX, is_wanted)
}

fn long(kind: &str, rest: &str) -> String {
    let filler = "x".repeat(2_000);
    format!(r#"{{"directory":"/d","payload":{{"type":"{kind}","properties":"{filler}\n"}}{rest}}}"#)
}

#[test]
fn a_long_event_that_nobody_wants_is_never_kept() {
    let unwanted = long("message.part.updated", "");
    let wanted = long("session.updated", "");
    let stream = format!("data: {unwanted}\n\ndata: {wanted}\r\n\r\ndata: {unwanted}\n\n");
    assert_eq!(
        picky().push(stream.as_bytes()),
        [Frame::Unwanted, data(&wanted), Frame::Unwanted]
    );
}

#[test]
fn what_is_not_certain_is_kept() {
    let filler = "y".repeat(2_000);
    let kept = [
        // Short.
        r#"{"payload":{"type":"message.part.updated"}}"#.to_owned(),
        // Told late.
        format!(r#"{{"payload":{{"properties":"{filler}","type":"plugin.added"}}}}"#),
        // Told outside, where `payload` may still say otherwise.
        format!(
            r#"{{"type":"plugin.added","more":"{filler}","payload":{{"type":"session.idle"}}}}"#
        ),
        // Told deeper inside.
        format!(
            r#"{{"payload":{{"properties":{{"type":"plugin.added","f":"{filler}"}},"type":"t"}}}}"#
        ),
        // No JSON.
        filler.clone(),
    ];
    for text in kept {
        let frames = picky().push(format!("data: {text}\n\n").as_bytes());
        assert_eq!(frames, [data(&text)], "{text}");
    }
}

#[test]
fn all_lines_of_an_event_that_nobody_wants_are_passed_over() {
    let unwanted = long("plugin.added", "");
    let stream = format!("data: {unwanted}\nid: 7\ndata: more\n\ndata: next\n\n");
    assert_eq!(
        picky().push(stream.as_bytes()),
        [Frame::Unwanted, data("next")]
    );
}

proptest! {
    /// However the bytes are cut, what is wanted arrives whole and what is not never does.
    #[test]
    fn passing_over_loses_nothing_that_is_wanted(
        kinds in vec(prop_oneof![Just("session.updated"), Just("message.part.updated")], 1..6),
        sizes in vec(1..1_500_usize, 1..20),
    ) {
        let events: Vec<String> = kinds.iter().map(|kind| long(kind, r#","é":"ü""#)).collect();
        let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let mut decoder = picky();
        let mut frames = Vec::new();
        let mut rest = stream.as_bytes();
        for size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            frames.extend(decoder.push(chunk));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(frames.len(), events.len());
        for ((frame, event), kind) in frames.iter().zip(&events).zip(&kinds) {
            let expected = if is_wanted(kind) { data(event) } else { Frame::Unwanted };
            prop_assert_eq!(frame, &expected, "{}", kind);
        }
    }
}
