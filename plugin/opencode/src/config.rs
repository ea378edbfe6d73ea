//! Our additions to the configuration OpenCode takes from `OPENCODE_CONFIG_CONTENT`. Pure.

use serde_json::Value;

/// Why our additions could not be merged into what is set already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// What is set is not JSON. The value itself is not repeated: it may hold keys.
    #[error(
        "OPENCODE_CONFIG_CONTENT is set, but is not JSON (line {line}, column {column}); \
         correct it or unset it"
    )]
    NotJson {
        /// Line of the first mistake, from 1.
        line: usize,
        /// Column of the first mistake, from 1.
        column: usize,
    },
    /// What is set, or what is to be merged into it, is JSON, but no object.
    #[error("OPENCODE_CONFIG_CONTENT must be a JSON object; correct it or unset it")]
    NotObject,
}

/// Merges `ours` into `existing`, the value set already, and gives the text to set instead.
///
/// Objects are merged key by key, at any depth; everything else of ours replaces what was there.
/// Blank text counts as unset.
///
/// # Errors
/// [`ConfigError`] if either is no JSON object.
pub fn merge_config(existing: Option<&str>, ours: &Value) -> Result<String, ConfigError> {
    let existing = existing
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .unwrap_or("{}");
    let mut merged: Value =
        serde_json::from_str(existing).map_err(|error| ConfigError::NotJson {
            line: error.line(),
            column: error.column(),
        })?;
    if !merged.is_object() || !ours.is_object() {
        return Err(ConfigError::NotObject);
    }
    merge(&mut merged, ours);
    Ok(merged.to_string())
}

fn merge(into: &mut Value, ours: &Value) {
    if let (Value::Object(into), Value::Object(ours)) = (&mut *into, ours) {
        for (key, value) in ours {
            merge(into.entry(key.clone()).or_insert(Value::Null), value);
        }
        return;
    }
    *into = ours.clone();
}
