//! What each change does to every field (R74, R79, R83-R90, X6, X7, X12, X16, X17, X21).

mod support;

use goal_core::accounting::Ledger;
use goal_core::change::{Change, NewGoal, StoredObjective, apply, budget_spent, create};
use goal_core::decision::{BlockedCause, PauseCause, Settlement};
use goal_core::goal::{Goal, GoalId, MessageId, SessionId, Status, Unknown};
use goal_core::judge::Audited;
use goal_core::limits::Limits;
use goal_core::time::Wall;
use pretty_assertions::assert_eq;

use support::goals::{goal, model, over, session};

const LIMITS: Limits = Limits::DEFAULT;

/// A goal with something in every field; the write before was at 2000.
const FULL: &str = "budget=1000 used=400 baseline=50 committed=100 turns=7 blocked=2 fails=1 \
     note='half done' model=fake/small cursor=m1 over=m1/r1 first=m0 active_ms=10";

/// What [`FULL`] is after a write at 5000 that changes nothing of its own.
const LATER: &str = "updated=5000 active_ms=3010";

/// `FULL` with `before` added, changed at 5000, is `FULL` with `after` added.
fn check(name: &str, before: &str, change: Change, after: &str) {
    let written = apply(
        &goal(&format!("{FULL} {before}")),
        change,
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    assert_eq!(written, goal(&format!("{FULL} {LATER} {after}")), "{name}");
}

/// [`check`] for a change that empties what was resumed over.
fn check_emptied(name: &str, before: &str, change: Change, after: &str) {
    let written = apply(
        &goal(&format!("{FULL} {before}")),
        change,
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    let expected = Goal {
        resumed_over: None,
        ..goal(&format!("{FULL} {LATER} {after}"))
    };
    assert_eq!(written, expected, "{name}");
}

fn ledger() -> Ledger {
    Ledger {
        baseline: 0,
        committed: 450,
        used: 500,
        cursor: Some(MessageId::new("m2")),
    }
}

const ACCOUNTED: &str = "used=500 baseline=0 committed=450 cursor=m2";

fn audited(blocked: u32, fails: u32, note: Option<&str>, by: Option<&str>) -> Option<Audited> {
    Some(Audited {
        blocked_streak: blocked,
        audit_fail_streak: fails,
        note: note.map(str::to_owned),
        evaluation: by.map(model),
    })
}

fn continued(audited: Option<Audited>) -> Change {
    Change::Continued {
        ledger: ledger(),
        tail: MessageId::new("m2"),
        audited,
    }
}

fn settled(settlement: Settlement) -> Change {
    Change::Settled {
        settlement,
        ledger: ledger(),
        audited: audited(3, 0, Some("no key"), Some("fake/new")),
    }
}

#[test]
fn r74_a_continuation_is_counted_and_recorded() {
    check(
        "unaudited: streaks stay (R59)",
        "reason=resumed",
        continued(None),
        &format!("{ACCOUNTED} turns=8 step=m2 reason="),
    );
    check(
        "audited",
        "",
        continued(audited(0, 0, Some("two of three"), Some("fake/new"))),
        &format!(
            "{ACCOUNTED} turns=8 step=m2 blocked=0 fails=0 note='two of three' model=fake/new"
        ),
    );
    check(
        "a dropped note and a failed audit keep what was (R72, R73)",
        "",
        continued(audited(0, 2, None, None)),
        &format!("{ACCOUNTED} turns=8 step=m2 blocked=0 fails=2"),
    );
    check(
        "a record of an earlier step is replaced",
        "step=m1",
        continued(None),
        &format!("{ACCOUNTED} turns=8 step=m2"),
    );
    let record = apply(
        &goal(FULL),
        continued(None),
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    let step = record.valid_step().map(|step| step.tail.as_str());
    assert_eq!(
        step,
        Some("m2"),
        "the record counts as long as nothing follows"
    );
}

#[test]
fn r79_r70_an_ending_resets_the_streaks() {
    let keyed = format!("{ACCOUNTED} blocked=0 fails=0 note='no key' model=fake/new");
    for (settlement, expected) in [
        (Settlement::Complete, "complete reason='verified by audit'"),
        (
            Settlement::BudgetLimited,
            "budgetLimited reason='token budget reached'",
        ),
        (
            Settlement::Blocked(BlockedCause::ByAudit {
                note: "no key".to_owned(),
            }),
            "blocked reason='no key'",
        ),
        (
            Settlement::Blocked(BlockedCause::ByAudit {
                note: " ".to_owned(),
            }),
            "blocked reason='the audit found the goal blocked'",
        ),
        (
            Settlement::Blocked(BlockedCause::TurnFailed {
                reason: "APIError: 401".to_owned(),
            }),
            "blocked reason='APIError: 401'",
        ),
        (
            Settlement::Blocked(BlockedCause::TurnFailed {
                reason: String::new(),
            }),
            "blocked reason='assistant turn failed'",
        ),
        (
            Settlement::Blocked(BlockedCause::Cap),
            "blocked reason='auto-continuation limit reached'",
        ),
        (
            Settlement::Blocked(BlockedCause::RepeatedTruncation),
            "blocked reason='repeated output truncation'",
        ),
        (
            Settlement::Blocked(BlockedCause::AuditUnavailable),
            "blocked reason='progress audit unavailable'",
        ),
        (
            Settlement::Blocked(BlockedCause::EmptyReplies),
            "blocked reason='empty replies'",
        ),
        (
            Settlement::Blocked(BlockedCause::PromptRefused {
                text: "Model not found".to_owned(),
            }),
            "blocked reason='Model not found'",
        ),
    ] {
        check_emptied(
            expected,
            "step=m1",
            settled(settlement),
            &format!("{keyed} {expected}"),
        );
    }
}

#[test]
fn r70_an_ending_by_a_failed_audit_leaves_fresh_tolerance() {
    check_emptied(
        "two failures",
        "",
        Change::Settled {
            settlement: Settlement::Blocked(BlockedCause::AuditUnavailable),
            ledger: ledger(),
            audited: audited(0, 2, None, None),
        },
        &format!("{ACCOUNTED} blocked blocked=0 fails=0 reason='progress audit unavailable'"),
    );
}

#[test]
fn r2_a_reason_is_clamped() {
    let long = "x".repeat(300);
    let cause = BlockedCause::TurnFailed { reason: long };
    let written = apply(
        &goal(""),
        settled(Settlement::Blocked(cause)),
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    assert_eq!(written.status_reason, "x".repeat(200));
}

#[test]
fn r43_r44_a_pause_of_the_loop_accounts_and_says_why() {
    for (cause, reason) in [
        (PauseCause::Aborted, "paused after the turn was stopped"),
        (PauseCause::Declined, "paused after you declined a request"),
        (PauseCause::Archived, "session archived"),
        (
            PauseCause::FirstMessageMissing,
            "the first message of the goal never arrived",
        ),
        (PauseCause::ContextTooSmall, "context too small"),
        (PauseCause::NoProgress, "no progress"),
    ] {
        check_emptied(
            reason,
            "step=m1 reason=resumed",
            Change::LoopPaused {
                cause,
                ledger: Some(ledger()),
                audited: None,
            },
            &format!("{ACCOUNTED} paused blocked=0 reason='{reason}'"),
        );
        check_emptied(
            "without the messages",
            "",
            Change::LoopPaused {
                cause,
                ledger: None,
                audited: None,
            },
            &format!("paused blocked=0 reason='{reason}'"),
        );
    }
}

#[test]
fn r86_a_pause_of_the_user() {
    check_emptied(
        "active",
        "step=m1 reason=resumed",
        Change::Paused,
        "paused blocked=0 reason=",
    );
}

#[test]
fn r87_marked_complete_by_the_user() {
    check_emptied(
        "active",
        "step=m1",
        Change::MarkedComplete,
        "complete blocked=0 reason='marked by user'",
    );
}

fn resumed(budget: Option<Option<u64>>, over: Option<&str>) -> Change {
    Change::Resumed {
        token_budget: budget,
        over: over.map(support::goals::over),
        forget_first_message: false,
    }
}

#[test]
fn r88_x16_a_resume_grants_turns_streaks_and_tolerance() {
    let fresh = "active turns=0 blocked=0 fails=0 reason=resumed";
    for status in ["paused", "blocked", "budgetLimited"] {
        // Only active time counts, so these stopped goals keep their sum.
        check(
            status,
            &format!("{status} reason='why it stopped' step=m1"),
            resumed(None, Some("m9")),
            &format!("{fresh} over=m9 active_ms=10"),
        );
    }
    check_emptied(
        "over a busy session nothing is gone over",
        "paused",
        resumed(None, None),
        &format!("{fresh} active_ms=10"),
    );
    check(
        "with a larger budget",
        "budgetLimited used=1000",
        resumed(Some(Some(1_001)), Some("m9")),
        &format!("{fresh} used=1000 budget=1001 over=m9 active_ms=10"),
    );
    let without = apply(
        &goal("budgetLimited budget=5 used=5"),
        resumed(Some(None), None),
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    assert_eq!(without, goal("used=5 reason=resumed updated=5000"));
}

#[test]
fn x16_a_spent_budget_starts_nothing() {
    for budget in [None, Some(Some(1)), Some(Some(400))] {
        let expected = match budget {
            Some(Some(budget)) => format!("budget={budget}"),
            None | Some(None) => "budget=400".to_owned(),
        };
        check_emptied(
            "resumed",
            "paused budget=400",
            resumed(budget, Some("m9")),
            &format!(
                "{expected} budgetLimited turns=0 blocked=0 fails=0 \
                 reason='token budget reached' active_ms=10"
            ),
        );
    }
    let edited = Change::Edited {
        objective: Some(StoredObjective::Inline("More".to_owned())),
        token_budget: None,
        over: None,
        forget_first_message: false,
    };
    check_emptied(
        "edited (G34)",
        "budgetLimited budget=400",
        edited,
        "text=More budget=400 budgetLimited blocked=0 reason='token budget reached' active_ms=10",
    );
}

#[test]
fn x16_when_a_budget_is_spent() {
    for (line, new, expected) in [
        ("used=5", None, false),
        ("budget=6 used=5", None, false),
        ("budget=5 used=5", None, true),
        ("budget=4 used=5", None, true),
        ("budget=5 used=5", Some(Some(6)), false),
        ("budget=9 used=5", Some(Some(5)), true),
        ("budget=5 used=5", Some(None), false),
    ] {
        assert_eq!(budget_spent(&goal(line), new), expected, "{line} {new:?}");
    }
}

#[test]
fn r85_an_edit_keeps_the_counters() {
    let edited = |objective, budget| Change::Edited {
        objective,
        token_budget: budget,
        over: Some(over("m9")),
        forget_first_message: false,
    };
    check(
        "another text, while it runs",
        "step=m1",
        edited(Some(StoredObjective::Inline("More".to_owned())), None),
        "text=More blocked=0 reason=resumed over=m9",
    );
    check(
        "into a file",
        "blocked reason=why",
        edited(Some(StoredObjective::File), None),
        "text=file blocked=0 reason=resumed over=m9 active_ms=10 active",
    );
    check(
        "another budget",
        "paused",
        edited(None, Some(Some(401))),
        "budget=401 blocked=0 reason=resumed over=m9 active_ms=10",
    );
    let long = StoredObjective::Inline("x".repeat(6_000));
    let written = apply(
        &goal(""),
        edited(Some(long), None),
        &session(),
        Wall(1),
        &LIMITS,
    );
    assert_eq!(written.objective, "x".repeat(5_000));
}

#[test]
fn x21_resume_and_edit_forget_a_first_message_that_does_not_exist() {
    for forget in [true, false] {
        let first = if forget {
            None
        } else {
            Some(MessageId::new("m0"))
        };
        let changes = [
            Change::Resumed {
                token_budget: None,
                over: None,
                forget_first_message: forget,
            },
            Change::Edited {
                objective: None,
                token_budget: None,
                over: None,
                forget_first_message: forget,
            },
        ];
        for change in changes {
            let written = apply(&goal(FULL), change, &session(), Wall(5_000), &LIMITS);
            assert_eq!(written.first_message, first);
        }
    }
}

#[test]
fn x7_a_turn_is_given_back_once() {
    check("first", "step=m1", Change::Refunded, "turns=6");
    check("again", "turns=6", Change::Refunded, "turns=6");
    check(
        "the record is older than another write",
        "step=m1@1999",
        Change::Refunded,
        "",
    );
    let twice = [Change::Refunded, Change::Refunded]
        .into_iter()
        .fold(goal("turns=3 step=m1"), |goal, change| {
            apply(&goal, change, &session(), Wall(5_000), &LIMITS)
        });
    assert_eq!(twice.turns_used, 2);
}

#[test]
fn x12_a_pause_by_a_reload_is_undone() {
    check(
        "as if it had not been",
        "paused reason='paused after the turn was stopped'",
        Change::ReloadUndone { over: over("m9") },
        "active reason= over=m9 active_ms=10",
    );
}

#[test]
fn x6_other_writes_of_ours_carry_the_record_along() {
    // The only write that neither stops, goes on nor continues.
    let written = apply(
        &goal("turns=3 step=m1 paused"),
        Change::ReloadUndone { over: over("m1") },
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    let expected = goal("turns=3 step=m1 updated=5000 over=m1");
    assert_eq!(written, expected);
    let stale = apply(
        &goal("turns=3 step=m1@1999 paused"),
        Change::ReloadUndone { over: over("m1") },
        &session(),
        Wall(5_000),
        &LIMITS,
    );
    assert_eq!(stale, goal("turns=3 updated=5000 over=m1"));
}

/// Every change, for rules that hold for all.
fn changes() -> Vec<Change> {
    vec![
        continued(None),
        settled(Settlement::Complete),
        Change::LoopPaused {
            cause: PauseCause::Aborted,
            ledger: None,
            audited: None,
        },
        Change::Refunded,
        Change::ReloadUndone { over: over("m9") },
        Change::Edited {
            objective: None,
            token_budget: None,
            over: None,
            forget_first_message: false,
        },
        Change::Paused,
        resumed(None, None),
        Change::MarkedComplete,
    ]
}

#[test]
fn x17_every_write_stamps_a_later_time_and_keeps_what_it_does_not_know() {
    let unknown = Unknown(vec![("later".to_owned(), "{ \"x\" : 1.0 }".to_owned())]);
    for (now, updated) in [(5_000, 5_000), (2_000, 2_001), (7, 2_001)] {
        for change in changes() {
            let before = Goal {
                unknown: unknown.clone(),
                ..goal(FULL)
            };
            let after = apply(&before, change.clone(), &session(), Wall(now), &LIMITS);
            let kept = |goal: &Goal| (goal.id.clone(), goal.created_at, goal.unknown.clone());
            assert_eq!(kept(&after), kept(&before), "{change:?}");
            assert_eq!(after.updated_at, Wall(updated), "{change:?} at {now}");
        }
    }
}

#[test]
fn x11_the_first_write_names_the_owner() {
    for change in changes() {
        let owner = |line: &str| {
            apply(&goal(line), change.clone(), &session(), Wall(1), &LIMITS).session_id
        };
        assert_eq!(owner("owner="), Some(session()));
        let other = Some(SessionId::new("ses_0"));
        assert_eq!(owner("owner=ses_0"), other, "an owner stays");
    }
}

#[test]
fn x17_time_counts_while_it_is_active() {
    let spent = |line: &str| {
        let written = apply(
            &goal(line),
            Change::Paused,
            &session(),
            Wall(5_000),
            &LIMITS,
        );
        written.active_ms
    };
    assert_eq!(spent("active_ms=10"), 3_010);
    for status in ["paused", "blocked", "budgetLimited", "complete"] {
        assert_eq!(spent(&format!("{status} active_ms=10")), 10, "{status}");
    }
    assert_eq!(spent("active_ms=10 updated=9000"), 10, "a clock set back");
    assert_eq!(
        spent("active_ms=10 updated=0"),
        10,
        "a write of unknown time"
    );
}

#[test]
fn r37_a_smaller_ledger_lowers_nothing() {
    let smaller = Ledger {
        baseline: 1,
        committed: 2,
        used: 3,
        cursor: None,
    };
    let change = Change::LoopPaused {
        cause: PauseCause::Aborted,
        ledger: Some(smaller),
        audited: None,
    };
    let written = apply(&goal("used=400"), change, &session(), Wall(5_000), &LIMITS);
    assert_eq!(written.tokens_used, 400);
}

#[test]
fn r84_a_new_goal_begins_from_nothing() {
    let new = NewGoal {
        id: GoalId::new("g1"),
        session: session(),
        objective: StoredObjective::Inline("Ship it".to_owned()),
        token_budget: Some(9),
        first_message: Some(MessageId::new("m0")),
        over: Some(over("m1")),
    };
    let created = create(new.clone(), Wall(7), &LIMITS);
    let expected = goal("created=7 updated=7 budget=9 first=m0 over=m1");
    assert_eq!(created, expected);

    let filed = NewGoal {
        objective: StoredObjective::File,
        token_budget: None,
        first_message: None,
        over: None,
        ..new.clone()
    };
    let expected = goal("created=7 updated=7 text=file");
    assert_eq!(create(filed, Wall(7), &LIMITS), expected);

    let long = NewGoal {
        objective: StoredObjective::Inline("x".repeat(6_000)),
        ..new
    };
    assert_eq!(create(long, Wall(7), &LIMITS).objective, "x".repeat(5_000));
}

#[test]
fn r83_what_can_be_resumed() {
    let can: Vec<&str> = Status::ALL
        .into_iter()
        .filter(|status| status.can_resume())
        .map(Status::name)
        .collect();
    assert_eq!(can, ["paused", "blocked", "budgetLimited"]);
}
