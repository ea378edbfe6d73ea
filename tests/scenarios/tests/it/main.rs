//! The rules of the loop, one module for each group; every test names the rules it plays through.

mod audits;
mod calls;
mod clients;
mod commands;
mod field;
mod happy;
mod limits;
mod notices;
mod objectives;
mod recovery;
mod schedules;
mod simulation;
mod support;
mod timing;
mod turns;
mod user;
mod waits;
