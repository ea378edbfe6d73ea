//! The two clocks, as arguments.
//!
//! Deadlines are measured on a monotonic clock, records on the wall clock; the types keep them
//! apart. Nothing in this crate reads a clock: a caller says what time it is.

use std::time::Duration;

/// A moment on this process's monotonic clock, in milliseconds since an arbitrary start.
///
/// It never jumps, and means nothing in another process or after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

impl Mono {
    /// The moment `by` later; saturates at the end of time.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis(by)))
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A moment on the wall clock, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub u64);

impl Wall {
    /// How long ago `earlier` was; zero if it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The moment `by` later; saturates at the end of time.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis(by)))
    }
}

/// A duration in whole milliseconds; saturates.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
