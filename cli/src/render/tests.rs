use goal_core::goal::{GoalId, ModelRef, SessionId};
use goal_core::goal::{MessageId, Unknown};
use goal_engine::store::DecisionRecord;
use goal_engine::view::Phase;
use pretty_assertions::assert_eq;

use super::*;

/// An active goal that waits for a sub-agent.
pub(crate) fn view() -> GoalView {
    GoalView {
        session: SessionId::new("ses_1"),
        title: "Fix the parser".to_owned(),
        directory: "/project".to_owned(),
        goal: Goal {
            id: GoalId::new("g_1"),
            objective: "All tests pass".to_owned(),
            objective_file: false,
            status: Status::Active,
            token_budget: Some(200_000),
            tokens_used: 12_345,
            tokens_baseline: 0,
            tokens_committed: 0,
            turns_used: 3,
            blocked_streak: 0,
            audit_fail_streak: 0,
            note: "two of three done".to_owned(),
            status_reason: String::new(),
            evaluation: Some(ModelRef {
                provider: "anthropic".to_owned(),
                model: "haiku".to_owned(),
            }),
            last_accounted: Some(MessageId::new("msg_1")),
            created_at: Wall(1_000),
            updated_at: Wall(60_000),
            session_id: None,
            continued_after: None,
            resumed_over: None,
            first_message: None,
            active_ms: 59_000,
            unknown: Unknown::default(),
        },
        phase: Phase::WaitingForSubagent,
        why: "subagentBusy".to_owned(),
        detail: "ses_child".to_owned(),
        since: Wall(60_000),
        next: Some(Wall(300_000)),
        seq: 1,
    }
}

fn utc(now: u64) -> Clock {
    Clock {
        now: Wall(now),
        zone: TimeZone::UTC,
    }
}

