//! Foreign JSON read one field at a time, so that an odd value spoils only itself.
//!
//! Values stay borrowed text until somebody asks for them. That keeps what must survive byte for
//! byte, never recurses into what nobody reads, and never copies a provider's key.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;

/// The fields of one JSON object; of a doubled key the last one counts.
#[derive(Default)]
pub(crate) struct Fields<'a>(BTreeMap<Lossy, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The fields of `raw`, or `None` if it is no object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::of_text(raw.get())
    }

    /// The fields of the object written in `text`, or `None` if it holds no object.
    pub(crate) fn of_text(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// All fields in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, raw)| (key.0.as_str(), *raw))
    }

    /// The value of `key`; `null` counts as absent.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key).copied().filter(|raw| raw.get() != "null")
    }

    /// The value of `key` as its own text.
    pub(crate) fn boxed(&self, key: &str) -> Option<Box<RawValue>> {
        self.raw(key).map(ToOwned::to_owned)
    }

    /// The string at `key`, if it is one.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        self.raw(key).and_then(string)
    }

    /// The string at `key`, or an empty one.
    pub(crate) fn text(&self, key: &str) -> String {
        self.string(key).unwrap_or_default()
    }

    /// The string at `key`, if it is one and not empty.
    pub(crate) fn word(&self, key: &str) -> Option<String> {
        self.string(key).filter(|word| !word.is_empty())
    }

    /// The number at `key` as a count: fractions are cut, negative numbers are no counts.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        let text = self.raw(key)?.get();
        if let Ok(count) = serde_json::from_str::<u64>(text) {
            return Some(count);
        }
        // `as` saturates at both ends, and the sign was looked at.
        self.number(key)
            .filter(|number| *number >= 0.0)
            .map(|number| number as u64)
    }

    /// The whole number at `key`, which may be negative.
    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The number at `key`.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// Whether `key` is exactly `true`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.raw(key).is_some_and(|raw| raw.get() == "true")
    }

    /// The object at `key`; empty if there is none.
    pub(crate) fn object(&self, key: &str) -> Fields<'a> {
        self.raw(key).and_then(Self::of).unwrap_or_default()
    }

    /// The elements of the array at `key`; none if there is no array.
    pub(crate) fn list(&self, key: &str) -> Vec<&'a RawValue> {
        self.raw(key).and_then(list).unwrap_or_default()
    }

    /// The strings among the elements of the array at `key`.
    pub(crate) fn strings(&self, key: &str) -> Vec<String> {
        self.list(key).into_iter().filter_map(string).collect()
    }
}

/// The elements of `raw`, or `None` if it is no array.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The string in `raw`, or `None` if it is none.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Lossy>(raw.get())
        .ok()
        .map(|lossy| lossy.0)
}

/// A string in which a lone surrogate, legal in JSON and made by JavaScript when it cuts text,
/// becomes replacement characters instead of an error.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lossy(pub(crate) String);

impl std::borrow::Borrow<str> for Lossy {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Lossy, E> {
                Ok(Lossy(text.to_owned()))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Text)
    }
}
