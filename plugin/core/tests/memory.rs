//! What is remembered between cycles (X10, X18, X20, X21).

mod support;

use std::time::Duration;

use goal_core::goal::{GoalId, MessageId};
use goal_core::memory::{Memory, Repeat};
use goal_core::message::ToolUse;
use goal_core::time::{Mono, Wall};
use pretty_assertions::assert_eq;

use support::scenes::{Scene, scene};
use support::tails::tail;

const DONE: &str = "u u1; a a1 < u1 stop 'done'";
const OPEN: &str = "u u1; a a1 < u1 open";
const HOLLOW: &str = "u u1; a a1 < u1 stop";

/// A memory after it observed these tails, each at its time.
fn observed(tails: &[(&str, u64)]) -> Memory {
    let mut memory = Memory::default();
    for (messages, at) in tails {
        memory.observe(&tail(messages), false, Mono(*at));
    }
    memory
}

fn at(id: &str, ms: u64) -> Option<(MessageId, Mono)> {
    Some((MessageId::new(id), Mono(ms)))
}

#[test]
fn x10_since_when_a_tail_stands_untouched() {
    let since = |memory: &Memory| memory.unbacked.clone().map(|(_, since)| since);
    let twice = observed(&[(OPEN, 10), (OPEN, 70)]);
    assert_eq!(since(&twice), Some(Mono(10)), "the same tail");
    assert_eq!(twice.unbacked_for(Mono(100)), Duration::from_millis(90));
    assert_eq!(twice.unbacked_for(Mono(5)), Duration::ZERO);

    let grown = format!("{OPEN}; a a2 < u1 open");
    assert_eq!(
        since(&observed(&[(OPEN, 10), (&grown, 70)])),
        Some(Mono(70)),
        "another tail"
    );

    let mut touched = twice;
    touched.touched();
    assert_eq!(touched.unbacked_for(Mono(100)), Duration::ZERO);
    touched.observe(&tail(OPEN), false, Mono(120));
    assert_eq!(since(&touched), Some(Mono(120)), "an event in between");
}

#[test]
fn x21_since_when_the_first_message_is_missed() {
    let mut memory = Memory::default();
    let mut missed = |missing, at| {
        memory.observe(&tail(DONE), missing, Mono(at));
        memory.first_missed
    };
    assert_eq!(missed(false, 1), None);
    assert_eq!(missed(true, 2), Some(Mono(2)));
    assert_eq!(missed(true, 3), Some(Mono(2)));
    assert_eq!(missed(false, 4), None);
    assert_eq!(missed(true, 5), Some(Mono(5)));
}

#[test]
fn x20_since_when_an_empty_turn_stands() {
    assert_eq!(observed(&[(HOLLOW, 10), (HOLLOW, 70)]).hollow, at("a1", 10));
    let second = format!("{HOLLOW}; u u2; a a2 < u2 stop");
    assert_eq!(
        observed(&[(HOLLOW, 10), (&second, 70)]).hollow,
        at("a2", 70)
    );
    for other in [
        DONE,
        OPEN,
        "u u1; a a1 < u1 stop; u u2",
        "u u1; a a1 < u1 length",
        "",
    ] {
        assert_eq!(
            observed(&[(HOLLOW, 10), (other, 70)]).hollow,
            None,
            "{other}"
        );
    }
}

#[test]
fn x20_nudges_are_in_a_row() {
    let after = |messages: &str| {
        let mut memory = Memory {
            nudges: 1,
            ..Memory::default()
        };
        memory.observe(&tail(messages), false, Mono(1));
        memory.nudges
    };
    assert_eq!(after(DONE), 0, "a turn with words ends the row");
    assert_eq!(
        after("u u1; a a1 < u1 stop tool=bash=0"),
        0,
        "or with a tool"
    );
    for messages in [HOLLOW, OPEN, "u u1; a a1 < u1 stop; u u2"] {
        assert_eq!(after(messages), 1, "{messages}");
    }
}

#[test]
fn x20_equal_audits_are_counted_by_note_and_tools() {
    let bash = |exit| {
        vec![ToolUse {
            tool: "bash".to_owned(),
            exit: Some(exit),
            ..ToolUse::default()
        }]
    };
    let mut memory = Memory::default();
    assert_eq!(memory.count_audit("same", &[]), 1);
    assert_eq!(memory.count_audit("same", &[]), 2);
    assert_eq!(memory.count_audit("same", &bash(0)), 1);
    assert_eq!(memory.count_audit("same", &bash(0)), 2);
    assert_eq!(memory.count_audit("same", &bash(1)), 1);
    assert_eq!(memory.count_audit("other", &bash(1)), 1);
    assert_eq!(memory.count_audit("", &bash(1)), 1);
    assert_eq!(memory.count_audit("", &bash(1)), 2);
    memory.repeat = memory.repeat.map(|repeat| Repeat {
        count: u32::MAX,
        ..repeat
    });
    assert_eq!(memory.count_audit("", &bash(1)), u32::MAX);
}

/// A scene whose memory is worn, so that patience granted anew shows.
fn worn(messages: &str) -> Scene {
    scene("", messages).with(|s| {
        s.memory = Memory {
            nudges: 1,
            human: Some(MessageId::new("u1")),
            ..Memory::default()
        };
    })
}

fn is_granted(scene: &Scene) -> bool {
    let memory = scene.snapshot().memory;
    assert_ne!(memory.human, None, "a person is remembered");
    memory.nudges == 0
}

