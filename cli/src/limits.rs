//! The limits of `serve` as flags. One table makes the flags, their defaults in the help and the
//! [`Limits`] they lead to, so that none of the three can drift from the others.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use goal_core::limits::Limits;
use goal_core::time::millis;
use goal_engine::error::Code;

use crate::failure::Failure;

/// Longest time a flag takes, in milliseconds: a year.
const MILLIS_MAX: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Largest count a flag takes.
const COUNT_MAX: u64 = 1_000_000;

/// Longest value as typed, in bytes.
const VALUE_BYTES_MAX: usize = 64;

/// The flags as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitFlags {
    /// The values of each flag that was given, in the table's order.
    given: Vec<(&'static str, Vec<String>)>,
}

/// A limit that has a flag.
struct Flag {
    /// The flag without its dashes; the help text's key ends with it.
    name: &'static str,
    kind: Kind,
}

/// Where a flag's value goes, and what it may be.
enum Kind {
    /// A time in milliseconds, at least this many.
    Time(u64, fn(&mut Limits) -> &mut Duration),
    /// Two times in milliseconds.
    Times(fn(&mut Limits) -> &mut [Duration; 2]),
    /// A count, at least this much.
    Count(u64, fn(&mut Limits) -> &mut u32),
    /// A count that is kept as a length.
    Length(u64, fn(&mut Limits) -> &mut usize),
}

const FLAGS: [Flag; 27] = [
    time("idle-quiet-ms", 0, |limits| &mut limits.idle_quiet),
    time("kickoff-quiet-ms", 0, |limits| &mut limits.kickoff_quiet),
    time("resume-quiet-ms", 0, |limits| &mut limits.resume_quiet),
    time("call-timeout-ms", 1, |limits| &mut limits.call_timeout),
    time("audit-timeout-ms", 1, |limits| &mut limits.audit_timeout),
    times("audit-retry-ms", |limits| &mut limits.audit_retry),
    time("delivery-window-ms", 1, |limits| {
        &mut limits.delivery_window
    }),
    time("interrupted-grace-ms", 0, |limits| {
        &mut limits.interrupted_grace
    }),
    // Looking again without a pause would keep server and processor busy for nothing.
    time("recheck-max-ms", 100, |limits| &mut limits.recheck_max),
    time("stale-after-ms", 1, |limits| &mut limits.stale_after),
    time("liveness-ms", 1, |limits| &mut limits.liveness),
    // A pause of nothing doubled is nothing.
    time("reconnect-min-ms", 10, |limits| &mut limits.reconnect_min),
    time("reconnect-max-ms", 10, |limits| &mut limits.reconnect_max),
    time("first-message-wait-ms", 0, |limits| {
        &mut limits.first_message_wait
    }),
    count("turns-max", 1, |limits| &mut limits.turns_max),
    count("blocked-max", 1, |limits| &mut limits.blocked_max),
    count("audit-fail-max", 1, |limits| &mut limits.audit_fail_max),
    Flag {
        name: "truncated-max",
        kind: Kind::Length(1, |limits| &mut limits.truncated_max),
    },
    time("continue-gap-ms", 0, |limits| &mut limits.continue_gap),
    time("empty-quiet-ms", 0, |limits| &mut limits.empty_quiet),
    count("empty-max", 0, |limits| &mut limits.empty_max),
    count("repeat-slow", 0, |limits| &mut limits.repeat_slow),
    count("repeat-max", 0, |limits| &mut limits.repeat_max),
    time("repeat-gap-ms", 0, |limits| &mut limits.repeat_gap),
    count("compactions-max", 0, |limits| &mut limits.compactions_max),
    count("unconfirmed-max", 1, |limits| &mut limits.unconfirmed_max),
    count("resend-max", 0, |limits| &mut limits.resend_max),
];

const fn time(name: &'static str, min: u64, field: fn(&mut Limits) -> &mut Duration) -> Flag {
    Flag {
        name,
        kind: Kind::Time(min, field),
    }
}

const fn times(name: &'static str, field: fn(&mut Limits) -> &mut [Duration; 2]) -> Flag {
    Flag {
        name,
        kind: Kind::Times(field),
    }
}

const fn count(name: &'static str, min: u64, field: fn(&mut Limits) -> &mut u32) -> Flag {
    Flag {
        name,
        kind: Kind::Count(min, field),
    }
}

impl LimitFlags {
    /// The defaults with what was given.
    ///
    /// # Errors
    /// `invalidLimits` for a value that is none, or for a relation between limits that does not
    /// hold (X24).
    pub(crate) fn limits(&self) -> Result<Limits, Failure> {
        let mut limits = Limits::DEFAULT;
        for (name, values) in &self.given {
            if let Some(flag) = FLAGS.iter().find(|flag| flag.name == *name) {
                flag.set(&mut limits, values)?;
            }
        }
        match limits.check() {
            Ok(()) => Ok(limits),
            Err(broken) => Err(Failure::of(Code::InvalidLimits, broken.sentence())),
        }
    }
}

