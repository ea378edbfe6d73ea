//! `cargo xtask mutants`: puts defects into a copy of the sources, one at a time, and looks whether
//! the tests notice. A defect that none notices shows a test that is missing.
//!
//! ```text
//!   list (xtask/mutants/*.toml) ─▶ apply to the copy (tree) ─▶ build and ask its tests (ask)
//!                                        ▲                           │ caught · survived
//!                                        └───── restore the copy ◀───┘
//! ```

mod ask;
mod child;
mod list;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::args::MutantsOptions;
use crate::report;
use crate::setup;
use crate::workspace::{Failure, Result, Workspace};

use self::ask::{Answer, Asker};
use self::child::Stop;
use self::list::{Mutant, Suite};
use self::tree::Tree;

/// How a run ended that nothing kept from ending.
pub(crate) enum Finished {
    /// Every mutant was caught.
    Caught,
    /// The user stopped it.
    Stopped,
}

/// What became of one mutant.
enum Fate {
    /// This test noticed.
    Caught(String),
    /// No test noticed.
    Survived,
    /// It says nothing about the tests, for this reason.
    Useless(String),
    /// The user stopped the run.
    Stopped,
}

/// One line of the closing table.
struct Row {
    name: String,
    rule: String,
    took: Duration,
    end: String,
}

/// Lists the mutants, or runs those that were chosen and prints what became of each.
///
/// # Errors
/// A mutant that no longer applies, does not compile, or that no test caught; tests that fail
/// without any mutant; what could not be read, written or run.
pub(crate) fn run(workspace: &Workspace, options: &MutantsOptions) -> Result<Finished> {
    let mutants = list::choose(list::read(&workspace.root)?, &options.only)?;
    if options.list {
        report::say(&listed(&mutants));
        return Ok(Finished::Caught);
    }
    for mutant in &mutants {
        mutant.apply(&workspace.root)?;
    }
    let nextest = setup::tool(workspace, &setup::NEXTEST)?;
    let stop = Stop::listen()?;
    report::say("copying the sources to target/mutants; the project's own are not touched");
    let mut run = Run {
        tree: Tree::make(workspace)?,
        logs: logs(workspace)?,
        asker: Asker { nextest, stop },
    };
    let finished = run.all(&mutants);
    // Also after a failure, and after Ctrl-C: no mutant is left behind, not even in the copy.
    run.tree.restore()?;
    if matches!(finished, Ok(Finished::Stopped)) {
        report::say("\nstopped; nothing runs on, and no mutant is left in the copy");
    }
    finished
}

struct Run {
    tree: Tree,
    logs: PathBuf,
    asker: Asker,
}

impl Run {
    fn all(&mut self, mutants: &[Mutant]) -> Result<Finished> {
        let begun = Instant::now();
        report::heading(0, mutants.len(), "no mutant", "the tests pass as it is");
        if !self.unchanged(mutants)? {
            return Ok(Finished::Stopped);
        }
        report::say(&format!("       {}", seconds(begun.elapsed())));
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        for (index, mutant) in mutants.iter().enumerate() {
            let what = format!("{} ({})", mutant.title, mutant.rule);
            report::heading(index + 1, mutants.len(), &mutant.name, &what);
            let begun = Instant::now();
            let end = match self.one(mutant)? {
                Fate::Stopped => return Ok(Finished::Stopped),
                Fate::Caught(test) => format!("caught by {test}"),
                Fate::Survived => {
                    bad.push(mutant.name.as_str());
                    format!("SURVIVED: {} No test noticed.", mutant.defect)
                }
                Fate::Useless(why) => {
                    bad.push(mutant.name.as_str());
                    format!("USELESS: {why}")
                }
            };
            report::say(&format!("       {}: {end}", seconds(begun.elapsed())));
            rows.push(Row {
                name: mutant.name.clone(),
                rule: mutant.rule.clone(),
                took: begun.elapsed(),
                end,
            });
        }
        report::say(&format!("\n{}", table(&rows)));
        if bad.is_empty() {
            report::say(&format!("\n{} caught, 0 survived", rows.len()));
            return Ok(Finished::Caught);
        }
        Err(Failure::new(format!(
            "NOT CAUGHT: {}. What the tests said is in {}. To try one again: cargo xtask mutants \
             --only {}",
            bad.join(", "),
            self.logs.display(),
            bad.first().unwrap_or(&"NAME"),
        )))
    }

    /// Whether the tests pass as it is, without which a failure says nothing; `false`: the user
    /// stopped them.
    fn unchanged(&self, mutants: &[Mutant]) -> Result<bool> {
        let log = self.logs.join("no-mutant.log");
        for suites in together(mutants) {
            let names = || suites.iter().map(Suite::to_string).collect::<Vec<_>>();
            match self.ask(&suites, &log)? {
                Answer::Passed => {}
                Answer::Stopped => return Ok(false),
                Answer::Failed(test) => {
                    return Err(Failure::new(format!(
                        "without any mutant, {test} fails; see {}",
                        log.display()
                    )));
                }
                Answer::NotCompiled => {
                    return Err(Failure::new(format!(
                        "the sources do not compile; see {}",
                        log.display()
                    )));
                }
                Answer::NoSuchTest => {
                    return Err(Failure::new(format!("there is no {}", names().join(", "))));
                }
            }
        }
        Ok(true)
    }

