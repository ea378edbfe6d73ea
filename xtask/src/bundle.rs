//! `cargo xtask bundle`: the packages in which the app and the command come to a machine.

use std::path::{Path, PathBuf};

use crate::report;
use crate::setup::{self, Npm};
use crate::workspace::{Failure, Result, Workspace, run as run_command};

/// How what a package holds was built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As the tests build it.
    Dev,
    /// As it is shipped.
    Release,
}

impl Profile {
    /// The folder below `target`.
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }
}

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
    for package in packages(workspace, Profile::Release, &["deb", "rpm"])? {
        report::say(&package.display().to_string());
    }
    Ok(())
}

/// Packs what stands built in the profile's folder, and gives the packages in the order of `kinds`.
///
/// # Errors
/// If the packer fails, or leaves no package.
pub(crate) fn packages(
    workspace: &Workspace,
    profile: Profile,
    kinds: &[&str],
) -> Result<Vec<PathBuf>> {
    setup::page(workspace, Npm::App)?;
    let built = workspace.target.join(profile.folder());
    let folder = built.join("bundle");
    for kind in kinds {
        // What an earlier version left must not stand for this one. There may be nothing.
        std::fs::remove_dir_all(folder.join(kind)).ok();
    }
    let config = files(workspace, &built);
    let mut pack = workspace.program(workspace.app().join("node_modules/.bin/tauri"));
    pack.current_dir(workspace.root.join("src-tauri"))
        .args(["bundle", "--ci", "--no-sign", "--config", config.as_str()])
        .args(["--bundles", kinds.join(",").as_str()])
        .env("CARGO_TARGET_DIR", &workspace.target);
    if profile == Profile::Dev {
        pack.arg("--debug");
    }
    run_command(pack)?;
    kinds
        .iter()
        .map(|kind| only_one(&folder.join(kind), kind))
        .collect()
}

/// What the packages hold beside the app: the command, and the licences where Debian has them.
fn files(workspace: &Workspace, built: &Path) -> String {
    let from = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
    let licence = |name: &str| from(workspace.root.join(name));
    let entries = [
        ("/usr/bin/openchamber", from(built.join("openchamber"))),
        (
            "/usr/share/doc/open-chamber/LICENSE-APACHE",
            licence("LICENSE-APACHE"),
        ),
        (
            "/usr/share/doc/open-chamber/LICENSE-MIT",
            licence("LICENSE-MIT"),
        ),
    ];
    let entries: Vec<String> = entries
        .iter()
        .map(|(to, from)| format!("{to:?}:{from:?}"))
        .collect();
    let files = entries.join(",");
    format!(
        r#"{{"bundle":{{"linux":{{"deb":{{"files":{{{files}}}}},"rpm":{{"files":{{{files}}}}}}}}}}}"#
    )
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
