//! `cargo xtask`: sets up what a fresh machine needs and runs every check of the project.
//!
//! Reading order: [`args`] is the command line, [`workspace`] knows the folders and starts
//! programs, [`setup`] fetches what is missing, [`steps`] is the list of checks, `test` runs
//! them, [`demo`] starts the demo, [`bench`] the benches, [`report`] is all that is printed.

mod args;
mod bench;
mod demo;
mod report;
mod setup;
mod steps;
mod test;
mod workspace;

use std::process::ExitCode;

use crate::args::Invocation;
use crate::workspace::Workspace;

/// Exit code for a command line that makes no sense; a failed step gives 1.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let invocation = match args::parse(std::env::args().skip(1)) {
        Ok(invocation) => invocation,
        Err(problem) => {
            report::complain(&format!("{problem}\nTry `cargo xtask --help`."));
            return ExitCode::from(EXIT_USAGE);
        }
    };
    let workspace = Workspace::locate();
    let outcome = match invocation {
        Invocation::Help(text) => {
            report::say(&text);
            Ok(())
        }
        Invocation::Bench(letters) => bench::run(&workspace, &letters),
        Invocation::Demo => demo::run(&workspace),
        Invocation::Setup => setup::run_all(&workspace),
        Invocation::Test(options) => test::run(&workspace, &options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::complain(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}
