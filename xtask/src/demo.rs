//! `cargo xtask demo`: sets up and builds what the demo needs, and hands the terminal over to it.

use std::os::unix::process::CommandExt as _;

use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, ask, run as run_command};

/// Sets up, builds, and becomes the demo: no process of xtask stays in between, so that Ctrl-C
/// gives the prompt back only when everything is cleared away.
///
/// # Errors
/// What is missing, and how to get it; does not come back otherwise.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::node(workspace)?;
    git(workspace)?;
    let opencode = setup::opencode(workspace)?;
    report::say("building the command and the demo");
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "-p", "openchamber", "-p", "demo"]);
    run_command(build)?;
    let program = workspace.target.join("debug").join("demo");
    let mut demo = workspace.program(&program);
    demo.env("OPENCODE_BINARY", opencode);
    Err(Failure::new(format!(
        "could not start {}: {}",
        program.display(),
        demo.exec()
    )))
}

/// The demo shows by Git what the agent changed.
fn git(workspace: &Workspace) -> Result<()> {
    let mut question = workspace.program("git");
    question.arg("--version");
    match ask(question) {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            "Git is needed and is not on the PATH. Install it, then run this again.",
        )),
    }
}
