//! Tokens folded into a ledger (R31-R41, X21).

mod support;

use goal_core::accounting::{Ledger, fold, needs_older};
use goal_core::goal::{Goal, MessageId};
use pretty_assertions::assert_eq;

use support::goals::goal;
use support::tails::timeline;

/// Each case: name, goal, messages, and `used baseline committed cursor` afterwards.
fn check(cases: &[(&str, &str, &str, &str)]) {
    for (name, line, messages, expected) in cases {
        let ledger = fold(&goal(line), &timeline(messages));
        assert_eq!(shown(&ledger), *expected, "{name}");
    }
}

fn shown(ledger: &Ledger) -> String {
    let cursor = ledger.cursor.as_ref().map_or("-", MessageId::as_str);
    let Ledger {
        used,
        baseline,
        committed,
        ..
    } = ledger;
    format!("{used} {baseline} {committed} {cursor}")
}

/// Folds one more stretch of messages into a goal, as the next write stores it.
fn then(goal: &Goal, messages: &str) -> Goal {
    let ledger = fold(goal, &timeline(messages));
    let mut next = goal.clone();
    next.tokens_used = ledger.used;
    next.tokens_baseline = ledger.baseline;
    next.tokens_committed = ledger.committed;
    next.last_accounted = ledger.cursor;
    next
}

#[test]
fn r33_the_baseline_is_the_newest_turn_before_the_goal() {
    let before = "u u1; a a1 < u1 stop 'x' 500t; u u2; a a2 < u2 stop 'x' 300t";
    check(&[
        (
            "no message before it",
            "created=0",
            "u u1; a a1 < u1 stop 'x' 120t",
            "120 0 0 a1",
        ),
        ("nothing since", "created=4500", before, "0 300 0 -"),
        (
            "the newest, not the largest (D3)",
            "created=4500",
            &format!("{before}; u u3; a a3 < u3 stop 'x' 450t"),
            "150 300 0 a3",
        ),
        (
            "completed exactly then is before",
            "created=2500",
            before,
            "0 500 0 a2",
        ),
        (
            "completed a moment later is not",
            "created=2499",
            before,
            "500 0 0 a2",
        ),
        (
            "begun before the goal, completed after it",
            "created=4200",
            before,
            "0 500 0 a2",
        ),
        (
            "listed in another order",
            "created=4500",
            "a a3 < u3 stop 'x' 450t @6000; a a2 < u2 stop 'x' 300t @4000; \
             a a1 < u1 stop 'x' 500t @2000",
            "150 300 0 a3",
        ),
    ]);
}

#[test]
fn x21_a_first_message_parts_the_goal_from_what_was_before() {
    let queued = "u u1; a a1 < u1 stop 'x' 500t ends@4900; u first; a a2 < first stop 'x' 620t";
    check(&[
        (
            "a turn that ran when the goal was made is before it",
            "created=2600 first=first",
            queued,
            "120 500 0 a2",
        ),
        (
            "without the field, time alone decides",
            "created=2600",
            queued,
            "620 0 0 a2",
        ),
        (
            "a turn between creation and first message is before it",
            "created=1500 first=first",
            "u u1; a a1 < u1 stop 'x' 500t; u first; a a2 < first stop 'x' 620t",
            "120 500 0 a2",
        ),
        (
            "not among the messages: time decides",
            "created=2600 first=gone",
            "u u1; a a1 < u1 stop 'x' 500t; u u2; a a2 < u2 stop 'x' 620t",
            "120 500 0 a2",
        ),
    ]);
}

#[test]
fn x21_messages_without_tokens_are_no_baseline() {
    for (name, empty) in [
        ("aborted", "a e < u2 err=MessageAbortedError"),
        ("failed", "a e < u2 err=APIError"),
        ("shell", "a e < u2 shell tool=bash=0"),
    ] {
        let line =
            format!("u u1; a a1 < u1 stop 'x' 500t; u u2; {empty}; u u3; a a3 < u3 stop 'x' 620t");
        check(&[(name, "created=4900", &line, "120 500 0 a3")]);
    }
}

#[test]
fn x21_a_summary_after_the_newest_turn_before_the_goal_makes_the_baseline_zero() {
    let summary = "u m mark; a s < m summary stop 'sum' 520t";
    check(&[
        (
            "summary last",
            "created=4600",
            &format!("u u1; a a1 < u1 stop 'x' 500t; {summary}; u u2; a a2 < u2 stop 'x' 80t"),
            "80 0 0 a2",
        ),
        (
            "a turn after the summary",
            "created=6600",
            &format!(
                "u u1; a a1 < u1 stop 'x' 500t; {summary}; u u2; a a2 < u2 stop 'x' 80t; \
                 u u3; a a3 < u3 stop 'x' 100t"
            ),
            "20 80 0 a3",
        ),
        (
            "a summary that the goal itself caused",
            "created=2600",
            &format!("u u1; a a1 < u1 stop 'x' 500t; {summary}; u u2; a a2 < u2 stop 'x' 80t"),
            "100 0 20 a2",
        ),
    ]);
}

