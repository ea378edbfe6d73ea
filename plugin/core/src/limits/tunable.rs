//! The limits that a person or an app may set: one table for flags, configuration and whatever
//! comes, so that none of them can drift from the others.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Limits;
use crate::time::millis;

/// Longest time that may be set, in milliseconds: a year.
const MILLIS_MAX: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Largest count that may be set.
const COUNT_MAX: u64 = 1_000_000;

/// A limit that may be set.
#[derive(Debug)]
pub struct Tunable {
    /// Its name in words joined by dashes, times with their unit: `idle-quiet-ms`.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
}

/// Where a limit stands, and the least it may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A time in milliseconds, at least this many.
    Time(u64, fn(&mut Limits) -> &mut Duration),
    /// Two times in milliseconds.
    Times(fn(&mut Limits) -> &mut [Duration; 2]),
    /// A count, at least this much.
    Count(u64, fn(&mut Limits) -> &mut u32),
    /// A count that is kept as a length.
    Length(u64, fn(&mut Limits) -> &mut usize),
}

/// All of them, in the order in which they are shown.
pub const TUNABLES: [Tunable; 27] = [
    time("idle-quiet-ms", 0, |limits| &mut limits.idle_quiet),
    time("kickoff-quiet-ms", 0, |limits| &mut limits.kickoff_quiet),
    time("resume-quiet-ms", 0, |limits| &mut limits.resume_quiet),
    time("call-timeout-ms", 1, |limits| &mut limits.call_timeout),
    time("audit-timeout-ms", 1, |limits| &mut limits.audit_timeout),
    Tunable {
        name: "audit-retry-ms",
        kind: Kind::Times(|limits| &mut limits.audit_retry),
    },
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
    Tunable {
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

impl Tunable {
    /// The numbers it takes, both ends included.
    #[must_use]
    pub fn range(&self) -> RangeInclusive<u64> {
        match self.kind {
            Kind::Time(min, _) => min..=MILLIS_MAX,
            Kind::Times(_) => 0..=MILLIS_MAX,
            Kind::Count(min, _) | Kind::Length(min, _) => min..=COUNT_MAX,
        }
    }

    /// How many numbers it takes.
    #[must_use]
    pub fn takes(&self) -> usize {
        match self.kind {
            Kind::Times(_) => 2,
            Kind::Time(..) | Kind::Count(..) | Kind::Length(..) => 1,
        }
    }

    /// Puts `numbers`, which are in range, in place. Says whether they were as many as it takes;
    /// else nothing is set.
    pub fn set(&self, limits: &mut Limits, numbers: &[u64]) -> bool {
        match (self.kind, numbers) {
            (Kind::Time(_, field), [ms]) => *field(limits) = Duration::from_millis(*ms),
            (Kind::Times(field), [first, second]) => {
                *field(limits) = [*first, *second].map(Duration::from_millis);
            }
            (Kind::Count(_, field), [count]) => {
                *field(limits) = u32::try_from(*count).unwrap_or(u32::MAX);
            }
            (Kind::Length(_, field), [count]) => {
                *field(limits) = usize::try_from(*count).unwrap_or(usize::MAX);
            }
            (Kind::Time(..) | Kind::Times(_) | Kind::Count(..) | Kind::Length(..), _) => {
                return false;
            }
        }
        true
    }

    /// The numbers that `limits` holds for it.
    #[must_use]
    pub fn get(&self, limits: &Limits) -> Vec<u64> {
        let mut limits = limits.clone();
        match self.kind {
            Kind::Time(_, field) => vec![millis(*field(&mut limits))],
            Kind::Times(field) => field(&mut limits).map(millis).to_vec(),
            Kind::Count(_, field) => vec![u64::from(*field(&mut limits))],
            Kind::Length(_, field) => {
                vec![u64::try_from(*field(&mut limits)).unwrap_or(u64::MAX)]
            }
        }
    }
}

const fn time(name: &'static str, min: u64, field: fn(&mut Limits) -> &mut Duration) -> Tunable {
    Tunable {
        name,
        kind: Kind::Time(min, field),
    }
}

const fn count(name: &'static str, min: u64, field: fn(&mut Limits) -> &mut u32) -> Tunable {
    Tunable {
        name,
        kind: Kind::Count(min, field),
    }
}
