//! Fetches what a run needs and is not there: each part looks first and acts only if it must.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report;
use crate::workspace::{Failure, Result, Workspace, ask, run};

/// A tool of cargo that comes as a crate.
pub(crate) struct Tool {
    /// The crate, and the program it installs.
    name: &'static str,
    /// The version to build when none is found.
    version: &'static str,
    /// The versions that do as well: all that begin so.
    fits: &'static str,
    /// What the program wants to hear to tell its version.
    ask_version: &'static [&'static str],
    /// Further words for `cargo install`.
    features: &'static [&'static str],
}

/// Runs the tests: a process each, with a time limit.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    version: "0.9.143",
    fits: "0.9.",
    ask_version: &["nextest", "--version"],
    // Without the part that updates itself: half of what it builds.
    features: &["--no-default-features", "--features", "default-no-update"],
};

/// Checks licences, sources and bans.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    fits: "0.20.",
    ask_version: &["--version"],
    features: &[],
};

/// A library or program of the system.
struct Part {
    /// What is started to see whether it is there.
    program: &'static str,
    /// With these words it succeeds then.
    ask: &'static [&'static str],
    /// The Debian packages that bring it.
    packages: &'static [&'static str],
}

/// What building a Tauri app and looking into its window takes on Linux.
const DESKTOP: &[Part] = &[
    Part {
        program: "pkg-config",
        ask: &["--exists", "webkit2gtk-4.1"],
        packages: &["pkg-config", "libwebkit2gtk-4.1-dev"],
    },
    // The tray.
    Part {
        program: "pkg-config",
        ask: &["--exists", "ayatana-appindicator3-0.1"],
        packages: &["libayatana-appindicator3-dev"],
    },
    Part {
        program: "WebKitWebDriver",
        ask: &["--help"],
        packages: &["webkit2gtk-driver"],
    },
    Part {
        program: "xvfb-run",
        ask: &["--help"],
        packages: &["xvfb", "xauth"],
    },
    Part {
        program: "dbus-daemon",
        ask: &["--version"],
        packages: &["dbus-daemon"],
    },
    // One test shows a notification in earnest, clicks it and takes a picture.
    Part {
        program: "dunst",
        ask: &["--version"],
        packages: &["dunst"],
    },
    // Passwords of servers elsewhere.
    Part {
        program: "gnome-keyring-daemon",
        ask: &["--version"],
        packages: &["gnome-keyring"],
    },
    Part {
        program: "xdotool",
        ask: &["--version"],
        packages: &["xdotool"],
    },
    Part {
        program: "import",
        ask: &["-version"],
        packages: &["imagemagick"],
    },
];

/// What pictures of a page take on Linux.
const BROWSER: &[Part] = &[Part {
    program: "chromium",
    ask: &["--version"],
    packages: &["chromium"],
}];

/// `cargo xtask setup`: all of it.
///
/// # Errors
/// The first part that could not be had, with what to do about it.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    desktop(workspace)?;
    let nextest = tool(workspace, &NEXTEST)?;
    let deny = tool(workspace, &DENY)?;
    crates(workspace)?;
    browser(workspace)?;
    app_page(workspace)?;
    let opencode = opencode(workspace)?;
    for program in [nextest, deny, opencode] {
        report::say(&format!("ready: {}", program.display()));
    }
    Ok(())
}

/// The path of `tool`: one on the PATH in a fitting version, else the project's own copy, which
/// is built if it is not there.
///
/// # Errors
/// If it has to be built and that fails.
pub(crate) fn tool(workspace: &Workspace, tool: &Tool) -> Result<PathBuf> {
    let own = workspace.tools().join("bin").join(tool.name);
    for candidate in [PathBuf::from(tool.name), own.clone()] {
        if fits(workspace, tool, &candidate) {
            return Ok(candidate);
        }
    }
    report::say(&format!("building {} {} (once)", tool.name, tool.version));
    let build = workspace.tools().join("build");
    let mut install = workspace.cargo();
    // The dev profile without debug info: these tools run for seconds, so a quick build is worth
    // more than a quick program.
    install
        .args(["install", "--locked", "--debug", "--force", "--root"])
        .arg(workspace.tools())
        .args(tool.features)
        .arg(format!("{}@{}", tool.name, tool.version))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // Beside the project's own artefacts, never among them.
        .env("CARGO_TARGET_DIR", &build);
    run(install)?;
    // Left-overs cost space alone, so failing to remove them stops nothing.
    std::fs::remove_dir_all(&build).ok();
    Ok(own)
}

/// Fetches every crate of Cargo.lock, those of other systems too: the licence check reads them
/// offline.
///
/// # Errors
/// If the registry cannot be reached, or Cargo.lock does not fit the manifests.
pub(crate) fn crates(workspace: &Workspace) -> Result<()> {
    let mut fetch = workspace.cargo();
    fetch.args(["fetch", "--locked", "--quiet"]);
    run(fetch)
}

