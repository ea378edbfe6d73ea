//! The rules of the loop, played through in memory under paused time: each by a test of its own in
//! `tests/it`, and all of them together, by chance, in [`simulation`].

pub mod simulation;
