//! Foreign JSON read one field at a time, so that an odd value spoils only itself.
//!
//! Values stay borrowed text until somebody asks for them. That keeps what must survive byte for
//! byte, never recurses into what nobody reads, and never copies a provider's key.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of one JSON object; of a doubled key the last one counts.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    /// In the order of the keys, each of them once.
    members: Vec<(Key<'a>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// The fields of `raw`, or `None` if it is no object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::of_text(raw.get())
    }

    /// The fields of the object written in `text`, or `None` if it holds no object.
    pub(crate) fn of_text(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// All fields in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().map(|(key, raw)| (key.0.as_ref(), *raw))
    }

    /// The value of `key`; `null` counts as absent.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a RawValue> {
        let place = self
            .members
            .binary_search_by(|(name, _)| name.0.as_ref().cmp(key));
        let (_, raw) = self.members.get(place.ok()?)?;
        (raw.get() != "null").then_some(*raw)
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

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push(member);
                }
                // The sort is stable: of equal keys the last one comes first, and stays.
                members.reverse();
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                members.dedup_by(|(one, _), (other, _)| one == other);
                Ok(Fields { members })
            }
        }
        deserializer.deserialize_map(Members)
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
pub(crate) struct Lossy(pub(crate) String);

/// A key, read as leniently as [`Lossy`]; copied only where it was written with escapes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Key<'de>, E> {
                Ok(Key(String::from_utf8_lossy(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
            }
        }
        deserializer.deserialize_bytes(Text)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Option<Vec<(String, String)>> {
        let fields = Fields::of_text(text)?;
        let owned = |(key, raw): (&str, &RawValue)| (key.to_owned(), raw.get().to_owned());
        Some(fields.iter().map(owned).collect())
    }

    #[test]
    fn of_a_doubled_key_the_last_one_counts_however_it_is_written() {
        let text = r#"{"b":1,"a":2,"\u0062":3,"c":null,"b":[4]}"#;
        let expected = [("a", "2"), ("b", "[4]"), ("c", "null")];
        let expected = expected.map(|(key, raw)| (key.to_owned(), raw.to_owned()));
        assert_eq!(seen(text).as_deref(), Some(&expected[..]));
        let fields = Fields::of_text(text).unwrap();
        assert_eq!(fields.count("a"), Some(2));
        assert_eq!(fields.list("b").len(), 1);
        assert!(fields.raw("c").is_none() && fields.raw("d").is_none());
    }

    #[test]
    fn a_key_with_half_a_character_spoils_nothing_else() {
        let fields = Fields::of_text(r#"{"\ud83d":1,"\"q\"":2}"#).unwrap();
        assert_eq!(fields.count("\"q\""), Some(2));
        assert_eq!(fields.iter().count(), 2);
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for text in ["[1]", "\"a\"", "{\"a\":1", "{\"a\":1}x", ""] {
            assert_eq!(seen(text), None, "{text}");
        }
    }
}
