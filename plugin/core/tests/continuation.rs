//! The ids of a continuation (X6, X21, O13), and what the agent was told by one (G61).

mod support;

use std::collections::BTreeSet;

use goal_core::continuation::{first_message_id, goal_id, ids, told_otherwise};
use goal_core::goal::{GoalId, MessageId, RevertId, SessionId};
use goal_core::message::Part;
use goal_core::prompt::{self, Continuation, Occasion};
use goal_core::tail::TailContext;
use goal_core::time::Wall;
use goal_core::timeline::Timeline;
use pretty_assertions::assert_eq;

use support::{goals, tails};

fn both(goal: &str, tail: &str, at: u64, revert: Option<&str>) -> (String, String) {
    let revert = revert.map(RevertId::new);
    let ids = ids(
        &GoalId::new(goal),
        &MessageId::new(tail),
        Wall(at),
        revert.as_ref(),
    );
    (ids.message.as_str().to_owned(), ids.part)
}

#[test]
fn x6_known_values() {
    // Computed by another program from the rule: SHA-256 over (prefix, goal, tail, revert or ""),
    // each behind its length in 64 bits, little-endian; 14 of its bytes, modulo 62.
    for (tail, revert, message, part) in [
        (
            "msg_tail",
            None,
            "msg_22bc46d21fffPUZLy03RmCDm6h",
            "prt_22bc46d21fffG9NWkJgIEtGxFV",
        ),
        (
            "msg_tail",
            Some("msg_rev"),
            "msg_22bc46d21fffGVWneICzumoshK",
            "prt_22bc46d21fffa4l6l3IxVh7G3j",
        ),
    ] {
        let expected = (message.to_owned(), part.to_owned());
        assert_eq!(both("g1", tail, 1_796_030_623_009, revert), expected);
    }
}

#[test]
fn x6_the_time_part_is_native_and_wraps() {
    for (at, hex) in [
        (0, "000000000fff"),
        (1, "000000001fff"),
        ((1 << 36) - 1, "ffffffffffff"),
        (1 << 36, "000000000fff"),
        (u64::MAX, "ffffffffffff"),
    ] {
        let (message, part) = both("g1", "msg_tail", at, None);
        assert_eq!((&message[4..16], &part[4..16]), (hex, hex), "{at}");
    }
}

#[test]
fn x6_ids_sort_behind_every_native_id_of_the_tails_time_and_before_all_later_ones() {
    let native = |ms: u64, counter: u64, rest: &str| {
        format!(
            "msg_{:012x}{rest}",
            (ms * 4_096 + counter) & 0xFFFF_FFFF_FFFF
        )
    };
    let at = 1_796_047_813_065;
    for goal in ["g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8"] {
        // A prompt that nobody answered is created in the millisecond its id tells.
        let tail = native(at, 1, "i1gazfYtPq4hTM");
        let (message, _) = both(goal, &tail, at, None);
        assert!(message > tail, "{message} answers {tail}");
        assert!(message > native(at, 4_094, "zzzzzzzzzzzzzz"), "{message}");
        assert!(message < native(at + 1, 1, "00000000000000"), "{message}");
    }
}

#[test]
fn x6_every_ingredient_makes_other_ids() {
    let made = [
        both("g1", "t", 1, None),
        both("g2", "t", 1, None),
        both("g1", "u", 1, None),
        both("g1", "t", 2, None),
        both("g1", "t", 1, Some("r")),
        both("g1", "t", 1, Some("s")),
        both("g1t", "", 1, None),
        both("g", "1t", 1, None),
        both("g1", "", 1, Some("t")),
    ];
    let messages: BTreeSet<&str> = made.iter().map(|(message, _)| &message[4..]).collect();
    let parts: BTreeSet<&str> = made.iter().map(|(_, part)| &part[4..]).collect();
    assert_eq!((messages.len(), parts.len()), (made.len(), made.len()));
    assert!(
        messages.is_disjoint(&parts),
        "a part is not named like its message"
    );
    assert_eq!(both("g1", "t", 1, Some("")), both("g1", "t", 1, None));
}

