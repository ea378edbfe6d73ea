//! The mutants as they lie in `xtask/mutants`: one file each, read and checked.

use std::path::Path;

use serde::Deserialize;

use crate::workspace::{Failure, Result};

/// Where the mutants lie, from the project's root.
pub(crate) const FOLDER: &str = "xtask/mutants";

/// A defect that some test must notice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    /// The file's name without its end, such as `07-forget-the-abort`.
    #[serde(skip)]
    pub(crate) name: String,
    /// What is done to the code, in a few words.
    pub(crate) title: String,
    /// The rule it breaks, as `docs/rules.md` states it.
    pub(crate) rule: String,
    /// What a user would suffer from it, in a sentence.
    pub(crate) defect: String,
    /// The tests that must notice, in the order they are asked: what is cheap comes first.
    pub(crate) caught_by: Vec<Suite>,
    /// What is changed.
    #[serde(rename = "edit")]
    pub(crate) edits: Vec<Edit>,
}

/// One replacement in one file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file, from the project's root.
    pub(crate) file: String,
    /// The text to be replaced; it stands in the file exactly once.
    pub(crate) find: String,
    /// What takes its place.
    pub(crate) replace: String,
}

/// Tests to be asked, in the words of nextest: a package (`goal-core`), one test of its library
/// (`goal-core verdict::tests::giving_up`), one of its test programs (`goal-core::watch`), or one
/// test in such a program (`goal-core::watch r13_busy_clears`).
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub(crate) struct Suite {
    /// The package.
    pub(crate) package: String,
    /// The test program in its folder `tests`.
    pub(crate) program: Option<String>,
    /// The one test that is asked.
    pub(crate) test: Option<String>,
}

impl TryFrom<String> for Suite {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let (binary, test) = match text.split_once(' ') {
            Some((binary, test)) => (binary, Some(test.to_owned())),
            None => (text.as_str(), None),
        };
        let (package, program) = match binary.split_once("::") {
            Some((package, program)) => (package, Some(program.to_owned())),
            None => (binary, None),
        };
        let plain = |word: &str| {
            let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_:".contains(letter);
            !word.is_empty() && word.chars().all(letter)
        };
        let words = [Some(package), program.as_deref(), test.as_deref()];
        if !words.into_iter().flatten().all(plain) {
            return Err(format!(
                "`{text}` names no test; write `package`, `package::program` or either with a test"
            ));
        }
        Ok(Self {
            package: package.to_owned(),
            program,
            test,
        })
    }
}

impl std::fmt::Display for Suite {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.package)?;
        if let Some(program) = &self.program {
            write!(formatter, "::{program}")?;
        }
        match &self.test {
            Some(test) => write!(formatter, " {test}"),
            None => Ok(()),
        }
    }
}

/// Reads all mutants, in the order of their names.
///
/// # Errors
/// The first file that cannot be read or does not say what it must.
pub(crate) fn read(root: &Path) -> Result<Vec<Mutant>> {
    let folder = root.join(FOLDER);
    let problem =
        |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", folder.display()));
    let mut mutants = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path).map_err(problem)?;
        mutants.push(parse(&name, &text)?);
    }
    mutants.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(mutants)
}

fn parse(name: &str, text: &str) -> Result<Mutant> {
    let wrong = |what: String| Failure::new(format!("{FOLDER}/{name}.toml: {what}"));
    let mutant: Mutant = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if mutant.edits.is_empty() || mutant.caught_by.is_empty() {
        return Err(wrong("it changes nothing, or no test is named".to_owned()));
    }
    Ok(Mutant {
        name: name.to_owned(),
        ..mutant
    })
}

/// The mutants that `only` names, with or without their number; all if it names none.
///
/// # Errors
/// The first name that no mutant bears.
pub(crate) fn choose(mutants: Vec<Mutant>, only: &[String]) -> Result<Vec<Mutant>> {
    if let Some(unknown) = only
        .iter()
        .find(|name| !mutants.iter().any(|mutant| mutant.answers_to(name)))
    {
        return Err(Failure::new(format!(
            "There is no mutant `{unknown}`. `cargo xtask mutants --list` shows them."
        )));
    }
    let wanted =
        |mutant: &Mutant| only.is_empty() || only.iter().any(|name| mutant.answers_to(name));
    Ok(mutants.into_iter().filter(wanted).collect())
}

