//! When a task runs, and what a look at it comes to.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::collections::BTreeSet;

use goal_core::schedule::{
    CRON_MAX, LATE_MAX, Look, MISSED_COUNTED_MAX, NAME_MAX, PROMPT_MAX, Schedule, Task, TaskDraft,
    When, look,
};
use goal_core::time::Wall;
use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use pretty_assertions::assert_eq;

const PARIS: &str = "Europe/Paris";
const NEW_YORK: &str = "America/New_York";
const LORD_HOWE: &str = "Australia/Lord_Howe";
const APIA: &str = "Pacific/Apia";

/// A field, and what breaks its rule.
type Row = (&'static str, Box<dyn Fn(&mut TaskDraft)>);

fn zones() -> &'static TimeZoneDatabase {
    jiff::tz::db()
}

fn at(text: &str) -> Wall {
    let moment: Timestamp = text.parse().unwrap();
    Wall(u64::try_from(moment.as_millisecond()).unwrap())
}

fn utc(moment: Option<Wall>) -> String {
    let moment = moment.map(|moment| i64::try_from(moment.0).unwrap());
    let moment = moment.map(|ms| Timestamp::from_millisecond(ms).unwrap());
    moment.map_or("none".to_owned(), |moment| moment.to_string())
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn daily(times: &[&str]) -> When {
    When::Daily {
        times: strings(times),
    }
}

fn weekly(weekdays: &[u8], times: &[&str]) -> When {
    When::Weekly {
        weekdays: weekdays.to_vec(),
        times: strings(times),
    }
}

fn once(date: &str, time: &str) -> When {
    When::Once {
        date: date.to_owned(),
        time: time.to_owned(),
    }
}

fn cron(text: &str) -> When {
    When::Cron {
        cron: text.to_owned(),
    }
}

fn schedule(when: &When, zone: &str) -> Schedule {
    let now = at("2026-01-01T00:00:00Z");
    Schedule::check(when, zone, zones(), now).unwrap().0
}

/// The occurrences behind a moment, as many as there are in the list.
#[track_caller]
fn comes(when: &When, zone: &str, from: &str, expected: &[&str]) {
    let schedule = schedule(when, zone);
    let mut next = schedule.next(at(from));
    for expected in expected {
        assert_eq!(utc(next), *expected, "{when:?} {zone} from {from}");
        next = next.and_then(|last| schedule.after(last));
    }
}

fn draft() -> TaskDraft {
    TaskDraft {
        name: "Nightly".to_owned(),
        directory: "/project".to_owned(),
        when: daily(&["09:00"]),
        timezone: "UTC".to_owned(),
        prompt: "Tidy up".to_owned(),
        model: "acme/big".to_owned(),
        agent: None,
        variant: None,
        goal: true,
        goal_token_budget: Some(5_000),
        archive: false,
    }
}

#[test]
fn t4_daily_takes_the_next_time_more_than_five_seconds_ahead() {
    let times = daily(&["18:30", "09:00"]);
    let day = [
        "2026-03-02T09:00:00Z",
        "2026-03-02T18:30:00Z",
        "2026-03-03T09:00:00Z",
    ];
    comes(&times, "UTC", "2026-03-02T08:00:00Z", &day);
    comes(&times, "UTC", "2026-03-02T08:59:54.999Z", &day);
    comes(&times, "UTC", "2026-03-02T08:59:55Z", &day[1..]);
    comes(&times, "UTC", "2026-03-02T09:00:00Z", &day[1..]);
}

#[test]
fn t4_times_are_read_in_the_zone_of_the_task() {
    let nine = daily(&["09:00"]);
    comes(
        &nine,
        PARIS,
        "2026-01-10T12:00:00Z",
        &["2026-01-11T08:00:00Z"],
    );
    comes(
        &nine,
        PARIS,
        "2026-07-10T12:00:00Z",
        &["2026-07-11T07:00:00Z"],
    );
    comes(
        &nine,
        "Asia/Kathmandu",
        "2026-07-10T12:00:00Z",
        &["2026-07-11T03:15:00Z"],
    );
    comes(
        &nine,
        NEW_YORK,
        "2026-07-10T12:00:00Z",
        &["2026-07-10T13:00:00Z"],
    );
}

#[test]
fn t4_a_time_that_the_clock_skips_comes_when_the_gap_ends() {
    let half_past_two = daily(&["02:30"]);
    // 02:00 becomes 03:00, which is 01:00 UTC.
    let paris = [
        "2026-03-28T01:30:00Z",
        "2026-03-29T01:00:00Z",
        "2026-03-30T00:30:00Z",
    ];
    comes(&half_past_two, PARIS, "2026-03-27T12:00:00Z", &paris);
    comes(&cron("30 2 * * *"), PARIS, "2026-03-27T12:00:00Z", &paris);
    let once_there = once("2026-03-29", "02:30");
    comes(
        &once_there,
        PARIS,
        "2026-03-27T12:00:00Z",
        &["2026-03-29T01:00:00Z", "none"],
    );
    let new_york = ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"];
    comes(&half_past_two, NEW_YORK, "2026-03-08T00:00:00Z", &new_york);
    // Half an hour only: 02:00 becomes 02:30.
    let lord_howe = ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"];
    comes(
        &daily(&["02:15"]),
        LORD_HOWE,
        "2026-10-03T12:00:00Z",
        &lord_howe,
    );
    // Two times in one gap come as one.
    let both = ["2026-03-29T01:00:00Z", "2026-03-30T00:10:00Z"];
    comes(
        &daily(&["02:10", "02:50"]),
        PARIS,
        "2026-03-28T12:00:00Z",
        &both,
    );
}

#[test]
fn t4_a_time_that_the_clock_shows_twice_comes_once() {
    let half_past_two = ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
    comes(
        &daily(&["02:30"]),
        PARIS,
        "2026-10-24T12:00:00Z",
        &half_past_two,
    );
    comes(
        &cron("30 2 * * *"),
        PARIS,
        "2026-10-24T12:00:00Z",
        &half_past_two,
    );
    let new_york = ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"];
    comes(
        &daily(&["01:30"]),
        NEW_YORK,
        "2026-10-31T12:00:00Z",
        &new_york,
    );
    // 02:00 becomes 01:30.
    let lord_howe = ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"];
    comes(
        &daily(&["01:45"]),
        LORD_HOWE,
        "2026-04-04T12:00:00Z",
        &lord_howe,
    );
}

#[test]
fn t4_an_interval_goes_by_real_time() {
    let every_half_hour = cron("*/30 * * * *");
    let twice = [
        "2026-10-25T00:00:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:00:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T02:00:00Z",
    ];
    comes(&every_half_hour, PARIS, "2026-10-24T23:45:00Z", &twice);
    let gap = [
        "2026-03-29T00:30:00Z",
        "2026-03-29T01:00:00Z",
        "2026-03-29T01:30:00Z",
    ];
    comes(&every_half_hour, PARIS, "2026-03-29T00:15:00Z", &gap);
}

#[test]
fn t4_a_zone_may_skip_a_whole_day() {
    // There was no 30 December 2011 in Samoa.
    let days = [
        "2011-12-29T19:00:00Z",
        "2011-12-30T10:00:00Z",
        "2011-12-30T19:00:00Z",
    ];
    comes(&daily(&["09:00"]), APIA, "2011-12-29T12:00:00Z", &days);
}

#[test]
fn t4_weekly_finds_its_days_within_two_weeks() {
    // 2026-03-02 is a Monday.
    let days = weekly(&[1, 3], &["09:00"]);
    let expected = [
        "2026-03-02T09:00:00Z",
        "2026-03-04T09:00:00Z",
        "2026-03-09T09:00:00Z",
    ];
    comes(&days, "UTC", "2026-03-01T00:00:00Z", &expected);
    comes(&days, "UTC", "2026-03-02T09:00:00Z", &expected[1..]);
    let sunday = weekly(&[0], &["23:59"]);
    let expected = ["2026-03-08T23:59:00Z", "2026-03-15T23:59:00Z"];
    comes(&sunday, "UTC", "2026-03-01T23:59:00Z", &expected);
}

#[test]
fn t4_leap_days_and_the_end_of_a_year() {
    let leap = cron("0 0 29 2 *");
    let expected = ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"];
    comes(&leap, "UTC", "2026-01-01T00:00:00Z", &expected);
    let last = cron("0 12 L * *");
    let expected = [
        "2026-11-30T12:00:00Z",
        "2026-12-31T12:00:00Z",
        "2027-01-31T12:00:00Z",
    ];
    comes(&last, "UTC", "2026-11-01T00:00:00Z", &expected);
    let midnight = daily(&["00:00"]);
    comes(
        &midnight,
        PARIS,
        "2026-12-31T22:00:00Z",
        &["2026-12-31T23:00:00Z"],
    );
    comes(
        &midnight,
        PARIS,
        "2026-12-31T23:00:00Z",
        &["2027-01-01T23:00:00Z"],
    );
}

#[test]
fn t4_once_comes_once_and_not_when_it_is_past() {
    let when = once("2026-05-01", "12:00");
    comes(
        &when,
        PARIS,
        "2026-04-30T00:00:00Z",
        &["2026-05-01T10:00:00Z", "none"],
    );
    comes(&when, PARIS, "2026-05-01T10:00:00Z", &["none"]);
}

#[test]
fn t1_a_schedule_is_refused_by_field_and_rule() {
    let many = vec!["09:00"; 49];
    let long = "1".repeat(CRON_MAX + 1);
    let table: Vec<(When, &str, &str)> = vec![
        (daily(&[]), "UTC", "times"),
        (daily(&many), "UTC", "times"),
        (daily(&["9:00"]), "UTC", "times"),
        (daily(&["24:00"]), "UTC", "times"),
        (daily(&["09:60"]), "UTC", "times"),
        (daily(&["+9:00"]), "UTC", "times"),
        (daily(&["09:0é"]), "UTC", "times"),
        (daily(&["09:00:00"]), "UTC", "times"),
        (weekly(&[], &["09:00"]), "UTC", "weekdays"),
        (weekly(&[7], &["09:00"]), "UTC", "weekdays"),
        (weekly(&[200], &["09:00"]), "UTC", "weekdays"),
        (weekly(&[1], &[]), "UTC", "times"),
        (once("2026-02-29", "09:00"), "UTC", "date"),
        (once("2026-2-3", "09:00"), "UTC", "date"),
        (once("20260203", "09:00"), "UTC", "date"),
        (once("2026-02-28", "9"), "UTC", "time"),
        (cron(""), "UTC", "cron"),
        (cron("* * * *"), "UTC", "cron"),
        (cron("* * * * * *"), "UTC", "cron"),
        (cron("61 * * * *"), "UTC", "cron"),
        (cron("@daily"), "UTC", "cron"),
        (cron("0 0 30 2 *"), "UTC", "cron"),
        (cron(&long), "UTC", "cron"),
        (daily(&["09:00"]), "", "timezone"),
        (daily(&["09:00"]), "Nowhere/Land", "timezone"),
        (daily(&["09:00"]), "../etc/passwd", "timezone"),
    ];
    for (when, zone, field) in table {
        let checked = Schedule::check(&when, zone, zones(), at("2026-01-01T00:00:00Z"));
        let broken = checked.err().map(|broken| broken.field);
        assert_eq!(broken.as_deref(), Some(field), "{when:?} {zone}");
    }
}

#[test]
fn t1_times_and_days_are_sorted_and_each_is_there_once() {
    let now = at("2026-01-01T00:00:00Z");
    let typed = weekly(&[5, 1, 5], &["18:00", "09:00", "18:00"]);
    let (_, normal) = Schedule::check(&typed, "UTC", zones(), now).unwrap();
    assert_eq!(normal, weekly(&[1, 5], &["09:00", "18:00"]));
    let typed = cron("  0  9 * *   1 ");
    let (_, normal) = Schedule::check(&typed, "UTC", zones(), now).unwrap();
    assert_eq!(normal, cron("0 9 * * 1"));
}

#[test]
fn t1_t2_a_task_is_refused_by_field_and_rule() {
    let table: Vec<Row> = vec![
        ("name", Box::new(|task| task.name = String::new())),
        (
            "name",
            Box::new(|task| task.name = "é".repeat(NAME_MAX + 1)),
        ),
        ("name", Box::new(|task| task.name = "two\nlines".to_owned())),
        (
            "dir",
            Box::new(|task| task.directory = "project".to_owned()),
        ),
        ("prompt", Box::new(|task| task.prompt = " \n".to_owned())),
        (
            "prompt",
            Box::new(|task| task.prompt = "é".repeat(PROMPT_MAX + 1)),
        ),
        ("model", Box::new(|task| task.model = "acme".to_owned())),
        (
            "model",
            Box::new(|task| task.model = format!("a/{}", "b".repeat(201))),
        ),
        ("agent", Box::new(|task| task.agent = Some(String::new()))),
        (
            "variant",
            Box::new(|task| task.variant = Some("a\tb".to_owned())),
        ),
        (
            "goalTokenBudget",
            Box::new(|task| task.goal_token_budget = Some(999)),
        ),
        ("goalTokenBudget", Box::new(|task| task.goal = false)),
        (
            "archive",
            Box::new(|task| {
                task.goal = false;
                task.goal_token_budget = None;
                task.archive = true;
            }),
        ),
        (
            "timezone",
            Box::new(|task| task.timezone = "Mars/Base".to_owned()),
        ),
    ];
    let now = at("2026-01-01T00:00:00Z");
    assert!(Task::check(draft(), zones(), now).is_ok());
    for (at_row, (field, change)) in table.iter().enumerate() {
        let mut task = draft();
        change(&mut task);
        let broken = Task::check(task, zones(), now).err();
        assert_eq!(
            broken.map(|broken| broken.field).as_deref(),
            Some(*field),
            "{at_row}"
        );
    }
}

#[test]
fn t7_a_title_names_task_and_time_in_its_zone() {
    let task = TaskDraft {
        timezone: PARIS.to_owned(),
        name: "é".repeat(NAME_MAX),
        ..draft()
    };
    let task = Task::check(task, zones(), Wall(0)).unwrap();
    let title = task.title(at("2026-07-01T22:30:00Z"));
    assert!(title.ends_with("é 2026-07-02 00:30"), "{title}");
    assert!(title.chars().count() <= 120);
}

fn taken(moments: &[&str]) -> BTreeSet<Wall> {
    moments.iter().map(|text| at(text)).collect()
}

#[test]
fn t6_a_due_occurrence_is_run_up_to_a_minute_late_and_missed_then() {
    let schedule = schedule(&daily(&["09:00"]), "UTC");
    let nine = at("2026-03-02T09:00:00Z");
    let tomorrow = at("2026-03-03T09:00:00Z");
    let none = BTreeSet::new();
    let looked = |now| look(&schedule, Some(nine), &none, now);
    let due = Look::Due {
        occurrence: nine,
        next: Some(tomorrow),
    };
    assert_eq!(
        looked(at("2026-03-02T08:59:59.999Z")),
        Look::Wait(Some(nine))
    );
    assert_eq!(looked(nine), due);
    assert_eq!(looked(nine.after(LATE_MAX)), due);
    let missed = Look::Missed {
        first: nine,
        count: 1,
        next: Some(tomorrow),
    };
    assert_eq!(looked(Wall(nine.after(LATE_MAX).0 + 1)), missed);
}

#[test]
fn t9_what_went_by_is_counted_and_the_next_one_waited_for() {
    let hourly = schedule(&cron("0 * * * *"), "UTC");
    let (from, none) = (at("2026-03-02T09:00:00Z"), BTreeSet::new());
    // A jump forward, or a host that was away: 09:00 to 13:00 went by, 14:00 is just due.
    let looked = look(&hourly, Some(from), &none, at("2026-03-02T14:00:20Z"));
    let due = at("2026-03-02T14:00:00Z");
    let missed = Look::Missed {
        first: from,
        count: 5,
        next: Some(due),
    };
    assert_eq!(looked, missed);
    let minutely = schedule(&cron("* * * * *"), "UTC");
    let looked = look(&minutely, Some(from), &none, at("2026-04-02T14:00:20Z"));
    let missed = Look::Missed {
        first: from,
        count: MISSED_COUNTED_MAX,
        next: Some(at("2026-04-02T14:01:00Z")),
    };
    assert_eq!(looked, missed);
    let single = schedule(&once("2026-03-02", "09:00"), "UTC");
    let looked = look(&single, Some(from), &none, at("2026-03-05T00:00:00Z"));
    let missed = Look::Missed {
        first: from,
        count: 1,
        next: None,
    };
    assert_eq!(looked, missed);
    let looked = look(&single, None, &none, at("2026-03-05T00:00:00Z"));
    assert_eq!(looked, Look::Wait(None));
}

#[test]
fn t6_a_clock_that_is_set_back_runs_nothing_again() {
    let daily = schedule(&daily(&["09:00"]), "UTC");
    let tomorrow = at("2026-03-03T09:00:00Z");
    let ran = taken(&["2026-03-02T09:00:00Z"]);
    let looked = look(&daily, Some(tomorrow), &ran, at("2026-03-02T08:00:00Z"));
    assert_eq!(looked, Look::Wait(Some(tomorrow)));
    // An occurrence that moved by a little, as after a change of the zone's rules, is the same one.
    let near = taken(&["2026-03-02T09:00:04Z"]);
    let looked = look(&daily, Some(tomorrow), &near, at("2026-03-02T08:00:00Z"));
    assert_eq!(looked, Look::Wait(Some(tomorrow)));
}

#[test]
fn t6_a_clock_that_was_a_year_ahead_holds_nothing_up() {
    let daily = schedule(&daily(&["09:00"]), "UTC");
    let ran = taken(&["2027-03-02T09:00:00Z"]);
    let armed = Some(at("2027-03-03T09:00:00Z"));
    let looked = look(&daily, armed, &ran, at("2026-03-02T08:00:00Z"));
    assert_eq!(looked, Look::Arm(at("2026-03-02T09:00:00Z")));
    let looked = look(&daily, None, &ran, at("2026-03-02T08:00:00Z"));
    assert_eq!(looked, Look::Arm(at("2026-03-02T09:00:00Z")));
}

#[test]
fn t4_the_last_seconds_before_an_occurrence_do_not_lose_it() {
    let single = schedule(&once("2026-03-02", "09:00"), "UTC");
    let nine = at("2026-03-02T09:00:00Z");
    let looked = look(
        &single,
        Some(nine),
        &BTreeSet::new(),
        at("2026-03-02T08:59:57Z"),
    );
    assert_eq!(looked, Look::Wait(Some(nine)));
}
