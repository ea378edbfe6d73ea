use goal_core::goal::ModelRef;
use pretty_assertions::assert_eq;

use super::*;
use crate::render::tests::view;

/// A host's, ready.
fn timeline() -> Timeline {
    let mut timeline = Timeline::of_host(TimeZone::UTC, &Limits::DEFAULT, Page::PIPE);
    timeline.update(&ready());
    timeline
}

fn ready() -> Update {
    let driver = DriverState::Driving;
    update(0, UpdateKind::Ready { driver, active: 1 })
}

fn verdict(at: u64, verdict: &'static str, note: &str, model: &str) -> Update {
    let kind = UpdateKind::Verdict {
        session: view().session,
        goal: view().goal.id,
        verdict,
        note: note.to_owned(),
        model: Some(ModelRef {
            provider: "p".to_owned(),
            model: model.to_owned(),
        }),
    };
    update(at, kind)
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

fn settled(at: u64, change: impl FnOnce(&mut GoalView)) -> Update {
    let mut settled = view();
    ended(&mut settled);
    change(&mut settled);
    update(at, UpdateKind::Settled(Box::new(settled)))
}

#[test]
fn a_goal_can_be_followed_to_its_end() {
    let quiet = phase(1_000, |view| {
        view.phase = Phase::Quiet;
        view.why = String::new();
        view.detail = String::new();
        view.next = Some(Wall(16_000));
    });
    let updates = [
        quiet,
        ready(),
        doing(16_000, Phase::Checking),
        doing(16_000, Phase::Auditing),
        verdict(17_000, "continue", "one test\nleft", "m"),
        doing(17_000, Phase::Continuing),
        doing(80_000, Phase::Auditing),
        verdict(98_000, "complete", "all tests pass", "m"),
        settled(99_000, |_| ()),
        phase(99_000, ended),
    ];
    let mut timeline = Timeline::of_host(TimeZone::UTC, &Limits::DEFAULT, Page::PIPE);
    let expected = [
        "00:00:00  (server)        ready               1 active goal",
        "00:00:01  Fix the parser  evaluating: quiet   next look in 15 s",
        "00:00:16  Fix the parser  evaluating: audit",
        "00:00:17  Fix the parser  verdict: go on      one test left · p/m",
        "00:00:17  Fix the parser  continuing          continuation 3 of 20 · 12K of 200K tokens",
        "00:01:20  Fix the parser  evaluating: audit",
        "00:01:38  Fix the parser  verdict: complete   all tests pass",
        "00:01:39  Fix the parser  complete            \
         verified by the audit · 12K of 200K tokens · 3 continuations",
    ];
    assert_eq!(tell(&mut timeline, &updates), expected);
}

#[test]
fn an_end_says_what_was_not_said_yet() {
    let end = |before: &[Update], change: &dyn Fn(&mut GoalView)| {
        let mut timeline = timeline();
        tell(&mut timeline, before);
        let told = tell(&mut timeline, &[settled(9_000, change)]);
        let [line] = told.as_slice() else {
            panic!("{told:?}");
        };
        line[line.len().min(46)..].to_owned()
    };
    let never = |view: &mut GoalView| {
        view.goal.turns_used = 0;
        view.goal.token_budget = None;
    };
    assert_eq!(
        end(&[], &never),
        "verified by the audit · all tests pass · 12K tokens"
    );
    let other = [verdict(1_000, "continue", "half done", "m")];
    assert_eq!(
        end(&other, &never),
        "verified by the audit · all tests pass · 12K tokens"
    );
    let paused = |view: &mut GoalView| {
        view.goal.status = Status::Paused;
        view.goal.status_reason = String::new();
        view.goal.note = "half done".to_owned();
        view.goal.turns_used = 1;
    };
    assert_eq!(
        end(&other, &paused),
        "paused by you · 12K of 200K tokens · 1 continuation"
    );
    let blocked = |view: &mut GoalView| {
        view.goal.status = Status::Blocked;
        view.goal.status_reason = "half done".to_owned();
        view.goal.note = "half done".to_owned();
        never(view);
    };
    assert_eq!(
        end(&other, &blocked),
        "the audit found the goal blocked · 12K tokens"
    );
    assert_eq!(end(&[], &blocked), "half done · 12K tokens");
}

#[test]
fn the_auditor_is_named_where_it_is_another() {
    let updates = [
        verdict(0, "continue", "one", "m"),
        verdict(1, "continue", "two", "m"),
        verdict(2, "continue", "three", "n"),
        verdict(3, "continue", "four", "n"),
    ];
    let told = tell(&mut timeline(), &updates);
    let named: Vec<bool> = told.iter().map(|line| line.contains(" · p/")).collect();
    assert_eq!(named, [true, false, true, false], "{told:?}");
}

#[test]
fn a_look_has_a_line_only_if_it_lasts() {
    let mut timeline = timeline();
    assert!(tell(&mut timeline, &[doing(5_000, Phase::Checking)]).is_empty());
    assert_eq!(
        timeline.patience(Wall(5_400)),
        Some(Duration::from_millis(600))
    );
    assert!(timeline.overdue(Wall(5_999)).is_empty());
    let told = timeline.overdue(Wall(6_000));
    assert_eq!(told, ["00:00:05  Fix the parser  evaluating: look"]);
    assert_eq!(timeline.patience(Wall(6_000)), None);
    // It is not said again, and what comes of it is.
    assert!(tell(&mut timeline, &[doing(7_000, Phase::Checking)]).is_empty());
    assert_eq!(timeline.patience(Wall(7_000)), None);
    assert_eq!(
        tell(&mut timeline, &[doing(8_000, Phase::Auditing)]).len(),
        1
    );
}

#[test]
fn a_short_look_does_not_repeat_the_line_before_it() {
    let mut timeline = timeline();
    let updates = [
        doing(0, Phase::Working),
        doing(1_000, Phase::Checking),
        doing(1_100, Phase::Working),
    ];
    assert_eq!(tell(&mut timeline, &updates).len(), 1);
    assert!(timeline.overdue(Wall(9_000)).is_empty());
    let ended = [doing(10_000, Phase::Checking), settled(10_001, |_| ())];
    assert_eq!(tell(&mut timeline, &ended).len(), 1);
    assert!(timeline.overdue(Wall(20_000)).is_empty());
}

#[test]
fn goals_wait_until_the_server_is_ready_and_are_not_lost_if_it_never_is() {
    let mut timeline = Timeline::of_host(TimeZone::UTC, &Limits::DEFAULT, Page::PIPE);
    assert!(tell(&mut timeline, &[doing(0, Phase::Working)]).is_empty());
    let server = timeline.server(Wall(1), "OpenCode 1.18.33", "http://127.0.0.1:1");
    assert!(
        server.starts_with("00:00:00  (server)        OpenCode"),
        "{server}"
    );
    let rest = timeline.rest();
    assert_eq!(rest, ["00:00:00  Fix the parser  the session works"]);
    assert_eq!(tell(&mut timeline, &[doing(2, Phase::Quiet)]).len(), 1);
}

#[test]
fn a_terminal_shows_colours_and_wraps_facts() {
    let page = Page::terminal(80, /*colour*/ true);
    let mut timeline = Timeline::of_watcher(TimeZone::UTC, &Limits::DEFAULT, page);
    let note = "The tests pass, but there is no README.md, which the goal asks for.";
    let told = tell(&mut timeline, &[verdict(0, "continue", note, "m")]);
    let indent = " ".repeat(44);
    let expected = format!(
        "\u{1b}[2m00:00:00\u{1b}[0m  ses_1         \u{1b}[33mverdict: go on\u{1b}[0m      \
         The tests pass, but there is no\n{indent}README.md, which the goal asks\n\
         {indent}for. · p/m"
    );
    assert_eq!(told, [expected]);
    let told = tell(
        &mut timeline,
        &[doing(1, Phase::Working), settled(2, |_| ())],
    );
    assert!(told[1].contains("\u{1b}[32mcomplete\u{1b}[0m"), "{told:?}");
}

#[test]
fn names_have_the_room_of_the_longest_but_not_all_of_the_line() {
    let mut timeline = timeline();
    let long = phase(0, |view| {
        view.title = "t".repeat(90);
    });
    let told = tell(&mut timeline, &[long]);
    assert!(
        told[0].contains(&format!("  {}…  a sub-agent", "t".repeat(31))),
        "{told:?}"
    );
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
        "00:00:00  (server)      connection lost     refused · next try in 4 s",
        "00:00:00  (server)      connection lost     silent · next try in 4 s",
        "00:00:05  (server)      connected again",
    ];
    assert_eq!(told, expected);
}

