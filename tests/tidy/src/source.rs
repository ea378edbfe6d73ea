//! Rules about lines of text: width, words that must not stand there, attributes.

use crate::files::File;

/// The widest a line of Rust may be, in characters.
const COLUMNS_MAX: usize = 100;

/// Folders of one machine. A path below them works nowhere else.
/// (Cut in two, so that this file keeps its own rule.)
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Hosts of package registries: which one a machine asks is that machine's setting.
const REGISTRY_HOSTS: [&str; 7] = [
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("yarnpkg", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("deb.debian", ".org"),
];

/// Marks of work left undone; the last two are looked for in comments alone.
const UNFINISHED: [&str; 2] = [concat!("to", "do!"), concat!("unimple", "mented!")];
const UNFINISHED_COMMENTS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// What is wrong in one file of any kind: paths of a machine, hosts of registries. Cargo.lock is
/// cargo's own and may name its registry.
pub fn word_problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in numbered(&file.text) {
        for path in MACHINE_PATHS {
            if line.contains(path) {
                problems.push(at(
                    file,
                    number,
                    &format!("names a path of one machine: {path}"),
                ));
            }
        }
        if file.path.ends_with("Cargo.lock") {
            continue;
        }
        for host in REGISTRY_HOSTS {
            if line.contains(host) {
                problems.push(at(
                    file,
                    number,
                    &format!("names a registry's host: {host}"),
                ));
            }
        }
    }
    problems
}

/// What is wrong in one Rust file: lines over 100 columns, undone work, lints switched off
/// without a reason.
///
/// A longer line may stand where no formatter could break it: one that begins with a string
/// literal, lies within a raw string, or is a comment with an address.
pub fn rust_problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    let mut raw = None;
    for (number, line) in numbered(&file.text) {
        let within_raw = raw.is_some();
        raw = raw_string_after(line, raw);
        let columns = line.chars().count();
        if columns > COLUMNS_MAX && !within_raw && !cannot_break(line) {
            let problem = format!("has {columns} columns, over {COLUMNS_MAX}");
            problems.push(at(file, number, &problem));
        }
        for mark in unfinished(line) {
            problems.push(at(file, number, &format!("is unfinished: {mark}")));
        }
    }
    problems.extend(attribute_problems(file));
    problems
}

/// Whether a crate's root file begins with its documentation.
pub fn crate_doc_problem(file: &File) -> Option<String> {
    let starts_well = file.text.starts_with("//! ");
    (!starts_well).then(|| at(file, 1, "must begin with the crate's `//!` documentation"))
}

/// A lint is switched off by `expect` with a reason: it speaks up when it is needed no longer.
fn attribute_problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in numbered(&file.text) {
        let code = line.trim_start();
        if code.starts_with("#[allow(") || code.starts_with("#![allow(") {
            problems.push(at(
                file,
                number,
                "uses `allow`: write `expect` with a reason",
            ));
        }
        if code.starts_with("#[expect(") || code.starts_with("#![expect(") {
            let rest = file.text.lines().skip(number - 1);
            let attribute: Vec<&str> = rest.take(1 + lines_until_closed(file, number)).collect();
            if !attribute.join("\n").contains("reason") {
                problems.push(at(file, number, "switches a lint off without a reason"));
            }
        }
    }
    problems
}

/// How many lines after line `number` an attribute that starts there is closed.
fn lines_until_closed(file: &File, number: usize) -> usize {
    let from_here = file.text.lines().skip(number - 1);
    from_here
        .take_while(|line| !line.trim_end().ends_with(")]"))
        .count()
}

fn unfinished(line: &str) -> Vec<&'static str> {
    let comment = line.split_once("//").map_or("", |(_, comment)| comment);
    let in_code = UNFINISHED.into_iter().filter(|mark| line.contains(mark));
    let in_comments = UNFINISHED_COMMENTS
        .into_iter()
        .filter(|mark| comment.contains(mark));
    in_code.chain(in_comments).collect()
}