impl Mutant {
    fn answers_to(&self, name: &str) -> bool {
        let bare = self.name.split_once('-').map(|(_, bare)| bare);
        self.name == name || bare == Some(name)
    }

    /// The changed files with their new texts.
    ///
    /// # Errors
    /// What keeps the mutant from being applied to the sources below `root`.
    pub(crate) fn apply(&self, root: &Path) -> Result<Vec<(String, String)>> {
        let mut changed: Vec<(String, String)> = Vec::new();
        for edit in &self.edits {
            let wrong = |what: &str| {
                Failure::new(format!(
                    "the mutant {} no longer applies: in {} {what}:\n{}",
                    self.name, edit.file, edit.find
                ))
            };
            let known = changed.iter().position(|(file, _)| *file == edit.file);
            let before = match known {
                Some(at) => changed.swap_remove(at).1,
                None => std::fs::read_to_string(root.join(&edit.file))
                    .map_err(|error| wrong(&format!("nothing can be read ({error}), not even")))?,
            };
            let after = match (
                before.matches(&edit.find).count(),
                &edit.find,
                &edit.replace,
            ) {
                (_, find, replace) if find.is_empty() || find == replace => {
                    return Err(wrong("nothing would change by this"));
                }
                (0, ..) => return Err(wrong("this is not to be found")),
                (1, find, replace) => before.replacen(find, replace, 1),
                (count, ..) => return Err(wrong(&format!("this stands {count} times"))),
            };
            changed.push((edit.file.clone(), after));
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workspace::Workspace;

    /// Fewer would say little about the tests.
    const LEAST: usize = 15;

    #[test]
    fn every_mutant_applies_to_the_present_sources() {
        let root = Workspace::locate().root;
        let mutants = read(&root).unwrap();
        assert!(mutants.len() >= LEAST, "only {} mutants", mutants.len());
        for mutant in &mutants {
            let changed = mutant.apply(&root).unwrap();
            for (file, _) in changed {
                assert!(file.starts_with("plugin/"), "{}: {file}", mutant.name);
            }
        }
    }

    #[test]
    fn every_mutant_breaks_a_rule_that_is_stated() {
        let root = Workspace::locate().root;
        let rules = std::fs::read_to_string(root.join("docs/rules.md")).unwrap();
        for mutant in read(&root).unwrap() {
            let row = format!("\n| {} |", mutant.rule);
            assert!(rules.contains(&row), "{}: {}", mutant.name, mutant.rule);
        }
    }

    #[test]
    fn every_test_that_a_mutant_names_is_there() {
        let root = Workspace::locate().root;
        for mutant in read(&root).unwrap() {
            for suite in &mutant.caught_by {
                let found = sources_of(&root, suite)
                    .iter()
                    .any(|text| stands_in(text, suite.test.as_deref()));
                assert!(found, "{}: there is no {suite}", mutant.name);
            }
        }
    }

    #[test]
    fn numbers_are_used_once() {
        let mutants = read(&Workspace::locate().root).unwrap();
        let numbers: BTreeSet<&str> = mutants
            .iter()
            .map(|mutant| mutant.name.split('-').next().unwrap_or_default())
            .collect();
        assert_eq!(numbers.len(), mutants.len());
    }

    #[test]
    fn tests_are_named_as_nextest_does() {
        for text in [
            "goal-core",
            "goal-core::watch",
            "goal-core::watch r13_busy_clears",
            "goal-core verdict::tests::giving_up",
        ] {
            assert_eq!(suite(text).unwrap().to_string(), text);
        }
        let one = suite("scenarios::it user::r42_a_stop").unwrap();
        assert_eq!(one.package, "scenarios");
        assert_eq!(one.program.as_deref(), Some("it"));
        assert_eq!(one.test.as_deref(), Some("user::r42_a_stop"));
        for text in ["", "goal-core::", "goal-core ", "goal core tests", "a | b"] {
            assert!(suite(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_does_not_apply_is_said() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "one two two").unwrap();
        let cases = [
            ("a.rs", "three", "x", "this is not to be found:\nthree"),
            ("a.rs", "two", "x", "this stands 2 times:\ntwo"),
            ("a.rs", "one", "one", "nothing would change by this:\none"),
            ("a.rs", "", "x", "nothing would change by this:\n"),
            ("b.rs", "one", "x", "nothing can be read"),
        ];
        for (file, find, replace, expected) in cases {
            let problem = mutant(&[(file, find, replace)]).apply(folder.path());
            let problem = problem.unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
            assert!(problem.contains("`01-x`") || problem.contains("01-x"));
        }
    }

    #[test]
    fn several_edits_of_a_file_come_together() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "one two").unwrap();
        let both = mutant(&[("a.rs", "one", "1"), ("a.rs", "two", "2")]);
        let changed = both.apply(folder.path()).unwrap();
        assert_eq!(changed, [("a.rs".to_owned(), "1 2".to_owned())]);
    }

    #[test]
    fn a_name_is_known_with_and_without_its_number() {
        let all = || vec![mutant(&[])];
        for name in ["01-x", "x"] {
            assert_eq!(choose(all(), &[name.to_owned()]).unwrap().len(), 1);
        }
        let problem = choose(all(), &["y".to_owned()]).unwrap_err().to_string();
        assert!(problem.contains("`y`"), "{problem}");
    }

    #[test]
    fn a_file_that_says_too_little_or_too_much_is_named() {
        let whole = "title = 'a'\nrule = 'R1'\ndefect = 'b'\ncaught_by = ['goal-core']\n\
                     [[edit]]\nfile = 'a'\nfind = 'b'\nreplace = 'c'\n";
        assert_eq!(parse("01-x", whole).unwrap().name, "01-x");
        for text in [
            whole.replace("rule = 'R1'\n", ""),
            whole.replace("rule", "role"),
            whole.replace("['goal-core']", "[]"),
            whole.replace("goal-core", "|"),
        ] {
            let problem = parse("01-x", &text).unwrap_err().to_string();
            assert!(
                problem.starts_with("xtask/mutants/01-x.toml: "),
                "{problem}"
            );
        }
    }

    fn suite(text: &str) -> std::result::Result<Suite, String> {
        Suite::try_from(text.to_owned())
    }

    fn mutant(edits: &[(&str, &str, &str)]) -> Mutant {
        let edit = |(file, find, replace): &(&str, &str, &str)| Edit {
            file: (*file).to_owned(),
            find: (*find).to_owned(),
            replace: (*replace).to_owned(),
        };
        Mutant {
            name: "01-x".to_owned(),
            title: String::new(),
            rule: "R1".to_owned(),
            defect: String::new(),
            caught_by: Vec::new(),
            edits: edits.iter().map(edit).collect(),
        }
    }

    /// The texts in which a suite's test may stand.
    fn sources_of(root: &Path, suite: &Suite) -> Vec<String> {
        let package = match suite.package.as_str() {
            "goal-core" => "plugin/core",
            "goal-engine" => "plugin/engine",
            "opencode-client" => "plugin/opencode",
            "scenarios" => "tests/scenarios",
            other => panic!("{other}: say here where that package lies"),
        };
        let side = if suite.program.is_some() {
            "tests"
        } else {
            "src"
        };
        let folder = root.join(package).join(side);
        let program = suite.program.as_deref().unwrap_or_default();
        let file = folder.join(format!("{program}.rs"));
        if file.is_file() {
            return vec![std::fs::read_to_string(file).unwrap()];
        }
        rust_files(&folder.join(program))
    }

    fn rust_files(folder: &Path) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts.extend(rust_files(&path));
            } else if path.extension().is_some_and(|end| end == "rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
        texts
    }

    fn stands_in(text: &str, test: Option<&str>) -> bool {
        let Some(test) = test else {
            return true;
        };
        let function = test.rsplit("::").next().unwrap_or(test);
        text.contains(&format!("fn {function}("))
    }
}
