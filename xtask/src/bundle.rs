//! `cargo xtask bundle`: the packages in which the app and the command come to a machine.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::app::shown;
use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, ask, run as run_command};

/// The kinds of packages.
const KINDS: [&str; 2] = ["deb", "rpm"];

/// What an unpacked package holds beside the two programs.
const HELD: [&str; 4] = [
    "usr/share/applications/OpenChamber.desktop",
    "usr/share/icons/hicolor/128x128/apps/openchamber-desktop.png",
    "usr/share/doc/open-chamber/LICENSE-APACHE",
    "usr/share/doc/open-chamber/LICENSE-MIT",
];

/// How the programs in the packages are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    /// As the step `build` of the tests leaves them.
    Debug,
    /// As they are shipped.
    Release,
}

impl Profile {
    fn folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }
}

/// Builds what the packages hold, and the packages; tells where they are.
///
/// # Errors
/// What could not be built, or does not start from the package.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::desktop(workspace)?;
    setup::app_page(workspace)?;
    report::say("building the app and the command as they are shipped");
    release(workspace, "openchamber")?;
    app(workspace, &["--bins"])?;
    // The packer takes what it packs from one folder.
    let (from, to) = (workspace.target.join(APP), workspace.target.join("release"));
    let program = "openchamber-desktop";
    std::fs::copy(from.join(program), to.join(program))
        .map_err(|error| Failure::new(format!("could not copy {program}: {error}")))?;
    let packages = pack(workspace, Profile::Release)?;
    starts(workspace, &packages[0])?;
    for package in packages {
        report::say(&package.display().to_string());
    }
    Ok(())
}

/// Packs what the tests have built, and starts both programs from the unpacked package.
///
/// # Errors
/// What could not be packed, is missing in the package or does not start from there.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let packages = pack(workspace, Profile::Debug)?;
    starts(workspace, &packages[0])
}

/// The profile in which the app is shipped.
const APP: &str = "app";

/// Builds the app as it is shipped; `parts` names what of its crate.
///
/// # Errors
/// That it could not be built.
pub(crate) fn app(workspace: &Workspace, parts: &[&str]) -> Result<()> {
    let shipped = ["--features", "tauri/custom-protocol"];
    build(
        workspace,
        "openchamber-desktop",
        APP,
        &[&shipped[..], parts].concat(),
    )
}

/// Builds one package in the release profile.
///
/// # Errors
/// That it could not be built.
pub(crate) fn release(workspace: &Workspace, package: &str) -> Result<()> {
    build(workspace, package, "release", &[])
}

/// Packages are built one after the other: together they would unite features that one of them
/// has not alone.
fn build(workspace: &Workspace, package: &str, profile: &str, more: &[&str]) -> Result<()> {
    let mut build = workspace.cargo();
    build.args([
        "build",
        "--locked",
        "--package",
        package,
        "--profile",
        profile,
    ]);
    build.args(more);
    run_command(build)
}

/// Packs what stands built; gives the packages in the order of [`KINDS`].
fn pack(workspace: &Workspace, profile: Profile) -> Result<[PathBuf; KINDS.len()]> {
    let built = workspace.target.join(profile.folder());
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
    if profile == Profile::Debug {
        pack.arg("--debug");
    }
    run_command(pack)?;
    let [deb, rpm] = KINDS.map(|kind| only_one(&folder.join(kind), kind));
    Ok([deb?, rpm?])
}

/// Unpacks the Debian package into a folder of its own, and starts both programs from there.
fn starts(workspace: &Workspace, package: &Path) -> Result<()> {
    report::say("starting both programs from the unpacked package");
    let root = workspace.target.join("bundle-root");
    // There may be none.
    std::fs::remove_dir_all(&root).ok();
    let mut unpack = workspace.program("dpkg-deb");
    unpack.arg("--extract").args([package, &root]);
    run_command(unpack)?;
    for held in HELD {
        if !root.join(held).is_file() {
            return Err(Failure::new(format!("the package has no {held}")));
        }
    }
    let programs = root.join("usr").join("bin");
    let mut command = workspace.program(programs.join("openchamber"));
    command.args(["goal", "--help"]);
    let said = ask(command).unwrap_or_default();
    if !said.contains("Usage: openchamber goal") {
        return Err(Failure::new(format!(
            "the command in the package says: {said}"
        )));
    }
    let app = workspace.program(programs.join("openchamber-desktop"));
    let picture = workspace.target.join("pictures").join("bundle.png");
    shown(workspace, app, &picture)
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
