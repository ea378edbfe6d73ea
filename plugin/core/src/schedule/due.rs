//! What a look at a task comes to, whatever the clock did since the last one.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Schedule;
use crate::time::{Wall, millis};

/// How late an occurrence may be found and still be run: a busy or just woken computer, and no
/// more. What is found later was missed, and is never caught up (T9).
pub const LATE_MAX: Duration = Duration::from_secs(60);

/// Two occurrences that lie no further apart are one (T6).
pub const SAME_OCCURRENCE: Duration = Duration::from_secs(5);

/// Missed occurrences that are counted: most of a day of one each minute. There may be more.
pub const MISSED_COUNTED_MAX: u32 = 1_000;

/// What a look at a task comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing is to be done until then; `None`: it never comes again.
    Wait(Option<Wall>),
    /// The occurrence that was waited for is not the next one any more, because the clock was set
    /// back or the zone's rules changed: from now on this one is.
    Arm(Wall),
    /// An occurrence is due.
    Due {
        /// It.
        occurrence: Wall,
        /// The one behind it.
        next: Option<Wall>,
    },
    /// Occurrences went by while nobody looked.
    Missed {
        /// The first of them.
        first: Wall,
        /// How many, at most [`MISSED_COUNTED_MAX`].
        count: u32,
        /// The one to wait for now; it may be due.
        next: Option<Wall>,
    },
}

/// Looks at an enabled task: `armed` is the occurrence that is waited for, `taken` are those that
/// somebody ran or skipped.
#[must_use]
pub fn look(schedule: &Schedule, armed: Option<Wall>, taken: &BTreeSet<Wall>, now: Wall) -> Look {
    let next = free(schedule, schedule.next(now), taken);
    let Some(armed) = armed else {
        return next.map_or(Look::Wait(None), Look::Arm);
    };
    if armed > now {
        return match next {
            Some(next) if next < armed => Look::Arm(next),
            Some(_) | None => Look::Wait(Some(armed)),
        };
    }
    if now.since(armed) <= LATE_MAX {
        return Look::Due {
            occurrence: armed,
            next,
        };
    }
    missed(schedule, armed, taken, now, next)
}

fn missed(
    schedule: &Schedule,
    armed: Wall,
    taken: &BTreeSet<Wall>,
    now: Wall,
    next: Option<Wall>,
) -> Look {
    let mut count = 0;
    let mut gone_by = Some(armed);
    while let Some(occurrence) = gone_by.filter(|at| now.since(*at) > LATE_MAX) {
        count += 1;
        if count == MISSED_COUNTED_MAX {
            gone_by = next;
            break;
        }
        gone_by = free(schedule, schedule.after(occurrence), taken);
    }
    Look::Missed {
        first: armed,
        count,
        next: gone_by,
    }
}

/// The occurrence, or the first behind it that nobody took.
fn free(schedule: &Schedule, from: Option<Wall>, taken: &BTreeSet<Wall>) -> Option<Wall> {
    let mut occurrence = from?;
    // Each step passes one that is taken.
    for _ in 0..=taken.len() {
        if !is_taken(occurrence, taken) {
            return Some(occurrence);
        }
        occurrence = schedule.after(occurrence)?;
    }
    Some(occurrence)
}

fn is_taken(occurrence: Wall, taken: &BTreeSet<Wall>) -> bool {
    let near = millis(SAME_OCCURRENCE);
    let from = Wall(occurrence.0.saturating_sub(near));
    taken
        .range(from..=occurrence.after(SAME_OCCURRENCE))
        .next()
        .is_some()
}
