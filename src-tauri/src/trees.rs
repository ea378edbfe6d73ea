//! Worktrees that were made for pages: of all folders, these alone may a page take away.
//!
//! Asked to take a worktree away, the server deletes whatever folder it is given, also one that is
//! none of its worktrees. A page takes back what it made for a session that did not begin.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;

/// Folders that are remembered; the one that was made first is forgotten beyond that, and stays.
const MADE_MAX: usize = 64;

/// The folders of worktrees that the server made in this run of the app.
#[derive(Default)]
pub(crate) struct Trees(Mutex<VecDeque<String>>);

impl Trees {
    /// Remembers the worktree that the server's answer tells of.
    pub(crate) fn remember(&self, answer: &[u8]) {
        #[derive(Deserialize)]
        struct Made {
            directory: String,
        }
        let Ok(Made { directory }) = serde_json::from_slice(answer) else {
            return;
        };
        let mut made = self.lock();
        made.retain(|other| *other != directory);
        if made.len() == MADE_MAX {
            made.pop_front();
        }
        made.push_back(directory);
    }

    /// Whether a page may take `directory` away.
    pub(crate) fn has(&self, directory: &str) -> bool {
        self.lock().iter().any(|made| made == directory)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(directory: &str) -> Vec<u8> {
        format!(r#"{{"name":"a","branch":"opencode/a","directory":"{directory}"}}"#).into_bytes()
    }

    #[test]
    fn only_what_was_made_may_go() {
        let trees = Trees::default();
        assert!(!trees.has("/t/a"));
        assert!(!trees.has(""));
        trees.remember(&made("/t/a"));
        trees.remember(br#"{"name":"WorktreeNotGitError","data":{"message":"no"}}"#);
        trees.remember(b"<!doctype html>");
        assert!(trees.has("/t/a"));
        for other in [
            "",
            "/",
            "/t",
            "/t/",
            "/t/a/",
            "/t/a/..",
            "/t/b",
            "/home/ada",
        ] {
            assert!(!trees.has(other), "{other:?}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten_beyond_the_bound() {
        let trees = Trees::default();
        for number in 0..=MADE_MAX {
            trees.remember(&made(&format!("/t/{number}")));
        }
        assert!(!trees.has("/t/0"));
        assert!(trees.has("/t/1"));
        trees.remember(&made("/t/1"));
        trees.remember(&made("/t/new"));
        assert!(trees.has("/t/1"), "made anew, it is the newest");
        assert!(!trees.has("/t/2"));
    }
}
