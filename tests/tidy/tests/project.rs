//! The project keeps its own rules.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends where its files cannot be read"
)]

use std::collections::BTreeSet;
use std::process::Command;

use pretty_assertions::assert_eq;
use tidy::files::{self, File};
use tidy::rules::{self, Page};
use tidy::{map, markdown, source};

#[test]
fn no_file_names_a_machine_or_a_registry() {
    assert_clean(project().iter().flat_map(source::word_problems));
}

#[test]
fn rust_files_are_narrow_finished_and_give_reasons() {
    assert_clean(with_end(".rs").iter().flat_map(source::rust_problems));
}

#[test]
fn every_crate_begins_with_its_documentation() {
    let mut roots = with_end("/src/lib.rs");
    roots.extend(with_end("/src/main.rs"));
    assert!(roots.len() >= 2, "found no crates");
    assert_clean(roots.iter().filter_map(source::crate_doc_problem));
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = files::root();
    assert_clean(
        with_end(".md")
            .iter()
            .flat_map(|file| markdown::link_problems(file, &root)),
    );
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let files = project();
    let names = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("docs/decisions/"));
    let names: Vec<&str> = names.collect();
    assert!(!names.is_empty(), "docs/decisions holds no decision");
    assert_clean(markdown::decision_problems(&names));
}

#[test]
fn the_map_names_every_source_file_and_no_other() {
    let files = project();
    let document = files.iter().find(|file| file.path == "ARCHITECTURE.md");
    let map = document
        .map(|file| map::read(&file.text))
        .unwrap_or_default();
    assert!(
        !map.paths.is_empty(),
        "ARCHITECTURE.md must hold the map: a fenced block marked `tree` that draws the folders"
    );
    let sources: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let missing = map.missing(&sources);
    let missing = missing
        .iter()
        .map(|path| format!("{path} has no place in ARCHITECTURE.md"));
    let root = files::root();
    let stale = map.stale(|path| root.join(path).exists());
    let stale = stale
        .iter()
        .map(|path| format!("ARCHITECTURE.md names {path}: it is not there"));
    assert_clean(missing.chain(stale));
}

const RULES: &str = "docs/rules.md";
const REPORTS: &str = "docs/field-reports.md";

/// The field reports that the engine decides.
const REPORTED: [u32; 42] = [
    1, 2, 3, 5, 8, 9, 10, 11, 13, 16, 17, 18, 19, 20, 22, 23, 24, 26, 27, 28, 30, 31, 32, 34, 36,
    38, 40, 41, 42, 43, 45, 46, 48, 49, 51, 52, 54, 56, 57, 59, 61, 62,
];

#[test]
fn every_rule_and_every_report_has_one_row() {
    let expected = [
        rules::numbered('R', 1..=92),
        rules::numbered('O', 1..=23),
        rules::numbered('X', 1..=25),
    ];
    let problems = page(RULES).row_problems(RULES, &expected.concat());
    let reports = REPORTED.map(|number| format!("G{number:02}"));
    assert_clean(
        problems
            .into_iter()
            .chain(page(REPORTS).row_problems(REPORTS, &reports)),
    );
}

#[test]
fn every_test_that_a_rule_names_is_there() {
    let files = project();
    assert_clean(
        [RULES, REPORTS]
            .into_iter()
            .flat_map(|path| page(path).test_problems(path, &files)),
    );
}

#[test]
fn every_test_that_bears_a_reports_number_is_named_there() {
    assert_clean(page(REPORTS).unnamed_problems(REPORTS, &project()));
}

#[test]
fn every_rule_that_is_named_anywhere_is_stated() {
    let pages = [page(RULES), page(REPORTS)];
    let stated: BTreeSet<&str> = pages.iter().flat_map(Page::marks).collect();
    assert_clean(
        project()
            .iter()
            .flat_map(|file| rules::mention_problems(file, &stated)),
    );
}

#[test]
fn the_core_knows_no_runtime_and_no_server() {
    let strangers =
        |name: &str| name == "tokio" || name.starts_with("tokio-") || name == "opencode-client";
    assert_eq!(
        dependencies_of("goal-core", strangers),
        Vec::<String>::new()
    );
}

#[test]
fn the_client_knows_no_goals() {
    let found = dependencies_of("opencode-client", |name| name.starts_with("goal-"));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_engine_knows_no_window() {
    let found = dependencies_of("goal-engine", |name| name.starts_with("tauri"));
    assert_eq!(found, Vec::<String>::new());
}

/// The three rules above look for names that are not there; this one shows that the search finds
/// names that are, far down the tree and for one system alone.
#[test]
fn the_plugins_package_carries_what_an_app_needs_and_no_more() {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .args(["--package", "tauri-plugin-goal"])
        .output()
        .unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let files: BTreeSet<&str> = listed.lines().collect();
    for needed in [
        "build.rs",
        "permissions/default.toml",
        "permissions/autogenerated/commands/pause.toml",
        "plugin/src/lib.rs",
        "guest-js/locales/en.json",
        "README.md",
        "LICENSE-MIT",
    ] {
        assert!(files.contains(needed), "{needed} is missing:\n{listed}");
    }
    let rooms = ["permissions/", "plugin/src/", "guest-js/locales/"];
    let unwanted: Vec<&&str> = files
        .iter()
        .filter(|file| file.contains('/') && !rooms.iter().any(|room| file.starts_with(room)))
        .collect();
    assert!(unwanted.is_empty(), "{unwanted:?}");
    assert!(!files.contains("plugin/src/contract.rs"), "{listed}");
}

#[test]
fn the_search_for_dependencies_finds_what_is_there() {
    let found = dependencies_of("goal-engine", |name| {
        ["goal-core", "opencode-client", "tokio", "windows-sys"].contains(&name)
    });
    assert_eq!(
        found,
        ["goal-core", "opencode-client", "tokio", "windows-sys"]
    );
}

/// The crates that `package` is built from, on any system, for which `wanted` says yes: sorted,
/// without doubles. What only its tests use does not count.
fn dependencies_of(package: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.current_dir(files::root())
        .args([
            "tree",
            "--locked",
            "--package",
            package,
            "--edges",
            "normal,build",
        ])
        .args(["--target", "all", "--prefix", "none", "--format", "{p}"]);
    let output = tree.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    let mut found: Vec<String> = names
        .filter(|name| wanted(name))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    found
}

fn page(path: &str) -> Page {
    let files = project();
    let file = files.iter().find(|file| file.path == path);
    file.map(Page::read).unwrap_or_default()
}

fn project() -> Vec<File> {
    files::all(&files::root()).unwrap()
}

fn with_end(end: &str) -> Vec<File> {
    project()
        .into_iter()
        .filter(|file| file.path.ends_with(end))
        .collect()
}

#[track_caller]
fn assert_clean(problems: impl IntoIterator<Item = String>) {
    let problems: Vec<String> = problems.into_iter().collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
