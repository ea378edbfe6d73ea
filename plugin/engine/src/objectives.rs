//! Objective text as files, keyed by a validated session id (O1-O5).
//!
//! Metadata rides on every `session.updated`, so a text of several kilobytes lives beside it.
//! The file holds the fitted text that the auditor sees; the agent got the full text in the chat.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use goal_core::limits::Limits;
use goal_core::objective::{valid_session_id, validate};
use goal_core::text::clamp;

use crate::{blocking, files};

/// UTF-16 units of text in one file (O3), the unit in which the pages count.
pub const OBJECTIVE_UNITS_MAX: usize = Limits::DEFAULT.objective_max;

/// How much of a file is read. The longest text takes 15,000 bytes; the rest is room for blank
/// lines of an editor in front of it. What lies behind is clamped away unread (H18).
const READ_BYTES_MAX: usize = 64 * 1024;

/// Why an objective was not written. No variant carries the text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// The session id may not name a file (O2); nothing was touched.
    #[error(
        "the session id is malformed: 4 to 128 letters, digits, `_` or `-` are expected; \
         copy it from the session list"
    )]
    InvalidSessionId,
    /// Nothing is left of the text after trimming.
    #[error("the objective is empty; say in a sentence what shall be reached")]
    Empty,
    /// The file could not be written; an older one is untouched.
    #[error(
        "the objective file {} could not be written: {source}; check that the folder can be \
         written and has room", path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The process is ending.
    #[error("the objective was not written because the program is ending")]
    Ending,
}

/// The objective files of one data folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Objectives {
    folders: Arc<Folders>,
}

#[derive(Debug)]
struct Folders {
    own: PathBuf,
    legacy: Option<PathBuf>,
}

impl Objectives {
    /// Files in `own`, which is created with the first write. One that is missing there is read
    /// from `legacy`, which is never written to (X1).
    #[must_use]
    pub fn new(own: PathBuf, legacy: Option<PathBuf>) -> Self {
        Self {
            folders: Arc::new(Folders { own, legacy }),
        }
    }

    /// The session's text, trimmed and clamped to [`OBJECTIVE_UNITS_MAX`]. Anything else is
    /// absent: an invalid id (no file is touched then), no file, an unreadable or empty one, or
    /// one that is not UTF-8 (O3). An absent file never changes a goal (R10).
    pub async fn read(&self, session_id: &str) -> Option<String> {
        let folders = Arc::clone(&self.folders);
        let session_id = session_id.to_owned();
        blocking::run(move || folders.read(&session_id))
            .await
            .flatten()
    }

    /// Replaces the session's file: trimmed, clamped, as a whole or not at all, for this user
    /// only (O4). Gives back the text as it stands in the file.
    ///
    /// # Errors
    ///
    /// [`ObjectiveError`]; an older file is untouched then.
    pub async fn write(&self, session_id: &str, text: &str) -> Result<String, ObjectiveError> {
        let folders = Arc::clone(&self.folders);
        let (session_id, text) = (session_id.to_owned(), text.to_owned());
        blocking::run(move || folders.write(&session_id, &text))
            .await
            .unwrap_or(Err(ObjectiveError::Ending))
    }

    /// Removes the session's file in the own folder. A missing file and an invalid id are fine,
    /// and a file that cannot be removed is only logged (O3, O8).
    pub async fn delete(&self, session_id: &str) {
        let folders = Arc::clone(&self.folders);
        let session_id = session_id.to_owned();
        let ended = blocking::run(move || folders.delete(&session_id)).await;
        if ended.is_none() {
            tracing::debug!("an objective file was not removed because the program is ending");
        }
    }
}

impl Folders {
    fn read(&self, session_id: &str) -> Option<String> {
        if !valid_session_id(session_id) {
            tracing::debug!("no objective is read for a malformed session id");
            return None;
        }
        let found = match read_text(&file(&self.own, session_id)) {
            // Only a missing file is looked for elsewhere: an older text there must not stand in
            // for one that is damaged here.
            Err(Absent::Io(error)) if error.kind() == io::ErrorKind::NotFound => self
                .legacy
                .as_ref()
                .map_or(Err(Absent::Io(error)), |legacy| {
                    read_text(&file(legacy, session_id))
                }),
            found => found,
        };
        found
            .inspect_err(|why| tracing::debug!(session_id, %why, "the objective file is absent"))
            .ok()
    }

    fn write(&self, session_id: &str, text: &str) -> Result<String, ObjectiveError> {
        if !valid_session_id(session_id) {
            return Err(ObjectiveError::InvalidSessionId);
        }
        let text = fit(text).ok_or(ObjectiveError::Empty)?;
        let path = file(&self.own, session_id);
        match self.replace(&path, &text) {
            Ok(()) => Ok(text),
            Err(source) => Err(ObjectiveError::Write { path, source }),
        }
    }

    fn replace(&self, path: &Path, text: &str) -> io::Result<()> {
        files::create_private_folder(&self.own)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&self.own, std::fs::Permissions::from_mode(0o700))?;
        }
        files::write_atomically(path, text.as_bytes())
    }

    fn delete(&self, session_id: &str) {
        if !valid_session_id(session_id) {
            tracing::debug!("no objective file is removed for a malformed session id");
            return;
        }
        match std::fs::remove_file(file(&self.own, session_id)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(session_id, %error, "the objective file could not be removed");
            }
        }
    }
}

/// Why a file gives no text; never the text itself.
#[derive(Debug, thiserror::Error)]
enum Absent {
    #[error("{0}")]
    Io(io::Error),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it is empty")]
    Empty,
}

fn file(folder: &Path, session_id: &str) -> PathBuf {
    folder.join(format!("{session_id}.md"))
}

fn read_text(path: &Path) -> Result<String, Absent> {
    let prefix = files::read_prefix(path, READ_BYTES_MAX).map_err(Absent::Io)?;
    let text = match std::str::from_utf8(&prefix.bytes) {
        Ok(text) => text,
        // The bound of the read may fall into the middle of a character.
        Err(error) if prefix.cut && error.error_len().is_none() => {
            let whole = prefix.bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).map_err(|_| Absent::NotUtf8)?
        }
        Err(_) => return Err(Absent::NotUtf8),
    };
    fit(text).ok_or(Absent::Empty)
}

/// The text as it is kept; `None` if it says nothing, as a file of NUL bytes does, which a power
/// loss leaves behind.
fn fit(text: &str) -> Option<String> {
    let text = validate(text).ok()?;
    Some(clamp(text, OBJECTIVE_UNITS_MAX).to_owned())
}

#[cfg(test)]
mod tests;
