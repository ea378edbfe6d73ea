//! `cargo xtask simulate`: builds the simulation for speed and hands the terminal over to it.

use std::os::unix::process::CommandExt as _;

use crate::args::SimulateOptions;
use crate::report;
use crate::workspace::{Failure, Result, Workspace, run as run_command};

/// Builds, and becomes the simulation: no process of xtask stays in between, so that Ctrl-C
/// reaches it alone.
///
/// # Errors
/// That it cannot be built or started; does not come back otherwise.
pub(crate) fn run(workspace: &Workspace, options: &SimulateOptions) -> Result<()> {
    report::say("building the simulation");
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "--release", "-p", "scenarios"]);
    run_command(build)?;
    let program = workspace.target.join("release").join("simulate");
    let mut simulation = workspace.program(&program);
    simulation
        .arg(options.seed.to_string())
        .arg(options.seeds.to_string());
    Err(Failure::new(format!(
        "could not start {}: {}",
        program.display(),
        simulation.exec()
    )))
}
