//! `cargo xtask bundle`: the packages in which the app and the command come to a machine.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, run as run_command};

/// The kinds of packages.
const KINDS: [&str; 2] = ["deb", "rpm"];

/// Builds what the packages hold, and the packages; tells where they are.
///
/// # Errors
/// What could not be built.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::desktop(workspace)?;
    setup::app_page(workspace)?;
    report::say("building the app and the command in the release profile");
    // One after the other: together they would unite features that the command has not alone.
    for package in ["openchamber", "openchamber-desktop"] {
        let mut build = workspace.cargo();
        build.args(["build", "--locked", "--release", "-p", package]);
        if package == "openchamber-desktop" {
            build.args(["--features", "tauri/custom-protocol"]);
        }
        run_command(build)?;
    }
    pack(workspace)
}

/// Packs what stands built, and tells of each package.
fn pack(workspace: &Workspace) -> Result<()> {
    let built = workspace.target.join("release");
    let folder = built.join("bundle");
    for kind in KINDS {
        // What an earlier version left must not stand for this one. There may be nothing.
        std::fs::remove_dir_all(folder.join(kind)).ok();
    }
    let config = files(workspace, &built);
    let mut pack = workspace.program(workspace.app().join("node_modules/.bin/tauri"));
    pack.current_dir(workspace.root.join("src-tauri"))
        .args(["bundle", "--ci", "--no-sign", "--config", config.as_str()])
        .args(["--bundles", KINDS.join(",").as_str()])
        .env("CARGO_TARGET_DIR", &workspace.target);
    run_command(pack)?;
    for kind in KINDS {
        let package = only_one(&folder.join(kind), kind)?;
        report::say(&package.display().to_string());
    }
    Ok(())
}

/// What the packages hold beside the app: the command, and the licences where Debian has them.
fn files(workspace: &Workspace, built: &Path) -> String {
    let at = |folder: &Path, name: &str| folder.join(name).display().to_string();
    let files = json!({
        "/usr/bin/openchamber": at(built, "openchamber"),
        "/usr/share/doc/open-chamber/LICENSE-APACHE": at(&workspace.root, "LICENSE-APACHE"),
        "/usr/share/doc/open-chamber/LICENSE-MIT": at(&workspace.root, "LICENSE-MIT"),
    });
    let linux = json!({ "deb": { "files": files }, "rpm": { "files": files } });
    json!({ "bundle": { "linux": linux } }).to_string()
}

/// The one package of its kind in `folder`.
fn only_one(folder: &Path, kind: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).ok().into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == kind))
        .ok_or_else(|| {
            Failure::new(format!(
                "the packer left no .{kind} in {}",
                folder.display()
            ))
        })
}
