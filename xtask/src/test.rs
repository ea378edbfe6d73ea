//! `cargo xtask test`: the steps one after another, each with its time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::args::TestOptions;
use crate::bundle;
use crate::report::{self, Mark, Row};
use crate::setup;
use crate::steps::{BUILD, Job, STEPS, Step};
use crate::workspace::{Failure, Result, Workspace, run as run_command};

/// The name of the part before the first step.
const SETUP: &str = "setup";

/// Where nextest leaves its report, as `.config/nextest.toml` says: it does not follow
/// `CARGO_TARGET_DIR`.
const JUNIT: &str = "target/nextest/default/junit.xml";

/// Runs the chosen steps in order, and stops at the first that fails. Prints a table of all
/// steps, then how many tests ran.
///
/// # Errors
/// The step that failed, and how to run it alone.
pub(crate) fn run(workspace: &Workspace, options: &TestOptions) -> Result<()> {
    let steps = choose(&options.only);
    let total = steps.len() + 1;
    let mut rows = Vec::new();
    let mut outcome = Ok(());

    report::heading(1, total, SETUP, "what the steps need");
    let started = Instant::now();
    let prepared = prepare(workspace, &steps, options);
    rows.push(row(SETUP, started.elapsed(), None, mark(&prepared)));
    if let Err(failure) = prepared {
        outcome = Err(failed(SETUP, &failure, options));
    }
    for (index, step) in steps.iter().enumerate() {
        if outcome.is_err() {
            rows.push(row(step.name, Duration::ZERO, None, Mark::NotRun));
            continue;
        }
        report::heading(index + 2, total, step.name, step.what);
        let started = Instant::now();
        let ended = perform(workspace, step, options);
        let tests = ended.as_ref().ok().copied().flatten();
        rows.push(row(step.name, started.elapsed(), tests, mark(&ended)));
        if let Err(failure) = ended {
            outcome = Err(failed(step.name, &failure, options));
        }
    }
    report::say(&format!("\n{}", report::table(&rows)));
    let counts: Vec<u64> = rows.iter().filter_map(|row| row.tests).collect();
    if outcome.is_ok() && !counts.is_empty() {
        report::say(&format!(
            "\n{} passed, 0 failed",
            counts.iter().sum::<u64>()
        ));
    }
    outcome
}

/// The steps that `only` names, and the build if one of them runs what it makes; all if it names
/// none.
fn choose(only: &[String]) -> Vec<&'static Step> {
    let named = |step: &Step| only.is_empty() || only.iter().any(|name| step.answers_to(name));
    let builds = STEPS
        .iter()
        .any(|step| named(step) && step.runs_built_code());
    STEPS
        .iter()
        .filter(|step| named(step) || (builds && step.name == BUILD))
        .collect()
}

/// Fetches what the steps need before the first of them starts, so that a missing program shows
/// at once and no step's time holds a download.
fn prepare(workspace: &Workspace, steps: &[&Step], options: &TestOptions) -> Result<()> {
    if steps.iter().any(|step| step.compiles()) {
        setup::desktop(workspace)?;
        setup::app_page(workspace)?;
    }
    if steps.iter().any(|step| step.runs_built_code()) {
        setup::tool(workspace, &setup::NEXTEST)?;
    }
    if steps.iter().any(|step| matches!(step.job, Job::Deny(_))) {
        setup::tool(workspace, &setup::DENY)?;
        setup::crates(workspace)?;
    }
    for step in steps {
        if let Job::Page(package, _) = step.job {
            setup::browser(workspace)?;
            setup::page(workspace, package)?;
        }
    }
    if steps.iter().any(|step| step.job == Job::Real) {
        opencode(workspace, options)?;
    }
    Ok(())
}

/// Does one step, and gives the number of tests that ran if it is a layer of tests.
fn perform(workspace: &Workspace, step: &Step, options: &TestOptions) -> Result<Option<u64>> {
    match step.job {
        Job::Cargo(words) => {
            let mut cargo = workspace.cargo();
            cargo.args(words);
            run_command(cargo).map(|()| None)
        }
        Job::Docs(words) => {
            let mut cargo = workspace.cargo();
            cargo.args(words).env("RUSTDOCFLAGS", "-D warnings");
            run_command(cargo).map(|()| None)
        }
        Job::Deny(words) => {
            let mut deny = workspace.program(setup::tool(workspace, &setup::DENY)?);
            deny.arg("deny").args(words);
            run_command(deny).map(|()| None)
        }
        Job::Committed(paths) => committed(workspace, paths).map(|()| None),
        Job::Page(package, script) => setup::page_script(workspace, package, script).map(|()| None),
        Job::Unit | Job::Scenarios => layer(workspace, step.name, None).map(Some),
        Job::Real => {
            let binary = opencode(workspace, options)?;
            layer(workspace, step.name, Some(&binary)).map(Some)
        }
        Job::Bundle => bundle::check(workspace).map(|()| None),
    }
}