#[test]
fn that_a_server_of_ours_ended_is_told_once() {
    let connection = |connected: bool| {
        let kind = UpdateKind::Connection {
            connected,
            reason: if connected { "" } else { "refused" }.to_owned(),
            retry_in: None,
        };
        update(2_000, kind)
    };
    let mut timeline = timeline();
    let away = timeline.server_away(Wall(1_000), "exit status: 1", Duration::from_secs(1));
    let expected =
        "00:00:01  (server)      ended               exit status: 1 · started again in 1 s";
    assert_eq!(away, expected);
    assert!(tell(&mut timeline, &[connection(false)]).is_empty());
    timeline.server_back();
    assert_eq!(tell(&mut timeline, &[connection(true)]).len(), 1);
    assert_eq!(tell(&mut timeline, &[connection(false)]).len(), 1);
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
    let of_server = [
        say!("timeline.ready"),
        say!("timeline.connected"),
        say!("timeline.lost"),
        say!("timeline.driving"),
        say!("timeline.passive"),
        say!("timeline.ended"),
        say!("timeline.notice"),
        say!("timeline.cleared"),
        say!("serve.managed"),
        say!("serve.version", version = "1.18.33"),
    ];
    let of_goals = phases.iter().chain(&statuses).chain(&verdicts);
    for label in of_goals.chain(&of_server) {
        assert!(text::width(label) <= lines::LABEL_COLUMNS, "{label}");
    }
}
