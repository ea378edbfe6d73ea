//! Finding the `opencode` program (E8).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// The environment of a process.
pub type Environment = BTreeMap<OsString, OsString>;

/// The file names of the program on this system.
const NAMES: &[&str] = if cfg!(windows) {
    &["opencode.exe", "opencode.cmd"]
} else {
    &["opencode"]
};

/// The variables that name the program, the stronger one first.
const VARIABLES: [&str; 2] = ["OPENCODE_BINARY", "OPENCODE_PATH"];

/// A found program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// What led to it.
    pub by: FoundBy,
}

/// What named the place of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// An explicit setting.
    Setting,
    /// This environment variable.
    Variable(&'static str),
    /// A folder of `PATH`.
    Path,
    /// A folder installers usually take.
    Folder,
    /// What the user's login shell would run.
    LoginShell,
}

/// Why the program was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// A setting or variable names a place that holds no program.
    #[error("{} names {}, where there is no program that can be run", name(*.by), .path.display())]
    Named {
        /// What named it.
        by: FoundBy,
        /// The place.
        path: PathBuf,
    },
    /// Nothing names a place, and it is in none of the usual ones.
    #[error(
        "OpenCode was not found on PATH, in the usual folders or by the login shell; install it, \
         or name the program in OPENCODE_BINARY"
    )]
    Nowhere,
}

/// The environment of this process.
pub fn process_environment() -> Environment {
    std::env::vars_os().collect()
}

/// Looks for the program: the setting, then `OPENCODE_BINARY` and `OPENCODE_PATH`, then `PATH`,
/// then `folders` in order.
///
/// A setting or variable may name the program or the folder it is in. If it names neither, that is
/// an error rather than a reason to start another program than the one asked for.
///
/// # Errors
/// [`NotFound`].
pub fn find_binary(
    setting: Option<&Path>,
    environment: &Environment,
    folders: &[PathBuf],
) -> Result<Found, NotFound> {
    if let Some(path) = setting {
        return named(path, FoundBy::Setting);
    }
    for variable in VARIABLES {
        if let Some(path) = lookup(environment, variable).filter(|path| !path.is_empty()) {
            return named(Path::new(path), FoundBy::Variable(variable));
        }
    }
    let on_path = std::env::split_paths(lookup(environment, "PATH").unwrap_or_default())
        // A relative entry would depend on where we happen to stand.
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| inside(&folder));
    if let Some(path) = on_path {
        return Ok(Found {
            path,
            by: FoundBy::Path,
        });
    }
    let in_folder = folders.iter().find_map(|folder| inside(folder));
    in_folder
        .map(|path| Found {
            path,
            by: FoundBy::Folder,
        })
        .ok_or(NotFound::Nowhere)
}

/// As [`find_binary`], and if that finds it nowhere, asks the user's login shell for at most
/// `within`: a program started from a desktop often lacks what the shell's profile sets up.
///
/// # Errors
/// [`NotFound`]. A shell that fails, hangs or answers with anything else finds nothing.
pub async fn locate(
    setting: Option<&Path>,
    environment: &Environment,
    folders: &[PathBuf],
    within: Duration,
) -> Result<Found, NotFound> {
    match find_binary(setting, environment, folders) {
        Err(NotFound::Nowhere) => ask_login_shell(environment, within)
            .await
            .map(|path| Found {
                path,
                by: FoundBy::LoginShell,
            })
            .ok_or(NotFound::Nowhere),
        found => found,
    }
}

async fn ask_login_shell(environment: &Environment, within: Duration) -> Option<PathBuf> {
    let mut question = if cfg!(windows) {
        let mut question = Command::new("where");
        question.arg("opencode");
        question
    } else {
        let shell = lookup(environment, "SHELL").filter(|shell| !shell.is_empty());
        let mut question = Command::new(shell.unwrap_or(OsStr::new("/bin/sh")));
        question.args(["-l", "-c", "command -v opencode"]);
        question
    };
    question
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let answer = timeout(within, question.output()).await.ok()?.ok()?;
    // A profile may print something of its own before the answer.
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut paths = text.lines().rev().map(|line| PathBuf::from(line.trim()));
    paths.find(|path| path.is_absolute() && can_run(path))
}

/// The folders installers usually take on this system. A program started from a desktop often has
/// a `PATH` without them.
pub fn usual_folders(environment: &Environment) -> Vec<PathBuf> {
    let home_variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let mut folders = Vec::new();
    let mut add = |base: Option<&OsStr>, below: &[&str]| {
        if let Some(base) = base.filter(|base| !base.is_empty()) {
            folders.extend(below.iter().map(|below| Path::new(base).join(below)));
        }
    };
    let home = lookup(environment, home_variable);
    add(
        home,
        &[".opencode/bin", ".bun/bin", ".local/bin", ".npm-global/bin"],
    );
    if cfg!(windows) {
        add(home, &["scoop/shims"]);
        add(lookup(environment, "APPDATA"), &["npm"]);
        add(lookup(environment, "ProgramData"), &["chocolatey/bin"]);
    } else {
        let homebrew = ["opt/homebrew/bin", "home/linuxbrew/.linuxbrew/bin"];
        add(Some(OsStr::new("/")), &homebrew);
        add(Some(OsStr::new("/")), &["usr/local/bin", "usr/bin"]);
    }
    folders
}

/// The value of a variable; on Windows names differ only by more than case.
pub(crate) fn lookup<'a>(environment: &'a Environment, name: &str) -> Option<&'a OsStr> {
    if cfg!(windows) {
        let mut entries = environment.iter();
        return entries
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_os_str());
    }
    environment.get(OsStr::new(name)).map(OsString::as_os_str)
}

fn named(path: &Path, by: FoundBy) -> Result<Found, NotFound> {
    let found = if path.is_dir() {
        inside(path)
    } else {
        Some(path.to_owned())
    };
    found
        .filter(|path| can_run(path))
        .map(|path| Found { path, by })
        .ok_or_else(|| NotFound::Named {
            by,
            path: path.to_owned(),
        })
}

fn inside(folder: &Path) -> Option<PathBuf> {
    NAMES
        .iter()
        .map(|name| folder.join(name))
        .find(|path| can_run(path))
}

#[cfg(unix)]
fn can_run(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn can_run(path: &Path) -> bool {
    path.is_file()
}

fn name(by: FoundBy) -> &'static str {
    match by {
        FoundBy::Setting => "the setting for the OpenCode program",
        FoundBy::Variable(variable) => variable,
        FoundBy::Path => "PATH",
        FoundBy::Folder => "the list of usual folders",
        FoundBy::LoginShell => "the login shell",
    }
}
