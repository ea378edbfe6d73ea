//! Rules about the pages that state the loop's rules: each rule has its row, each test that a page
//! names is there, and no file names a rule that no page states.
//!
//! A row is one line of a table; its first cell is the rule's mark, such as `R12`. A test is named
//! by a link whose text is the function and whose target is its file.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::files::File;

/// Letters of rules and field reports: a whole word of one of them and a number is a mark.
const RULE_LETTERS: &str = "GORX";

/// Letters that mean a mark only within parentheses: elsewhere they are sizes, bytes and headings.
const OTHER_LETTERS: &str = "ADEH";

/// What a page states.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The rows of its tables in order, headings left out.
    pub rows: Vec<Row>,
    /// The tests it names, in its tables and elsewhere.
    pub tests: Vec<Test>,
}

/// One row of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The text of its cells.
    pub cells: Vec<String>,
    /// The tests it names.
    pub tests: Vec<Test>,
}

/// A test that a page names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The function.
    pub name: String,
    /// The file, from the project's root.
    pub file: String,
}

impl Row {
    /// The mark that it states; empty in a row without cells.
    #[must_use]
    pub fn mark(&self) -> &str {
        self.cells.first().map_or("", String::as_str)
    }
}

impl Page {
    /// Reads the tables and links of a Markdown file.
    #[must_use]
    pub fn read(file: &File) -> Self {
        let mut page = Self::default();
        let mut row: Option<Row> = None;
        let mut link: Option<(String, String)> = None;
        for event in Parser::new_ext(&file.text, Options::ENABLE_TABLES) {
            if let Event::Start(tag) = &event {
                if let Tag::Link { dest_url, .. } = tag {
                    link = Some((dest_url.to_string(), String::new()));
                } else if matches!(tag, Tag::TableRow) {
                    row = Some(Row::default());
                } else if matches!(tag, Tag::TableCell)
                    && let Some(row) = &mut row
                {
                    row.cells.push(String::new());
                }
            } else if let Event::Text(text) | Event::Code(text) = &event {
                if let Some((_, words)) = &mut link {
                    words.push_str(text);
                }
                if let Some(cell) = row.as_mut().and_then(|row| row.cells.last_mut()) {
                    cell.push_str(text);
                }
            } else if let Event::End(end) = &event {
                if matches!(end, TagEnd::TableRow) {
                    page.rows.extend(row.take());
                } else if matches!(end, TagEnd::Link)
                    && let Some(test) = link.take().and_then(|link| test_of(&file.path, link))
                {
                    if let Some(row) = &mut row {
                        row.tests.push(test.clone());
                    }
                    page.tests.push(test);
                }
            }
        }
        page
    }

    /// Every mark that it states.
    pub fn marks(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(Row::mark)
    }

    /// What is wrong with its rows: each of `expected` must have exactly one, no other row may
    /// bear one of their letters, and no cell may be empty or name a link that is not defined.
    #[must_use]
    pub fn row_problems(&self, path: &str, expected: &[String]) -> Vec<String> {
        let mut problems = Vec::new();
        for mark in expected {
            match self.marks().filter(|stated| stated == mark).count() {
                1 => {}
                0 => problems.push(format!("{path} does not state {mark}")),
                count => problems.push(format!("{path} states {mark} {count} times")),
            }
        }
        let letters: BTreeSet<char> = expected
            .iter()
            .filter_map(|mark| mark.chars().next())
            .collect();
        for row in &self.rows {
            let mark = row.mark();
            let ours = mark.starts_with(|letter| letters.contains(&letter));
            if ours && !expected.iter().any(|other| other == mark) {
                problems.push(format!("{path} states {mark}: there is no such rule"));
            }
            if row.cells.iter().any(|cell| cell.trim().is_empty()) {
                problems.push(format!("{path} has an empty cell in the row {mark}"));
            }
            if row.cells.iter().any(|cell| cell.contains("][")) {
                problems.push(format!(
                    "{path} has a link in the row {mark} whose address is not defined at its end"
                ));
            }
        }
        problems
    }

    /// The tests it names that are not among `files`.
    #[must_use]
    pub fn test_problems(&self, path: &str, files: &[File]) -> Vec<String> {
        let there = |test: &Test| {
            files
                .iter()
                .find(|file| file.path == test.file)
                .is_some_and(|file| functions(&file.text).any(|name| name == test.name))
        };
        let gone = self.tests.iter().filter(|test| !there(test));
        gone.map(|test| {
            let Test { name, file } = test;
            format!("{path} names the test {name}: {file} has no function of that name")
        })
        .collect()
    }

