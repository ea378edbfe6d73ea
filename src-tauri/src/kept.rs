//! What the app keeps beside goals: preferences, drafts, the chosen server. In memory, and written
//! to files of their own as soon as something changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_store::{Store, StoreExt as _};

use crate::drafts::{Draft, Drafts};
use crate::error::{Code, Error, Result};
use crate::preferences::Preferences;
use crate::server::Choice;

const PREFERENCES: &str = "preferences.json";
const DRAFTS: &str = "drafts.json";
const SERVER: &str = "server.json";

/// The key of the chosen server in its file.
const CHOICE: &str = "choice";

/// The environment variable that moves the data folder, of the command line, too.
const DATA_DIR_VARIABLE: &str = "OPENCHAMBER_DATA_DIR";

/// What is kept. Each lock is held while its file is written, so that files have the order of
/// changes.
pub(crate) struct Keeping<R: Runtime> {
    folder: PathBuf,
    preferences: Mutex<(Preferences, Arc<Store<R>>)>,
    drafts: Mutex<(Drafts, Arc<Store<R>>)>,
    choice: Mutex<(Choice, Arc<Store<R>>)>,
}

impl<R: Runtime> Keeping<R> {
    /// Reads what is kept in `folder`. A file that cannot be read as what it should be is copied
    /// aside, and what it held counts as nothing.
    ///
    /// # Errors
    /// If the folder's name is none.
    pub(crate) fn open(app: &AppHandle<R>, folder: &Path) -> tauri::Result<Self> {
        let open = |name: &str| {
            let path = folder.join(name);
            put_aside(&path);
            let store = app.store_builder(&path).disable_auto_save().build();
            store.map_err(|error| tauri::Error::Anyhow(error.into()))
        };
        let store = open(PREFERENCES)?;
        let (preferences, unreadable) = Preferences::of_kept(store.entries());
        for key in unreadable {
            let key: String = key.chars().take(40).collect();
            tracing::warn!(
                key,
                "a preference was not as it must be; its default counts"
            );
        }
        let preferences = Mutex::new((preferences, store));
        let store = open(DRAFTS)?;
        let (drafts, unreadable) = Drafts::of_kept(store.entries());
        if unreadable > 0 {
            tracing::warn!(unreadable, "some drafts were not as they must be");
        }
        let drafts = Mutex::new((drafts, store));
        let store = open(SERVER)?;
        let choice = store.get(CHOICE).map(serde_json::from_value);
        let choice: Choice = choice.and_then(std::result::Result::ok).unwrap_or_default();
        let choice = choice.checked();
        Ok(Self {
            folder: folder.to_owned(),
            preferences,
            drafts,
            choice: Mutex::new((choice, store)),
        })
    }

    /// The data folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The preferences.
    pub(crate) fn preferences(&self) -> Preferences {
        lock(&self.preferences).0.clone()
    }

    /// Changes some preferences. Gives all of them as they are then.
    ///
    /// # Errors
    /// `invalid`, `unwritable`; nothing was changed then.
    pub(crate) fn set_preferences(&self, patch: Map<String, Value>) -> Result<Preferences> {
        let mut kept = lock(&self.preferences);
        let changed = kept.0.patched(patch)?;
        let fields = changed.fields().into_iter();
        write(&kept.1, fields.map(|(key, value)| (key, Some(value))))?;
        kept.0 = changed.clone();
        Ok(changed)
    }

    /// The drafts, as JSON.
    pub(crate) fn drafts(&self) -> Value {
        // They are plain values.
        serde_json::to_value(lock(&self.drafts).0.list()).unwrap_or_default()
    }

    /// Sets or takes away a draft.
    ///
    /// # Errors
    /// `invalid`, `tooBig`, `unwritable`; nothing was changed then.
    pub(crate) fn set_draft(&self, key: &str, draft: Option<Draft>) -> Result<()> {
        let mut kept = lock(&self.drafts);
        let mut changed = kept.0.clone();
        let changes = changed.set(key, draft, now())?;
        let changes = changes
            .into_iter()
            .map(|(key, kept)| (key, kept.and_then(|kept| serde_json::to_value(kept).ok())));
        write(&kept.1, changes)?;
        kept.0 = changed;
        Ok(())
    }

    /// The server that was chosen.
    pub(crate) fn choice(&self) -> Choice {
        lock(&self.choice).0.clone()
    }

    /// Chooses a server for the next starts, too.
    ///
    /// # Errors
    /// `unwritable`.
    pub(crate) fn set_choice(&self, choice: Choice) -> Result<()> {
        let mut kept = lock(&self.choice);
        let value = serde_json::to_value(&choice).ok();
        write(&kept.1, [(CHOICE.to_owned(), value)])?;
        kept.0 = choice;
        Ok(())
    }
}

/// Where the app's files are: where the goals' are.
///
/// # Errors
/// If the user has no data folder.
pub(crate) fn data_folder<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<PathBuf> {
    match std::env::var_os(DATA_DIR_VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(folder) => Ok(std::path::absolute(folder)?),
        None => app.path().app_data_dir(),
    }
}

/// Writes changes to a file; `None` takes a key away.
fn write<R: Runtime>(
    store: &Store<R>,
    changes: impl IntoIterator<Item = (String, Option<Value>)>,
) -> Result<()> {
    for (key, value) in changes {
        match value {
            Some(value) => store.set(key, value),
            None => {
                store.delete(key);
            }
        }
    }
    store.save().map_err(|error| {
        tracing::warn!(%error, "a file of the app could not be written");
        // What memory holds must not be taken for what is kept.
        if let Err(error) = store.reload_ignore_defaults() {
            tracing::debug!(%error, "nor read again");
        }
        Error::new(Code::Unwritable, "What was changed could not be kept.")
    })
}

/// The store takes a file that is not JSON for an empty one and overwrites it: a copy is kept.
fn put_aside(path: &Path) {
    let is_fine = match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice::<HashMap<String, Value>>(&bytes).is_ok(),
        // There is none, or it cannot be written either, which the first change will tell.
        Err(_) => true,
    };
    if is_fine {
        return;
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.bad", now()));
    let file = path.file_name().unwrap_or_default().display().to_string();
    match std::fs::copy(path, &aside) {
        Ok(_) => tracing::warn!(file, "a damaged file was put aside as a copy"),
        Err(error) => tracing::warn!(file, %error, "a damaged file could not be put aside"),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
