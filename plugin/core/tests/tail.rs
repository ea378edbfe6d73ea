//! How the newest messages are read (R29, R48, R57, X2, X10, X12, X14, X18).

mod support;

use goal_core::continuation::{ids, ids_sent};
use goal_core::goal::{MessageId, RevertId};
use goal_core::tail::{Tail, TailContext, TailKind, compactions_in_a_row, truncated_in_a_row};
use goal_core::time::Wall;
use goal_core::timeline::Timeline;
use pretty_assertions::assert_eq;

use support::goals::goal;
use support::tails::{continuation_of, messages, tail, timeline};

/// Each case: name, messages, the kind of tail and its id.
fn check(cases: &[(&str, &str, TailKind, Option<&str>)]) {
    for (name, messages, kind, id) in cases {
        let read = tail(messages);
        let found = (read.kind, read.id);
        assert_eq!(found, (kind.clone(), id.map(MessageId::new)), "{name}");
    }
}

fn failed(reason: &str) -> TailKind {
    TailKind::Failed {
        reason: reason.to_owned(),
    }
}

#[test]
fn r29_r30_who_spoke_last() {
    use TailKind::{Empty, Finished, Unfinished, UserPending};
    check(&[
        ("nothing at all", "", Empty, None),
        ("only a prompt", "u u1", Empty, Some("u1")),
        (
            "an answer",
            "u u1; a a1 < u1 stop 'done'",
            Finished,
            Some("a1"),
        ),
        (
            "a prompt after it",
            "u u1; a a1 < u1 stop 'done'; u u2",
            UserPending,
            Some("u2"),
        ),
        ("no end yet", "u u1; a a1 < u1 open", Unfinished, Some("a1")),
        (
            "words, yet no end",
            "u u1; a a1 < u1 open 'half'",
            Unfinished,
            Some("a1"),
        ),
        (
            "a tool is all it did",
            "u u1; a a1 < u1 stop tool=bash=0",
            Finished,
            Some("a1"),
        ),
        (
            "an unknown finish",
            "u u1; a a1 < u1 other 'x'",
            Finished,
            Some("a1"),
        ),
    ]);
}

#[test]
fn r48_the_error_is_looked_at_before_the_finish() {
    use TailKind::{Aborted, Truncated};
    let last = Some("a1");
    check(&[
        (
            "a: aborted",
            "u u1; a a1 < u1 err=MessageAbortedError",
            Aborted,
            last,
        ),
        (
            "a: aborted before its end was stored",
            "u u1; a a1 < u1 open err=MessageAbortedError",
            Aborted,
            last,
        ),
        (
            "b: output length",
            "u u1; a a1 < u1 err=MessageOutputLengthError",
            Truncated,
            last,
        ),
        (
            "c: any other error",
            "u u1; a a1 < u1 err=APIError:401",
            failed("APIError: 401"),
            last,
        ),
        (
            "c: even with length",
            "u u1; a a1 < u1 length err=APIError",
            failed("APIError"),
            last,
        ),
        ("c: blank name", "u u1; a a1 < u1 err=", failed(""), last),
        (
            "c: text alone",
            "u u1; a a1 < u1 err=:down",
            failed("assistant turn failed: down"),
            last,
        ),
        (
            "c: an overflow that stayed: no compaction helped",
            "u u1; a a1 < u1 err=ContextOverflowError:full",
            failed("ContextOverflowError: full"),
            last,
        ),
        (
            "c: a compaction that failed",
            "u u1; a a0 < u1 tools tool=x; u m mark; a a1 < m summary err=ContextOverflowError:full",
            failed("ContextOverflowError: full"),
            last,
        ),
        ("d: length", "u u1; a a1 < u1 length 'cut'", Truncated, last),
        (
            "d: length with reasoning only",
            "u u1; a a1 < u1 length",
            Truncated,
            last,
        ),
    ]);
}

