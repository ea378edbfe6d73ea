//! Asks tests about the copy: nextest runs them, its exit code and its report say what came of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mutants::child::{Ended, Stop};
use crate::mutants::list::Suite;
use crate::workspace::{Failure, Result, Workspace};

/// Exit codes of nextest.
const NO_TESTS: i32 = 4;
const TESTS_FAILED: i32 = 100;
const BUILD_FAILED: i32 = 101;

/// Where nextest leaves its report, as `.config/nextest.toml` says.
const JUNIT: &str = "target/nextest/default/junit.xml";

/// What the tests said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// All passed.
    Passed,
    /// One failed, named as nextest does.
    Failed(String),
    /// The sources do not compile.
    NotCompiled,
    /// There is no such test.
    NoSuchTest,
    /// The user stopped it.
    Stopped,
}

/// Asks the tests of a copy.
pub(crate) struct Asker {
    /// The program nextest.
    pub(crate) nextest: PathBuf,
    /// What ends it early.
    pub(crate) stop: Stop,
}

impl Asker {
    /// Builds and runs `suites` of `copy`, which all lie in the same program, with their output in
    /// `log`.
    ///
    /// # Errors
    /// If nextest cannot be run, or ends in a way that says nothing about the tests.
    pub(crate) fn ask(&self, copy: &Workspace, suites: &[Suite], log: &Path) -> Result<Answer> {
        let report = copy.root.join(JUNIT);
        // A report of earlier tests must not stand for these. There may be none.
        fs::remove_file(&report).ok();
        let file = File::options().create(true).append(true).open(log);
        let file =
            file.map_err(|error| Failure::new(format!("cannot write {}: {error}", log.display())))?;
        let status = match self.stop.run(&mut self.command(copy, suites), &file)? {
            Ended::With(status) => status,
            Ended::Stopped => return Ok(Answer::Stopped),
        };
        match status.code() {
            Some(0) => Ok(Answer::Passed),
            Some(TESTS_FAILED) => {
                let report = fs::read_to_string(&report).unwrap_or_default();
                Ok(Answer::Failed(
                    failed_in(&report).unwrap_or_else(|| "a test without a report".to_owned()),
                ))
            }
            Some(BUILD_FAILED) => Ok(Answer::NotCompiled),
            Some(NO_TESTS) => Ok(Answer::NoSuchTest),
            Some(_) | None => Err(Failure::new(format!(
                "nextest ended with {status}; see {}",
                log.display()
            ))),
        }
    }

    fn command(&self, copy: &Workspace, suites: &[Suite]) -> Command {
        let mut command = copy.program(&self.nextest);
        command
            .args(["nextest", "run", "--locked", "--fail-fast", "--color=never"])
            .args(words(suites))
            .env("CARGO_TARGET_DIR", &copy.target)
            // Nobody debugs what lives for a minute, and programs without the tables link faster.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // What a mutant leaves unused is no reason not to build it.
            .env("RUSTFLAGS", "--cap-lints=allow")
            .env("INSTA_UPDATE", "no");
        command
    }
}

/// The words by which nextest builds no more than these tests need.
fn words(suites: &[Suite]) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(first) = suites.first() {
        words.extend(["--package".to_owned(), first.package.clone()]);
        match (&first.program, &first.test) {
            (Some(program), _) => words.extend(["--test".to_owned(), program.clone()]),
            (None, Some(_)) => words.push("--lib".to_owned()),
            (None, None) => {}
        }
    }
    let tests: Option<Vec<String>> = suites
        .iter()
        .map(|suite| Some(format!("test(={})", suite.test.as_ref()?)))
        .collect();
    if let Some(tests) = tests {
        words.extend(["--filterset".to_owned(), tests.join(" | ")]);
    }
    words
}

/// The first test that failed, from a JUnit report.
fn failed_in(report: &str) -> Option<String> {
    let mut cases = report.split("<testcase ").skip(1);
    let failed = cases.find(|case| case.contains("<failure") || case.contains("<error"))?;
    let value = |name: &str| {
        let (_, rest) = failed.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    // The program's attribute ends in the other's name.
    Some(format!(
        "{} {}",
        value("classname")?,
        value(" name").or_else(|| value("name"))?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_built_than_a_test_needs() {
        let cases: [(&[&str], &str); 4] = [
            (&["goal-core"], "--package goal-core"),
            (
                &["goal-core a::b"],
                "--package goal-core --lib --filterset test(=a::b)",
            ),
            (&["scenarios::it"], "--package scenarios --test it"),
            (
                &["scenarios::it a", "scenarios::it b"],
                "--package scenarios --test it --filterset test(=a) | test(=b)",
            ),
        ];
        for (texts, expected) in cases {
            let suites: Vec<Suite> = texts
                .iter()
                .map(|text| Suite::try_from((*text).to_owned()).unwrap())
                .collect();
            assert_eq!(words(&suites).join(" "), expected);
        }
    }

    #[test]
    fn the_failed_test_is_read_from_the_report() {
        let report = "<testsuites name=\"run\" tests=\"2\"><testsuite name=\"scenarios::it\">\n\
            <testcase name=\"user::a\" classname=\"scenarios::it\" time=\"1\"></testcase>\n\
            <testcase name=\"user::b\" classname=\"scenarios::it\" time=\"1\">\n\
            <failure message=\"x\"/></testcase></testsuite></testsuites>";
        assert_eq!(failed_in(report).as_deref(), Some("scenarios::it user::b"));
        assert_eq!(failed_in("<testsuites/>"), None);
    }
}
