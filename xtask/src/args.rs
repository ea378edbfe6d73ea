//! The command line of xtask.

use crate::steps;

/// What the person asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// Show this help text.
    Help(String),
    /// Fetch what is missing, and no more.
    Setup,
    /// Show a goal from its start to its end.
    Demo,
    /// Pack what would be published, and build from that.
    Package,
    /// Play many seeds of the simulation.
    Simulate(SimulateOptions),
    /// Measure what goals cost: the benches of these letters, all without any.
    Bench(Vec<String>),
    /// Run the checks.
    Test(TestOptions),
    /// Look whether the tests notice defects.
    Mutants(MutantsOptions),
}

/// Options of `cargo xtask test`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Steps or groups of steps to run; empty means all.
    pub(crate) only: Vec<String>,
    /// Version of OpenCode for the real tests, as npm numbers it; `None` means the pinned one.
    pub(crate) opencode: Option<String>,
}

/// Options of `cargo xtask mutants`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MutantsOptions {
    /// Mutants to run, with or without their number; empty means all.
    pub(crate) only: Vec<String>,
    /// Show what there is, and run nothing.
    pub(crate) list: bool,
}

/// Options of `cargo xtask simulate`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SimulateOptions {
    /// How many seeds are played.
    pub(crate) seeds: u64,
    /// The first of them; the others follow it.
    pub(crate) seed: u64,
}

/// Some minutes on two cores.
const SEEDS: u64 = 20_000;

const GENERAL: &str = "\
The project's own commands. Each one fetches by itself what it needs.

Usage: cargo xtask <COMMAND>

Commands:
  bench     Measure what goals cost, as ratios to what cannot be avoided
  demo      Watch a goal being pursued by the real OpenCode, with a script as its model
  setup     Fetch all that the tests need (the real OpenCode from npm, tools of cargo)
  simulate  Play the loop through thousands of seeds of faults, and show what breaks it
  package   Pack what would be published, and build and use it from its packages alone
  test      Run every check: format, lints, docs, licences, tests layer by layer
  mutants   Put defects into a copy of the sources, and see the tests notice each of them

`cargo xtask <COMMAND> --help` tells more about one of them.";

const DEMO: &str = "\
Watch a goal being pursued by the real OpenCode until it is verified, in about 40 seconds.

Usage: cargo xtask demo

The model is a script, so no key and no money is needed. A scripted agent really works with
OpenCode's tools in a scratch folder, and an auditor sends it on until the goal is reached.
Nothing is left running, also after Ctrl-C.

- Node.js, npm and the pinned OpenCode: as `cargo xtask setup` fetches them
- Git: used as found

Exit codes: 0 all went as it should, 1 something did not, 130 stopped by Ctrl-C.";

const BENCH: &str = "\
Measure what goals cost, each figure as a ratio of two things measured in the same run.

Usage: cargo xtask bench [LETTER...]

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

Exit codes: 0 measured, whatever came of it; 1 something could not be measured.";

const PACKAGE: &str = "\
Pack the plugin, the crates it stands on and the npm package as they would be published, and use
each from its package alone: cargo builds every crate from what is packed, and a project of its
own installs the npm package and checks the types of a use of it. Nothing is uploaded.

Usage: cargo xtask package

It builds all dependencies once more, below target/package, which takes some minutes.";

const SETUP: &str = "\
Fetch all that the tests need. Running it again costs nothing when nothing is missing.

Usage: cargo xtask setup

- Node.js and npm: used as found; on Debian, run as root, installed by apt-get if missing
- what a Tauri app is built and its window tested with, and a Chromium: on Linux as found; on
  Debian, run as root, installed by apt-get if missing
- the pinned OpenCode, and what the npm package is checked with: npm ci in tests/real and in
  guest-js, again when package-lock.json changes
- cargo-nextest and cargo-deny: used as found in a fitting version, else built once into
  target/tools
- the crates of Cargo.lock, so that the licence check works offline";

const SIMULATE: &str = "\
Play the loop in memory through many seeds: a user, other clients, an auditor, a server and an
event stream that fail, an engine that is killed. What breaks an invariant is shown in its
shortest form, to be kept as a file in tests/scenarios/cases.

Usage: cargo xtask simulate [OPTIONS]

Options:
  --seeds N   How many seeds to play [default: 20000]
  --seed S    The first of them; with `--seeds 1` the only one [default: 0]
  -h, --help  Show this help

`cargo xtask test` plays 2,000 seeds that follow from the sources. Ctrl-C ends with what was
found so far.

Exit codes: 0 all went as it should, 1 something did not, 2 the command line makes no sense,
130 stopped by Ctrl-C.";

const TEST: &str = "\
Run every check of the project, cheap ones first, and stop at the first that fails.

Usage: cargo xtask test [OPTIONS]

Options:
  --only STEP         Run only this step and what it needs (may be given more than once)
  --opencode VERSION  Run the real tests on this version of OpenCode from npm, for
                      instance 1.17.11, instead of the pinned one (about 160 MB)
  -h, --help          Show this help