#[test]
fn x12_stops() {
    use TailKind::{Aborted, Compacted, Declined, Finished};
    check(&[
        ("a blank end", "u u1; a a1 < u1", Aborted, Some("a1")),
        (
            "a blank end with words and tools",
            "u u1; a a1 < u1 'half' tool=bash=0",
            Aborted,
            Some("a1"),
        ),
        (
            "a blank end that an overflow explains",
            "u u1; a a1 < u1; u m overflow; a s < m summary stop 'sum'",
            Compacted,
            Some("s"),
        ),
        (
            "the mark stands among other parts",
            "u u1; a a1 < u1; u m synthetic overflow; a s < m summary stop 'sum'",
            Compacted,
            Some("s"),
        ),
        (
            "a compaction that no overflow caused explains nothing",
            "u u1; a a1 < u1; u m mark; a s < m summary stop 'sum'",
            Aborted,
            Some("s"),
        ),
        (
            "an abort before a compaction",
            "u u1; a a1 < u1 err=MessageAbortedError; u m mark; a s < m summary stop 'sum'",
            Aborted,
            Some("s"),
        ),
        (
            "a refusal before a compaction",
            "u u1; a a1 < u1 tools refused=bash; u m mark; a s < m summary stop 'sum'",
            Declined,
            Some("s"),
        ),
        (
            "an aborted compaction",
            "u u1; a a1 < u1 stop 'x'; u m mark; a s < m summary err=MessageAbortedError",
            Aborted,
            Some("s"),
        ),
        (
            "work after the abort",
            "u u1; a a1 < u1 err=MessageAbortedError; u u2; a a2 < u2 stop 'x'",
            Finished,
            Some("a2"),
        ),
    ]);
}

#[test]
fn x12_refusals_stop_and_other_broken_off_tools_do_not() {
    use TailKind::{Declined, Finished, Interrupted};
    check(&[
        (
            "a refusal",
            "u u1; a a1 < u1 tools refused=bash",
            Declined,
            Some("a1"),
        ),
        (
            "one refusal among others",
            "u u1; a a1 < u1 tools tool=ls refused=bash tool=ls",
            Declined,
            Some("a1"),
        ),
        (
            "a refusal that the model answered",
            "u u1; a a1 < u1 stop 'then not' refused=bash",
            Finished,
            Some("a1"),
        ),
        (
            "tools were asked for and nothing followed",
            "u u1; a a1 < u1 tools tool=bash=0",
            Interrupted,
            Some("a1"),
        ),
    ]);
}

#[test]
fn x12_an_overflow_seen_live_explains_the_newest_blank_end() {
    let read = |text: &str| {
        let goal = goal("");
        let context = TailContext {
            goal: &goal,
            revert: None,
            overflow_seen: true,
        };
        Tail::read(&timeline(text), context).kind
    };
    assert_eq!(read("u u1; a a1 < u1"), TailKind::Interrupted);
    assert_eq!(
        read("u u1; a a1 < u1; u m mark; a s < m summary stop 'sum'"),
        TailKind::Compacted
    );
    assert_eq!(
        read("u u1; a a1 < u1 err=MessageAbortedError"),
        TailKind::Aborted
    );
}

#[test]
fn r60_x20_summaries_and_empty_turns() {
    use TailKind::{Compacted, Finished, Hollow, Truncated};
    check(&[
        (
            "a summary",
            "u u1; a a1 < u1 stop 'x'; u m mark; a s < m summary stop 'sum'",
            Compacted,
            Some("s"),
        ),
        (
            "OpenCode went on after it",
            "u u1; a a1 < u1 stop 'x'; u m mark; a s < m summary stop 'sum'; u k synthetic; a a2 < k stop 'y'",
            Finished,
            Some("a2"),
        ),
        (
            "a cut-off reply before it",
            "u u1; a a1 < u1 length 'x'; u m mark; a s < m summary stop 'sum'",
            Compacted,
            Some("s"),
        ),
        (
            "no word, no tool",
            "u u1; a a1 < u1 stop",
            Hollow,
            Some("a1"),
        ),
        (
            "blank words",
            "u u1; a a1 < u1 stop ' '",
            Hollow,
            Some("a1"),
        ),
        (
            "cut off is not empty",
            "u u1; a a1 < u1 length",
            Truncated,
            Some("a1"),
        ),
    ]);
}

#[test]
fn x2_which_user_messages_are_tail() {
    use TailKind::{Finished, UserPending};
    let before = "u u1; a a1 < u1 stop 'done'";
    for (last, kind, id) in [
        ("u u2 'more'", UserPending, "u2"),
        ("u u2 file", UserPending, "u2"),
        ("u u2 synthetic 'more'", UserPending, "u2"),
        ("u u2 synthetic", Finished, "a1"),
        ("u u2 ignored", Finished, "a1"),
        ("u u2 mark", Finished, "a1"),
        ("u u2 synthetic mark ignored", Finished, "a1"),
        ("u u2 bare", Finished, "a1"),
    ] {
        check(&[(last, &format!("{before}; {last}"), kind, Some(id))]);
    }
}

