//! All that xtask itself prints. What the started programs print goes straight to the terminal.

use std::time::Duration;

/// How a step of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It passed.
    Passed,
    /// It failed, and the run ended with it.
    Failed,
    /// An earlier step failed, so it was not started.
    NotRun,
}

/// One line of the closing table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The step's name, as `--only` takes it.
    pub(crate) step: String,
    /// How long it took; zero if it was not started.
    pub(crate) took: Duration,
    /// Tests that ran in it; `None` for a step that is not a layer of tests.
    pub(crate) tests: Option<u64>,
    /// How it ended.
    pub(crate) mark: Mark,
}

/// Prints a line for the reader.
#[expect(clippy::print_stdout, reason = "a build tool speaks to the terminal")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

/// Prints what went wrong.
#[expect(clippy::print_stderr, reason = "a build tool speaks to the terminal")]
pub(crate) fn complain(text: &str) {
    eprintln!("xtask: {text}");
}

/// Announces a step before its program starts to print.
pub(crate) fn heading(number: usize, total: usize, name: &str, what: &str) {
    say(&format!("\n[{number}/{total}] {name}: {what}"));
}

/// The closing table: a line for each step with its seconds, and the sum below.
pub(crate) fn table(rows: &[Row]) -> String {
    let width = rows
        .iter()
        .map(|row| row.step.len())
        .max()
        .unwrap_or(0)
        .max("total".len());
    let mut lines = vec![format!("{:width$}  seconds  tests", "step")];
    for row in rows {
        let seconds = match row.mark {
            Mark::Passed | Mark::Failed => format!("{:.1}", row.took.as_secs_f64()),
            Mark::NotRun => "-".to_owned(),
        };
        let tests = row
            .tests
            .map_or_else(String::new, |count| count.to_string());
        let remark = match row.mark {
            Mark::Passed => "",
            Mark::Failed => "  FAILED",
            Mark::NotRun => "  not run",
        };
        let line = format!("{:width$}  {seconds:>7}  {tests:>5}{remark}", row.step);
        lines.push(line.trim_end().to_owned());
    }
    let took: Duration = rows.iter().map(|row| row.took).sum();
    let tests: u64 = rows.iter().filter_map(|row| row.tests).sum();
    lines.push(format!(
        "{:width$}  {:>7.1}  {tests:>5}",
        "total",
        took.as_secs_f64()
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_seconds_tests_and_where_it_stopped() {
        let rows = [
            row("clippy", 12_340, None, Mark::Passed),
            row("goal-core", 1_000, Some(7), Mark::Failed),
            row("real", 0, None, Mark::NotRun),
        ];
        let expected = "\
step       seconds  tests
clippy        12.3
goal-core      1.0      7  FAILED
real             -         not run
total         13.3      7";
        assert_eq!(table(&rows), expected);
    }

    fn row(step: &str, millis: u64, tests: Option<u64>, mark: Mark) -> Row {
        Row {
            step: step.to_owned(),
            took: Duration::from_millis(millis),
            tests,
            mark,
        }
    }
}
