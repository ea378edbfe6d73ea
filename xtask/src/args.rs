//! The command line of xtask.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, value_parser};

use crate::steps;

/// The benches.
const LETTERS: [&str; 11] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];

/// Some minutes on two cores.
const SEEDS: u64 = 20_000;

const APP: &str = "\
With a display it is your own app, with your data. Without one it runs on a virtual display in a
scratch home until it shows something; the picture is in target/pictures/app.png.

Exit codes: 0 opened, 1 something did not go as it should.";

const BENCH: &str = "\
Without letters all are measured, which takes some minutes on a quiet machine; Linux only.
docs/performance.md tells what each figure means and how it is measured.

  a  processor time of a cycle against its bare calls
  b  memory of `goal serve`, and its growth per goal
  c  processor time of a cycle with 10, 1,000 and 10,000 goals
  d  from the end of the quiet window to the prompt against the round trips
  e  a flood of events against parsing every one of them
  f  wake-ups with 1,000 paused goals
  g  start and recovery with 10,000 sessions
  h  commands of the plugin, from a page's call to its answer
  i  a minute of 1,000 changes a second in a page, in Chromium
  j  first paint, memory and size of the app, against an empty window
  k  the app's page with 2,000 messages and under 10,000 text deltas, in Chromium

Exit codes: 0 measured, whatever came of it; 1 something could not be measured.";

const BUNDLE: &str = "\
The packages hold the app, the `openchamber` command, the icons, the desktop entry and the
licences. Linux only; built as they are shipped, which takes some minutes.

Exit codes: 0 built, 1 something did not go as it should.";

const DEMO: &str = "\
The model is a script, so no key and no money is needed. A goal is armed in the app's composer; a
scripted agent really works with OpenCode's tools in a scratch folder, and an auditor sends it on
until the goal is reached. The terminal tells it as it happens; pictures of the window are in
target/demo. Without a display the window is on a virtual one. Nothing is left running, also after
Ctrl-C.

- what a Tauri app is built with, WebKitWebDriver, the pinned OpenCode, Node.js and npm: as
  `cargo xtask setup` fetches them
- Git: used as found

Exit codes: 0 all went as it should, 1 something did not, 130 stopped by Ctrl-C.";

const MUTANTS: &str = "\
A defect that no test notices fails the command, and so does one that no longer applies. The
mutants lie in xtask/mutants, one file each. They are applied to a copy in target/mutants and
built there; your own sources are never touched. The first run builds all dependencies once more.

Exit codes: 0 all were caught, 1 one was not, 2 the command line makes no sense, 130 stopped by
Ctrl-C.";

const PACKAGE: &str = "\
Packed are the plugin, the crates it stands on and the npm package, as they would be published:
cargo builds every crate from what is packed, and a project of its own installs the npm package
and checks the types of a use of it. Nothing is uploaded. It builds all dependencies once more,
below target/package, which takes some minutes.";

const SETUP: &str = "\
Running it again costs nothing when nothing is missing.

- Node.js and npm: used as found; on Debian, run as root, installed by apt-get if missing
- what a Tauri app is built and its window tested with, and a Chromium: on Linux as found; on
  Debian, run as root, installed by apt-get if missing
- the pinned OpenCode, and what the pages are built and checked with: npm ci in tests/real, in
  guest-js and in app, again when package-lock.json changes; then the app's page is built
- cargo-nextest and cargo-deny: used as found in a fitting version, else built once into
  target/tools
- the crates of Cargo.lock, so that the licence check works offline";

const SIMULATE: &str = "\
What breaks an invariant is shown in its shortest form, to be kept as a file in
tests/scenarios/cases. `cargo xtask test` plays 2,000 seeds that follow from the sources. Ctrl-C
ends with what was found so far.

Exit codes: 0 all went as it should, 1 something did not, 2 the command line makes no sense,
130 stopped by Ctrl-C.";

/// The project's own commands. Each one fetches by itself what it needs.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    disable_help_subcommand = true
)]
struct Line {
    #[command(subcommand)]
    invocation: Invocation,
}

/// What the person asked for.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Invocation {
    /// Build the desktop app and open it; without a display, keep a picture of what it shows
    #[command(after_help = APP)]
    App,
    /// Measure what goals cost, each figure as a ratio of two things measured in the same run
    #[command(after_help = BENCH)]
    Bench {
        /// The benches to run
        #[arg(value_name = "LETTER", value_parser = PossibleValuesParser::new(LETTERS))]
        letters: Vec<String>,
    },
    /// Build the packages for Debian and for RPM systems
    #[command(after_help = BUNDLE)]
    Bundle,
    /// Watch the app pursue a goal on the real OpenCode until it is verified, in about a minute
    #[command(after_help = DEMO)]
    Demo(DemoOptions),
    /// Put defects into a copy of the sources, and see the tests notice each of them
    #[command(after_help = MUTANTS)]
    Mutants(MutantsOptions),
    /// Pack what would be published, and build and use it from its packages alone
    #[command(after_help = PACKAGE)]
    Package,
    /// Fetch all that the tests need
    #[command(after_help = SETUP)]
    Setup,
    /// Play the loop through thousands of seeds of faults, and show what breaks it
    #[command(after_help = SIMULATE)]
    Simulate(SimulateOptions),
    /// Run every check of the project, cheap ones first, and stop at the first that fails
    #[command(after_help = test_help())]
    Test(TestOptions),
}

