//! The command as a user runs it, against nothing and against a small OpenCode of its own.

mod command;
mod fake;

mod asking;
mod auditor;
mod changing;
mod doctor;
mod help;
mod schedules;
#[cfg(unix)]
mod serving;
mod sessions;
mod usage;
mod watching;
