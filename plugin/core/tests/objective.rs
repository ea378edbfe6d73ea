//! What counts as an objective, and what the auditor gets of a long one.

use goal_core::objective::{
    EXCERPT_MARKER, Fitting, ObjectiveError, excerpt, fit, from_distillation, valid_session_id,
    validate,
};
use goal_core::text::utf16_len;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const MAX: usize = 5_000;

#[test]
fn an_objective_is_trimmed() {
    assert_eq!(validate("  \n fix the bug\n\t"), Ok("fix the bug"));
    assert_eq!(validate("\u{feff}fix"), Ok("fix"));
    assert_eq!(validate("fix\n\nboth lines"), Ok("fix\n\nboth lines"));
}

#[test]
fn a_text_without_anything_visible_is_no_objective() {
    for text in [
        "",
        " ",
        "\n\t\r\n",
        "\u{feff}",
        "\u{200b}\u{200b}",
        "\0",
        "\u{3000}",
        "\u{a0}",
    ] {
        assert_eq!(validate(text), Err(ObjectiveError::Empty), "{text:?}");
    }
    assert!(
        ObjectiveError::Empty
            .to_string()
            .contains("objective is required")
    );
}

#[test]
fn five_thousand_units_fit_and_one_more_does_not() {
    let whole = "x".repeat(MAX);
    assert_eq!(fit(&whole, MAX), Fitting::Whole(whole.clone()));
    assert_eq!(
        fit(&format!("  {whole}\n"), MAX),
        Fitting::Whole(whole.clone())
    );
    assert_eq!(
        fit(&format!("{whole}x"), MAX),
        Fitting::TooLong { units: 5_001 }
    );
}

#[test]
fn units_are_counted_as_the_pages_count_them() {
    let pairs = "🎯".repeat(2_500);
    assert_eq!(fit(&pairs, MAX), Fitting::Whole(pairs.clone()));
    assert_eq!(
        fit(&format!("{pairs}🎯"), MAX),
        Fitting::TooLong { units: 5_002 }
    );
    let wide = "ü".repeat(MAX);
    assert_eq!(fit(&wide, MAX), Fitting::Whole(wide.clone()));
}

#[test]
fn an_excerpt_has_both_ends_and_equal_halves() {
    let plan = format!("FIRST LINE\n{}\nLAST LINE", "step\n".repeat(2_400));
    let short = excerpt(&plan, MAX);
    let (head, tail) = short.split_once(EXCERPT_MARKER).unwrap();
    let half = (MAX - utf16_len(EXCERPT_MARKER)) / 2;
    assert_eq!((utf16_len(head), utf16_len(tail)), (half, half));
    assert!(head.starts_with("FIRST LINE"));
    assert!(tail.ends_with("LAST LINE"));
}

#[test]
fn an_excerpt_of_a_text_that_fits_is_the_text() {
    assert_eq!(excerpt(" short ", MAX), "short");
}

#[test]
fn a_distillation_is_used_where_there_is_one() {
    for (distilled, expected) in [
        ("- tests pass", "- tests pass"),
        ("\n  - tests pass \n", "- tests pass"),
        ("<think>hm</think>\n- tests pass", "- tests pass"),
        ("```text\n- tests pass\n```", "- tests pass"),
        ("<think>hm</think>```\n- tests pass\n```", "- tests pass"),
        ("- run ```make``` first", "- run ```make``` first"),
    ] {
        assert_eq!(
            from_distillation(distilled, MAX).as_deref(),
            Some(expected),
            "{distilled:?}"
        );
    }
}

#[test]
fn a_long_distillation_is_clamped() {
    let copy = from_distillation(&format!("x{}", "🎯".repeat(4_000)), MAX);
    assert_eq!(copy, Some(format!("x{}", "🎯".repeat(2_499))));
}

#[test]
fn an_empty_distillation_is_none() {
    for distilled in [
        "",
        " \n",
        "<think>only thoughts",
        "<think>x</think>",
        "```\n```",
    ] {
        assert_eq!(from_distillation(distilled, MAX), None, "{distilled:?}");
    }
}

#[test]
fn session_ids_name_files_and_nothing_else() {
    for id in ["ses_1", "abcd", "A-Z_09", &"x".repeat(128)] {
        assert!(valid_session_id(id), "{id}");
    }
    let long = "x".repeat(129);
    for id in [
        "",
        "abc",
        &long,
        "../../etc",
        "ses/1",
        "ses\\1",
        "ses.1",
        "ses 1",
        "ses\0x_1",
        "ses_ü1",
        "ses_1\n",
        "C:ses",
        "~root",
    ] {
        assert!(!valid_session_id(id), "{id:?}");
    }
}

proptest! {
    #[test]
    fn every_copy_for_the_auditor_fits(text in "(?s).{0,400}", max in 0_usize..300) {
        prop_assert!(utf16_len(&excerpt(&text, max)) <= max);
        let distilled = from_distillation(&text, max).unwrap_or_default();
        prop_assert!(utf16_len(&distilled) <= max);
        if let Fitting::Whole(whole) = fit(&text, max) {
            prop_assert!(utf16_len(&whole) <= max);
            prop_assert_eq!(excerpt(&text, max), whole);
        }
    }
}