#[test]
fn x21_o13_drawn_ids_follow_their_randomness() {
    let session = |id: &str| SessionId::new(id);
    let first = first_message_id(Wall(1), b"abc");
    let goal = goal_id(&session("ses_1"), Wall(1), b"abc");
    assert_eq!(first, first_message_id(Wall(1), b"abc"));
    assert_ne!(first, first_message_id(Wall(1), b"abd"));
    assert_ne!(first, first_message_id(Wall(2), b"abc"));
    assert_ne!(goal, goal_id(&session("ses_1"), Wall(1), b"abd"));
    assert_ne!(goal, goal_id(&session("ses_2"), Wall(1), b"abc"));
    for (id, prefix) in [(first.as_str(), "msg_"), (goal.as_str(), "goal_")] {
        let rest = id.strip_prefix(prefix).unwrap();
        assert_eq!(rest.len(), 26, "{id}");
        assert!(rest.starts_with("000000001fff"), "{id}");
        assert!(
            rest.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{id}"
        );
    }
}

/// The text of a continuation over this objective.
fn told(objective: &str) -> String {
    prompt::continuation(&Continuation {
        objective,
        occasion: Occasion::Progress,
        tokens_used: 1,
        token_budget: None,
        turn: 1,
        turns_max: 20,
    })
}

/// Whether a goal whose messages are these is continued as edited. Of the prompts, the n-th says
/// the n-th of `says`.
fn edited(goal: &str, messages: &str, says: &[&str], objective: &str) -> bool {
    let goal = goals::goal(goal);
    let mut messages = tails::messages(messages);
    let prompts = messages
        .iter_mut()
        .filter(|message| message.step().is_none());
    for (message, says) in prompts.zip(says) {
        message.parts = vec![
            Part::Text {
                text: (*says).to_owned(),
                unseen: false,
            },
            Part::Text {
                text: "goal mode is on".to_owned(),
                unseen: true,
            },
        ];
    }
    let context = TailContext {
        goal: &goal,
        revert: None,
        overflow_seen: false,
    };
    told_otherwise(&Timeline::new(messages, None), context, objective, 10)
}

#[test]
fn g61_an_edit_is_told_by_the_newest_continuation() {
    let once = "u u1; a a1 < u1 stop 'x'; c a1; a a2 < u2 stop 'y'";
    let twice = &format!("{once}; c a2; a a3 < u3 stop 'z'");
    let (old, new) = (&*told("a < b"), &*told("new"));
    let first = "first=u1 reason=resumed";
    for (name, goal, messages, says, objective, expected) in [
        ("the same", "", once, ["go", old, ""], "a < b", false),
        ("another", "", once, ["go", old, ""], "new", true),
        ("longer", "", once, ["go", old, ""], "a < b & c", true),
        ("told since", "", twice, ["go", old, new], "new", false),
        ("and back", "", twice, ["go", old, new], "a < b", true),
        ("no block", "", once, ["go", "go on", ""], "new", false),
        (
            "a person's words",
            "",
            "u u1; a a1 < u1 stop 'x'; u u2",
            ["go", old, ""],
            "new",
            false,
        ),
        (
            "behind a first one",
            first,
            once,
            ["a < b", old, ""],
            "a < b",
            false,
        ),
    ] {
        assert_eq!(edited(goal, messages, &says, objective), expected, "{name}");
    }
}

#[test]
fn g61_before_the_first_continuation_the_goals_own_prompt_tells() {
    let begun = "u u1; a a1 < u1 stop 'x'";
    let resumed = "first=u1 reason=resumed";
    for (name, goal, says, objective, expected) in [
        ("the same", resumed, " old ", "old", false),
        ("another", resumed, "old", "new", true),
        ("nobody resumed or edited", "first=u1", "old", "new", false),
        (
            "no such prompt",
            "first=u9 reason=resumed",
            "old",
            "new",
            false,
        ),
        (
            "no prompt of its own",
            "reason=resumed",
            "old",
            "new",
            false,
        ),
        (
            "shortened for the auditor",
            resumed,
            "longer than ten",
            "new",
            false,
        ),
    ] {
        assert_eq!(edited(goal, begun, &[says], objective), expected, "{name}");
    }
}
