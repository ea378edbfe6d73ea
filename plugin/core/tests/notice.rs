//! What is told (R80-R82, X7, X15, X22, §4.1).

mod support;

use goal_core::decision::{BlockedCause, PauseCause, Settlement, Unknown, Why};
use goal_core::goal::{SessionId, Status};
use goal_core::notice::{Notice, NoticeCode, NoticeGate, of_pause, of_settlement, of_wait};
use goal_core::snapshot::{Request, RequestKind};
use goal_core::text::utf16_len;
use goal_core::time::Mono;
use pretty_assertions::assert_eq;

use support::goals::goal;

fn notice(code: NoticeCode, detail: &str) -> Notice {
    Notice {
        code,
        objective: "Ship it".to_owned(),
        detail: detail.to_owned(),
    }
}

#[test]
fn r80_an_ending_is_told_with_its_reason_a_routine_one_with_its_note() {
    for (settlement, written, expected) in [
        (
            Settlement::Complete,
            "complete note='all green' reason='verified by audit'",
            notice(NoticeCode::GoalComplete, "all green"),
        ),
        (
            Settlement::Complete,
            "complete reason='verified by audit'",
            notice(NoticeCode::GoalComplete, ""),
        ),
        (
            Settlement::Blocked(BlockedCause::Cap),
            "blocked note='half done' reason='auto-continuation limit reached'",
            notice(NoticeCode::GoalBlocked, "auto-continuation limit reached"),
        ),
        (
            Settlement::BudgetLimited,
            "budgetLimited note='half done' reason='token budget reached'",
            notice(NoticeCode::GoalBudgetLimited, "token budget reached"),
        ),
    ] {
        assert_eq!(
            of_settlement(&settlement, &goal(written), "Ship it"),
            expected
        );
    }
}

#[test]
fn x22_only_pauses_that_the_loop_made_by_itself_are_told() {
    let told = |cause: PauseCause| of_pause(cause, "Ship it");
    for cause in [
        PauseCause::ContextTooSmall,
        PauseCause::NoProgress,
        PauseCause::FirstMessageMissing,
    ] {
        let expected = notice(NoticeCode::GoalPaused, cause.reason());
        assert_eq!(told(cause), Some(expected));
    }
    for cause in [
        PauseCause::Aborted,
        PauseCause::Declined,
        PauseCause::Archived,
    ] {
        assert_eq!(told(cause), None, "{cause:?}");
    }
}

fn request(kind: RequestKind) -> Why {
    Why::WaitingForYou(Request {
        kind,
        id: "per_1".to_owned(),
        subject: "bash".to_owned(),
    })
}

/// Every wait.
fn waits() -> Vec<Why> {
    let until = Mono(7);
    vec![
        Why::Disabled,
        Why::Gone,
        Why::NoGoal,
        Why::Inherited,
        Why::NotActive(Status::Paused),
        Why::NeedsClick,
        Why::Busy,
        Why::ProviderRetries,
        Why::SubagentBusy(SessionId::new("ses_2")),
        request(RequestKind::Permission),
        request(RequestKind::Question),
        Why::FirstMessageMissing { until },
        Why::Rewound,
        Why::ObjectiveMissing,
        Why::NoAssistantYet,
        Why::UserPending,
        Why::WithinGrace { until },
        Why::Patience { until },
        Why::Stalled,
    ]
}

#[test]
fn x7_x15_only_waits_that_need_the_user_are_told() {
    let told: Vec<Notice> = waits()
        .iter()
        .filter_map(|why| of_wait(why, "Ship it"))
        .collect();
    let expected = [
        notice(NoticeCode::WaitingForPermission, "bash"),
        notice(NoticeCode::WaitingForAnswer, "bash"),
        notice(NoticeCode::Stalled, ""),
    ];
    assert_eq!(told, expected);
}

#[test]
fn x22_which_setting_silences_a_notice() {
    let gates = NoticeCode::ALL.map(|code| (code.name(), code.gate()));
    let expected = [
        ("goalComplete", NoticeGate::Completion),
        ("goalBlocked", NoticeGate::Completion),
        ("goalBudgetLimited", NoticeGate::Completion),
        ("goalPaused", NoticeGate::Completion),
        ("waitingForPermission", NoticeGate::Question),
        ("waitingForAnswer", NoticeGate::Question),
        ("stalled", NoticeGate::Question),
        ("turnReady", NoticeGate::Completion),
        ("turnFailed", NoticeGate::Error),
    ];
    assert_eq!(gates, expected);
}

#[test]
fn a_notice_is_short_and_in_one_line() {
    let pair = "\u{1F600}";
    for objective in [
        "x".repeat(9_000),
        pair.repeat(5_000),
        "a \n\t b".repeat(99),
        String::new(),
    ] {
        let mut written = goal("blocked");
        written.status_reason = format!("{}\n{}", "y".repeat(9_000), pair.repeat(100));
        let blocked = Settlement::Blocked(BlockedCause::Cap);
        let told = of_settlement(&blocked, &written, &objective);
        let (objective, detail) = (utf16_len(&told.objective), utf16_len(&told.detail));
        assert!(objective <= 140, "{objective}");
        assert!(objective + detail <= 240, "{objective} + {detail}");
        assert!(!told.objective.contains(['\n', '\t']) && !told.detail.contains('\n'));
        assert!(detail >= 99, "the reason is not crowded out: {detail}");
    }
}

#[test]
fn codes_are_distinct_and_stable() {
    let mut codes: Vec<&str> = waits().iter().map(Why::code).collect();
    codes.dedup();
    let expected = [
        "disabled",
        "gone",
        "noGoal",
        "inherited",
        "paused",
        "needsClick",
        "busy",
        "providerRetries",
        "subagentBusy",
        "waitingForYou",
        "firstMessageMissing",
        "rewound",
        "objectiveMissing",
        "noAssistantYet",
        "userPending",
        "withinGrace",
        "patience",
        "stalled",
    ];
    assert_eq!(codes, expected);
    let unknown = [
        Unknown::Session,
        Unknown::Status,
        Unknown::Children,
        Unknown::Requests,
        Unknown::Messages,
        Unknown::Write,
        Unknown::Prompt,
    ];
    let expected = [
        "sessionUnknown",
        "statusUnknown",
        "childrenUnknown",
        "requestsUnknown",
        "messagesUnknown",
        "writeUnknown",
        "promptUnknown",
    ];
    assert_eq!(unknown.map(Unknown::code), expected);
}

#[test]
fn only_waits_with_an_end_of_their_own_name_it() {
    let ends: Vec<&str> = waits()
        .iter()
        .filter(|why| why.until() == Some(Mono(7)))
        .map(Why::code)
        .collect();
    assert_eq!(ends, ["firstMessageMissing", "withinGrace", "patience"]);
    let endless = waits().iter().filter(|why| why.until().is_none()).count();
    assert_eq!(endless, waits().len() - ends.len());
}