Exit codes: 0 all passed, 1 a step failed, 2 the command line makes no sense.

Steps, in their order:
";

const MUTANTS: &str = "\
Put defects into a copy of the sources, one at a time, and see the tests notice each of them.
A defect that no test notices fails the command, and so does one that no longer applies.

Usage: cargo xtask mutants [OPTIONS]

Options:
  --only NAME  Run only this mutant (may be given more than once)
  --list       Show the mutants and the tests that must notice, and run nothing
  -h, --help   Show this help

The mutants lie in xtask/mutants, one file each. They are applied to a copy in target/mutants and
built there; your own sources are never touched. The first run builds all dependencies once more.

Exit codes: 0 all were caught, 1 one was not, 2 the command line makes no sense, 130 stopped by
Ctrl-C.";

/// Reads the words after `cargo xtask`.
///
/// # Errors
/// A sentence that says which word is wrong.
pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Invocation, String> {
    let words: Vec<String> = words.collect();
    let wants_help = words.iter().any(|word| word == "--help" || word == "-h");
    match words.first().map(String::as_str) {
        None | Some("--help" | "-h" | "help") => Ok(Invocation::Help(GENERAL.to_owned())),
        Some("bench") if wants_help => Ok(Invocation::Help(BENCH.to_owned())),
        Some("bench") => letters(&words[1..]).map(Invocation::Bench),
        Some("demo") if wants_help => Ok(Invocation::Help(DEMO.to_owned())),
        Some("demo") => alone(&words, Invocation::Demo),
        Some("package") if wants_help => Ok(Invocation::Help(PACKAGE.to_owned())),
        Some("package") => alone(&words, Invocation::Package),
        Some("setup") if wants_help => Ok(Invocation::Help(SETUP.to_owned())),
        Some("setup") => alone(&words, Invocation::Setup),
        Some("simulate") if wants_help => Ok(Invocation::Help(SIMULATE.to_owned())),
        Some("simulate") => simulate_options(&words[1..]).map(Invocation::Simulate),
        Some("test") if wants_help => Ok(Invocation::Help(test_help())),
        Some("test") => test_options(&words[1..]).map(Invocation::Test),
        Some("mutants") if wants_help => Ok(Invocation::Help(MUTANTS.to_owned())),
        Some("mutants") => mutants_options(&words[1..]).map(Invocation::Mutants),
        Some(word) => Err(format!("There is no command `{word}`.")),
    }
}

/// A command that takes nothing after its name.
fn alone(words: &[String], invocation: Invocation) -> Result<Invocation, String> {
    match words {
        [name, word, ..] => Err(format!("`{name}` takes no argument, but got `{word}`.")),
        [_] | [] => Ok(invocation),
    }
}

/// The benches that are named.
fn letters(words: &[String]) -> Result<Vec<String>, String> {
    let is_bench = |word: &&String| matches!(word.as_bytes(), [b'a'..=b'i']);
    match words.iter().find(|word| !is_bench(word)) {
        Some(word) => Err(format!("There is no bench `{word}`; there are a to i.")),
        None => Ok(words.to_vec()),
    }
}

fn test_options(words: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, joined) = named(word);
        if name != "--only" && name != "--opencode" {
            return Err(format!("`test` has no option `{word}`."));
        }
        let value = value_of(name, joined, &mut rest)?;
        if name == "--only" {
            options.only.push(known_step(value)?);
        } else {
            options.opencode = Some(plain_version(value)?);
        }
    }
    Ok(options)
}

fn mutants_options(words: &[String]) -> Result<MutantsOptions, String> {
    let mut options = MutantsOptions::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match (word.as_str(), word.strip_prefix("--only=")) {
            ("--list", _) => options.list = true,
            ("--only", _) => {
                let name = rest.next().filter(|name| !name.starts_with('-'));
                let name = name.ok_or_else(|| "`--only` needs a value.".to_owned())?;
                options.only.push(name.clone());
            }
            (_, Some(name)) => options.only.push(name.to_owned()),
            (_, None) => return Err(format!("`mutants` has no option `{word}`.")),
        }
    }
    Ok(options)
}

fn simulate_options(words: &[String]) -> Result<SimulateOptions, String> {
    let mut options = SimulateOptions {
        seeds: SEEDS,
        seed: 0,
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, joined) = named(word);
        let number = match name {
            "--seeds" => &mut options.seeds,
            "--seed" => &mut options.seed,
            _ => return Err(format!("`simulate` has no option `{word}`.")),
        };
        let value = value_of(name, joined, &mut rest)?;
        *number = value
            .parse()
            .map_err(|_| format!("`{name}` takes a whole number, but got `{value}`."))?;
    }
    if options.seeds == 0 {
        return Err("`--seeds 0` plays nothing.".to_owned());
    }
    Ok(options)
}

/// An option's name, and its value if that stands behind a `=`.
fn named(word: &str) -> (&str, Option<String>) {
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    }
}

/// An option's value: what stands behind the `=`, else the next word.
fn value_of<'w>(
    name: &str,
    joined: Option<String>,
    rest: &mut impl Iterator<Item = &'w String>,
) -> Result<String, String> {
    joined
        .or_else(|| rest.next().cloned())
        .ok_or_else(|| format!("`{name}` needs a value."))
}