    /// The tests among `files` that bear the mark of one of these rows, and that the row does not
    /// name.
    #[must_use]
    pub fn unnamed_problems(&self, path: &str, files: &[File]) -> Vec<String> {
        let mut problems = Vec::new();
        for file in files.iter().filter(|file| holds_tests(file)) {
            for name in functions(&file.text) {
                let named = |row: &&Row| !row.tests.iter().any(|test| test.name == name);
                let marks: Vec<String> = marks_of_test(name).collect();
                let rows = self
                    .rows
                    .iter()
                    .filter(|row| marks.iter().any(|mark| mark == row.mark()));
                for row in rows.filter(named) {
                    problems.push(format!(
                        "{path} must name {name} of {} in the row {}",
                        file.path,
                        row.mark()
                    ));
                }
            }
        }
        problems
    }
}

/// The marks of one letter, such as `R1` to `R92`.
#[must_use]
pub fn numbered(letter: char, numbers: RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("{letter}{number}")).collect()
}

/// The marks that a file names and that are not among `stated`. Looked at are comments, labels in
/// parentheses and the names of tests in Rust, and all words of a document.
#[must_use]
pub fn mention_problems(file: &File, stated: &BTreeSet<&str>) -> Vec<String> {
    let is_rust = file.path.ends_with(".rs");
    if !is_rust && !file.path.ends_with(".md") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let words = if is_rust {
            line.split_once("//").map_or("", |(_, comment)| comment)
        } else {
            line
        };
        let mut found: BTreeSet<String> = marks_in(words).collect();
        found.extend(marks_in_parentheses(line));
        if is_rust && holds_tests(file) {
            found.extend(functions(line).flat_map(marks_of_test));
        }
        for mark in found.iter().filter(|mark| !stated.contains(mark.as_str())) {
            let number = index + 1;
            problems.push(format!(
                "{}:{number} names {mark}, which docs/rules.md and docs/field-reports.md do not \
                 state",
                file.path
            ));
        }
    }
    problems
}

/// A link to a Rust file whose text is a function's name.
fn test_of(page: &str, (target, name): (String, String)) -> Option<Test> {
    let is_name = name
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    (target.ends_with(".rs") && is_name && !name.is_empty()).then(|| Test {
        name,
        file: resolved(page, &target),
    })
}

/// Where a link on a page leads to, from the project's root.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn holds_tests(file: &File) -> bool {
    file.path.ends_with(".rs") && (file.path.contains("tests/") || file.path.ends_with("tests.rs"))
}

/// The names of all functions in a text of Rust.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, rest) = line
            .split_once("fn ")
            .filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
        let end = rest.find(['(', '<'])?;
        rest.get(..end)
    })
}

/// The marks at the beginning of a test's name: `r12_x9_…` bears two.
fn marks_of_test(name: &str) -> impl Iterator<Item = String> {
    name.split('_')
        .map(str::to_ascii_uppercase)
        .take_while(|part| is_mark(part, RULE_LETTERS) || is_mark(part, OTHER_LETTERS))
}

fn marks_in(words: &str) -> impl Iterator<Item = String> {
    let apart = |letter: char| !letter.is_alphanumeric() && !"_.§".contains(letter);
    words
        .split(apart)
        .map(|word| word.trim_matches('.'))
        .filter(|word| is_mark(word, RULE_LETTERS) || is_section(word))
        .map(str::to_owned)
}

/// The marks of all groups in parentheses that hold nothing else, such as `(E9-E12, H1)`.
fn marks_in_parentheses(line: &str) -> impl Iterator<Item = String> {
    let groups = line.split(" (").skip(1);
    let groups = groups.filter_map(|group| group.split_once(')'));
    groups.flat_map(|(group, _)| {
        let marks: Vec<String> = group
            .split([',', '-'])
            .map(|m| m.trim().to_owned())
            .collect();
        let known = |mark: &String| {
            is_mark(mark, RULE_LETTERS) || is_mark(mark, OTHER_LETTERS) || is_section(mark)
        };
        if marks.iter().all(known) {
            marks
        } else {
            Vec::new()
        }
    })
}

fn is_mark(word: &str, letters: &str) -> bool {
    let mut rest = word.chars();
    let begins = rest.next().is_some_and(|letter| letters.contains(letter));
    let digits = rest.as_str();
    begins && (1..=3).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_digit())
}

