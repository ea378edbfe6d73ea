//! The project's files, as the rules see them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders whose content is not ours to keep tidy: what is built, installed, or was recorded.
const SKIPPED: [&str; 4] = [".git", "target", "node_modules", "tests/fixtures"];

/// A file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path from the project's root, with `/` between the parts.
    pub path: String,
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// The root of the project this test was built from.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest
        .ancestors()
        .nth(2)
        .map_or_else(PathBuf::new, Path::to_path_buf)
}

/// All files below `root`, sorted by path. Left out are the folders `.git`, `target` and
/// `node_modules` at any depth, and `tests/fixtures`.
///
/// # Errors
/// If a folder or file cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn collect(root: &Path, folder: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if SKIPPED.contains(&name.as_str()) || SKIPPED.contains(&path.as_str()) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(root, &path, files)?;
        } else if kind.is_file() {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
            files.push(File { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_this_file_and_nothing_that_was_built_or_recorded() {
        let files = all(&root()).unwrap();
        assert!(
            files
                .iter()
                .any(|file| file.path == "tests/tidy/src/files.rs")
        );
        let stray = files.iter().find(|file| {
            let path = format!("/{}", file.path);
            SKIPPED
                .iter()
                .any(|skipped| path.contains(&format!("/{skipped}/")))
        });
        assert_eq!(stray, None);
    }
}
