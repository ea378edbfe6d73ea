//! Where the project's folders are, and how programs are started in them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// A step that did not do what it should, in words for the person at the terminal.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure that says `message`, which names what to do where that is known.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What every fallible part of xtask returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The project's folders, whatever the folder the command was typed in.
pub(crate) struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Where cargo builds; everything xtask fetches lies below it.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// The workspace this xtask was started from: cargo names the manifest's folder at run time,
    /// so a moved clone is found, too.
    pub(crate) fn locate() -> Self {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .map_or_else(|| manifest.clone(), Path::to_path_buf);
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |folder| root.join(folder));
        Self { root, target }
    }

    /// The folder with the npm package that pins the real OpenCode.
    pub(crate) fn real_tests(&self) -> PathBuf {
        self.root.join("tests").join("real")
    }

    /// The folder of the npm package for pages.
    pub(crate) fn guest_js(&self) -> PathBuf {
        self.root.join("guest-js")
    }

    /// The folder of the app's page.
    pub(crate) fn app(&self) -> PathBuf {
        self.root.join("app")
    }

    /// Where tools of cargo are installed for this project alone.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// `cargo`, of the toolchain that runs xtask.
    pub(crate) fn cargo(&self) -> Command {
        self.program(std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), Into::into))
    }

    /// `program`, to be started in the workspace's root, with nothing to read on its input.
    pub(crate) fn program(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root).stdin(Stdio::null());
        // `cargo run` describes xtask's own package in the environment. Build scripts that watch
        // such variables would run again after every change between xtask and plain cargo.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }
}

/// Runs `command` with its output on the terminal, to its end.
///
/// # Errors
/// If it cannot be started, or ends with anything but success.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let shown = show(&command);
    let status = command
        .status()
        .map_err(|error| Failure::new(format!("could not start `{shown}`: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(ended(&shown, status))
    }
}

/// Runs `command` silently and gives the text of its output; `None` if it is not there or fails.
/// For questions like "is it installed, and which version?".
pub(crate) fn ask(mut command: Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn ended(shown: &str, status: ExitStatus) -> Failure {
    match status.code() {
        Some(code) => Failure::new(format!("`{shown}` ended with exit code {code}")),
        None => Failure::new(format!("`{shown}` was ended by a signal")),
    }
}

/// The command as a person would type it, for messages.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut words = vec![name.to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_with_its_exit_code() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exit 3"]);
        let failure = run(command).unwrap_err();
        assert_eq!(failure.to_string(), "`sh -c exit 3` ended with exit code 3");
    }

    #[test]
    fn a_missing_program_has_no_answer() {
        assert_eq!(ask(Command::new("no-such-program-here")), None);
    }

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        let manifest = Workspace::locate().root.join("Cargo.toml");
        assert!(
            std::fs::read_to_string(manifest)
                .unwrap()
                .contains("[workspace]")
        );
    }
}
