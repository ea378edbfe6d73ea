//! The limits of `serve` as flags. The table of limits that may be set makes the flags, their
//! defaults in the help and the [`Limits`] they lead to, so that none of the three can drift from
//! the others.

use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use goal_core::limits::{Kind, Limits, TUNABLES, Tunable};
use goal_engine::error::Code;

use crate::failure::Failure;

/// Longest value as typed, in bytes.
const VALUE_BYTES_MAX: usize = 64;

/// The flags as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitFlags {
    /// The values of each flag that was given, in the table's order.
    given: Vec<(&'static str, Vec<String>)>,
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
            if let Some(limit) = TUNABLES.iter().find(|limit| limit.name == *name) {
                set(limit, &mut limits, values)?;
            }
        }
        match limits.check() {
            Ok(()) => Ok(limits),
            Err(broken) => Err(Failure::of(Code::InvalidLimits, broken.sentence())),
        }
    }
}

fn set(limit: &Tunable, limits: &mut Limits, values: &[String]) -> Result<(), Failure> {
    if limit.set(limits, &numbers(limit, values)?) {
        return Ok(());
    }
    Err(invalid(if limit.takes() == 1 {
        say!("error.limit.one", flag = limit.name)
    } else {
        say!("error.limit.pair", flag = limit.name)
    }))
}

fn numbers(limit: &Tunable, values: &[String]) -> Result<Vec<u64>, Failure> {
    let range = limit.range();
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
                flag = limit.name,
                min = min,
                max = max
            ))
        })
}

/// The value of `limits` as it is typed.
fn shown(limit: &Tunable, limits: &Limits) -> String {
    let numbers = limit.get(limits);
    let typed: Vec<String> = numbers.iter().map(u64::to_string).collect();
    typed.join(",")
}

fn arg(limit: &Tunable) -> Arg {
    let value_name = match limit.kind {
        Kind::Time(..) => "MS",
        Kind::Times(_) => "MS,MS",
        Kind::Count(..) | Kind::Length(..) => "N",
    };
    let help = crate::words::of_code("help.limit", limit.name);
    let default = say!("help.limit", default = shown(limit, &Limits::DEFAULT));
    Arg::new(limit.name)
        .long(limit.name)
        .value_name(value_name)
        .action(ArgAction::Append)
        .allow_hyphen_values(true)
        .help(format!("{help} {default}"))
        .help_heading(say!("help.limits"))
}

impl Args for LimitFlags {
    fn augment_args(command: Command) -> Command {
        TUNABLES
            .iter()
            .fold(command, |command, limit| command.arg(arg(limit)))
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
        self.given = TUNABLES
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
    TUNABLES.iter().map(|flag| flag.name)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        for flag in &TUNABLES {
            let shown = shown(flag, &Limits::DEFAULT);
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
        for flag in &TUNABLES {
            let mut changed = Limits::DEFAULT;
            let value = if flag.takes() == 2 { "7,8" } else { "777" };
            set(flag, &mut changed, &[value.to_owned()]).unwrap();
            assert_ne!(changed, Limits::DEFAULT, "{}", flag.name);
            assert!(!reached.contains(&changed), "{}", flag.name);
            reached.push(changed);
        }
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
