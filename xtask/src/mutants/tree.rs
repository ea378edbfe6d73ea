//! The copy of the sources in which mutants are built: the project's own are never touched.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::workspace::{Failure, Result, Workspace};

/// What is built or fetched, and what only Git needs.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", ".git"];

/// A copy of the project's sources.
pub(crate) struct Tree {
    /// The copy; its `target` is shared by all mutants, so that each builds only what it changes.
    copy: Workspace,
    /// What the changed files held before.
    changed: Vec<(PathBuf, String)>,
    /// Held as long as the copy is in use, so that no other run puts its mutants into it.
    _lock: File,
}

impl Tree {
    /// A copy below `target`, as the sources are now; what is changed in them later does not reach
    /// it. A file that is the same stays as it is, for cargo builds again what was written.
    ///
    /// # Errors
    /// Another run that uses the copy; what could not be read or written.
    pub(crate) fn make(workspace: &Workspace) -> Result<Self> {
        let place = workspace.target.join("mutants");
        let tree = Self {
            _lock: lock(&place)?,
            copy: Workspace {
                root: place.join("tree"),
                target: place.join("build"),
            },
            changed: Vec::new(),
        };
        mirror(&workspace.root, &tree.copy.root).map_err(|error| {
            let to = tree.copy.root.display();
            Failure::new(format!("cannot copy the sources to {to}: {error}"))
        })?;
        Ok(tree)
    }

    /// The copy.
    pub(crate) fn workspace(&self) -> &Workspace {
        &self.copy
    }

    /// Changes one file of the copy.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub(crate) fn change(&mut self, file: &str, text: &str) -> Result<()> {
        let path = self.copy.root.join(file);
        let before = fs::read_to_string(&path).map_err(|error| cannot("read", &path, &error))?;
        self.changed.push((path.clone(), before));
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))
    }

    /// Takes all changes back.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn restore(&mut self) -> Result<()> {
        while let Some((path, before)) = self.changed.pop() {
            fs::write(&path, before).map_err(|error| cannot("write", &path, &error))?;
        }
        Ok(())
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} {}: {error}", path.display()))
}

fn lock(place: &Path) -> Result<File> {
    let path = place.join("lock");
    let opened = fs::create_dir_all(place).and_then(|()| File::create(&path));
    let problem = |error| Failure::new(format!("cannot lock {}: {error}", path.display()));
    let file = opened.map_err(problem)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(problem(error)),
        Err(TryLockError::WouldBlock) => Err(Failure::new(
            "another `cargo xtask mutants` is under way in this folder; wait for its end",
        )),
    }
}

/// Makes `to` hold what `from` holds, and no more.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (source, copy) = (entry.path(), to.join(&name));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            mirror(&source, &copy)?;
        } else if kind.is_file() {
            let bytes = fs::read(&source)?;
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                fs::write(&copy, bytes)?;
            }
        } else {
            continue;
        }
        kept.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        let name = entry.file_name();
        if kept.contains(&name) || LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_follows_its_sources_and_leaves_out_what_is_built() {
        let (project, tree) = project();
        let copy = tree.workspace().root.clone();
        drop(tree);
        assert_eq!(read(&copy, "src/lib.rs"), "fn a() {}");
        assert!(!copy.join("src/target").exists() && !copy.join(".git").exists());
        fs::write(project.root.join("src/new.rs"), "").unwrap();
        fs::remove_file(project.root.join("Cargo.toml")).unwrap();
        fs::create_dir_all(copy.join("left/behind")).unwrap();
        fs::create_dir_all(copy.join("target/nextest")).unwrap();
        Tree::make(&project).unwrap();
        assert!(copy.join("src/new.rs").exists() && !copy.join("Cargo.toml").exists());
        assert!(!copy.join("left").exists() && copy.join("target/nextest").exists());
    }

    #[test]
    fn a_change_is_taken_back_and_reaches_no_other_file() {
        let (project, mut tree) = project();
        let copy = tree.workspace().root.clone();
        let written = || fs::metadata(copy.join("Cargo.toml")).unwrap().modified();
        let before = written().unwrap();
        tree.change("src/lib.rs", "fn b() {}").unwrap();
        tree.change("src/lib.rs", "fn c() {}").unwrap();
        assert_eq!(read(&copy, "src/lib.rs"), "fn c() {}");
        assert_eq!(read(&project.root, "src/lib.rs"), "fn a() {}");
        tree.restore().unwrap();
        assert_eq!(read(&copy, "src/lib.rs"), "fn a() {}");
        drop(tree);
        Tree::make(&project).unwrap();
        assert_eq!(written().unwrap(), before);
    }

    #[test]
    fn a_copy_is_used_by_one_run_at_a_time() {
        let (project, tree) = project();
        let refused = Tree::make(&project).err().unwrap().to_string();
        assert!(refused.starts_with("another"), "{refused}");
        drop(tree);
        assert!(Tree::make(&project).is_ok());
    }

    /// A small project in a folder of its own, and its copy.
    struct Project {
        workspace: Workspace,
        _folder: tempfile::TempDir,
    }

    impl std::ops::Deref for Project {
        type Target = Workspace;

        fn deref(&self) -> &Workspace {
            &self.workspace
        }
    }

    fn project() -> (Project, Tree) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        for (file, text) in [
            ("Cargo.toml", "[workspace]"),
            ("src/lib.rs", "fn a() {}"),
            ("src/target/built", ""),
            (".git/HEAD", ""),
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let target = root.join("target");
        let workspace = Workspace { root, target };
        let tree = Tree::make(&workspace).unwrap();
        let project = Project {
            workspace,
            _folder: folder,
        };
        (project, tree)
    }

    fn read(root: &Path, file: &str) -> String {
        fs::read_to_string(root.join(file)).unwrap()
    }
}