#[test]
fn a_goal_is_shown_with_all_there_is_to_say() {
    let objective = "All tests pass.\n\nChecked by cargo test.";
    let lines = goal(
        &view(),
        Some(objective),
        &Limits::DEFAULT,
        &utc(61_000),
        Page::PIPE,
    );
    let expected = [
        "ses_1  Fix the parser",
        "  Status        active",
        "  Now           a sub-agent works (ses_child · next look in 3 min 59 s)",
        "  Objective     All tests pass.",
        "                Checked by cargo test.",
        "  Note          two of three done",
        "  Tokens        12K of 200K tokens",
        "  Turns         continuation 3 of 20",
        "  Audited by    anthropic/haiku",
        "  Active for    1 min 0 s",
        "  Created       1970-01-01 00:00:01",
        "  Updated       1970-01-01 00:01:00",
        "  Folder        /project",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_goal_that_rests_says_why_and_does_nothing() {
    let mut view = view();
    view.goal.status = Status::Blocked;
    view.goal.status_reason = "auto-continuation limit reached".to_owned();
    view.phase = Phase::Settled;
    let lines = goal(&view, None, &Limits::DEFAULT, &utc(61_000), Page::PIPE);
    let has = |line: &str| lines.iter().any(|shown| shown == line);
    assert!(has(
        "  Status        blocked: the automatic continuations are used up"
    ));
    assert!(has("  Objective     (its text is not on this machine)"));
    assert!(!lines.iter().any(|line| line.starts_with("  Now")));
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut view = view();
    for text in [
        &mut view.title,
        &mut view.detail,
        &mut view.goal.note,
        &mut view.directory,
    ] {
        text.push_str("\u{1b}[2J\u{9b}2J\r\u{202e}");
    }
    view.goal.evaluation = Some(ModelRef {
        provider: "\u{1b}]0;".to_owned(),
        model: "\u{7}".to_owned(),
    });
    let shown = goal(
        &view,
        Some("a\u{1b}[31m\rb"),
        &Limits::DEFAULT,
        &utc(0),
        Page::PIPE,
    );
    view.goal.status = Status::Blocked;
    view.goal.status_reason = "APIError: \u{1b}[31mno".to_owned();
    let listed = list(&[view.clone()], Page::PIPE);
    let status = status(&view.goal);
    for line in shown.iter().chain(&listed).chain([&status]) {
        assert!(
            !line.chars().any(|c| c.is_control() || text::is_harmful(c)),
            "{line:?}"
        );
    }
    assert_eq!(status, "blocked: APIError: ␛[31mno");
}

#[test]
fn a_list_stands_in_columns_with_active_goals_first() {
    let mut ended = view();
    ended.session = SessionId::new("ses_longer_id");
    ended.title = "日本語の題名はここで切れてしまいます".to_owned();
    ended.goal.status = Status::Paused;
    ended.goal.status_reason = "no progress".to_owned();
    ended.goal.updated_at = Wall(90_000);
    ended.goal.token_budget = None;
    let mut views = [ended, view()];
    sort(&mut views);
    let expected = [
        "Session        Title                             Status         Tokens        Note",
        "ses_1          Fix the parser                    active         12K of 200K   \
         two of three done",
        "ses_longer_id  日本語の題名はここで切れてしま…   paused         12K           \
         no progress: the audit says the same again and again",
    ];
    assert_eq!(list(&views, Page::PIPE), expected);
}

#[test]
fn a_list_on_a_narrow_terminal_wraps_its_notes() {
    let mut view = view();
    view.session = SessionId::new("ses_0123456789abcdefghijklmnop");
    view.goal.status = Status::Blocked;
    let page = Page::terminal(80, /*colour*/ true);
    view.goal.status_reason = "the key of the provider is not accepted any more".to_owned();
    let lines = list(&[view], page);
    let expected = "ses_0123456789abcdefghijklmnop  Fix the parser  \
                    \u{1b}[31mblocked\u{1b}[0m        12K of 200K\n    \
                    the key of the provider is not accepted any more";
    assert_eq!(lines[1], expected);
}

#[test]
fn a_pause_without_a_reason_is_the_users() {
    let mut goal = view().goal;
    goal.status = Status::Paused;
    goal.status_reason = " ".to_owned();
    assert_eq!(status(&goal), "paused by you");
    assert_eq!(reason(&goal), "paused by you");
    goal.status_reason = "no progress".to_owned();
    assert!(status(&goal).starts_with("paused: no progress"));
    goal.status = Status::Blocked;
    goal.status_reason = String::new();
    assert_eq!(status(&goal), "blocked");
}

#[test]
fn continuations_are_counted_as_they_matter() {
    let mut goal = view().goal;
    let cases = [
        (Status::Active, 0, ""),
        (Status::Active, 1, "continuation 1 of 20"),
        (Status::Complete, 0, ""),
        (Status::Complete, 1, "1 continuation"),
        (Status::Paused, 2, "2 continuations"),
    ];
    for (status, turns, expected) in cases {
        (goal.status, goal.turns_used) = (status, turns);
        assert_eq!(continuations(&goal, 20), expected);
    }
}

#[test]
fn no_goals_are_told_with_the_way_to_one() {
    let lines = list(&[], Page::PIPE);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("openchamber goal start"), "{lines:?}");
}

#[test]
fn decisions_are_told_with_their_times_and_reasons() {
    let record = |kind: &str, why: &str| StoredDecision {
        id: 1,
        record: DecisionRecord {
            at: Wall(0),
            session: SessionId::new("ses_1"),
            goal: GoalId::new("g_1"),
            kind: kind.to_owned(),
            why: why.to_owned(),
            detail: serde_json::Value::Null,
            tokens_used: 0,
            turns_used: 0,
        },
    };
    let recent = [
        record("rest", "subagentBusy"),
        record("continue", "progress"),
        record("settle", "cap"),
        record("new\u{1b}", "unheard of"),
    ];
    let expected = [
        "  1970-01-01 00:00:00  rests             a sub-agent works",
        "  1970-01-01 00:00:00  continues         there is work left",
        "  1970-01-01 00:00:00  ends              the automatic continuations are used up",
        "  1970-01-01 00:00:00  new␛              unheard of",
    ];
    assert_eq!(decisions(&recent, &TimeZone::UTC), expected);
    assert_eq!(decisions(&[], &TimeZone::UTC).len(), 1);
}
