//! Reading the list of all sessions, whole: it changes while it is read, and its pages begin behind
//! a time that several sessions may share.

use std::collections::BTreeMap;

use goal_core::goal::SessionId;
use goal_core::time::Wall;

use crate::ports::{CallError, Page, SessionRead, Sessions};

/// Sessions asked for at a time.
const PAGE: u32 = 100;

/// Sessions asked for at a time at most, where a page is full of those of one millisecond.
const PAGE_MAX: u32 = 10_000;

/// Pages read for one list at most.
const PAGES_MAX: usize = 1_000;

/// What was read of the list.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The sessions, the most recently changed first, each once and as it was read last.
    pub(crate) reads: Vec<SessionRead>,
    /// Why these are not all.
    pub(crate) failed: Option<CallError>,
}

/// Reads the sessions of all folders, archived ones included.
///
/// A session that changes moves to the top, perhaps past the page that is read next: what changed
/// meanwhile is read again, until that fits into one page.
pub(crate) async fn read(sessions: &dyn Sessions) -> Listing {
    let mut reader = Reader::default();
    let failed = reader.read(sessions).await.err();
    let mut reads: Vec<SessionRead> = reader.found.into_values().collect();
    reads.sort_by_key(|read| std::cmp::Reverse(read.updated));
    Listing { reads, failed }
}

#[derive(Default)]
struct Reader {
    found: BTreeMap<SessionId, SessionRead>,
    /// Pages read.
    pages: usize,
}

impl Reader {
    async fn read(&mut self, sessions: &dyn Sessions) -> Result<(), CallError> {
        let mut since = None;
        loop {
            let before = self.pages;
            let newest = self.pass(sessions, since).await?;
            if self.pages - before <= 1 || newest.is_none() {
                return Ok(());
            }
            since = newest;
        }
    }

    /// Reads from the top down to what was last changed before `since`, or to what is known; gives
    /// the time of the newest session at the beginning.
    async fn pass(
        &mut self,
        sessions: &dyn Sessions,
        since: Option<Wall>,
    ) -> Result<Option<Wall>, CallError> {
        let mut newest = None;
        let mut from = From::top();
        loop {
            if self.pages >= PAGES_MAX {
                tracing::warn!(
                    PAGES_MAX,
                    "more sessions than are read; the oldest are left out"
                );
                return Ok(None);
            }
            self.pages += 1;
            let page = sessions.list(from.cursor.as_deref(), from.limit).await?;
            let Page { items, next } = page;
            newest = newest.or(items.iter().map(|read| read.updated).max());
            let caught_up = since.is_some_and(|since| {
                let older = items.iter().any(|read| read.updated < since);
                older || !items.iter().any(|read| self.is_news(read))
            });
            let items = items.into_iter();
            self.found
                .extend(items.map(|read| (read.facts.id.clone(), read)));
            match next {
                Some(next) if !caught_up => from = from.then(next),
                Some(_) | None => return Ok(newest),
            }
        }
    }

    fn is_news(&self, read: &SessionRead) -> bool {
        let known = self.found.get(&read.facts.id);
        known.is_none_or(|known| known.updated != read.updated)
    }
}

/// Where a page begins, and how long it is.
#[derive(Debug, PartialEq, Eq)]
struct From {
    cursor: Option<String>,
    limit: u32,
}

impl From {
    fn top() -> Self {
        Self {
            cursor: None,
            limit: PAGE,
        }
    }

    /// Behind a page that ends with `next`, a time. Sessions of that millisecond may not have fit
    /// on it, so the millisecond is asked for once more; if that leads nowhere, with a larger page.
    /// Each step goes down in time or grows, so that the end is reached.
    fn then(self, next: String) -> Self {
        let Ok(last) = next.parse::<u64>() else {
            // No time: the cursor of a server that tells sessions apart by more.
            return Self {
                cursor: Some(next),
                limit: PAGE,
            };
        };
        let again = Some(last.saturating_add(1).to_string());
        if self.cursor != again {
            return Self {
                cursor: again,
                limit: PAGE,
            };
        }
        if self.limit < PAGE_MAX {
            return Self {
                cursor: again,
                limit: self.limit.saturating_mul(10).min(PAGE_MAX),
            };
        }
        tracing::warn!(
            at = last,
            PAGE_MAX,
            "more sessions changed in one millisecond than can be told apart; some are left out"
        );
        Self {
            cursor: Some(next),
            limit: PAGE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_the_last_millisecond_and_grows_where_that_leads_nowhere() {
        // Where a page began, the end that the server gave, where the next one begins.
        let cases = [
            ((None, 100), "7", ("8", 100)),
            ((Some("9"), 100), "7", ("8", 100)),
            ((Some("8"), 100), "7", ("8", 1_000)),
            ((Some("8"), 1_000), "7", ("8", 10_000)),
            ((Some("8"), 10_000), "7", ("7", 100)),
            ((Some("7"), 100), "6", ("7", 1_000)),
            ((Some("8"), 1_000), "5", ("6", 100)),
            ((Some("x"), 100), "y", ("y", 100)),
            (
                (None, 100),
                "18446744073709551615",
                ("18446744073709551615", 100),
            ),
        ];
        for ((cursor, limit), next, expected) in cases {
            let cursor = cursor.map(str::to_owned);
            let then = From { cursor, limit }.then(next.to_owned());
            let cursor = then.cursor.as_deref().unwrap_or_default();
            assert_eq!((cursor, then.limit), expected, "{next}");
        }
    }
}
