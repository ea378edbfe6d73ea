//! When a task runs: daily, weekly, once or by a cron expression, in a time zone.
//!
//! A time that the clock skips (summer time begins) comes when the gap ends; one that it shows
//! twice comes the first time only, but for cron expressions of an interval, which go by real time.
//! Time and zone data are arguments; nothing here reads a clock.

mod due;
mod run;
mod task;

use std::collections::BTreeSet;
use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use crate::fields::Broken;
use crate::time::Wall;

pub use self::due::{LATE_MAX, Look, MISSED_COUNTED_MAX, SAME_OCCURRENCE, look};
pub use self::run::{RunState, TaskId};
pub use self::task::{NAME_MAX, PROMPT_MAX, Task, TaskDraft};

/// Times of one day that a schedule may name: one for every half hour.
pub const TIMES_MAX: usize = 48;

/// Characters of a cron expression.
pub const CRON_MAX: usize = 200;

/// Characters of a time zone's name; the longest there is has 32.
pub const ZONE_MAX: usize = 64;

/// How far ahead the next run of a day's time lies at least (T4): one that just ran is not found
/// again.
pub const LEAD: Duration = Duration::from_secs(5);

/// How many days a weekly schedule looks ahead (T4): each weekday comes twice.
const WEEKLY_DAYS: i64 = 14;

/// How many days a daily one looks ahead: the day after tomorrow, where a zone skips a whole day.
const DAILY_DAYS: i64 = 3;

/// When a task runs, as it is typed, stored and shown: in JSON under its `kind`, `daily`, `weekly`,
/// `once` or `cron`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum When {
    /// Every day at these times.
    Daily {
        /// `HH:MM`.
        times: Vec<String>,
    },
    /// On these days of the week at these times.
    Weekly {
        /// 0 is Sunday, 6 is Saturday.
        weekdays: Vec<u8>,
        /// `HH:MM`.
        times: Vec<String>,
    },
    /// Once.
    Once {
        /// `YYYY-MM-DD`.
        date: String,
        /// `HH:MM`.
        time: String,
    },
    /// By a cron expression of five fields: minute, hour, day of the month, month, weekday.
    Cron {
        /// The expression.
        cron: String,
    },
}

/// A checked schedule, which can say when it comes next.
#[derive(Clone, Debug)]
pub struct Schedule {
    rule: Rule,
    zone: TimeZone,
}

#[derive(Clone, Debug)]
enum Rule {
    /// On the days of the set; all of them for a daily one.
    Days {
        weekdays: BTreeSet<i8>,
        times: BTreeSet<Time>,
        ahead: i64,
    },
    Once(DateTime),
    Cron(Box<Cron>),
}

impl Schedule {
    /// Checks when a task runs, and gives it in its normal form (times and days sorted, each once)
    /// along with what computes from it (T1).
    ///
    /// # Errors
    /// [`Broken`], naming `times`, `weekdays`, `date`, `time`, `cron` or `timezone`.
    pub fn check(
        when: &When,
        timezone: &str,
        zones: &TimeZoneDatabase,
        now: Wall,
    ) -> Result<(Self, When), Broken> {
        let zone = zone(timezone, zones)?;
        let (rule, when) = match when {
            When::Daily { times } => {
                let times = times_of(times)?;
                let when = When::Daily {
                    times: texts(&times),
                };
                let weekdays = (0..7).collect();
                (days(weekdays, times, DAILY_DAYS), when)
            }
            When::Weekly { weekdays, times } => {
                let times = times_of(times)?;
                let weekdays = weekdays_of(weekdays)?;
                let numbers = weekdays.iter().filter_map(|day| u8::try_from(*day).ok());
                let when = When::Weekly {
                    weekdays: numbers.collect(),
                    times: texts(&times),
                };
                (days(weekdays, times, WEEKLY_DAYS), when)
            }
            When::Once { date, time } => {
                let (day, at) = (date_of(date)?, time_of("time", time)?);
                let when = When::Once {
                    date: day.to_string(),
                    time: at.strftime("%H:%M").to_string(),
                };
                (Rule::Once(day.to_datetime(at)), when)
            }
            When::Cron { cron } => {
                let (cron, text) = cron_of(cron)?;
                (Rule::Cron(Box::new(cron)), When::Cron { cron: text })
            }
        };
        let schedule = Self { rule, zone };
        if matches!(schedule.rule, Rule::Cron(_)) && schedule.after(now).is_none() {
            return Err(Broken::new("cron", "takes an expression that comes true"));
        }
        Ok((schedule, when))
    }

    /// The first occurrence behind `now`: by more than [`LEAD`], or at all for a cron expression
    /// (T4). `None`: there is none any more.
    #[must_use]
    pub fn next(&self, now: Wall) -> Option<Wall> {
        match self.rule {
            Rule::Days { .. } | Rule::Once(_) => self.after(now.after(LEAD)),
            Rule::Cron(_) => self.after(now),
        }
    }

    /// The first occurrence behind a moment.
    #[must_use]
    pub fn after(&self, moment: Wall) -> Option<Wall> {
        let moment = timestamp(moment)?;
        let next = match &self.rule {
            Rule::Days {
                weekdays,
                times,
                ahead,
            } => self.day_after(moment, weekdays, times, *ahead),
            Rule::Once(at) => self.instant(*at).filter(|at| *at > moment),
            Rule::Cron(cron) => {
                let from = moment.to_zoned(self.zone.clone());
                let next = cron.find_next_occurrence(&from, /*inclusive*/ false);
                next.ok().map(|next| next.timestamp())
            }
        };
        next.and_then(wall)
    }