/// The path of the pinned OpenCode, installed from npm if it is missing or its lock file changed.
///
/// # Errors
/// If Node.js is missing and cannot be installed, or npm fails.
pub(crate) fn opencode(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.real_tests();
    let lock = Lock::of(workspace, &folder, "tests-real")?;
    if let (true, Ok(binary)) = (lock.is_installed(), opencode_below(&folder)) {
        return Ok(binary);
    }
    node(workspace)?;
    report::say("installing the pinned OpenCode (npm ci in tests/real)");
    lock.install(workspace, &folder)?;
    let binary = opencode_below(&folder)?;
    lock.keep()?;
    Ok(binary)
}

/// An npm package of this project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Npm {
    /// The bindings and the kit for pages, in `guest-js`.
    GuestJs,
    /// The app's page, in `app`; it is built on the former.
    App,
}

/// What the npm packages are built with, from npm.
///
/// # Errors
/// What is missing and cannot be installed, or that npm fails.
pub(crate) fn page(workspace: &Workspace, package: Npm) -> Result<()> {
    node(workspace)?;
    match package {
        Npm::GuestJs => packages(workspace, &workspace.guest_js(), "guest-js"),
        Npm::App => {
            page(workspace, Npm::GuestJs)?;
            packages(workspace, &workspace.app(), "app")
        }
    }
}

/// The browser that pictures of pages are taken in.
///
/// # Errors
/// If it is missing and cannot be installed.
pub(crate) fn browser(workspace: &Workspace) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let why = "The pictures of the page need a browser.";
    system(workspace, BROWSER, why)
}

/// Installs what a package's lock file names, again when that changed.
fn packages(workspace: &Workspace, folder: &Path, name: &str) -> Result<()> {
    let lock = Lock::of(workspace, folder, name)?;
    if lock.is_installed() && folder.join("node_modules").is_dir() {
        return Ok(());
    }
    report::say(&format!(
        "installing the packages of a page (npm ci in {name})"
    ));
    lock.install(workspace, folder)?;
    lock.keep()
}

/// Builds the page that the app's program carries; the compiler wants it to be there.
///
/// # Errors
/// Those of [`page`], and that the page cannot be built.
pub(crate) fn app_page(workspace: &Workspace) -> Result<()> {
    page_script(workspace, Npm::GuestJs, "build")?;
    page_script(workspace, Npm::App, "build")
}

/// Runs a script of an npm package.
///
/// # Errors
/// Those of [`page`], and that the script failed.
pub(crate) fn page_script(workspace: &Workspace, package: Npm, script: &str) -> Result<()> {
    page(workspace, package)?;
    let mut program = workspace.program("npm");
    program
        .current_dir(match package {
            Npm::GuestJs => workspace.guest_js(),
            Npm::App => workspace.app(),
        })
        .args(["run", "--silent", script]);
    run(program)
}

/// A package-lock.json, and the copy of the one that was installed last.
struct Lock {
    text: String,
    stamp: PathBuf,
}

impl Lock {
    fn of(workspace: &Workspace, folder: &Path, name: &str) -> Result<Self> {
        Ok(Self {
            text: read(&folder.join("package-lock.json"))?,
            stamp: workspace.target.join("setup").join(format!("{name}.lock")),
        })
    }

    fn is_installed(&self) -> bool {
        std::fs::read_to_string(&self.stamp).is_ok_and(|installed| installed == self.text)
    }

    fn install(&self, workspace: &Workspace, folder: &Path) -> Result<()> {
        let mut install = npm(workspace, folder);
        install.arg("ci");
        run(install)
    }

    fn keep(&self) -> Result<()> {
        write(&self.stamp, &self.text)
    }
}

/// The path of OpenCode in `version`, installed from npm below the target folder if it is not
/// there. `version` has been checked to be a plain version.
///
/// # Errors
/// If Node.js is missing and cannot be installed, or npm has no such version for this system.
pub(crate) fn opencode_version(workspace: &Workspace, version: &str) -> Result<PathBuf> {
    let folder = workspace.target.join("opencode").join(version);
    if let Ok(binary) = opencode_below(&folder) {
        return Ok(binary);
    }
    node(workspace)?;
    report::say(&format!("installing OpenCode {version} from npm"));
    // A package of its own, so that npm installs here and not into a folder above.
    write(&folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut install = npm(workspace, &folder);
    let package = format!("{}@{version}", system_package());
    install.args(["install", "--no-save", &package]);
    run(install).map_err(|failure| {
        Failure::new(format!(
            "could not install OpenCode {version} from npm: {failure}"
        ))
    })?;
    opencode_below(&folder)
}

fn fits(workspace: &Workspace, tool: &Tool, program: &Path) -> bool {
    let mut question = workspace.program(program);
    question.args(tool.ask_version);
    ask(question).is_some_and(|answer| version_fits(tool, &answer))
}

/// Whether the first line of a `--version` answer names a version that does.
fn version_fits(tool: &Tool, answer: &str) -> bool {
    let version = answer
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(1));
    version.is_some_and(|version| version.starts_with(tool.fits))
}