    /// Applies one mutant and asks its tests until one notices.
    fn one(&mut self, mutant: &Mutant) -> Result<Fate> {
        self.tree.restore()?;
        for (file, text) in mutant.apply(&self.tree.workspace().root)? {
            self.tree.change(&file, &text)?;
        }
        let log = self.logs.join(format!("{}.log", mutant.name));
        for suite in &mutant.caught_by {
            match self.ask(std::slice::from_ref(suite), &log)? {
                Answer::Passed => {}
                Answer::Failed(test) => return Ok(Fate::Caught(test)),
                Answer::Stopped => return Ok(Fate::Stopped),
                Answer::NotCompiled => {
                    return Ok(Fate::Useless("it does not compile".to_owned()));
                }
                Answer::NoSuchTest => return Ok(Fate::Useless(format!("there is no {suite}"))),
            }
        }
        Ok(Fate::Survived)
    }

    fn ask(&self, suites: &[Suite], log: &Path) -> Result<Answer> {
        self.asker.ask(self.tree.workspace(), suites, log)
    }
}

/// The tests that all mutants name, those of one program together: one build, one run.
fn together(mutants: &[Mutant]) -> Vec<Vec<Suite>> {
    let mut groups: Vec<Vec<Suite>> = Vec::new();
    for suite in mutants.iter().flat_map(|mutant| &mutant.caught_by) {
        let place = |suite: &Suite| {
            let alone = suite.test.is_some();
            (suite.package.clone(), suite.program.clone(), alone)
        };
        let group = groups.iter_mut().find(|group| {
            group
                .first()
                .is_some_and(|first| place(first) == place(suite))
        });
        match group {
            Some(group) if group.contains(suite) => {}
            Some(group) => group.push(suite.clone()),
            None => groups.push(vec![suite.clone()]),
        }
    }
    groups
}

/// An empty folder for what the tests say.
fn logs(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("mutants").join("logs");
    let fresh = |folder: &Path| {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)
    };
    match fresh(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => Err(Failure::new(format!(
            "cannot make {}: {error}",
            folder.display()
        ))),
    }
}

fn listed(mutants: &[Mutant]) -> String {
    let entry = |mutant: &Mutant| {
        let tests: Vec<String> = mutant
            .caught_by
            .iter()
            .map(|suite| format!("      {suite}"))
            .collect();
        format!(
            "{} ({}): {}\n      {}\n{}",
            mutant.name,
            mutant.rule,
            mutant.title,
            mutant.defect,
            tests.join("\n")
        )
    };
    mutants.iter().map(entry).collect::<Vec<_>>().join("\n\n")
}

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let width = width.max("mutant".len());
    let mut lines = vec![format!("{:width$}  rule  seconds  end", "mutant")];
    for Row {
        name,
        rule,
        took,
        end,
    } in rows
    {
        let took = took.as_secs_f64();
        lines.push(format!("{name:width$}  {rule:4}  {took:>7.1}  {end}"));
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    let total = total.as_secs_f64();
    lines.push(format!("{:width$}  {:4}  {total:>7.1}", "total", ""));
    lines.join("\n")
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_one_program_are_asked_together_and_once() {
        let groups = together(&[
            mutant(&["goal-core::watch a", "scenarios"]),
            mutant(&["goal-core::watch b", "goal-core::watch a"]),
            mutant(&["goal-core::tail a", "goal-core a"]),
        ]);
        let texts: Vec<String> = groups
            .iter()
            .map(|group| group.iter().map(Suite::to_string).collect::<Vec<_>>())
            .map(|group| group.join(" + "))
            .collect();
        assert_eq!(
            texts,
            [
                "goal-core::watch a + goal-core::watch b",
                "scenarios",
                "goal-core::tail a",
                "goal-core a"
            ]
        );
    }

    #[test]
    fn the_table_says_who_caught_what() {
        let row = |name: &str, millis, end: &str| Row {
            name: name.to_owned(),
            rule: "X17".to_owned(),
            took: Duration::from_millis(millis),
            end: end.to_owned(),
        };
        let rows = [
            row("01-a", 12_340, "caught by goal-core::watch b"),
            row("02-longer", 1_000, "SURVIVED: It hurts."),
        ];
        let expected = "\
mutant     rule  seconds  end
01-a       X17      12.3  caught by goal-core::watch b
02-longer  X17       1.0  SURVIVED: It hurts.
total               13.3";
        assert_eq!(table(&rows), expected);
    }

    #[test]
    fn the_list_names_rule_defect_and_tests() {
        let expected = "01-x (R1): title\n      It hurts.\n      goal-core\n      scenarios";
        assert_eq!(listed(&[mutant(&["goal-core", "scenarios"])]), expected);
    }

    fn mutant(caught_by: &[&str]) -> Mutant {
        Mutant {
            name: "01-x".to_owned(),
            title: "title".to_owned(),
            rule: "R1".to_owned(),
            defect: "It hurts.".to_owned(),
            caught_by: caught_by
                .iter()
                .map(|text| Suite::try_from((*text).to_owned()).unwrap())
                .collect(),
            edits: Vec::new(),
        }
    }
}
