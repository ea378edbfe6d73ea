//! The rules of the loop, played through in memory under paused time.
