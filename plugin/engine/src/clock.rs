//! The system's clock and randomness.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use goal_core::time::Wall;

use crate::ports::Clock;

/// The wall clock and the random numbers of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> Wall {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Wall(goal_core::time::millis(since))
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        if let Err(error) = getrandom::fill(&mut bytes) {
            tracing::warn!(%error, "the system gave no random bytes; weaker ones are used");
            // What is drawn must differ, it guards nothing: the keys of a hash map will do.
            let half = |salt: u8| {
                RandomState::new()
                    .hash_one((self.wall().0, salt))
                    .to_le_bytes()
            };
            bytes[..8].copy_from_slice(&half(0));
            bytes[8..].copy_from_slice(&half(1));
        }
        bytes
    }
}

/// Random bytes as text: 32 hex digits.
pub(crate) fn hex(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_counts_milliseconds_since_1970() {
        let year_2024 = Wall(1_704_067_200_000);
        assert!(SystemClock.wall() > year_2024);
    }

    #[test]
    fn no_two_draws_are_the_same() {
        assert_ne!(SystemClock.random(), SystemClock.random());
        assert_eq!(hex([0; 16]).len(), 32);
    }
}
