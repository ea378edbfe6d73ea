//! Replies of auditors, and what is read from them.

use goal_core::text::utf16_len;
use goal_core::verdict::{NOTE_UNITS_MAX, Unparsable, Verdict, VerdictKind, parse};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use Unparsable::{Empty, NoObject, NoVerdict, Tangled, UnknownVerdict};
use VerdictKind::{Blocked, Complete, Continue};

type Expected = Result<(VerdictKind, &'static str), Unparsable>;

fn check(rows: &[(&str, Expected)]) {
    for (reply, expected) in rows {
        check_with_reasoning(reply, "", *expected);
    }
}

fn check_with_reasoning(reply: &str, reasoning: &str, expected: Expected) {
    let expected = expected.map(|(kind, note)| Verdict {
        kind,
        note: note.to_owned(),
    });
    assert_eq!(
        parse(reply, reasoning),
        expected,
        "{reply:?} with {reasoning:?}"
    );
}

#[test]
fn a_bare_object_is_read() {
    check(&[
        (r#"{"verdict":"continue","note":"n"}"#, Ok((Continue, "n"))),
        (r#"{"verdict":"complete","note":"n"}"#, Ok((Complete, "n"))),
        (r#"{"verdict":"blocked","note":"n"}"#, Ok((Blocked, "n"))),
        (
            "\u{feff}\n {\"note\":\"n\",\n\"verdict\":\"blocked\"} \n",
            Ok((Blocked, "n")),
        ),
        (r#"{"verdict":"COMPLETE","note":"n"}"#, Ok((Complete, "n"))),
        (
            r#"{"verdict":" Complete\n","note":"n"}"#,
            Ok((Complete, "n")),
        ),
        (
            r#"{"verdict":"complete","confidence":0.9,"more":[{}]}"#,
            Ok((Complete, "")),
        ),
    ]);
}

#[test]
fn notes_are_trimmed_text_or_nothing() {
    check(&[
        (
            r#"{"verdict":"continue","note":"  n \n"}"#,
            Ok((Continue, "n")),
        ),
        (r#"{"verdict":"continue"}"#, Ok((Continue, ""))),
        (r#"{"verdict":"continue","note":null}"#, Ok((Continue, ""))),
        (r#"{"verdict":"continue","note":7}"#, Ok((Continue, ""))),
        (r#"{"verdict":"continue","note":["n"]}"#, Ok((Continue, ""))),
        (
            r#"{"verdict":"continue","note":{"verdict":"complete"}}"#,
            Ok((Continue, "")),
        ),
        (
            r#"{"verdict":"continue","note":"a } b { c \" d"}"#,
            Ok((Continue, "a } b { c \" d")),
        ),
        (
            r#"{"verdict":"continue","note":"\u00fc \ud83c\udfaf"}"#,
            Ok((Continue, "ü 🎯")),
        ),
    ]);
}

#[test]
fn a_long_note_is_cut_without_splitting_a_pair() {
    let reply = format!(r#"{{"verdict":"continue","note":"x{}"}}"#, "🎯".repeat(200));
    let note = parse(&reply, "").unwrap().note;
    assert_eq!(note, format!("x{}", "🎯".repeat(139)));
    assert_eq!(utf16_len(&note), NOTE_UNITS_MAX - 1);
}

#[test]
fn a_fence_counts_where_it_wraps_everything() {
    check(&[
        (
            "```json\n{\"verdict\":\"complete\",\"note\":\"n\"}\n```",
            Ok((Complete, "n")),
        ),
        (
            "```\n{\"verdict\":\"complete\",\"note\":\"n\"}\n```\n",
            Ok((Complete, "n")),
        ),
        (
            "```JSON {\"verdict\":\"complete\",\"note\":\"n\"} ```",
            Ok((Complete, "n")),
        ),
        (
            "{\"verdict\":\"continue\",\"note\":\"run ```cargo test``` first\"}",
            Ok((Continue, "run ```cargo test``` first")),
        ),
        (
            "```json\n{\"verdict\":\"continue\",\"note\":\"the <think> tag stays\"}\n```",
            Ok((Continue, "the <think> tag stays")),
        ),
        (
            "Like ```{\"verdict\":\"complete\"}``` was the example. Mine:\n\
             {\"verdict\":\"continue\",\"note\":\"n\"}",
            Ok((Continue, "n")),
        ),
        (
            "```json\n{\"verdict\":\"complete\",\"note\":\"n\"}",
            Ok((Complete, "n")),
        ),
        ("```json\n[]\n```", Err(NoObject)),
    ]);
}

#[test]
fn prose_around_the_object_is_passed_over() {
    check(&[
        (
            r#"Verdict: {"verdict":"continue","note":"n"}"#,
            Ok((Continue, "n")),
        ),
        (
            r#"{"verdict":"continue","note":"n"} Hope this helps!"#,
            Ok((Continue, "n")),
        ),
        (
            r#"It's "done". {"verdict":"complete","note":"}"} Yes."#,
            Ok((Complete, "}")),
        ),
        (
            r#"A stray { and " before {"verdict":"complete","note":"n"}"#,
            Ok((Complete, "n")),
        ),
        (
            r#"{"verdict":"complete","note":"n"} and { after"#,
            Ok((Complete, "n")),
        ),
        (
            r#"fn a() { b } {"verdict":"blocked","note":"n"}"#,
            Ok((Blocked, "n")),
        ),
    ]);
}

#[test]
fn of_several_objects_the_last_known_verdict_counts() {
    check(&[
        (
            r#"{"verdict":"complete","note":"a"} {"verdict":"continue","note":"b"}"#,
            Ok((Continue, "b")),
        ),
        (
            r#"{"verdict":"continue","note":"a"} {"checked":["x"]}"#,
            Ok((Continue, "a")),
        ),
        (
            r#"{"verdict":"continue|complete","note":"a"} {"verdict":"blocked","note":"b"}"#,
            Ok((Blocked, "b")),
        ),
        (
            r#"{"verdict":"blocked","note":"a"} {"verdict":"unsure","note":"b"}"#,
            Ok((Blocked, "a")),
        ),
        (
            r#"{"verdict":"continue","was":{"verdict":"complete"}} ok"#,
            Ok((Continue, "")),
        ),
    ]);
}

#[test]
fn an_answer_in_a_wrapper_is_read_and_a_list_of_answers_is_not() {
    check(&[
        (
            r#"{"answer":{"verdict":"blocked","note":"n"}}"#,
            Ok((Blocked, "n")),
        ),
        (
            r#"Here: {"a":{"b":{"verdict":"complete","note":"n"}}}"#,
            Ok((Complete, "n")),
        ),
        (
            r#"{"first":{"verdict":"continue"},"second":{"verdict":"complete"}}"#,
            Err(NoVerdict),
        ),
        (r#"{"checks":[{"verdict":"complete"}]}"#, Err(NoVerdict)),
    ]);
}

#[test]
fn thinking_is_no_answer() {
    check(&[
        (
            r#"<think>{"verdict":"continue"} or so</think>{"verdict":"complete","note":"n"}"#,
            Ok((Complete, "n")),
        ),
        (
            r#"{"verdict":"complete","note":"n"}<think>or {"verdict":"continue"}?</think>"#,
            Ok((Complete, "n")),
        ),
        (
            r#"<Thinking>a</Thinking>```json{"verdict":"complete","note":"n"}```"#,
            Ok((Complete, "n")),
        ),
        (
            r#"so {"verdict":"complete"}</think>{"verdict":"continue","note":"n"}"#,
            Ok((Continue, "n")),
        ),
        (
            r#"{"verdict":"continue","note":"n"}<think>never closed {"verdict":"complete"}"#,
            Ok((Continue, "n")),
        ),
        (
            r#"<think>{"verdict":"complete"} is not right, since"#,
            Err(Empty),
        ),
        (
            r#"<think>{"verdict":"complete"} is not right</think>"#,
            Err(Empty),
        ),
        ("<think>hm</think>DONE!", Err(NoObject)),
    ]);
}

#[test]
fn an_answer_that_ends_the_thinking_is_not_lost() {
    check(&[
        (
            r#"<think>{"verdict":"complete","note":"n"}</think>"#,
            Ok((Complete, "n")),
        ),
        (
            r#"<think>so: {"verdict":"blocked","note":"n"}"#,
            Ok((Blocked, "n")),
        ),
        (
            "<think>so:\n```json\n{\"verdict\":\"blocked\",\"note\":\"n\"}\n```\n</think>\n",
            Ok((Blocked, "n")),
        ),
        (
            r#"Verdict: {"verdict":"continue","note":"close the <think> tag"}"#,
            Ok((Continue, "close the <think> tag")),
        ),
        (
            r#"<think>a</think>{"verdict":"continue","note":"strip </think>"}"#,
            Ok((Continue, "strip </think>")),
        ),
    ]);
}

#[test]
fn reasoning_is_read_where_the_text_has_no_verdict() {
    let object = r#"{"verdict":"complete","note":"n"}"#;
    for reply in [
        "",
        " \n",
        "DONE!",
        "{}",
        "[1]",
        "<think>hm</think>",
        "{\"verdict\":",
    ] {
        check_with_reasoning(reply, object, Ok((Complete, "n")));
    }
    check_with_reasoning(
        "",
        &format!("I say {{x}} ```{object}``` now"),
        Ok((Complete, "n")),
    );
    check_with_reasoning("", "no verdict here", Err(NoObject));
    check_with_reasoning("DONE!", "", Err(NoObject));
    check_with_reasoning("{}", "nothing", Err(NoVerdict));
}

#[test]
fn reasoning_never_outvotes_the_text() {
    let draft = r#"{"verdict":"complete","note":"draft"}"#;
    check_with_reasoning(
        r#"{"verdict":"continue","note":"n"}"#,
        draft,
        Ok((Continue, "n")),
    );
    check_with_reasoning(
        r#"{"verdict":"partial","note":"n"}"#,
        draft,
        Err(UnknownVerdict),
    );
}

#[test]
fn what_is_no_verdict_has_a_reason() {
    check(&[
        ("", Err(Empty)),
        (" \n\t\u{feff}", Err(Empty)),
        ("DONE!", Err(NoObject)),
        ("complete", Err(NoObject)),
        ("\"complete\"", Err(NoObject)),
        ("null", Err(NoObject)),
        ("42", Err(NoObject)),
        ("[]", Err(NoObject)),
        (r#"["complete"]"#, Err(NoObject)),
        (r#"{"verdict":"complete","note":"n",}"#, Err(NoObject)),
        (r#"{'verdict':'complete'}"#, Err(NoObject)),
        (r#"{verdict:"complete"}"#, Err(NoObject)),
        (r#"{"verdict":"complete""#, Err(NoObject)),
        (r#"{"verdict":"complete","note":"cut off"#, Err(NoObject)),
        (
            r#"{"verdict":"complete" // sure
            }"#,
            Err(NoObject),
        ),
        ("{}", Err(NoVerdict)),
        (r#"{"note":"n"}"#, Err(NoVerdict)),
        (r#"{"Verdict":"complete"}"#, Err(NoVerdict)),
        (r#"{"verdict":"done"}"#, Err(UnknownVerdict)),
        (r#"{"verdict":"completed"}"#, Err(UnknownVerdict)),
        (r#"{"verdict":"not complete"}"#, Err(UnknownVerdict)),
        (r#"{"verdict":""}"#, Err(UnknownVerdict)),
        (r#"{"verdict":true}"#, Err(UnknownVerdict)),
        (r#"{"verdict":["complete"]}"#, Err(UnknownVerdict)),
        (r#"{"verdict":{"verdict":"complete"}}"#, Err(UnknownVerdict)),
        (
            r#"{"verdict":"maybe","other":{"verdict":"complete"}}"#,
            Err(UnknownVerdict),
        ),
        (r#"So: {"verdict":"done"} {"x":1}"#, Err(UnknownVerdict)),
    ]);
}

#[test]
fn an_object_in_an_array_is_still_an_object() {
    check(&[(
        r#"[{"verdict":"continue","note":"n"}]"#,
        Ok((Continue, "n")),
    )]);
}

#[test]
fn an_object_of_impossible_depth_is_refused() {
    let deep = format!("{}1{}", "{\"a\":".repeat(300), "}".repeat(300));
    assert!(parse(&deep, "").is_err());
    let deep_list = format!(r#"{{"verdict":"complete","x":{}}}"#, "[".repeat(100_000));
    assert_eq!(parse(&deep_list, ""), Err(NoObject));
}

#[test]
fn every_reason_has_a_code_of_its_own() {
    let codes: std::collections::BTreeSet<_> =
        [Empty, NoObject, NoVerdict, UnknownVerdict, Tangled]
            .map(Unparsable::code)
            .into();
    assert_eq!(codes.len(), 5);
}

fn reply_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{"verdict":"complete","note":"n"}"#.to_owned()),
        Just(r#"{"verdict":"maybe"}"#.to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("```json\n".to_owned()),
        Just("```".to_owned()),
        Just(r#"{"a":"#.to_owned()),
        Just(r#"\""#.to_owned()),
        "[{}\"\\\\\\[\\],:<>`ü🎯 a\n]{0,6}",
    ]
}

proptest! {
    #[test]
    fn any_reply_is_read_without_a_panic(
        reply in prop::collection::vec(reply_piece(), 0..12),
        reasoning in "(?s).{0,60}",
    ) {
        if let Ok(verdict) = parse(&reply.concat(), &reasoning) {
            prop_assert!(utf16_len(&verdict.note) <= NOTE_UNITS_MAX);
            prop_assert_eq!(verdict.note.trim(), verdict.note.as_str());
        }
    }

    #[test]
    fn any_note_survives_serialisation(note in "(?s).{0,120}", before in "[a-z{\" ]{0,9}") {
        let object = serde_json::json!({"verdict": "continue", "note": note});
        let bare = parse(&object.to_string(), "");
        prop_assert_eq!(bare.as_ref().map(|verdict| verdict.kind), Ok(Continue));
        if !note.contains('<') {
            let in_prose = parse(&format!("{before}\n{object}\nso."), "");
            prop_assert_eq!(in_prose, bare);
        }
    }
}
