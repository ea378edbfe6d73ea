//! The session goal loop as pure functions: no clock, no I/O, no async.
