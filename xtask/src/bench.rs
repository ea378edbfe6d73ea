//! `cargo xtask bench`: builds what is measured as it is shipped, and hands the terminal over.

use std::os::unix::process::CommandExt as _;

use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, run as run_command};

/// The bench that needs the npm package and a browser.
const STORM: &str = "i";

/// Builds in the release profile, and becomes the benches of these letters; all without any.
///
/// # Errors
/// What could not be built or started; does not come back otherwise.
pub(crate) fn run(workspace: &Workspace, letters: &[String]) -> Result<()> {
    setup::desktop(workspace)?;
    if letters.is_empty() || letters.iter().any(|letter| letter == STORM) {
        setup::browser(workspace)?;
        setup::page(workspace, setup::Npm::GuestJs)?;
    }
    report::say("building the command and the benches in the release profile");
    // One after the other: together they would unite features that the command has not alone.
    for package in ["openchamber", "bench"] {
        let mut build = workspace.cargo();
        build.args(["build", "--locked", "--release", "-p", package]);
        run_command(build)?;
    }
    let program = workspace.target.join("release").join("bench");
    let mut bench = workspace.program(&program);
    bench.args(letters);
    Err(Failure::new(format!(
        "could not start {}: {}",
        program.display(),
        bench.exec()
    )))
}