#[test]
fn x2_one_step_answers_all_queued_messages() {
    use TailKind::{Finished, UserPending};
    check(&[
        (
            "the step answers the last of three",
            "u u1; u u2; u u3; a a1 < u3 stop 'all'",
            Finished,
            Some("a1"),
        ),
        (
            "a synthetic message was the last",
            "u u1; u u2 synthetic; a a1 < u2 stop 'all'",
            Finished,
            Some("a1"),
        ),
        (
            "the step answers an older one only",
            "u u1; u u2; a a1 < u1 stop 'first'",
            UserPending,
            Some("u2"),
        ),
        (
            "queued while the turn ran, then aborted",
            "u u1; a a1 < u1 err=MessageAbortedError; u u2; u u3",
            UserPending,
            Some("u3"),
        ),
        (
            "a summary is no answer to a person",
            "u u1; a a1 < u1 stop 'x'; u u2; u m mark; a s < m summary stop 'sum'",
            UserPending,
            Some("u2"),
        ),
    ]);
}

#[test]
fn x2_shell_messages_and_their_prompts_are_no_tail() {
    use TailKind::{Empty, Finished, UserPending};
    check(&[
        (
            "a shell command after the answer",
            "u u1; a a1 < u1 stop 'x'; u u2 'ran ls'; a sh < u2 shell tool=bash=0",
            Finished,
            Some("a1"),
        ),
        (
            "a shell command that runs",
            "u u1; a a1 < u1 stop 'x'; u u2 'ran ls'; a sh < u2 open shell tool=bash",
            Finished,
            Some("a1"),
        ),
        (
            "nothing but a shell command",
            "u u1 'ran ls'; a sh < u1 shell tool=bash=0",
            Empty,
            None,
        ),
        (
            "a prompt before a shell command stays unanswered",
            "u u1; a a1 < u1 stop 'x'; u u2; u u3; a sh < u3 shell tool=bash=0",
            UserPending,
            Some("u2"),
        ),
        (
            "a command run as a sub-task is the agent's work",
            "u u1; a a1 < u1 stop shell tool=task tool=bash=0",
            Finished,
            Some("a1"),
        ),
    ]);
}

#[test]
fn r57_order_follows_created_never_ids() {
    use TailKind::{Finished, Truncated};
    check(&[
        (
            "ids against time",
            "u z9; a z8 < z9 stop 'old'; u b2; a a1 < b2 length 'new'",
            Truncated,
            Some("a1"),
        ),
        (
            "listed in another order",
            "a a2 < u2 stop 'new' @4000; u u1 @1000; u u2 @3000; a a1 < u1 length @2000",
            Finished,
            Some("a2"),
        ),
        (
            "equal times keep the listed order",
            "u u1 @5; a b < u1 tools tool=x @5; a a < u1 stop 'end' @5",
            Finished,
            Some("a"),
        ),
        (
            "equal times, the other way round",
            "u u1 @5; a a < u1 stop 'end' @5; a b < u1 length @5",
            Truncated,
            Some("b"),
        ),
    ]);
}

#[test]
fn r57_a_message_is_found_by_its_id() {
    let timeline = timeline("u u1; a a1 < u1 stop 'x'; u u2");
    let found = |id: &str| timeline.get(&MessageId::new(id)).map(|found| found.created);
    assert_eq!(found("a1"), Some(Wall(2_000)));
    assert_eq!(found("u2"), Some(Wall(3_000)));
    assert_eq!(found("gone"), None);
}

#[test]
fn x14_messages_behind_the_revert_point_do_not_exist() {
    let all = "u u1; a a1 < u1 length 'x'; u u2; a a2 < u2 stop 'y'; u u3";
    let cut = |point: &str| {
        let revert = RevertId::new(point);
        let timeline = Timeline::new(messages(all), Some(&revert));
        let goal = goal("");
        let context = TailContext {
            goal: &goal,
            revert: Some(&revert),
            overflow_seen: false,
        };
        let tail = Tail::read(&timeline, context);
        (tail.kind, tail.id.map(|id| id.as_str().to_owned()))
    };
    let at = |id: &str| Some(id.to_owned());
    assert_eq!(cut("u3"), (TailKind::Finished, at("a2")));
    assert_eq!(cut("a2"), (TailKind::UserPending, at("u2")));
    assert_eq!(cut("u2"), (TailKind::Truncated, at("a1")));
    assert_eq!(cut("u1"), (TailKind::Empty, None));
    // The point lies before everything that was read.
    assert_eq!(cut("msg_older"), (TailKind::Empty, None));
}

