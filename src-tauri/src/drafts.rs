//! What was typed and not sent, bounded. Pure.

use std::collections::BTreeMap;

use opencode_client::check_session_id;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Code, Error, Result};

#[cfg(test)]
mod tests;

/// Drafts that are kept; beyond it the one that was changed longest ago goes.
const DRAFTS_MAX: usize = 200;

/// Characters of a text.
const TEXT_CHARS_MAX: usize = 100_000;

/// Bytes of one draft's attachments: some pictures.
const ATTACHMENTS_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of all drafts: the file is written anew with each change.
const TOTAL_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of a key: a folder's path.
const KEY_BYTES_MAX: usize = 4_200;

/// One draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Draft {
    text: String,
    #[serde(default)]
    attachments: Vec<Attachment>,
    /// The next message becomes a goal.
    #[serde(default)]
    armed: bool,
    #[serde(default)]
    budget: Option<u64>,
}

/// A file that goes along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Attachment {
    name: String,
    mime: String,
    url: String,
}

/// All drafts, each with when it was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drafts(BTreeMap<String, Kept>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Epoch milliseconds.
    at: u64,
    draft: Draft,
}

impl Drafts {
    /// What is kept; what is not as it must be is left out. Gives the number of those, too.
    pub(crate) fn of_kept(kept: impl IntoIterator<Item = (String, Value)>) -> (Self, usize) {
        let (mut drafts, mut unreadable) = (Self::default(), 0);
        for (key, value) in kept {
            match serde_json::from_value::<Kept>(value) {
                Ok(kept) if check(&key, &kept.draft).is_ok() => {
                    drafts.0.insert(key, kept);
                }
                Ok(_) | Err(_) => unreadable += 1,
            }
        }
        (drafts, unreadable)
    }

    /// Every draft by its key.
    pub(crate) fn list(&self) -> BTreeMap<&str, &Draft> {
        let drafts = self.0.iter();
        drafts
            .map(|(key, kept)| (key.as_str(), &kept.draft))
            .collect()
    }

    /// Sets or takes away one, at `now`. The answer is what is to be written: the drafts that
    /// changed, `None` for one that is gone.
    ///
    /// # Errors
    /// `invalid` for a key that is none, `tooBig`; nothing was changed then.
    pub(crate) fn set(
        &mut self,
        key: &str,
        draft: Option<Draft>,
        now: u64,
    ) -> Result<Vec<(String, Option<Kept>)>> {
        let Some(draft) = draft else {
            check_key(key)?;
            let was = self.0.remove(key);
            return Ok(was.map(|_| (key.to_owned(), None)).into_iter().collect());
        };
        check(key, &draft)?;
        let kept = Kept { at: now, draft };
        self.0.insert(key.to_owned(), kept.clone());
        let mut changes = vec![(key.to_owned(), Some(kept))];
        while self.0.len() > DRAFTS_MAX || self.bytes() > TOTAL_BYTES_MAX {
            let others = self.0.iter().filter(|(other, _)| *other != key);
            let Some(oldest) = others.min_by_key(|(_, kept)| kept.at) else {
                break;
            };
            let oldest = oldest.0.clone();
            self.0.remove(&oldest);
            changes.push((oldest, None));
        }
        Ok(changes)
    }

    fn bytes(&self) -> usize {
        self.0.values().map(|kept| kept.draft.bytes()).sum()
    }
}

impl Draft {
    fn bytes(&self) -> usize {
        self.text.len() + self.attachments_bytes()
    }

    fn attachments_bytes(&self) -> usize {
        let bytes = |one: &Attachment| one.name.len() + one.mime.len() + one.url.len();
        self.attachments.iter().map(bytes).sum()
    }
}

fn check(key: &str, draft: &Draft) -> Result<()> {
    check_key(key)?;
    if draft.text.chars().count() > TEXT_CHARS_MAX {
        let message = format!("A draft has {TEXT_CHARS_MAX} characters at most.");
        return Err(Error::new(Code::TooBig, message));
    }
    if draft.attachments_bytes() > ATTACHMENTS_BYTES_MAX {
        let message = "The attachments of a draft have 8 MB at most.";
        return Err(Error::new(Code::TooBig, message));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<()> {
    let is_new = key == "new"
        || key
            .strip_prefix("new:")
            .is_some_and(|folder| !folder.is_empty());
    let fits = key.len() <= KEY_BYTES_MAX && !key.contains('\0');
    // What waits in the page for a session's turn to end stands beside the session's draft.
    let session = key.strip_prefix("queue:").unwrap_or(key);
    if fits && (is_new || check_session_id(session).is_ok()) {
        return Ok(());
    }
    Err(Error::invalid(
        "`key` is a session's id, `queue:` and one, `new`, or `new:` and a folder.",
    ))
}