fn known_step(name: String) -> Result<String, String> {
    if steps::STEPS.iter().any(|step| step.answers_to(&name)) {
        return Ok(name);
    }
    Err(format!(
        "There is no step `{name}`. Steps: {}.",
        steps::names().join(", ")
    ))
}

/// A version becomes a folder's name and part of a package's name, so it holds nothing else.
fn plain_version(version: String) -> Result<String, String> {
    let starts_well = version.starts_with(|first: char| first.is_ascii_digit());
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+".contains(letter);
    if starts_well && version.chars().all(plain) {
        Ok(version)
    } else {
        Err(format!(
            "`{version}` is not a version; give one like 1.18.33."
        ))
    }
}

fn test_help() -> String {
    let width = steps::STEPS
        .iter()
        .map(|step| step.name.len())
        .max()
        .unwrap_or(0);
    let lines = steps::STEPS
        .iter()
        .map(|step| format!("  {:width$}  {}", step.name, step.what));
    let list: Vec<String> = lines.collect();
    format!(
        "{TEST}{}\n  {:width$}  all layers of unit tests",
        list.join("\n"),
        steps::UNIT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_help_show_the_commands() {
        for line in ["", "--help", "-h", "help"] {
            assert_eq!(
                read(line),
                Ok(Invocation::Help(GENERAL.to_owned())),
                "for `{line}`"
            );
        }
    }

    #[test]
    fn commands_without_arguments_are_read() {
        assert_eq!(read("demo"), Ok(Invocation::Demo));
        assert_eq!(read("setup"), Ok(Invocation::Setup));
        assert_eq!(read("package"), Ok(Invocation::Package));
        assert_eq!(read("demo --help"), Ok(Invocation::Help(DEMO.to_owned())));
    }

    #[test]
    fn benches_are_named_by_their_letters() {
        let named = ["a", "g"].map(str::to_owned).to_vec();
        assert_eq!(read("bench"), Ok(Invocation::Bench(Vec::new())));
        assert_eq!(read("bench a g"), Ok(Invocation::Bench(named)));
        assert_eq!(read("bench -h"), Ok(Invocation::Help(BENCH.to_owned())));
    }

    #[test]
    fn help_of_test_lists_every_step() {
        let Ok(Invocation::Help(text)) = read("test --only real --help") else {
            panic!("no help");
        };
        for name in steps::names() {
            assert!(
                text.contains(&format!("\n  {name} ")),
                "{name} is missing in:\n{text}"
            );
        }
    }

    #[test]
    fn options_of_test_are_read_in_both_spellings() {
        let expected = TestOptions {
            only: vec!["real".to_owned(), "unit".to_owned()],
            opencode: Some("1.15.0".to_owned()),
        };
        assert_eq!(
            read("test --only real --only=unit --opencode 1.15.0"),
            Ok(Invocation::Test(expected))
        );
    }

    #[test]
    fn options_of_mutants_are_read_in_both_spellings() {
        let expected = MutantsOptions {
            only: vec!["a".to_owned(), "b".to_owned()],
            list: true,
        };
        assert_eq!(
            read("mutants --only a --only=b --list"),
            Ok(Invocation::Mutants(expected))
        );
        let help = Ok(Invocation::Help(MUTANTS.to_owned()));
        assert_eq!(read("mutants --help"), help);
    }

    #[test]
    fn options_of_simulate_are_read_in_both_spellings() {
        let options = |seeds, seed| Ok(Invocation::Simulate(SimulateOptions { seeds, seed }));
        assert_eq!(read("simulate"), options(SEEDS, 0));
        assert_eq!(read("simulate --seeds 5 --seed=7"), options(5, 7));
        assert_eq!(
            read("simulate --seed 18446744073709551615"),
            options(SEEDS, u64::MAX)
        );
        assert_eq!(
            read("simulate --help"),
            Ok(Invocation::Help(SIMULATE.to_owned()))
        );
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("dance", "`dance`"),
            ("setup now", "`now`"),
            ("demo --fast", "`--fast`"),
            ("simulate --fast", "`--fast`"),
            ("simulate --seeds", "needs a value"),
            ("simulate --seeds many", "`many`"),
            ("simulate --seed=-1", "`-1`"),
            ("simulate --seeds 0", "`--seeds 0`"),
            ("bench j", "`j`"),
            ("test --fast", "`--fast`"),
            ("test --only", "needs a value"),
            ("test --only nowhere", "`nowhere`"),
            ("test --opencode ../x", "`../x`"),
            ("test --opencode --only", "`--only`"),
            ("mutants --fast", "`--fast`"),
            ("mutants --only", "needs a value"),
            ("mutants --only --list", "needs a value"),
        ];
        for (line, named) in cases {
            let problem = read(line).unwrap_err();
            assert!(problem.contains(named), "`{line}` gave: {problem}");
        }
    }

    fn read(line: &str) -> Result<Invocation, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }
}