#[test]
fn r32_r34_snapshots_are_compared_not_summed() {
    check(&[
        (
            "growth inside one turn",
            "baseline=100 cursor=a1",
            "u u1; a a1 < u1 tools tool=x 100t; a a2 < u1 tools tool=x 250t; a a3 < u1 stop 'x' 400t",
            "300 100 0 a3",
        ),
        (
            "below the baseline",
            "baseline=100 cursor=a1",
            "u u1; a a1 < u1 stop 'x' 100t; u u2; a a2 < u2 stop 'x' 60t",
            "0 100 0 a2",
        ),
        (
            "nothing new",
            "used=70 baseline=30 cursor=a1",
            "u u1; a a1 < u1 stop 'x' 100t",
            "70 30 0 a1",
        ),
    ]);
}

#[test]
fn r37_a_shrunk_context_lowers_nothing() {
    let first = then(&goal("created=0"), "u u1; a a1 < u1 stop 'x' 1000t");
    assert_eq!(first.tokens_used, 1_000);
    let shrunk = "u u1; a a1 < u1 stop 'x' 1000t; u u2; a a2 < u2 stop 'x' 200t";
    let second = then(&first, shrunk);
    assert_eq!(second.tokens_used, 1_000);
    let grown = format!("{shrunk}; u u3; a a3 < u3 stop 'x' 1100t");
    assert_eq!(then(&second, &grown).tokens_used, 1_100);
}

#[test]
fn r35_r36_a_compaction_closes_a_segment() {
    for (name, summary, used) in [
        ("a summary without tokens", "0t", "100 0 80 a2"),
        ("one below what is known", "70t", "100 0 80 a2"),
        ("one that prices itself", "95t", "115 0 95 a2"),
    ] {
        let line = format!(
            "u u1; a a1 < u1 stop 'x' 80t; u m mark; a s < m summary stop 'sum' {summary}; \
             u k synthetic; a a2 < k stop 'x' 20t"
        );
        check(&[(name, "created=0", &line, used)]);
    }
    check(&[
        (
            "over a baseline",
            "baseline=50 cursor=a0",
            "a a0 < u0 stop 'x' 50t; a a1 < u1 stop 'x' 80t; a s < m summary stop 'sum' 90t; \
             a a2 < k stop 'x' 20t",
            "60 0 40 a2",
        ),
        (
            "the summary is the newest",
            "baseline=50 cursor=a0",
            "a a0 < u0 stop 'x' 50t; a a1 < u1 stop 'x' 80t; a s < m summary stop 'sum' 90t",
            "40 0 40 s",
        ),
        (
            "the pre-summary turn was folded in earlier",
            "used=30 baseline=50 cursor=a1",
            "a a1 < u1 stop 'x' 80t; a s < m summary stop 'sum'; a a2 < k stop 'x' 20t",
            "50 0 30 a2",
        ),
        (
            "a shrink before it keeps what was known",
            "used=500 cursor=a0",
            "a a0 < u0 stop 'x' 500t; a a1 < u1 stop 'x' 80t; a s < m summary stop 'sum'",
            "500 0 500 s",
        ),
        (
            "an unfinished summary closes nothing",
            "cursor=a0 used=10",
            "a a0 < u0 stop 'x' 10t; a a1 < u1 stop 'x' 80t; a s < m summary open 90t",
            "80 0 0 a1",
        ),
    ]);
}

#[test]
fn r40_two_compactions_are_two_segments_in_order() {
    let line = "a a1 < u1 stop 'x' 80t; a s1 < m summary stop 'sum'; a a2 < k stop 'x' 20t; \
                a s2 < n summary stop 'sum' 25t; a a3 < l stop 'x' 10t";
    check(&[
        ("in one window", "created=0", line, "115 0 105 a3"),
        (
            "side by side",
            "created=0",
            "a a1 < u1 stop 'x' 80t; a s1 < m summary stop 'sum'; a s2 < n summary stop 'sum' 25t",
            "105 0 105 s2",
        ),
    ]);
    let mut grown = goal("created=0");
    let mut seen = String::new();
    let mut used = Vec::new();
    for message in line.split(';') {
        seen.push_str(message);
        seen.push(';');
        grown = then(&grown, &seen);
        used.push(grown.tokens_used);
    }
    assert_eq!(used, [80, 80, 100, 105, 115], "one message at a time");
}

