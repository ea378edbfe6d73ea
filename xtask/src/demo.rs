//! `cargo xtask demo`: sets up and builds what the demo needs, and hands the terminal over to it.

use std::os::unix::process::CommandExt as _;

use crate::app::has_display;
use crate::args::DemoOptions;
use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace, ask, run as run_command};

/// Where the demo plays, as it is told by one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the terminal alone.
    Headless,
    /// In a window that nobody sees.
    Virtual,
    /// In a window on the person's display.
    Display,
    /// There until it is closed.
    Stay,
}

impl Place {
    /// What the options come to where there is a display, or none.
    ///
    /// # Errors
    /// If nobody would see the window that shall stay.
    fn of(options: DemoOptions, has_display: bool) -> Result<Self> {
        match (options.headless, options.stay, has_display) {
            (true, _, _) => Ok(Self::Headless),
            (false, false, false) => Ok(Self::Virtual),
            (false, false, true) => Ok(Self::Display),
            (false, true, true) => Ok(Self::Stay),
            (false, true, false) => Err(Failure::new(
                "`--stay` leaves the window open to play with, but there is no display to see it \
                 on.\nWithout `--stay` the demo shows itself on a virtual display and keeps \
                 pictures of it in target/demo.",
            )),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Headless => "headless",
            Self::Virtual => "virtual",
            Self::Display => "display",
            Self::Stay => "stay",
        }
    }
}

/// Sets up, builds, and becomes the demo: no process of xtask stays in between, so that Ctrl-C
/// gives the prompt back only when everything is cleared away.
///
/// # Errors
/// What is missing, and how to get it; does not come back otherwise.
pub(crate) fn run(workspace: &Workspace, options: DemoOptions) -> Result<()> {
    let place = Place::of(options, has_display())?;
    let in_window = place != Place::Headless;
    if in_window && !cfg!(target_os = "linux") {
        return Err(Failure::new(
            "The window of the demo is led by WebKitWebDriver, which is for Linux alone. \
             `cargo xtask demo --headless` shows it in the terminal.",
        ));
    }
    setup::node(workspace)?;
    git(workspace)?;
    let opencode = setup::opencode(workspace)?;
    if in_window {
        setup::desktop(workspace)?;
        setup::app_page(workspace)?;
        report::say("building the app and the demo");
        build(workspace, "openchamber-desktop")?;
    } else {
        report::say("building the command and the demo");
        build(workspace, "openchamber")?;
    }
    let program = workspace.target.join("debug").join("demo");
    let mut demo = workspace.program(&program);
    demo.arg(place.word()).env("OPENCODE_BINARY", opencode);
    if in_window {
        demo.arg(workspace.target.join("demo"));
    }
    Err(Failure::new(format!(
        "could not start {}: {}",
        program.display(),
        demo.exec()
    )))
}

/// Builds the demo and the program it shows, with the features that the checks unite, too: what one
/// command has built is there for the other.
fn build(workspace: &Workspace, shown: &str) -> Result<()> {
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "--workspace"]);
    build.args(["--bin", shown, "--bin", "demo"]);
    run_command(build)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_where_it_can_be_seen() {
        let options = |headless, stay| DemoOptions { headless, stay };
        let place = |options, has_display| Place::of(options, has_display).unwrap();
        assert_eq!(place(options(false, false), true), Place::Display);
        assert_eq!(place(options(false, false), false), Place::Virtual);
        assert_eq!(place(options(false, true), true), Place::Stay);
        assert_eq!(place(options(true, false), true), Place::Headless);
        assert_eq!(place(options(true, false), false), Place::Headless);
    }

    #[test]
    fn a_window_that_nobody_sees_does_not_stay() {
        let stay = DemoOptions {
            headless: false,
            stay: true,
        };
        let refusal = Place::of(stay, false).unwrap_err().to_string();
        assert!(refusal.contains("no display"), "{refusal}");
    }
}