fn cannot_break(line: &str) -> bool {
    let code = line.trim_start();
    let literal = ["\"", "r\"", "r#", "b\""]
        .iter()
        .any(|start| code.starts_with(start));
    literal || (code.starts_with("//") && code.contains("://"))
}

/// The end of the raw string that is open after `line`, given the end of the one open before it.
fn raw_string_after(line: &str, open: Option<String>) -> Option<String> {
    let mut rest = match open {
        Some(end) => match line.split_once(&end) {
            Some((_, after)) => after,
            None => return Some(end),
        },
        None => line,
    };
    loop {
        let (_, after) = rest.split_once("r#")?;
        let hashes = 1 + after.chars().take_while(|letter| *letter == '#').count();
        rest = after.trim_start_matches('#');
        let Some(content) = rest.strip_prefix('"') else {
            continue;
        };
        let end = format!("\"{}", "#".repeat(hashes));
        match content.split_once(&end) {
            Some((_, after)) => rest = after,
            None => return Some(end),
        }
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

fn at(file: &File, line: usize, problem: &str) -> String {
    format!("{}:{line} {problem}", file.path)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn paths_of_a_machine_and_hosts_of_registries_are_found() {
        for word in MACHINE_PATHS.iter().chain(&REGISTRY_HOSTS) {
            let bad = file("a.md", &format!("fine\nsee {word}x"));
            assert_eq!(word_problems(&bad).len(), 1, "{word}");
        }
        assert_eq!(
            word_problems(&file("a.md", "workspace/root of it")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn the_lock_file_may_name_its_registry_but_no_machine() {
        let lock = file(
            "Cargo.lock",
            &format!("{}\n{}x", REGISTRY_HOSTS[0], MACHINE_PATHS[0]),
        );
        assert_eq!(word_problems(&lock).len(), 1);
    }

    #[test]
    fn long_code_is_found_and_long_literals_are_not() {
        let long = "x".repeat(COLUMNS_MAX);
        let cases = [
            (format!("{long}x"), 1),
            (format!("// {long}"), 1),
            (long.clone(), 0),
            (format!("    \"{long}\","), 0),
            (format!("// see https://{long}"), 0),
            (format!("let text = r#\"\n{long}x\n\"#;"), 0),
            (format!("let text = r#\"a\"#;\n{long}x"), 1),
            (format!("let text = r##\"\n\"#\n{long}x\n\"##;\n{long}x"), 1),
        ];
        for (text, expected) in cases {
            assert_eq!(
                rust_problems(&file("a.rs", &text)).len(),
                expected,
                "for:\n{text}"
            );
        }
    }

    #[test]
    fn undone_work_is_found() {
        for mark in UNFINISHED {
            assert_eq!(
                rust_problems(&file("a.rs", &format!("{mark}()"))).len(),
                1,
                "{mark}"
            );
        }
        for mark in UNFINISHED_COMMENTS {
            let comment = file("a.rs", &format!("// {mark}: later"));
            assert_eq!(rust_problems(&comment).len(), 1, "{mark}");
            let text = file("a.rs", &format!("let word = \"{mark}\";"));
            assert_eq!(rust_problems(&text).len(), 0, "{mark} as data");
        }
    }

    #[test]
    fn lints_are_switched_off_with_a_reason_only() {
        let cases = [
            ("#[allow(dead_code)]", 1),
            ("    #[expect(dead_code)]\n    // reason enough", 1),
            ("#[expect(dead_code, reason = \"a sample\")]", 0),
            (
                "#![expect(\n    dead_code,\n    reason = \"a sample\"\n)]",
                0,
            ),
            ("#![expect(\n    dead_code\n)]\n// no reason", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(
                rust_problems(&file("a.rs", text)).len(),
                expected,
                "for:\n{text}"
            );
        }
    }

    #[test]
    fn a_crate_begins_with_its_documentation() {
        assert_eq!(
            crate_doc_problem(&file("src/lib.rs", "//! What it is.\n")),
            None
        );
        assert!(crate_doc_problem(&file("src/lib.rs", "use std::fs;\n//! Late.")).is_some());
    }

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }
}
