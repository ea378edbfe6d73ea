//! Checks of a page in Chromium, which tell what they measured.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// Runs the checks of an npm package whose names contain `name`; gives what they said.
pub(crate) fn checks(package: &str, name: &str, surroundings: &[(&str, String)]) -> Result<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("node")
        .args(["browser/run.mjs", name])
        .current_dir(root.join(package))
        .envs(surroundings.iter().cloned())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("node: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number that they told behind `mark`.
pub(crate) fn number_behind(said: &str, mark: &str) -> Option<f64> {
    let (_, rest) = said.split_once(mark)?;
    rest.split_whitespace().next()?.parse().ok()
}
