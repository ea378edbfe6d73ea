//! The map: ARCHITECTURE.md names every source file, and no file that is not there.
//!
//! The map is every fenced block of the document that is marked `tree`, drawn as `tree` prints a
//! folder:
//!
//! ```text
//! plugin/
//! └── core/           crate goal-core: pure
//!     └── src/
//!         ├── goal.rs                      what a goal is
//!         └── from_wire.rs · to_wire.rs    the server's values and ours
//! ```
//!
//! A line is its indent, one name or several with ` · ` between them, and a description after two
//! spaces. A folder's name ends in `/`. Lines that are indented deeper lie in the folder above; a
//! line without indent starts at the project's root. A name with `*` or `<` stands for many.

use crate::markdown;

/// What one map says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// Paths from the project's root, folders with a `/` at their end, in the order of the map.
    pub paths: Vec<String>,
}

/// Reads the map out of the text of ARCHITECTURE.md.
pub fn read(document: &str) -> Map {
    let blocks = markdown::blocks(document, "tree");
    Map {
        paths: blocks.iter().flat_map(|block| paths(block)).collect(),
    }
}

impl Map {
    /// The source files among `files` that the map does not name. Source files are the Rust and
    /// SQL files and the prompts of the folders `plugin` and `cli`; those below a folder `tests/`
    /// are named well enough by that folder.
    pub fn missing<'a>(&self, files: &[&'a str]) -> Vec<&'a str> {
        let sources = files.iter().filter(|file| is_source(file));
        sources.filter(|file| !self.names(file)).copied().collect()
    }

    /// The paths of the map for which `exists` says no.
    pub fn stale(&self, exists: impl Fn(&str) -> bool) -> Vec<&str> {
        let plain = self.paths.iter().filter(|path| !path.contains(['*', '<']));
        plain
            .filter(|path| !exists(path))
            .map(String::as_str)
            .collect()
    }

    fn names(&self, file: &str) -> bool {
        let by_folder = |path: &str| path.ends_with("/tests/") && file.starts_with(path);
        self.paths
            .iter()
            .any(|path| path == file || by_folder(path))
    }
}

fn is_source(path: &str) -> bool {
    let ours = path.starts_with("plugin/") || path.starts_with("cli/");
    let code = path.ends_with(".rs") || path.ends_with(".sql");
    ours && (code || path.contains("/prompts/"))
}

fn paths(block: &str) -> Vec<String> {
    let mut found = Vec::new();
    // The folders that are open at this line, each with its indent.
    let mut open: Vec<(usize, String)> = Vec::new();
    for line in block.lines() {
        let indent = line
            .chars()
            .take_while(|letter| " │├└─".contains(*letter))
            .count();
        let content: String = line.chars().skip(indent).collect();
        open.retain(|(depth, _)| *depth < indent);
        let parent = open.last().map_or("", |(_, folder)| folder).to_owned();
        for name in names(&content) {
            let path = format!("{parent}{name}");
            if path.ends_with('/') {
                open.retain(|(depth, _)| *depth < indent);
                open.push((indent, path.clone()));
            }
            found.push(path);
        }
    }
    found
}

/// The names at the start of a line, before its description.
fn names(content: &str) -> Vec<&str> {
    let mut words = content.split_whitespace();
    let mut names: Vec<&str> = words.next().into_iter().collect();
    while words.next() == Some("·") {
        names.extend(words.next());
    }
    names
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const DOCUMENT: &str = "\
# Map

```text
elsewhere ──▶ drawing
```

```tree
Cargo.toml            the workspace
plugin/               the crates
├── core/             pure · without I/O
│   ├── prompts/      *.md, each with its reader
│   │   └── a.md
│   └── src/
│       ├── lib.rs    the loop
│       └── one.rs · two.rs    both
└── engine/
    ├── src/error.rs
    └── tests/        on loopback
docs/                 guide/<language>/
└── NNNN-*.md
```
";

    #[test]
    fn a_drawing_becomes_paths() {
        let expected = [
            "Cargo.toml",
            "plugin/",
            "plugin/core/",
            "plugin/core/prompts/",
            "plugin/core/prompts/a.md",
            "plugin/core/src/",
            "plugin/core/src/lib.rs",
            "plugin/core/src/one.rs",
            "plugin/core/src/two.rs",
            "plugin/engine/",
            "plugin/engine/src/error.rs",
            "plugin/engine/tests/",
            "docs/",
            "docs/NNNN-*.md",
        ];
        assert_eq!(read(DOCUMENT).paths, expected);
    }

    #[test]
    fn a_source_file_without_a_place_is_missing() {
        let files = [
            "plugin/core/src/one.rs",
            "plugin/core/prompts/b.md",
            "plugin/core/Cargo.toml",
            "plugin/engine/migrations/1.sql",
            "plugin/engine/tests/any.rs",
            "plugin/engine/src/lib.rs",
            "cli/src/main.rs",
            "xtask/src/main.rs",
        ];
        let expected = [
            "plugin/core/prompts/b.md",
            "plugin/engine/migrations/1.sql",
            "plugin/engine/src/lib.rs",
            "cli/src/main.rs",
        ];
        assert_eq!(read(DOCUMENT).missing(&files), expected);
    }

    #[test]
    fn a_place_without_a_file_is_stale() {
        let map = read(DOCUMENT);
        let stale = map.stale(|path| path != "plugin/core/src/two.rs");
        assert_eq!(stale, ["plugin/core/src/two.rs"]);
    }
}
