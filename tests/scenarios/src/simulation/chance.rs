//! Chance that is the same each time.

/// Chance from a seed: xorshift.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Seeds that lie close together begin alike.
        for _ in 0..8 {
            chance.of(1);
        }
        chance
    }

    /// A number below `limit`.
    pub(super) fn of(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }

    /// A place in a list that is so long.
    pub(super) fn at(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(1);
        usize::try_from(self.of(length)).unwrap_or(0)
    }
}