#[test]
fn x20_a_new_message_of_a_person_grants_patience() {
    let turn = "u u0; a a0 < u0 stop 'x'; u u1; a a1 < u1 stop";
    for (name, messages, expected) in [
        ("the one that is known", turn.to_owned(), false),
        ("a new one", format!("{turn}; u u2; a a2 < u2 stop"), true),
        ("our own", format!("{turn}; c a1; a a2 < u2 stop"), false),
        (
            "a synthetic one",
            format!("{turn}; u u2 synthetic; a a2 < u2 stop"),
            false,
        ),
        (
            "a new one behind our own",
            format!("{turn}; u u2; a a2 < u2 stop; c a2; a a3 < u3 stop"),
            true,
        ),
    ] {
        assert_eq!(is_granted(&worn(&messages)), expected, "{name}");
    }
}

#[test]
fn x20_a_message_grants_patience_once() {
    let known = MessageId::new("u1");
    let mut memory = Memory::default();
    memory.observe_human(Some((&known, Wall(1))));
    memory.nudges = 1;
    memory.observe_human(Some((&known, Wall(1))));
    memory.observe_human(None);
    assert_eq!((memory.nudges, memory.human), (1, Some(known)));
}

#[test]
fn x20_a_window_that_slides_brings_no_new_person() {
    // A run so long that the window begins with a continuation of ours, whose tail is outside it.
    let all =
        "u u1; a a1 < u1 stop; c a1; a a2 < u2 stop; c a2; a a3 < u3 stop; c a3; a a4 < u4 stop";
    let whole = support::tails::messages(all);
    for cut in 1..whole.len() {
        let mut memory = worn(all).memory;
        let goal = support::goals::goal("");
        let timeline = goal_core::timeline::Timeline::new(whole[cut..].to_vec(), None);
        let context = goal_core::tail::TailContext {
            goal: &goal,
            revert: None,
            overflow_seen: false,
        };
        memory.observe_human(goal_core::tail::newest_human_prompt(&timeline, context));
        assert_eq!(memory, worn(all).memory, "without the first {cut}");
    }
}

#[test]
fn x20_compactions_begin_anew_at_a_restart_and_at_a_resume() {
    let squeezed = "u u1; a a0 < u1 stop 'x'; u m1 mark; a s1 < m1 summary stop 's'; \
                    u m2 mark; a s2 < m2 summary stop 's'; u m3 mark; a s3 < m3 summary stop 's'";
    let floor = |memory: Memory| {
        let snapshot = scene("", squeezed).with(|s| s.memory = memory).snapshot();
        snapshot.memory.compactions_from
    };
    let fresh = |newest| Memory::fresh(&GoalId::new("g1"), Wall(newest));
    assert_eq!(floor(fresh(7)), Wall(7), "known");
    assert_eq!(floor(fresh(0)), Wall(8_000), "unknown until the first look");
    let mut resumed = fresh(7);
    resumed.resumed(Wall(0));
    assert_eq!(floor(resumed), Wall(8_000), "resumed");

    // Only once: what comes after that observation counts.
    let mut memory = fresh(0);
    memory.begin(Wall(5));
    memory.begin(Wall(9));
    assert_eq!(memory.compactions_from, Wall(5));
}

#[test]
fn x20_nothing_is_remembered_of_an_earlier_goal() {
    let fresh = Memory::fresh(&GoalId::new("g2"), Wall(7));
    let expected = Memory {
        goal: Some(GoalId::new("g2")),
        compactions_from: Wall(7),
        ..Memory::default()
    };
    assert_eq!(fresh, expected);
}

#[test]
fn x20_compactions_count_from_where_a_goal_began_that_was_seen_to() {
    let messages = "u m1 mark; a s1 < m1 summary stop 's'; u u1; u m2 mark; \
                    a s2 < m2 summary stop 's'; u m3 mark; a s3 < m3 summary stop 's'";
    let floor = |goal: &str, found: bool| {
        let s = scene(goal, messages).with(|s| {
            s.memory = Memory::of(&s.goal);
            if found {
                s.memory.found();
            }
        });
        s.snapshot().memory.compactions_from
    };
    for (name, goal, found, expected) in [
        ("by its first message", "first=u1", false, 3_000),
        ("by its time", "created=5500", false, 5_000),
        ("found", "first=u1", true, 7_000),
        ("resumed", "first=u1 reason=resumed", false, 7_000),
        ("continued", "first=u1 turns=1", false, 7_000),
        ("accounted", "first=u1 cursor=s2", false, 7_000),
    ] {
        assert_eq!(floor(goal, found), Wall(expected), "{name}");
    }
    let mut resumed = Memory::of(&support::goals::goal(""));
    resumed.resumed(Wall(0));
    assert_eq!(resumed, Memory::fresh(&GoalId::new("g1"), Wall(0)));
}

#[test]
fn x21_a_first_message_that_was_there_once_is_not_missed() {
    let missing = |seen| {
        let s = scene("first=u9", DONE).with(|s| {
            s.first_message_exists = false;
            s.memory.first_seen = seen;
        });
        let snapshot = s.snapshot();
        (snapshot.first_message_exists, snapshot.memory.first_missed)
    };
    assert!(!missing(false).0);
    assert_eq!(missing(true), (true, None));
    for (goal, awaited) in [
        ("first=u9", true),
        ("first=u9 reason=resumed", true),
        ("first=u9 cursor=a1", false),
        ("first=u9 turns=1", false),
        ("", false),
    ] {
        let made = support::goals::goal(goal);
        assert_eq!(made.awaited_prompt().is_some(), awaited, "{goal}");
    }
}