impl Flag {
    fn set(&self, limits: &mut Limits, values: &[String]) -> Result<(), Failure> {
        match self.kind {
            Kind::Time(min, field) => {
                let ms = self.one(values, min..=MILLIS_MAX)?;
                *field(limits) = Duration::from_millis(ms);
            }
            Kind::Times(field) => {
                let numbers = self.numbers(values, 0..=MILLIS_MAX)?;
                let pauses: [u64; 2] = numbers
                    .try_into()
                    .map_err(|_| invalid(say!("error.limit.pair", flag = self.name)))?;
                *field(limits) = pauses.map(Duration::from_millis);
            }
            Kind::Count(min, field) => {
                let count = self.one(values, min..=COUNT_MAX)?;
                *field(limits) = u32::try_from(count).unwrap_or(u32::MAX);
            }
            Kind::Length(min, field) => {
                let count = self.one(values, min..=COUNT_MAX)?;
                *field(limits) = usize::try_from(count).unwrap_or(usize::MAX);
            }
        }
        Ok(())
    }

    fn one(&self, values: &[String], range: RangeInclusive<u64>) -> Result<u64, Failure> {
        match self.numbers(values, range)?[..] {
            [number] => Ok(number),
            _ => Err(invalid(say!("error.limit.one", flag = self.name))),
        }
    }

    fn numbers(&self, values: &[String], range: RangeInclusive<u64>) -> Result<Vec<u64>, Failure> {
        let number = |text: &str| {
            let digits = text.len() <= VALUE_BYTES_MAX
                && !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_digit());
            let number: Option<u64> = text.parse().ok().filter(|_| digits);
            number.filter(|number| range.contains(number))
        };
        values
            .iter()
            .flat_map(|value| value.split(','))
            .map(number)
            .collect::<Option<_>>()
            .ok_or_else(|| {
                let (min, max) = (range.start(), range.end());
                invalid(say!(
                    "error.limit.range",
                    flag = self.name,
                    min = min,
                    max = max
                ))
            })
    }

    /// The value of `limits` as it is typed.
    fn shown(&self, limits: &Limits) -> String {
        let mut limits = limits.clone();
        match self.kind {
            Kind::Time(_, field) => millis(*field(&mut limits)).to_string(),
            Kind::Times(field) => field(&mut limits)
                .map(|pause| millis(pause).to_string())
                .join(","),
            Kind::Count(_, field) => field(&mut limits).to_string(),
            Kind::Length(_, field) => field(&mut limits).to_string(),
        }
    }

    fn arg(&self) -> Arg {
        let value_name = match self.kind {
            Kind::Time(..) => "MS",
            Kind::Times(_) => "MS,MS",
            Kind::Count(..) | Kind::Length(..) => "N",
        };
        let help = crate::words::of_code("help.limit", self.name);
        let default = say!("help.limit", default = self.shown(&Limits::DEFAULT));
        Arg::new(self.name)
            .long(self.name)
            .value_name(value_name)
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .help(format!("{help} {default}"))
            .help_heading(say!("help.limits"))
    }
}

impl Args for LimitFlags {
    fn augment_args(command: Command) -> Command {
        FLAGS
            .iter()
            .fold(command, |command, flag| command.arg(flag.arg()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for LimitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.given = FLAGS
            .iter()
            .filter_map(|flag| {
                let values = matches.get_many::<String>(flag.name)?;
                Some((flag.name, values.cloned().collect()))
            })
            .collect();
        Ok(())
    }
}

fn invalid(message: String) -> Failure {
    Failure::of(Code::InvalidLimits, message)
}

/// The names of all flags.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().map(|flag| flag.name)
}

#[cfg(test)]
mod tests {
    use goal_core::limits::BrokenRelation;

    use super::*;