/// Options of `cargo xtask test`.
#[derive(Args, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Run only this step and what it needs; may be given more than once
    #[arg(long, value_name = "STEP", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(steps::names()))]
    pub(crate) only: Vec<String>,
    /// Run the real tests on this version of OpenCode from npm (about 160 MB), not the pinned one
    #[arg(long, value_name = "VERSION", value_parser = plain_version)]
    pub(crate) opencode: Option<String>,
}

/// Options of `cargo xtask demo`.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DemoOptions {
    /// Show it in the terminal alone, by the `openchamber` command, in about 40 seconds
    #[arg(long)]
    pub(crate) headless: bool,
    /// Leave the window open at the end to play with, until it is closed; needs a display
    #[arg(long, conflicts_with = "headless")]
    pub(crate) stay: bool,
}

/// Options of `cargo xtask mutants`.
#[derive(Args, Debug, Default, PartialEq, Eq)]
pub(crate) struct MutantsOptions {
    /// Run only this mutant, with or without its number; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Show the mutants and the tests that must notice, and run nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// Options of `cargo xtask simulate`.
#[derive(Args, Debug, PartialEq, Eq)]
pub(crate) struct SimulateOptions {
    /// How many seeds to play
    #[arg(long, value_name = "N", default_value_t = SEEDS)]
    #[arg(value_parser = value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// The first of them; with `--seeds 1` the only one
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
}

/// Reads the words of the command line, the program's name first.
///
/// # Errors
/// What is wrong, or the help that was asked for; both know how to print themselves.
pub(crate) fn parse<W>(words: impl IntoIterator<Item = W>) -> Result<Invocation, clap::Error>
where
    W: Into<OsString> + Clone,
{
    let matches = Line::command().try_get_matches_from(words)?;
    Line::from_arg_matches(&matches).map(|line| line.invocation)
}

/// A version becomes a folder's name and part of a package's name, so it holds nothing else.
fn plain_version(version: &str) -> Result<String, String> {
    let starts_well = version.starts_with(|first: char| first.is_ascii_digit());
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+".contains(letter);
    if starts_well && version.chars().all(plain) {
        Ok(version.to_owned())
    } else {
        Err("give a version like 1.18.33".to_owned())
    }
}

fn test_help() -> String {
    let steps = steps::STEPS.iter().map(|step| (step.name, step.what));
    let all: Vec<(&str, &str)> = steps
        .chain([(steps::UNIT, "all layers of unit tests")])
        .collect();
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = all
        .iter()
        .map(|(name, what)| format!("  {name:width$}  {what}"));
    let list: Vec<String> = lines.collect();
    format!(
        "Exit codes: 0 all passed, 1 a step failed, 2 the command line makes no sense.\n\n\
         Steps, in their order:\n{}",
        list.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Line::command().debug_assert();
    }

    #[test]
    fn help_of_test_lists_every_step() {
        let text = read("test --help").unwrap_err().to_string();
        for name in steps::names() {
            let shown = text.contains(&format!("\n  {name} "));
            assert!(shown, "{name} is missing in:\n{text}");
        }
    }

    #[test]
    fn options_are_read() {
        let test = TestOptions {
            only: vec!["real".to_owned(), "unit".to_owned()],
            opencode: Some("1.15.0".to_owned()),
        };
        assert_eq!(
            read("test --only real --only=unit --opencode 1.15.0").unwrap(),
            Invocation::Test(test)
        );
        let simulated = SimulateOptions {
            seeds: SEEDS,
            seed: u64::MAX,
        };
        assert_eq!(
            read("simulate --seed 18446744073709551615").unwrap(),
            Invocation::Simulate(simulated)
        );
        let letters = vec!["a".to_owned(), "g".to_owned()];
        assert_eq!(read("bench a g").unwrap(), Invocation::Bench { letters });
        let plain = DemoOptions::default();
        assert_eq!(read("demo").unwrap(), Invocation::Demo(plain));
        let headless = DemoOptions {
            headless: true,
            ..plain
        };
        assert_eq!(read("demo --headless").unwrap(), Invocation::Demo(headless));
        let stay = DemoOptions {
            stay: true,
            ..plain
        };
        assert_eq!(read("demo --stay").unwrap(), Invocation::Demo(stay));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("dance", "dance"),
            ("setup now", "now"),
            ("simulate --seeds many", "many"),
            ("simulate --seeds 0", "0"),
            ("mutants --all", "--all"),
            ("demo --headless --stay", "--stay"),
            ("bench z", "z"),
            ("test --only nothing", "nothing"),
            ("test --opencode ../up", "../up"),
            ("test --opencode latest", "latest"),
        ];
        for (line, wrong) in cases {
            let problem = read(line).unwrap_err();
            assert_eq!(problem.exit_code(), 2, "for `{line}`");
            let text = problem.to_string();
            assert!(text.contains(wrong), "for `{line}`: {text}");
        }
    }

    fn read(line: &str) -> Result<Invocation, clap::Error> {
        parse(["cargo xtask"].into_iter().chain(line.split_whitespace()))
    }
}