#[test]
fn x18_our_own_continuation_is_recognised() {
    let turn = "u u1; a a1 < u1 stop 'x'";
    let ours = |after: &str| TailKind::OursUnanswered {
        after: MessageId::new(after),
    };
    for (name, line, kind) in [
        ("after a finished turn", format!("{turn}; c a1"), ours("a1")),
        (
            "after an unfinished one",
            "u u1; a a1 < u1 open; c a1".to_owned(),
            ours("a1"),
        ),
        (
            "after one of a person's that was never answered",
            format!("{turn}; u u2; c u2"),
            ours("u2"),
        ),
        (
            "a synthetic message came after it",
            format!("{turn}; c a1; u k synthetic"),
            ours("a1"),
        ),
        (
            "a person's came after it",
            format!("{turn}; c a1; u u2"),
            TailKind::UserPending,
        ),
    ] {
        assert_eq!(tail(&line).kind, kind, "{name}");
    }
}

#[test]
fn x18_a_tail_that_ended_late_is_still_recognised() {
    // Derived while the tail had no end: the abort's message came after the prompt.
    let mut late = messages("u u1; a a1 < u1 open; u u2");
    late[2].id = continuation_of(&late, "a1");
    let ended = messages("u u1; a a1 < u1 err=MessageAbortedError ends@2900");
    late[1] = ended[1].clone();
    let goal = goal("");
    let context = TailContext {
        goal: &goal,
        revert: None,
        overflow_seen: false,
    };
    let read = Tail::read(&Timeline::new(late.clone(), None), context);
    let expected = Tail {
        kind: TailKind::OursUnanswered {
            after: MessageId::new("a1"),
        },
        id: Some(late[2].id.clone()),
        at: Wall(3_000),
        stop_behind: true,
    };
    assert_eq!(read, expected);
    // Sent again, it is the same message and the same part.
    let sent = ids_sent(&Timeline::new(late.clone(), None), &late[2].id, context);
    let derived = ids(&goal.id, &MessageId::new("a1"), Wall(2_000), None);
    assert_eq!(sent, Some(derived));
}

#[test]
fn x18_the_ids_to_send_again() {
    let sent = |messages: &str, goal: &str| {
        let goal = support::goals::goal(goal);
        let context = TailContext {
            goal: &goal,
            revert: None,
            overflow_seen: false,
        };
        let timeline = timeline(messages);
        let last = timeline.messages().last().map(|last| last.id.clone());
        ids_sent(&timeline, &last.unwrap(), context)
    };
    let a1 = MessageId::new("a1");
    let revert = RevertId::new("msg_r");
    let goal = goal("");
    let plain = ids(&goal.id, &a1, Wall(2_500), None);
    let rewound = ids(&goal.id, &a1, Wall(2_500), Some(&revert));
    let turn = "u u1; a a1 < u1 stop 'x'";
    assert_eq!(sent(&format!("{turn}; c a1"), ""), Some(plain));
    assert_eq!(
        sent(&format!("{turn}; c a1/msg_r"), "over=a1/msg_r"),
        Some(rewound)
    );
    assert_eq!(sent(&format!("{turn}; c a1/msg_r"), ""), None);
    assert_eq!(sent(&format!("{turn}; c a1"), "id=g2"), None);
    assert_eq!(sent(&format!("{turn}; u u2"), ""), None);
}

#[test]
fn x18_another_goals_continuation_is_a_persons() {
    let goal = goal("id=g2");
    let context = TailContext {
        goal: &goal,
        revert: None,
        overflow_seen: false,
    };
    let read = Tail::read(&timeline("u u1; a a1 < u1 stop 'x'; c a1"), context);
    assert_eq!(read.kind, TailKind::UserPending);
}

#[test]
fn x18_a_continuation_made_while_rewound_is_recognised() {
    // The prompt removed what was rewound, and with it the session's revert point.
    let goal = goal("over=a1/msg_r");
    let context = TailContext {
        goal: &goal,
        revert: None,
        overflow_seen: false,
    };
    let read = Tail::read(&timeline("u u1; a a1 < u1 stop 'x'; c a1/msg_r"), context);
    let after = MessageId::new("a1");
    assert_eq!(read.kind, TailKind::OursUnanswered { after });
}

#[test]
fn x6_x18_the_time_of_a_tail_and_the_stop_behind_it() {
    let summary = "u m mark; a s < m summary stop 'sum'";
    for (name, messages, at, stop_behind) in [
        ("an empty session", "", 0, false),
        ("an ended message", "u u1; a a1 < u1 stop 'x'", 2_500, false),
        ("an open one", "u u1; a a1 < u1 open", 2_000, false),
        ("a prompt", "u u1; a a1 < u1 stop 'x'; u u2", 3_000, false),
        (
            "a stop behind a prompt",
            "u u1; a a1 < u1; u u2",
            3_000,
            true,
        ),
        (
            "a refusal behind a prompt",
            "u u1; a a1 < u1 tools refused=bash; c a1",
            3_000,
            true,
        ),
        (
            "a stop and a compaction behind it",
            &format!("u u1; a a1 < u1 err=MessageAbortedError; {summary}; c s"),
            5_000,
            true,
        ),
        (
            "an interruption is no stop",
            "u u1; a a1 < u1 tools tool=x; c a1",
            3_000,
            false,
        ),
    ] {
        let read = tail(messages);
        assert_eq!(
            (read.at, read.stop_behind),
            (Wall(at), stop_behind),
            "{name}"
        );
    }
}