    fn limits(given: &[(&'static str, &str)]) -> Result<Limits, Failure> {
        let values = given.iter();
        let given = values.map(|(name, value)| (*name, vec![(*value).to_owned()]));
        LimitFlags {
            given: given.collect(),
        }
        .limits()
    }

    #[test]
    fn what_the_help_calls_the_default_is_the_default() {
        assert_eq!(limits(&[]), Ok(Limits::DEFAULT));
        for flag in &FLAGS {
            let shown = flag.shown(&Limits::DEFAULT);
            assert_eq!(
                limits(&[(flag.name, &shown)]),
                Ok(Limits::DEFAULT),
                "{}",
                flag.name
            );
        }
    }

    #[test]
    fn every_flag_reaches_a_field_of_its_own() {
        let mut reached: Vec<Limits> = Vec::new();
        for flag in &FLAGS {
            let mut changed = Limits::DEFAULT;
            let value = if matches!(flag.kind, Kind::Times(_)) {
                "7,8"
            } else {
                "777"
            };
            flag.set(&mut changed, &[value.to_owned()]).unwrap();
            assert_ne!(changed, Limits::DEFAULT, "{}", flag.name);
            assert!(!reached.contains(&changed), "{}", flag.name);
            reached.push(changed);
        }
    }

    #[test]
    fn every_limit_has_a_flag_or_a_reason_for_none() {
        // A new limit does not compile here until it is decided which of the two it has.
        let Limits {
            idle_quiet: _,
            kickoff_quiet: _,
            resume_quiet: _,
            call_timeout: _,
            audit_timeout: _,
            audit_retry: _,
            delivery_window: _,
            interrupted_grace: _,
            recheck_max: _,
            stale_after: _,
            liveness: _,
            reconnect_min: _,
            reconnect_max: _,
            turns_max: _,
            blocked_max: _,
            audit_fail_max: _,
            truncated_max: _,
            continue_gap: _,
            empty_quiet: _,
            empty_max: _,
            repeat_slow: _,
            repeat_max: _,
            repeat_gap: _,
            compactions_max: _,
            unconfirmed_max: _,
            resend_max: _,
            first_message_wait: _,
            // Agreed with the other clients that read the same goals and files.
            note_max: _,
            reason_max: _,
            objective_max: _,
            // What a model is shown, and how it is read: no matter of patience.
            evidence_max: _,
            page_messages: _,
            messages_max: _,
            // Measured on the server.
            disposal_window: _,
            write_echo: _,
        } = Limits::DEFAULT;
        let named = 27;
        assert_eq!(FLAGS.len(), named);
    }

    #[test]
    fn values_are_whole_numbers_in_a_range() {
        let fast = limits(&[
            ("idle-quiet-ms", "500"),
            ("kickoff-quiet-ms", "500"),
            ("interrupted-grace-ms", "2000"),
            ("audit-retry-ms", "10,20"),
            ("turns-max", "5"),
        ]);
        let ms = Duration::from_millis;
        let expected = Limits {
            idle_quiet: ms(500),
            kickoff_quiet: ms(500),
            interrupted_grace: ms(2_000),
            audit_retry: [ms(10), ms(20)],
            turns_max: 5,
            ..Limits::DEFAULT
        };
        assert_eq!(fast, Ok(expected));
        let refused = [
            ("idle-quiet-ms", "-1"),
            ("idle-quiet-ms", "1.5"),
            ("idle-quiet-ms", "15s"),
            ("idle-quiet-ms", ""),
            ("idle-quiet-ms", "1,2"),
            ("stale-after-ms", "31536000001"),
            ("turns-max", "0"),
            ("turns-max", "1000001"),
            ("reconnect-min-ms", "0"),
            ("audit-retry-ms", "1"),
            ("audit-retry-ms", "1,2,3"),
        ];
        for (name, value) in refused {
            let failure = limits(&[(name, value)]).unwrap_err();
            assert_eq!(failure.code, "invalidLimits", "{name} {value}");
            assert!(failure.message.contains(name), "{}", failure.message);
        }
    }

    #[test]
    fn two_pauses_come_in_one_value_or_in_two() {
        let given = vec!["1".to_owned(), "2".to_owned()];
        let flags = LimitFlags {
            given: vec![("audit-retry-ms", given)],
        };
        assert_eq!(
            Some(flags.limits().unwrap().audit_retry),
            limits(&[("audit-retry-ms", "1,2")])
                .ok()
                .map(|limits| limits.audit_retry)
        );
    }

    #[test]
    fn a_broken_relation_is_refused_by_name() {
        let cases = [
            (
                "resume-quiet-ms",
                "3001",
                BrokenRelation::ResumeAboveKickoff,
            ),
            (
                "kickoff-quiet-ms",
                "15001",
                BrokenRelation::KickoffAboveIdle,
            ),
            ("recheck-max-ms", "14999", BrokenRelation::IdleAboveRecheck),
            (
                "interrupted-grace-ms",
                "1999",
                BrokenRelation::GraceBelowTwoSeconds,
            ),
            (
                "interrupted-grace-ms",
                "44999",
                BrokenRelation::GraceBelowThreeIdles,
            ),
            (
                "reconnect-min-ms",
                "30001",
                BrokenRelation::ReconnectMinAboveMax,
            ),
        ];
        for (name, value, broken) in cases {
            let failure = limits(&[(name, value)]).unwrap_err();
            assert_eq!(failure.message, broken.sentence());
            assert_eq!(failure.code, "invalidLimits");
        }
    }
}