/// Makes sure that a Tauri app can be built and its window tested: on Linux that takes libraries
/// and programs of the system, elsewhere nothing.
///
/// # Errors
/// If some are missing and cannot be installed.
pub(crate) fn desktop(workspace: &Workspace) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let why = "The Tauri plugin and its window tests need what is missing here.";
    system(workspace, DESKTOP, why)
}

/// Makes sure that `parts` of the system are there; `why` says what needs them.
fn system(workspace: &Workspace, parts: &[Part], why: &str) -> Result<()> {
    let missing = missing_of(workspace, parts);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !is_debian_root(workspace) {
        return Err(Failure::new(format!(
            "{why}\n\
             Debian and Ubuntu: sudo apt-get install {list}; on other systems the packages with \
             the same contents. Then run this again.",
        )));
    }
    report::say(&format!("installing {list} by apt-get"));
    apt_get(workspace, &missing)?;
    let still = missing_of(workspace, parts);
    if still.is_empty() {
        return Ok(());
    }
    let list = still.join(" ");
    Err(Failure::new(format!(
        "apt-get installed {list}, but what is in there is not found."
    )))
}

/// The Debian packages of what is not there.
fn missing_of(workspace: &Workspace, parts: &[Part]) -> Vec<&'static str> {
    let there = |program: &str, words: &[&str]| {
        let mut question = workspace.program(program);
        question.args(words);
        ask(question).is_some()
    };
    parts
        .iter()
        .filter(|part| !there(part.program, part.ask))
        .flat_map(|part| part.packages.iter().copied())
        .collect()
}

/// Makes sure that node and npm can be started.
///
/// # Errors
/// If they are missing and cannot be installed.
pub(crate) fn node(workspace: &Workspace) -> Result<()> {
    if has_node(workspace) {
        return Ok(());
    }
    if !is_debian_root(workspace) {
        return Err(Failure::new(
            "Node.js with npm is needed to install the real OpenCode, and is not on the PATH.\n\
             Install Node.js 18 or later (Debian: sudo apt-get install nodejs npm; macOS with \
             Homebrew: brew install node; else your system's package), then run this again.",
        ));
    }
    report::say("installing Node.js and npm by apt-get");
    apt_get(workspace, &["nodejs", "npm"])?;
    if has_node(workspace) {
        Ok(())
    } else {
        Err(Failure::new(
            "apt-get installed nodejs and npm, but they cannot be started.",
        ))
    }
}

fn apt_get(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    for words in [
        &["update"][..],
        &["install", "-y", "--no-install-recommends"],
    ] {
        let mut apt = workspace.program("apt-get");
        apt.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        if words.first() == Some(&"install") {
            apt.args(packages);
        }
        run(apt)?;
    }
    Ok(())
}

fn has_node(workspace: &Workspace) -> bool {
    ["node", "npm"].iter().all(|name| {
        let mut question = workspace.program(name);
        question.arg("--version");
        ask(question).is_some()
    })
}

fn is_debian_root(workspace: &Workspace) -> bool {
    let mut question = workspace.program("id");
    question.arg("-u");
    Path::new("/etc/debian_version").exists() && ask(question).as_deref() == Some("0")
}

/// npm in `folder`.
pub(crate) fn npm(workspace: &Workspace, folder: &Path) -> Command {
    let mut npm = workspace.program("npm");
    npm.current_dir(folder)
        .args(["--no-audit", "--no-fund", "--no-update-notifier"]);
    npm
}

/// The OpenCode that npm put below `folder`.
fn opencode_below(folder: &Path) -> Result<PathBuf> {
    let packages = folder.join("node_modules");
    let program = format!("opencode{}", std::env::consts::EXE_SUFFIX);
    let program = packages.join(system_package()).join("bin").join(program);
    if program.exists() {
        return Ok(program);
    }
    Err(Failure::new(format!(
        "there is no OpenCode for this system in {}",
        packages.display()
    )))
}

/// The npm package with the OpenCode of this system. `opencode-ai` is the command that picks one
/// when it is installed; it takes along those of other processors and C libraries, three times as
/// much.
fn system_package() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("opencode-{system}-{processor}")
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("could not read {}: {error}", path.display())))
}

/// Writes `text` to `path`, and makes the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(path, text))
        .map_err(|error| Failure::new(format!("could not write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fitting_version_is_taken() {
        assert!(version_fits(&DENY, "cargo-deny 0.20.7"));
        assert!(version_fits(
            &NEXTEST,
            "cargo-nextest 0.9.143 (60fa45f63)\nrelease: 0.9.143"
        ));
        assert!(!version_fits(&DENY, "cargo-deny 0.19.0"));
        assert!(!version_fits(&DENY, ""));
    }

    #[test]
    fn the_version_that_is_built_is_one_that_fits() {
        for tool in [NEXTEST, DENY] {
            assert!(tool.version.starts_with(tool.fits), "{}", tool.name);
        }
    }
}
