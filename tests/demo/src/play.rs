//! The play: what the project is, what the agent does in each turn, what the auditor finds.
//!
//! Only the words of agent and auditor are written down here. What the tools do with them is up
//! to the real server: the tests of the first turn fail because the exporter really has a fault.

use std::path::Path;

use serde_json::{Value, json};
use testkit::Step;

/// What the goal asks for.
pub(crate) const OBJECTIVE: &str =
    "Add tests for the CSV exporter and make the whole suite pass; document it in README.md";

/// The session's title.
pub(crate) const TITLE: &str = "CSV exporter";

/// Tokens that the goal may use.
pub(crate) const TOKEN_BUDGET: u64 = 200_000;

/// The project before the agent begins: paths and texts.
pub(crate) const PROJECT: [(&str, &str); 2] = [
    ("package.json", include_str!("../play/before/package.json")),
    ("src/csv.js", include_str!("../play/before/src/csv.js")),
];

/// The files that the agent has written or changed in the end, in Git's order.
pub(crate) const CHANGED: [&str; 3] = ["README.md", "src/csv.js", "test/csv.test.js"];

/// The tests that the agent writes.
pub(crate) const TESTS: u32 = 6;

/// How often the agent is sent on.
pub(crate) const CONTINUATIONS: u32 = 2;

/// How often the auditor is asked.
pub(crate) const AUDITS: usize = 3;

/// What the auditor notes in the end.
pub(crate) const LAST_NOTE: &str = "All six tests pass, and README.md describes the exporter.";

const TEST_FILE: &str = include_str!("../play/after/test/csv.test.js");
const README: &str = include_str!("../play/after/README.md");

/// The fault of the exporter, and its repair.
const FAULT: &str = r#"  return text.includes(",") ? `"${text}"` : text;"#;
const REPAIR: &str =
    r#"  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;"#;

/// One turn of the agent with the audit that follows it.
pub(crate) struct Act {
    /// The answers of the agent: tool calls, then its report.
    pub(crate) work: Vec<Step>,
    /// What the auditor answers.
    pub(crate) audit: Step,
}

/// The whole play in `project`.
pub(crate) fn acts(project: &Path) -> [Act; 3] {
    [write_tests(project), repair(project), document(project)]
}

/// The suite that the agent writes finds two faults.
fn write_tests(project: &Path) -> Act {
    let report = "\
Done: wrote six tests for the exporter.
Verified: node --test; quotes and line breaks fail.
Remaining: repair the exporter, then document it.";
    Act {
        work: vec![
            read(project, "src/csv.js").usage(11_240, 96),
            write(project, "test/csv.test.js", TEST_FILE).usage(11_690, 742),
            run_tests().usage(12_510, 58),
            Step::say(report).usage(13_480, 88),
        ],
        audit: verdict(
            "continue",
            "Two of six tests fail: quotes and line breaks are written as they are.",
        )
        .usage(2_310, 44),
    }
}

/// The suite passes, and the agent believes that this is all.
fn repair(project: &Path) -> Act {
    let report = "\
Done: repaired how quotes and line breaks are written.
Verified: node --test; all six tests pass.
Remaining: nothing.";
    Act {
        work: vec![
            edit(project, "src/csv.js", FAULT, REPAIR).usage(17_340, 164),
            run_tests().usage(17_960, 58),
            Step::say(report).usage(18_870, 71),
        ],
        audit: verdict(
            "continue",
            "The tests pass, but there is no README.md, which the goal asks for.",
        )
        .usage(2_480, 38),
    }
}

/// What was forgotten is done.
fn document(project: &Path) -> Act {
    let report = "\
Done: documented the exporter in README.md.
Verified: node --test; all six tests pass.
Remaining: nothing.";
    Act {
        work: vec![
            write(project, "README.md", README).usage(22_410, 318),
            run_tests().usage(23_080, 58),
            Step::say(report).usage(23_960, 62),
        ],
        audit: verdict("complete", LAST_NOTE).usage(2_620, 36),
    }
}

fn read(project: &Path, file: &str) -> Step {
    Step::tool("read", json!({ "filePath": place(project, file) }))
}

fn write(project: &Path, file: &str, content: &str) -> Step {
    let arguments = json!({ "filePath": place(project, file), "content": content });
    Step::tool("write", arguments)
}

fn edit(project: &Path, file: &str, old: &str, new: &str) -> Step {
    let arguments = json!({
        "filePath": place(project, file),
        "oldString": old,
        "newString": new,
    });
    Step::tool("edit", arguments)
}

fn run_tests() -> Step {
    let arguments = json!({ "command": "node --test", "description": "Run the tests" });
    Step::tool("bash", arguments)
}

/// An answer of the auditor.
pub(crate) fn verdict(verdict: &str, note: &str) -> Step {
    let answer: Value = json!({ "verdict": verdict, "note": note });
    Step::say(answer.to_string())
}

fn place(project: &Path, file: &str) -> String {
    project.join(file).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repair_finds_its_fault_in_the_project_once() {
        let (_, exporter) = PROJECT
            .into_iter()
            .find(|(path, _)| *path == "src/csv.js")
            .unwrap();
        assert_eq!(exporter.matches(FAULT).count(), 1);
        assert!(!exporter.contains(REPAIR));
    }

    #[test]
    fn the_agent_writes_as_many_tests_as_it_says() {
        let written = TEST_FILE.matches("\ntest(\"").count();
        assert_eq!(u32::try_from(written), Ok(TESTS));
    }
}
