//! `cargo xtask`: sets up what a fresh machine needs and runs every check of the project.
//!
//! Reading order: [`args`] is the command line, [`workspace`] knows the folders and starts
//! programs, [`setup`] fetches what is missing, [`steps`] is the list of checks, `test` runs
//! them, [`demo`] starts the demo, [`simulate`] the simulation, [`mutants`] puts the tests to the
//! test, [`package`] packs what would be published and builds it, [`app`] opens the app,
//! [`bundle`] packs it,
//! [`mod@bench`] measures, [`report`] is all that is printed.

mod app;
mod args;
mod bench;
mod bundle;
mod demo;
mod mutants;
mod package;
mod report;
mod setup;
mod simulate;
mod steps;
mod test;
mod workspace;

use std::process::ExitCode;

use crate::args::Invocation;
use crate::mutants::Finished;
use crate::workspace::Workspace;

/// Exit code of a program that Ctrl-C stopped.
const EXIT_STOPPED: u8 = 130;

fn main() -> ExitCode {
    let invocation = match args::parse(std::env::args_os()) {
        Ok(invocation) => invocation,
        // Help that was asked for, or what is wrong, with its exit code.
        Err(told) => told.exit(),
    };
    let workspace = Workspace::locate();
    let outcome = match invocation {
        Invocation::App => app::run(&workspace),
        Invocation::Bench { letters } => bench::run(&workspace, &letters),
        Invocation::Bundle => bundle::run(&workspace),
        Invocation::Demo(options) => demo::run(&workspace, options),
        Invocation::Package => package::run(&workspace),
        Invocation::Setup => setup::run_all(&workspace),
        Invocation::Simulate(options) => simulate::run(&workspace, &options),
        Invocation::Test(options) => test::run(&workspace, &options),
        Invocation::Mutants(options) => match mutants::run(&workspace, &options) {
            Ok(Finished::Stopped) => return ExitCode::from(EXIT_STOPPED),
            Ok(Finished::Caught) => Ok(()),
            Err(failure) => Err(failure),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::complain(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}