fn is_section(word: &str) -> bool {
    word.strip_prefix('§').is_some_and(|number| {
        let digit = |digit: char| digit.is_ascii_digit() || digit == '.';
        !number.is_empty() && number.chars().all(digit)
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const PAGE: &str = "\
Words, [limits.rs](../src/limits.rs) and [outside][a].

| Rule | What holds | Shown by |
| --- | --- | --- |
| R1 | It *holds*. | [r1_holds][a] · [r1_really_holds](b.rs) |
| R2 | It does not. | Not built |

[a]: ../src/a.rs
";

    #[test]
    fn a_page_becomes_rows_and_tests() {
        let page = page(PAGE);
        assert_eq!(page.marks().collect::<Vec<_>>(), ["R1", "R2"]);
        assert_eq!(
            page.rows[0].tests,
            [
                test("r1_holds", "src/a.rs"),
                test("r1_really_holds", "docs/b.rs")
            ]
        );
        assert_eq!(page.rows[1].cells, ["R2", "It does not.", "Not built"]);
        assert_eq!(page.tests[0], test("outside", "src/a.rs"));
        assert_eq!(page.tests.len(), 3);
        assert_eq!(
            page.row_problems("p", &numbered('R', 1..=2)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn every_rule_has_one_whole_row() {
        let cases = [
            (
                "R2 |",
                "R1 |",
                vec!["p states R1 2 times", "p does not state R2"],
            ),
            (
                "R2 |",
                "R7 |",
                vec!["p does not state R2", "p states R7: there is no such rule"],
            ),
            ("R2 |", "O1 |", vec!["p does not state R2"]),
            (
                "It does not.",
                "",
                vec!["p has an empty cell in the row R2"],
            ),
            (
                "Not built",
                "[r2_holds][b]",
                vec!["p has a link in the row R2 whose address is not defined at its end"],
            ),
        ];
        for (old, new, mut expected) in cases {
            let mut found = page(&PAGE.replace(old, new)).row_problems("p", &numbered('R', 1..=2));
            found.sort();
            expected.sort_unstable();
            assert_eq!(found, expected, "{new}");
        }
    }

    #[test]
    fn a_test_that_is_named_is_there() {
        let text = "    fn outside() {}\nasync fn r1_holds<T>() {}\npub(crate) fn r1_really() {}";
        let files = [file("src/a.rs", text), file("docs/b.rs", text)];
        let expected = ["p names the test r1_really_holds: docs/b.rs has no function of that name"];
        assert_eq!(page(PAGE).test_problems("p", &files), expected);
        assert_eq!(page(PAGE).test_problems("p", &[]).len(), 3);
    }

    #[test]
    fn a_test_that_bears_a_mark_is_named() {
        let text = "fn r1_holds() {}\nfn r2_holds_too() {}\nfn r1_r2_hold() {}\nfn r3_holds() {}";
        let expected = [
            "p must name r2_holds_too of src/tests.rs in the row R2",
            "p must name r1_r2_hold of src/tests.rs in the row R1",
            "p must name r1_r2_hold of src/tests.rs in the row R2",
        ];
        let page = page(PAGE);
        assert_eq!(
            page.unnamed_problems("p", &[file("src/tests.rs", text)]),
            expected
        );
        assert_eq!(
            page.unnamed_problems("p", &[file("src/a.rs", text)]).len(),
            0
        );
    }

    // Marks that nothing states are cut in two, so that this file keeps its own rule.
    #[test]
    fn a_mark_that_is_named_is_stated() {
        let stated: BTreeSet<&str> = ["R1", "X2", "H11", "§4.1"].into();
        let found = |path: &str, text: &str| mention_problems(&file(path, text), &stated).len();
        let cases = [
            (
                "a.rs",
                concat!("let x = 1; // it is R1, X2's (H11, §4.1) and R", "99"),
                1,
            ),
            ("a.rs", concat!("/// From R", "90 to R", "99."), 2),
            ("a.rs", concat!("/// A range (R1-R", "99, E", "9)."), 2),
            ("a.rs", concat!("(\"a label (R", "99)\", 1),"), 1),
            (
                "a.rs",
                "let hex = [0xE2, X7, R9]; f(R8); // E5, 0xR1, R1234, XR1",
                0,
            ),
            (
                "a/tests/a.rs",
                concat!("async fn r1_r", "99_x2_this_holds() {"),
                1,
            ),
            ("a/tests/a.rs", "fn reads_r7_and_x86_64() {", 0),
            ("src/a.rs", "fn x86_64() {", 0),
            (
                "a.md",
                concat!("As R", "99 says, and §", "9.9; not A4 or H2."),
                2,
            ),
            ("a.json", concat!("R", "99"), 0),
        ];
        for (path, text, expected) in cases {
            assert_eq!(found(path, text), expected, "{text}");
        }
    }

    fn page(text: &str) -> Page {
        Page::read(&file("docs/page.md", text))
    }

    fn test(name: &str, file: &str) -> Test {
        Test {
            name: name.to_owned(),
            file: file.to_owned(),
        }
    }

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }
}
