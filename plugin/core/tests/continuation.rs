//! The ids of a continuation (X6, X21, O13).

use std::collections::BTreeSet;

use goal_core::continuation::{first_message_id, goal_id, ids};
use goal_core::goal::{GoalId, MessageId, RevertId, SessionId};
use goal_core::time::Wall;
use pretty_assertions::assert_eq;

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
