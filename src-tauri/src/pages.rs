//! The pages in the windows, and what ends with each of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// One page per window. A page ends when its window loads another one, loads anew or is closed.
#[derive(Default)]
pub(crate) struct Pages(Mutex<BTreeMap<String, CancellationToken>>);

impl Pages {
    /// Cancelled when the page that `window` shows now ends.
    pub(crate) fn page(&self, window: &str) -> CancellationToken {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.entry(window.to_owned()).or_default().clone()
    }

    /// The page that `window` showed has ended.
    pub(crate) fn left(&self, window: &str) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = pages.remove(window) {
            page.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_alone_and_the_next_one_in_its_window_begins_anew() {
        let pages = Pages::default();
        let (first, other) = (pages.page("main"), pages.page("other"));
        pages.left("main");
        assert!(first.is_cancelled());
        assert!(!other.is_cancelled());
        assert!(!pages.page("main").is_cancelled());
        pages.left("nobody");
    }
}
