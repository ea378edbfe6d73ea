//! `cargo xtask bench`: builds what is measured as it is shipped, and hands the terminal over.

use std::os::unix::process::CommandExt as _;

use crate::bundle;
use crate::report;
use crate::setup::{self, Npm};
use crate::workspace::{Failure, Result, Workspace};

/// Builds, and becomes the benches of these letters; all without any.
///
/// # Errors
/// What could not be built or started; does not come back otherwise.
pub(crate) fn run(workspace: &Workspace, letters: &[String]) -> Result<()> {
    let wanted = |bench: &str| letters.is_empty() || letters.iter().any(|letter| letter == bench);
    setup::desktop(workspace)?;
    if wanted("i") || wanted("k") {
        setup::browser(workspace)?;
    }
    if wanted("i") {
        setup::page(workspace, Npm::GuestJs)?;
    }
    if wanted("j") || wanted("k") {
        setup::app_page(workspace)?;
    }
    report::say("building what is measured and the benches");
    bundle::release(workspace, "openchamber")?;
    bundle::release(workspace, "bench")?;
    let program = workspace.target.join("release").join("bench");
    let mut bench = workspace.program(&program);
    bench.args(letters);
    if wanted("j") {
        bench.env("OPENCODE_BINARY", setup::opencode(workspace)?);
        bundle::app(workspace, &["--bins", "--example", "empty"])?;
    }
    Err(Failure::new(format!(
        "could not start {}: {}",
        program.display(),
        bench.exec()
    )))
}
