//! The app's preferences: what they may be, and how a change of some is read. Pure.
//!
//! Settings of goals are the plugin's; these are of the window and the app around it.

use std::collections::BTreeMap;

use opencode_client::check_session_id;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Sessions whose last look is remembered.
const SEEN_MAX: usize = 500;

/// Projects that are remembered as folded.
const COLLAPSED_MAX: usize = 500;

/// Characters of a folder, an id or a name.
const TEXT_CHARS_MAX: usize = 4_096;

/// Everything a user chose about the app itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Preferences {
    pub(crate) theme: Theme,
    pub(crate) language: Language,
    pub(crate) sidebar_width: f64,
    pub(crate) sidebar_open: bool,
    pub(crate) panel_open: bool,
    pub(crate) panel_width: f64,
    /// Closing the window leaves the app running, and so its goals.
    pub(crate) keep_running: bool,
    pub(crate) close_hint_seen: bool,
    /// The app starts with the computer.
    pub(crate) autostart: bool,
    pub(crate) expand_reasoning: bool,
    pub(crate) expand_tools: bool,
    pub(crate) send_with_enter: bool,
    pub(crate) last_directory: Option<String>,
    pub(crate) last_session: Option<String>,
    pub(crate) collapsed_projects: Vec<String>,
    pub(crate) model: Option<Model>,
    pub(crate) agent: Option<String>,
    /// When each session was looked at last, epoch milliseconds.
    pub(crate) seen: BTreeMap<String, u64>,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Theme {
    System,
    Light,
    Dark,
}

/// The language of everything the app says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Language {
    System,
    En,
    Fr,
}

/// The model that was used last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Model {
    provider_id: String,
    model_id: String,
    #[serde(default)]
    variant: Option<String>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            language: Language::System,
            sidebar_width: 264.0,
            sidebar_open: true,
            panel_open: false,
            panel_width: 320.0,
            keep_running: true,
            close_hint_seen: false,
            autostart: false,
            expand_reasoning: false,
            expand_tools: false,
            send_with_enter: true,
            last_directory: None,
            last_session: None,
            collapsed_projects: Vec::new(),
            model: None,
            agent: None,
            seen: BTreeMap::new(),
        }
    }
}

impl Preferences {
    /// What is kept, each key by itself: one that is not as it must be counts as its default. Gives
    /// the names of those, too.
    pub(crate) fn of_kept(kept: impl IntoIterator<Item = (String, Value)>) -> (Self, Vec<String>) {
        let (mut preferences, mut unreadable) = (Self::default(), Vec::new());
        for (key, value) in kept {
            match preferences.with(&key, value) {
                Ok(changed) => preferences = changed,
                Err(_) => unreadable.push(key),
            }
        }
        (preferences, unreadable)
    }

    /// These with the values of `patch` in place of theirs; all of them or none.
    ///
    /// # Errors
    /// `invalid`, with the key that is unknown or does not take its value.
    pub(crate) fn patched(&self, patch: Map<String, Value>) -> Result<Self> {
        patch
            .into_iter()
            .try_fold(self.clone(), |changed, (key, value)| {
                changed.with(&key, value)
            })
    }

    /// All keys with their values.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // They are plain values.
            Ok(_) | Err(_) => Map::new(),
        }
    }

    fn with(&self, key: &str, value: Value) -> Result<Self> {
        let shown: String = key.chars().take(40).collect();
        let mut fields = self.fields();
        if !fields.contains_key(key) {
            return Err(Error::invalid(format!("There is no preference `{shown}`.")));
        }
        fields.insert(key.to_owned(), value);
        serde_json::from_value(Value::Object(fields))
            .ok()
            .and_then(Self::checked)
            .ok_or_else(|| {
                Error::invalid(format!(
                    "The preference `{shown}` does not take this value."
                ))
            })
    }

    /// These within their bounds; `None` if they are out of them.
    fn checked(mut self) -> Option<Self> {
        let is_text = |text: &String| {
            !text.is_empty() && text.chars().count() <= TEXT_CHARS_MAX && !text.contains('\0')
        };
        let is_session = |id: &String| check_session_id(id).is_ok();
        let model = self.model.iter();
        let mut texts = self
            .last_directory
            .iter()
            .chain(&self.agent)
            .chain(&self.collapsed_projects)
            .chain(model.clone().map(|model| &model.provider_id))
            .chain(model.clone().map(|model| &model.model_id))
            .chain(model.filter_map(|model| model.variant.as_ref()));
        let fits = (200.0..=480.0).contains(&self.sidebar_width)
            && (260.0..=520.0).contains(&self.panel_width)
            && texts.all(is_text)
            && self.collapsed_projects.len() <= COLLAPSED_MAX
            && self.last_session.iter().all(is_session)
            && self.seen.keys().all(is_session);
        if !fits {
            return None;
        }
        self.forget_oldest_looks();
        Some(self)
    }

    fn forget_oldest_looks(&mut self) {
        if self.seen.len() <= SEEN_MAX {
            return;
        }
        let mut looks: Vec<(u64, String)> = std::mem::take(&mut self.seen)
            .into_iter()
            .map(|(session, at)| (at, session))
            .collect();
        looks.sort_unstable_by(|one, other| other.cmp(one));
        let newest = looks.into_iter().take(SEEN_MAX);
        self.seen = newest.map(|(at, session)| (session, at)).collect();
    }
}
