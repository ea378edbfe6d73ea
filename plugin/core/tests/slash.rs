//! Slash commands as objectives.

use goal_core::slash::{Invocation, expand, objective_for};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

#[test]
fn an_invocation_is_a_slash_a_name_and_the_rest() {
    for (text, name, arguments) in [
        ("/review", "review", ""),
        ("/review ", "review", ""),
        ("/review  the   parser ", "review", "the   parser"),
        ("/review one\ntwo\n\nthree", "review", "one\ntwo\n\nthree"),
        ("/review\none", "review", "one"),
        ("/review\tone", "review", "one"),
        ("/team/review x", "team/review", "x"),
        ("/größe x", "größe", "x"),
        ("/a/b: is broken", "a/b:", "is broken"),
    ] {
        assert_eq!(
            Invocation::parse(text),
            Some(Invocation { name, arguments }),
            "{text:?}"
        );
    }
}

#[test]
fn other_texts_are_no_invocation() {
    for text in [
        "",
        "/",
        "/ review",
        "/\nreview",
        "review",
        " /review",
        "see /review",
    ] {
        assert_eq!(Invocation::parse(text), None, "{text:?}");
    }
}

#[test]
fn placeholders_are_filled() {
    for (template, arguments, expanded) in [
        (
            "Move $1 to $2",
            r#""src old" dist extra"#,
            "Move src old to dist extra",
        ),
        (
            "Do $ARGUMENTS, then $ARGUMENTS.",
            "a  \"b\"\nc",
            "Do a  \"b\"\nc, then a  \"b\"\nc.",
        ),
        ("Do $ARGUMENTS", "", "Do "),
        ("[$1] [$2] [$3]", "a b", "[a] [b] []"),
        ("[$1] [$2]", "a b c d", "[a] [b c d]"),
        ("[$2] [$1] [$2]", "a b c", "[b c] [a] [b c]"),
        ("[$2]", "a b c", "[b c]"),
        ("[$1]", "a \"b  c\"\n d", "[a b  c d]"),
        ("[$1]", "", "[]"),
        ("[$10] [$1]", "a b c d e f g h i j k", "[j k] [a]"),
        ("[$01] [$2]", "a b", "[a] [b]"),
        ("[$99999999999999999999999] [$1]", "a b", "[] [a]"),
        // Both kinds in one template (X25).
        ("$1 of: $ARGUMENTS", "a b", "a b of: a b"),
        ("$1 and $2 of: $ARGUMENTS", "a b c", "a and b c of: a b c"),
        // What was inserted is not expanded again (X25).
        ("$1 then $2", "$2 $ARGUMENTS", "$2 then $ARGUMENTS"),
        ("$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"),
        // Dollars that are no placeholder stay.
        ("$HOME $ $$1 ${1} $x", "a", "$HOME $ $a ${1} $x"),
        ("$ARGUMENTS_DIR $ARGUMENT", "a", "a_DIR $ARGUMENT"),
        ("ü$1ü", "é", "üéü"),
    ] {
        assert_eq!(
            expand(template, arguments),
            expanded,
            "{template:?} {arguments:?}"
        );
    }
}

#[test]
fn a_template_without_placeholders_is_followed_by_the_arguments() {
    for (template, arguments, expanded) in [
        (
            "Review the code.",
            "the parser",
            "Review the code.\n\nthe parser",
        ),
        (
            "Review the code.\n",
            "one\ntwo",
            "Review the code.\n\none\ntwo",
        ),
        ("Review the code.", "", "Review the code."),
        ("Review the code.", " \n", "Review the code."),
        ("It costs $0", "much", "It costs $0\n\nmuch"),
        ("Review", "$1", "Review\n\n$1"),
    ] {
        assert_eq!(
            expand(template, arguments),
            expanded,
            "{template:?} {arguments:?}"
        );
    }
}

#[test]
fn quotes_group_and_are_dropped() {
    for (arguments, first, rest) in [
        (r#""a b" c"#, "a b", "c"),
        ("'a b' c", "a b", "c"),
        (r#"'say "hi" now' c"#, r#"say "hi" now"#, "c"),
        (r#""it's here" c"#, "it's here", "c"),
        (r#""" c"#, "", "c"),
        (r#"a"b c"d"#, "a", "b c d"),
        (r#"name="b c""#, "name=", "b c"),
        (r#""a b"c"#, "a b", "c"),
        ("don't stop", "don't", "stop"),
        ("user's and owner's", "user's", "and owner's"),
        ("'open end", "'open", "end"),
        (r#""open end"#, "\"open", "end"),
        (r#"5" pipe"#, "5\"", "pipe"),
        ("\"a\nb\" c", "a\nb", "c"),
    ] {
        assert_eq!(
            expand("$1|$2", arguments),
            format!("{first}|{rest}"),
            "{arguments:?}"
        );
    }
}

#[test]
fn an_unavailable_or_blank_template_leaves_the_invocation() {
    let text = "/review the parser\nand its tests";
    assert_eq!(objective_for(text, None), text);
    assert_eq!(objective_for(text, Some("")), text);
    assert_eq!(objective_for(text, Some(" \n\t")), text);
    assert_eq!(objective_for("/review", Some(" $ARGUMENTS\n$1")), "/review");
    assert_eq!(
        objective_for(text, Some("Review $1")),
        "Review the parser and its tests"
    );
    assert_eq!(
        objective_for(text, Some("Review.")),
        "Review.\n\nthe parser\nand its tests"
    );
}

#[test]
fn a_plain_text_is_its_own_objective() {
    assert_eq!(objective_for("fix $1", Some("Review $1")), "fix $1");
}

proptest! {
    #[test]
    fn expansion_never_panics_and_keeps_raw_arguments(
        template in "[$0-9A-Z \"'\\nü]{0,40}",
        arguments in "[$0-9a-z \"'\\nü🎯]{0,40}",
    ) {
        let framed = expand(&format!("<$ARGUMENTS>{template}"), &arguments);
        let expected = format!("<{arguments}>");
        prop_assert!(framed.starts_with(&expected));
    }

    #[test]
    fn the_highest_number_loses_no_word(words in "[a-z$1]{1,5}( [a-z$1]{1,5}){0,6}") {
        prop_assert_eq!(expand("$1", &words), words.clone());
        let two = expand("$1 $2", &words);
        prop_assert_eq!(two.trim_end(), words);
    }
}
