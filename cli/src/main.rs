//! The `openchamber` command: session goals for OpenCode from the terminal.
//!
//! It shows and asks; every rule of the loop is in `goal-core` and `goal-engine`. `args` is what
//! can be typed, `verbs` does it, `locales/en.json` holds its own sentences.

#[macro_use]
mod words;

mod args;
mod connect;
mod failure;
mod json;
mod limits;
mod log;
mod objective;
mod output;
mod page;
mod render;
mod signals;
mod text;
mod timeline;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::args::Cli;
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;

/// Threads for work on files: the database takes one at a time, and each of them costs memory.
const BLOCKING_MAX: usize = 8;

/// How long tasks that still run may take once the command is done: none of them matters then.
const FAREWELL: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&typed) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &typed),
    };
    let mut output = Output::new(cli.common.json);
    let result = run(cli, &mut output);
    let exit = output.end(result);
    ExitCode::from(exit.code())
}

fn run(cli: Cli, output: &mut Output) -> Result<Exit, Stop> {
    // Written out when it is dropped.
    let _log = log::start(&cli);
    // One thread has time enough, and on it the engine says nothing before `serve` listens.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_MAX)
        .build()
        .map_err(|error| Failure::system(&error))?;
    let result = runtime.block_on(verbs::run(cli, output));
    runtime.shutdown_timeout(FAREWELL);
    result
}

/// What clap answers by itself: help and version, or what is wrong with the line.
fn refuse(error: &clap::Error, typed: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        // Nobody is left to be told that the help could not be printed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let json = typed
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json");
    if json {
        let failure = Failure::usage(args::first_paragraph(error));
        let exit = Output::new(json).end(Err(failure.into()));
        return ExitCode::from(exit.code());
    }
    let _ = error.print();
    ExitCode::from(Exit::Usage.code())
}