#[test]
fn r38_only_completed_messages_after_the_cursor_count() {
    check(&[
        (
            "an unfinished one",
            "used=10 cursor=a1",
            "a a1 < u1 stop 'x' 10t; a a2 < u2 open 900t",
            "10 0 0 a1",
        ),
        (
            "messages before the cursor",
            "used=10 cursor=a2",
            "a a1 < u1 stop 'x' 900t; a a2 < u2 stop 'x' 10t",
            "10 0 0 a2",
        ),
        (
            "the cursor is found by id, the order by time (R39)",
            "used=10 cursor=z",
            "a b < u2 stop 'x' 30t @9000; a z < u1 stop 'x' 10t @1000",
            "30 0 0 b",
        ),
        (
            "a failed turn moves the cursor",
            "used=10 cursor=a1",
            "a a1 < u1 stop 'x' 10t; a a2 < u2 err=APIError",
            "10 0 0 a2",
        ),
    ]);
}

#[test]
fn x21_a_cursor_that_is_gone_counts_nothing_twice() {
    check(&[
        (
            "without a summary, usage stays until it is exceeded",
            "created=0 used=500 cursor=gone",
            "a a1 < u1 stop 'x' 300t; a a2 < u2 stop 'x' 400t",
            "500 0 0 a2",
        ),
        (
            "a summary that is counted already",
            "created=0 used=120 committed=100 cursor=gone",
            "a a1 < u1 stop 'x' 90t; a s < m summary stop 'sum' 100t; a a2 < k stop 'x' 30t",
            "130 0 100 a2",
        ),
        (
            "of two summaries, the newest",
            "created=0 used=160 committed=150 cursor=gone",
            "a s < m summary stop 'sum' 100t; a a1 < k stop 'x' 50t; \
             a s2 < n summary stop 'sum' 50t; a a2 < l stop 'x' 30t",
            "180 0 150 a2",
        ),
        (
            "prompts are no summaries",
            "created=0 used=120 committed=100 cursor=gone",
            "a s < m summary stop 'sum' 100t; u k; a a2 < k stop 'x' 30t; u u3; a a3 < u3 open",
            "130 0 100 a2",
        ),
        (
            "nothing follows the summary",
            "created=0 used=120 committed=100 cursor=gone",
            "a a1 < u1 stop 'x' 90t; a s < m summary stop 'sum' 100t",
            "120 0 100 gone",
        ),
        (
            "what was before the goal is not the goal's",
            "created=1600 used=20 baseline=100 cursor=gone",
            "a a0 < u0 stop 'x' 900t; a a1 < u1 stop 'x' 140t",
            "40 100 0 a1",
        ),
    ]);
}

#[test]
fn r41_a_baseline_is_not_taken_twice() {
    check(&[(
        "no cursor yet, but a baseline",
        "created=2600 baseline=500",
        "u u1; a a1 < u1 stop 'x' 700t; u u2; a a2 < u2 stop 'x' 620t",
        "120 500 0 a2",
    )]);
}

#[test]
fn r38_a_window_that_starts_too_late_undercounts_and_never_falls() {
    // More than the window holds went by: what is there is folded, what is not is not guessed.
    let many: Vec<String> = (1..=40)
        .map(|n| format!("a a{n} < u1 tools tool=x {}t", 1_000 + n))
        .collect();
    let ledger = fold(
        &goal("created=0 used=900 cursor=before"),
        &timeline(&many.join(";")),
    );
    assert_eq!(shown(&ledger), "1040 0 0 a40");
}

#[test]
fn x21_older_messages_are_asked_for_until_the_cursor_or_a_baseline_is_found() {
    for (name, line, messages, expected) in [
        (
            "the cursor is there",
            "cursor=a1",
            "a a1 < u1 stop 'x' 1t; a a2 < u2 stop 'x' 2t",
            false,
        ),
        ("it is not", "cursor=a0", "a a1 < u1 stop 'x' 1t", true),
        (
            "no cursor, a message with tokens before the goal",
            "created=1600",
            "a a1 < u1 stop 'x' 1t; a a2 < u2 stop 'x' 2t",
            false,
        ),
        (
            "only one without tokens",
            "created=1600",
            "a a1 < u1 err=MessageAbortedError; a a2 < u2 stop 'x' 2t",
            true,
        ),
        (
            "a summary will do",
            "created=1600",
            "a a1 < u1 summary stop 'sum'; a a2 < u2 stop 'x' 2t",
            false,
        ),
        (
            "none before the goal",
            "created=0",
            "a a1 < u1 stop 'x' 1t",
            true,
        ),
        (
            "before the first message",
            "created=0 first=f",
            "a a1 < u1 stop 'x' 1t; u f; a a2 < f stop 'x' 2t",
            false,
        ),
        (
            "a baseline is known",
            "created=0 baseline=7",
            "a a1 < u1 stop 'x' 1t",
            false,
        ),
        ("nothing was read", "", "", true),
    ] {
        assert_eq!(
            needs_older(&goal(line), &timeline(messages)),
            expected,
            "{name}"
        );
    }
}
