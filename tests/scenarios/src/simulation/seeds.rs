//! Which seeds a run of the tests plays: they follow from the sources, so that a run can be had
//! again, and another state of the sources plays others.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Folders that hold what is fetched or built.
const LEFT_OUT: [&str; 2] = ["node_modules", "target"];

/// The fingerprint of all files under `plugin/` and `tests/` in the workspace at `root`: their
/// paths and contents, sorted.
///
/// # Errors
/// If a folder or file cannot be read.
pub fn fingerprint(root: &Path) -> std::io::Result<[u8; 32]> {
    let mut files = Vec::new();
    for folder in ["plugin", "tests"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file);
        let contents = std::fs::read(&file)?;
        for part in [name.as_os_str().as_encoded_bytes(), contents.as_slice()] {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            hash.update(part);
        }
    }
    Ok(hash.finalize().into())
}

/// The first `count` seeds that follow from `base`, in their order.
pub fn seeds(base: &[u8], count: usize) -> impl Iterator<Item = u64> + use<'_> {
    (0_u64..).take(count).map(move |number| {
        let mut hash = Sha256::new();
        hash.update(base);
        hash.update(number.to_le_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        digest
            .iter()
            .take(8)
            .fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
    })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let left_out = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
        if kind.is_dir() && !left_out {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