/// Each case: name, messages after the prompt `u` with `T` for a cut-off one, and whether the two
/// newest that count were both cut off.
fn check_row(cases: &[(&str, &str, bool)]) {
    for (name, messages, expected) in cases {
        let messages = format!("u u @1; {}", messages.replace('T', "< u length 'x'"));
        let row = truncated_in_a_row(&timeline(&messages), 2);
        assert_eq!(row, *expected, "{name}");
    }
}

#[test]
fn r55_r58_truncations_in_a_row() {
    check_row(&[
        ("one", "a a T", false),
        ("two", "a a T; a b T", true),
        (
            "by error and by finish",
            "a a < u err=MessageOutputLengthError; a b T",
            true,
        ),
        (
            "a summary between (R58)",
            "a a T; u m mark; a s < m summary stop 'x'; a b T",
            true,
        ),
        (
            "a summary after (R59)",
            "a a T; a b T; u m mark; a s < m summary stop 'x'",
            true,
        ),
        (
            "an ordinary one between",
            "a a T; a o < u stop 'x'; a b T",
            false,
        ),
        (
            "a tool step between: a message counts, not a prompt's turn (X3)",
            "a a T; a o < u tools tool=x; a b T",
            false,
        ),
        (
            "a failed one between",
            "a a T; a o < u err=APIError; a b T",
            false,
        ),
        (
            "cut off, but failed (R48)",
            "a a T; a o < u length err=APIError; a b T",
            false,
        ),
        (
            "an aborted one between (R59)",
            "a a T; a o < u err=MessageAbortedError; a b T",
            true,
        ),
        ("a blank end between", "a a T; a o < u; a b T", true),
        ("a prompt between", "a a T; u v; a b T", true),
        (
            "an unfinished one after",
            "a a T; a b T; a o < u open",
            true,
        ),
    ]);
}

#[test]
fn r57_truncations_in_a_row_by_time() {
    check_row(&[
        (
            "listed otherwise",
            "a a T @4; a o < u stop 'x' @2; a b T @3",
            true,
        ),
        (
            "ids say T o T, time says o T T",
            "a b < u stop 'x' @2; a a T @3; a c T @4",
            true,
        ),
        (
            "ids say o T T, time says T o T",
            "a b T @2; a a < u stop 'x' @3; a c T @4",
            false,
        ),
    ]);
}

#[test]
fn r55_a_row_of_none_is_no_row() {
    assert!(!truncated_in_a_row(&timeline("u u; a a < u stop 'x'"), 0));
}

#[test]
fn x20_compactions_in_a_row() {
    let sum = |n: u32| format!("u m{n} mark; a s{n} < m{n} summary stop 'sum'; u k{n} synthetic");
    let (one, two, three) = (sum(1), sum(2), sum(3));
    for (name, messages, floor, expected) in [
        ("none", "u u; a a < u stop 'x'".to_owned(), 0, 0),
        ("three", format!("u u; {one}; {two}; {three}"), 0, 3),
        (
            "only thoughts between",
            format!("u u; {one}; a a < k1 stop; {two}; a b < k2 tools; {three}"),
            0,
            3,
        ),
        (
            "a word between",
            format!("u u; {one}; {two}; a a < k2 stop 'x'; {three}"),
            0,
            1,
        ),
        (
            "a tool result between",
            format!("u u; {one}; a a < k1 tools tool=x; {two}; {three}"),
            0,
            2,
        ),
        (
            "work after the last",
            format!("u u; {one}; {two}; {three}; a a < k3 stop 'x'"),
            0,
            0,
        ),
        (
            "the newest still runs",
            format!("u u; {one}; {two}; u m mark; a s < m summary open"),
            0,
            2,
        ),
        (
            "patience was granted at the first",
            format!("u u; {one}; {two}; {three}"),
            3_000,
            2,
        ),
        (
            "and at the last",
            format!("u u; {one}; {two}; {three}"),
            9_000,
            0,
        ),
    ] {
        let count = compactions_in_a_row(&timeline(&messages), Wall(floor));
        assert_eq!(count, expected, "{name}");
    }
}
