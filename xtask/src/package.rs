//! `cargo xtask package`: what would be published, packed, and used from its packages alone.

use std::path::Path;

use crate::report;
use crate::setup::{self, write};
use crate::workspace::{Failure, Result, Workspace, ask, run as run_command};

/// What an app names, and the crates of ours that it stands on. The command and the crates of the
/// tests are built from the repository.
const CRATES: [&str; 4] = [
    "goal-core",
    "opencode-client",
    "goal-engine",
    "tauri-plugin-goal",
];

/// What a page writes that uses the npm package.
const USE: &str = "\
import { createWords, list, pause, type GoalView } from 'tauri-plugin-goal-api';
import fr from 'tauri-plugin-goal-api/locales/fr.json' with { type: 'json' };
const first: GoalView | undefined = (await list()).goals[0];
if (first !== undefined) await pause({ sessionId: first.sessionId });
export const said: string = createWords({ messages: fr, locale: 'fr' }).say('strip.working');
";

const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "strict": true,
    "noEmit": true,
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "resolveJsonModule": true,
    "types": []
  },
  "files": ["use.ts"]
}
"#;

/// Packs the crates and the npm package, and builds each from what is packed.
///
/// # Errors
/// What could not be packed, or does not build from its package.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    setup::desktop(workspace)?;
    setup::page(workspace, setup::Npm::GuestJs)?;
    page(workspace)?;
    crates(workspace)
}

/// Cargo takes each crate out of its package and builds it, those that it stands on from their
/// packages, too.
fn crates(workspace: &Workspace) -> Result<()> {
    report::say("packing the crates, and building each from its package");
    let mut package = workspace.cargo();
    // What is being worked on is packed as well.
    package.args(["package", "--locked", "--allow-dirty"]);
    for name in CRATES {
        package.args(["--package", name]);
    }
    run_command(package)
}

/// Installs the package in a scratch project and checks the types of five lines that use it.
fn page(workspace: &Workspace) -> Result<()> {
    report::say("packing the npm package, and checking a use of it in a project of its own");
    let folder = workspace.target.join("package").join("page");
    // It may not be there.
    std::fs::remove_dir_all(&folder).ok();
    write(
        &folder.join("package.json"),
        "{ \"private\": true, \"type\": \"module\" }\n",
    )?;
    write(&folder.join("tsconfig.json"), TSCONFIG)?;
    write(&folder.join("use.ts"), USE)?;
    let tarball = pack(workspace, &folder)?;
    let mut install = setup::npm(workspace, &folder);
    install.args(["install", "--no-package-lock"]).arg(&tarball);
    run_command(install)?;
    let compiler = workspace.guest_js().join("node_modules/typescript/bin/tsc");
    let mut check = workspace.program("node");
    check.arg(compiler).arg("-p").arg(&folder);
    run_command(check)
}

/// Packs the npm package into `folder`; gives the path of what came of it.
fn pack(workspace: &Workspace, folder: &Path) -> Result<String> {
    // This builds it first.
    let mut pack = setup::npm(workspace, &workspace.guest_js());
    pack.args(["pack", "--silent", "--pack-destination"])
        .arg(folder);
    let said = ask(pack).ok_or_else(|| Failure::new("npm could not pack guest-js"))?;
    let name = said.lines().last().unwrap_or_default().trim();
    Ok(format!("./{name}"))
}