    /// A moment as this schedule's zone shows it: `YYYY-MM-DD HH:MM`.
    #[must_use]
    pub fn shown(&self, moment: Wall) -> String {
        timestamp(moment).map_or_else(String::new, |moment| {
            let zoned = moment.to_zoned(self.zone.clone());
            zoned.strftime("%Y-%m-%d %H:%M").to_string()
        })
    }

    fn day_after(
        &self,
        moment: Timestamp,
        weekdays: &BTreeSet<i8>,
        times: &BTreeSet<Time>,
        ahead: i64,
    ) -> Option<Timestamp> {
        // From yesterday on: a gap at midnight brings a day's last time into the next day.
        let today = moment.to_zoned(self.zone.clone()).date();
        let mut found = None;
        for offset in -1..=ahead {
            let Ok(day) = today.checked_add(offset.days()) else {
                break;
            };
            if !weekdays.contains(&day.weekday().to_sunday_zero_offset()) {
                continue;
            }
            let instants = times
                .iter()
                .filter_map(|time| self.instant(day.to_datetime(*time)));
            let first = instants.filter(|at| *at > moment).min();
            found = found.into_iter().chain(first).min();
            if found.is_some() && offset > 0 {
                break;
            }
        }
        found
    }

    /// The moment at which the zone's clock shows this: the first of two, or the end of the gap
    /// that skips it.
    fn instant(&self, at: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_zoned(at);
        let is_gap = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let earlier = ambiguous.earlier().ok()?.timestamp();
        if !is_gap {
            return Some(earlier);
        }
        // Read with the offset behind the gap, a skipped time lies just before it.
        let end = self.zone.following(earlier).next();
        Some(end.map_or(earlier, |end| end.timestamp()))
    }
}

fn days(weekdays: BTreeSet<i8>, times: BTreeSet<Time>, ahead: i64) -> Rule {
    Rule::Days {
        weekdays,
        times,
        ahead,
    }
}

fn zone(name: &str, zones: &TimeZoneDatabase) -> Result<TimeZone, Broken> {
    let rule = "takes the name of an IANA time zone, such as Europe/Paris or UTC";
    if name.is_empty() || name.chars().count() > ZONE_MAX {
        return Err(Broken::new("timezone", rule));
    }
    zones.get(name).map_err(|_| Broken::new("timezone", rule))
}

fn times_of(times: &[String]) -> Result<BTreeSet<Time>, Broken> {
    if times.is_empty() || times.len() > TIMES_MAX {
        let rule = format!("takes 1 to {TIMES_MAX} times");
        return Err(Broken::new("times", rule));
    }
    times.iter().map(|time| time_of("times", time)).collect()
}

/// A time in exactly five characters: two forms of one time would be two times.
fn time_of(field: &str, text: &str) -> Result<Time, Broken> {
    let digits = |range| text.get(range).and_then(two_digits);
    let parts = (digits(0..2), text.get(2..3), digits(3..5));
    let time = match parts {
        (Some(hour), Some(":"), Some(minute)) if text.len() == 5 => {
            Time::new(hour, minute, 0, 0).ok()
        }
        (Some(_) | None, _, Some(_) | None) => None,
    };
    time.ok_or_else(|| Broken::new(field, "takes a time of the day as HH:MM, 00:00 to 23:59"))
}

fn date_of(text: &str) -> Result<Date, Broken> {
    let date = (text.len() == 10).then(|| text.parse::<Date>().ok());
    date.flatten()
        .ok_or_else(|| Broken::new("date", "takes a day of the calendar as YYYY-MM-DD"))
}

fn two_digits(text: &str) -> Option<i8> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn weekdays_of(weekdays: &[u8]) -> Result<BTreeSet<i8>, Broken> {
    let numbers: Option<BTreeSet<i8>> = weekdays
        .iter()
        .map(|day| {
            let day = i8::try_from(*day).ok()?;
            Weekday::from_sunday_zero_offset(day).ok().map(|_| day)
        })
        .collect();
    numbers
        .filter(|days| !days.is_empty())
        .ok_or_else(|| Broken::new("weekdays", "takes days of the week, 0 (Sunday) to 6"))
}

fn cron_of(text: &str) -> Result<(Cron, String), Broken> {
    if text.chars().count() > CRON_MAX {
        let rule = format!("takes at most {CRON_MAX} characters");
        return Err(Broken::new("cron", rule));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let rule = "takes five fields: minute, hour, day of the month, month, day of the week";
    if fields.len() != 5 {
        return Err(Broken::new("cron", rule));
    }
    let text = fields.join(" ");
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let cron = parser.parse(&text).map_err(|_| Broken::new("cron", rule))?;
    Ok((cron, text))
}

fn texts(times: &BTreeSet<Time>) -> Vec<String> {
    let texts = times.iter().map(|time| time.strftime("%H:%M").to_string());
    texts.collect()
}

fn timestamp(moment: Wall) -> Option<Timestamp> {
    let ms = i64::try_from(moment.0).ok()?;
    Timestamp::from_millisecond(ms).ok()
}

fn wall(moment: Timestamp) -> Option<Wall> {
    u64::try_from(moment.as_millisecond()).ok().map(Wall)
}
