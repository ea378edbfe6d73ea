use goal_core::goal::ModelRef;
use pretty_assertions::assert_eq;

use super::*;
use crate::render::tests::view;

fn timeline() -> Timeline {
    Timeline::new(TimeZone::UTC, &Limits::DEFAULT)
}

fn update(at: u64, kind: UpdateKind) -> Update {
    Update { at: Wall(at), kind }
}

fn phase(at: u64, change: impl FnOnce(&mut GoalView)) -> Update {
    let mut view = view();
    change(&mut view);
    update(at, UpdateKind::Phase(Box::new(view)))
}

fn doing(at: u64, phase_is: Phase) -> Update {
    phase(at, |view| {
        view.phase = phase_is;
        view.why = String::new();
        view.detail = String::new();
        view.next = None;
    })
}

fn tell(timeline: &mut Timeline, updates: &[Update]) -> Vec<String> {
    updates
        .iter()
        .flat_map(|update| timeline.update(update))
        .collect()
}

fn ended(view: &mut GoalView) {
    view.phase = Phase::Settled;
    view.goal.status = Status::Complete;
    view.goal.status_reason = "verified by audit".to_owned();
    view.goal.note = "all tests pass".to_owned();
}

#[test]
fn a_goal_can_be_followed_to_its_end() {
    let (session, goal) = (view().session, view().goal.id);
    let mut settled = view();
    ended(&mut settled);
    let quiet = phase(1_000, |view| {
        view.phase = Phase::Quiet;
        view.why = String::new();
        view.detail = String::new();
        view.next = Some(Wall(16_000));
    });
    let verdict = UpdateKind::Verdict {
        session,
        goal,
        verdict: "continue",
        note: "one test\nleft".to_owned(),
        model: Some(ModelRef {
            provider: "p".to_owned(),
            model: "m".to_owned(),
        }),
    };
    let updates = [
        update(
            0,
            UpdateKind::Ready {
                driver: DriverState::Driving,
                active: 1,
            },
        ),
        quiet,
        doing(16_000, Phase::Auditing),
        update(17_000, verdict),
        doing(17_000, Phase::Continuing),
        update(99_000, UpdateKind::Settled(Box::new(settled.clone()))),
        update(99_000, UpdateKind::Phase(Box::new(settled))),
    ];
    let expected = [
        "00:00:00  (server)                  ready                   1 active goal",
        "00:00:01  Fix the parser            evaluating: quiet       next look in 15 s",
        "00:00:16  Fix the parser            evaluating: audit",
        "00:00:17  Fix the parser            verdict: go on          one test left · p/m",
        "00:00:17  Fix the parser            continuing              \
         continuation 3 of 20 · 12K/200K tokens",
        "00:01:39  Fix the parser            complete                \
         verified by the audit · all tests pass · 12K/200K tokens · continuation 3 of 20",
    ];
    assert_eq!(tell(&mut timeline(), &updates), expected);
}

#[test]
fn what_was_said_is_not_repeated() {
    let later = |view: &mut GoalView| {
        view.next = Some(Wall(600_000));
        view.goal.tokens_used += 1;
        view.seq += 1;
    };
    let updates = [phase(0, |_| ()), phase(1, later), phase(2, later)];
    let mut timeline = timeline();
    assert_eq!(tell(&mut timeline, &updates).len(), 1);
    let other_child = phase(3, |view| view.detail = "ses_other".to_owned());
    assert_eq!(tell(&mut timeline, &[other_child]).len(), 1);
}

#[test]
fn an_end_is_told_once_in_whatever_order_it_is_heard() {
    let mut view = view();
    ended(&mut view);
    let phase = update(1, UpdateKind::Phase(Box::new(view.clone())));
    let settled = update(1, UpdateKind::Settled(Box::new(view)));
    for updates in [[phase.clone(), settled.clone()], [settled, phase]] {
        let mut timeline = timeline();
        tell(&mut timeline, &[doing(0, Phase::Working)]);
        assert_eq!(tell(&mut timeline, &updates).len(), 1);
    }
}

#[test]
fn goals_that_had_ended_before_are_no_news() {
    assert!(tell(&mut timeline(), &[phase(0, ended)]).is_empty());
}

#[test]
fn a_lost_connection_is_told_once_for_each_reason() {
    let lost = |reason: &str| {
        update(
            0,
            UpdateKind::Connection {
                connected: false,
                reason: reason.to_owned(),
                retry_in: Some(Duration::from_secs(4)),
            },
        )
    };
    let back = update(
        5_000,
        UpdateKind::Connection {
            connected: true,
            reason: String::new(),
            retry_in: None,
        },
    );
    let mut timeline = timeline();
    assert!(tell(&mut timeline, std::slice::from_ref(&back)).is_empty());
    let told = tell(
        &mut timeline,
        &[
            lost("refused"),
            lost("refused"),
            lost("silent"),
            back.clone(),
            back,
        ],
    );
    let expected = [
        "00:00:00  (server)                  connection lost         refused · next try in 4 s",
        "00:00:00  (server)                  connection lost         silent · next try in 4 s",
        "00:00:05  (server)                  connected again",
    ];
    assert_eq!(told, expected);
}

#[test]
fn who_drives_is_told_when_it_is_not_this_process() {
    let driver = |state| update(0, UpdateKind::Driver(state));
    let passive = DriverState::Passive { pid: 42 };
    let mut timeline = timeline();
    assert!(tell(&mut timeline, &[driver(DriverState::Driving)]).is_empty());
    let told = tell(
        &mut timeline,
        &[
            driver(passive),
            driver(passive),
            driver(DriverState::Driving),
        ],
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("process 42"), "{told:?}");
}

#[test]
fn only_notices_that_ask_for_the_user_have_a_line() {
    for code in NoticeCode::ALL {
        let notice = update(
            0,
            UpdateKind::Notice {
                session: view().session,
                goal: view().goal.id,
                code,
                objective: "o".to_owned(),
                detail: "bash".to_owned(),
            },
        );
        let told = tell(&mut timeline(), &[notice]);
        let asks = matches!(
            code,
            NoticeCode::WaitingForPermission | NoticeCode::WaitingForAnswer | NoticeCode::Stalled
        );
        assert_eq!(told.len(), usize::from(asks), "{code:?}");
    }
}

#[test]
fn every_label_fits_its_column() {
    let phases = Phase::ALL.map(|phase| words::of_code("phase", phase.name()));
    let statuses = Status::ALL.map(|status| words::of_code("status", status.name()));
    let verdicts = ["continue", "complete", "blocked", "failed"]
        .map(|verdict| words::of_code("verdict", verdict));
    for label in phases.iter().chain(&statuses).chain(&verdicts) {
        assert!(text::width(label) <= LABEL_COLUMNS, "{label}");
    }
}
