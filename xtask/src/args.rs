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
    /// Measure what goals cost: the benches of these letters, all without any.
    Bench(Vec<String>),
    /// Run the checks.
    Test(TestOptions),
}

/// Options of `cargo xtask test`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Steps or groups of steps to run; empty means all.
    pub(crate) only: Vec<String>,
    /// Version of the npm package `opencode-ai` for the real tests; `None` means the pinned one.
    pub(crate) opencode: Option<String>,
}

const GENERAL: &str = "\
The project's own commands. Each one fetches by itself what it needs.

Usage: cargo xtask <COMMAND>

Commands:
  bench   Measure what goals cost, as ratios to what cannot be avoided
  demo    Watch a goal being pursued by the real OpenCode, with a script as its model
  setup   Fetch all that the tests need (the real OpenCode from npm, tools of cargo)
  test    Run every check: format, lints, docs, licences, tests layer by layer

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

Exit codes: 0 measured, whatever came of it; 1 something could not be measured.";

const SETUP: &str = "\
Fetch all that the tests need. Running it again costs nothing when nothing is missing.

Usage: cargo xtask setup

- Node.js and npm: used as found; on Debian, run as root, installed by apt-get if missing
- the pinned OpenCode: npm ci in tests/real, again when package-lock.json changes
- cargo-nextest and cargo-deny: used as found in a fitting version, else built once into
  target/tools
- the crates of Cargo.lock, so that the licence check works offline";

const TEST: &str = "\
Run every check of the project, cheap ones first, and stop at the first that fails.

Usage: cargo xtask test [OPTIONS]

Options:
  --only STEP         Run only this step and what it needs (may be given more than once)
  --opencode VERSION  Run the real tests on this version of npm's opencode-ai,
                      for instance 1.18.33, instead of the pinned one
  -h, --help          Show this help

Exit codes: 0 all passed, 1 a step failed, 2 the command line makes no sense.

Steps, in their order:
";

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
        Some("setup") if wants_help => Ok(Invocation::Help(SETUP.to_owned())),
        Some("setup") => alone(&words, Invocation::Setup),
        Some("test") if wants_help => Ok(Invocation::Help(test_help())),
        Some("test") => test_options(&words[1..]).map(Invocation::Test),
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
    let is_bench = |word: &&String| matches!(word.as_bytes(), [b'a'..=b'g']);
    match words.iter().find(|word| !is_bench(word)) {
        Some(word) => Err(format!("There is no bench `{word}`; there are a to g.")),
        None => Ok(words.to_vec()),
    }
}

fn test_options(words: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if name != "--only" && name != "--opencode" {
            return Err(format!("`test` has no option `{word}`."));
        }
        let value = joined
            .or_else(|| rest.next().cloned())
            .ok_or_else(|| format!("`{name}` needs a value."))?;
        if name == "--only" {
            options.only.push(known_step(value)?);
        } else {
            options.opencode = Some(plain_version(value)?);
        }
    }
    Ok(options)
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
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("dance", "`dance`"),
            ("setup now", "`now`"),
            ("demo --fast", "`--fast`"),
            ("bench h", "`h`"),
            ("test --fast", "`--fast`"),
            ("test --only", "needs a value"),
            ("test --only nowhere", "`nowhere`"),
            ("test --opencode ../x", "`../x`"),
            ("test --opencode --only", "`--only`"),
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