/// Compares what stands in `paths` with what Git knows. Sources without Git have nothing to compare
/// with.
fn committed(workspace: &Workspace, paths: &[&str]) -> Result<()> {
    if !workspace.root.join(".git").exists() {
        report::say("no Git here: nothing to compare with");
        return Ok(());
    }
    let mut git = workspace.program("git");
    git.args(["diff", "--exit-code", "--stat", "--"])
        .args(paths);
    run_command(git).map_err(|failure| {
        let paths = paths.join(", ");
        Failure::new(format!(
            "{failure}\nthe build changed {paths}: look at it and commit it"
        ))
    })
}

/// The OpenCode that the real tests run on.
fn opencode(workspace: &Workspace, options: &TestOptions) -> Result<PathBuf> {
    match &options.opencode {
        None => setup::opencode(workspace),
        Some(version) => setup::opencode_version(workspace, version),
    }
}

/// Runs the tests of one crate; the file `.config/nextest.toml` holds their time limits and says
/// which of them run alone.
fn layer(workspace: &Workspace, package: &str, opencode: Option<&Path>) -> Result<u64> {
    let junit = workspace.root.join(JUNIT);
    // A report of an earlier layer must not stand for this one. There may be none.
    std::fs::remove_file(&junit).ok();
    let mut nextest = workspace.program(setup::tool(workspace, &setup::NEXTEST)?);
    nextest
        .args(["nextest", "run", "--locked", "--workspace", "--filterset"])
        .arg(format!("package(={package})"));
    if let Some(binary) = opencode {
        nextest.env("OPENCODE_BINARY", binary);
    }
    run_command(nextest)?;
    std::fs::read_to_string(&junit)
        .ok()
        .as_deref()
        .and_then(tests_in)
        .ok_or_else(|| {
            Failure::new(format!(
                "the tests passed, but left no report in {}",
                junit.display()
            ))
        })
}

/// The number of tests in a JUnit report, read from the opening tag of its root.
fn tests_in(junit: &str) -> Option<u64> {
    let (_, root) = junit.split_once("<testsuites ")?;
    let (tag, _) = root.split_once('>')?;
    let (_, value) = tag.split_once("tests=\"")?;
    value.split_once('"')?.0.parse().ok()
}

fn row(step: &str, took: Duration, tests: Option<u64>, mark: Mark) -> Row {
    Row {
        step: step.to_owned(),
        took,
        tests,
        mark,
    }
}

fn mark<T>(ended: &Result<T>) -> Mark {
    if ended.is_ok() {
        Mark::Passed
    } else {
        Mark::Failed
    }
}

/// The closing words of a run that stopped at `step`, with the command that runs it alone.
fn failed(step: &str, failure: &Failure, options: &TestOptions) -> Failure {
    let mut again = String::new();
    if step != SETUP {
        again = format!(" To run it alone: cargo xtask test --only {step}");
        if let Some(version) = &options.opencode {
            again = format!("{again} --opencode {version}");
        }
    }
    Failure::new(format!("{failure}\nxtask: FAILED at step `{step}`.{again}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_run_when_none_is_named() {
        assert_eq!(choose(&[]).len(), STEPS.len());
    }

    #[test]
    fn a_layer_brings_the_build_with_it_and_a_lint_does_not() {
        assert_eq!(chosen(&["real"]), ["build", "real"]);
        assert_eq!(chosen(&["fmt", "clippy"]), ["fmt", "clippy"]);
    }

    #[test]
    fn unit_means_all_layers_of_unit_tests() {
        let names = chosen(&["unit"]);
        assert!(
            names.contains(&"goal-core") && names.contains(&"tidy"),
            "{names:?}"
        );
        assert!(
            !names.contains(&"scenarios") && !names.contains(&"real"),
            "{names:?}"
        );
    }

    #[test]
    fn tests_are_counted_from_the_root_of_the_report() {
        let report = "<?xml version=\"1.0\"?>\n\
            <testsuites name=\"run\" tests=\"12\" failures=\"0\">\n\
            <testsuite name=\"a\" tests=\"5\"/></testsuites>";
        assert_eq!(tests_in(report), Some(12));
        assert_eq!(tests_in("<html></html>"), None);
    }

    #[test]
    fn the_last_line_says_how_to_run_the_failed_step_alone() {
        let options = TestOptions {
            only: Vec::new(),
            opencode: Some("1.15.13".to_owned()),
        };
        let last = failed("real", &Failure::new("it broke"), &options).to_string();
        let expected = "it broke\nxtask: FAILED at step `real`. \
                        To run it alone: cargo xtask test --only real --opencode 1.15.13";
        assert_eq!(last, expected);
    }

    fn chosen(only: &[&str]) -> Vec<&'static str> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        choose(&only).iter().map(|step| step.name).collect()
    }
}
