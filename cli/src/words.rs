//! The words a person reads: one catalogue for each language, keyed by codes.
//!
//! Help, results, errors and the words for every code of the engine come from here. Clap's own
//! words ("Usage", what is wrong with a flag) and the sentences inside an engine's error are
//! English in every language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The languages there are; the first is the one to fall back to. Each has this command's own
/// sentences, and the words for codes that pages and notices have, too.
const CATALOGUES: &[(&str, [&str; 2])] = &[(
    "en",
    [
        include_str!("../locales/en.json"),
        include_str!("../../guest-js/locales/en.json"),
    ],
)];

/// The variables that name the user's language, the stronger one first.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

static HERE: LazyLock<Words> = LazyLock::new(|| {
    let values = VARIABLES.map(|name| std::env::var(name).unwrap_or_default());
    Words::of(language(&values))
});

/// The words of the user's language.
pub(crate) fn here() -> &'static Words {
    &HERE
}

/// The words for a key, with its `{name}`s filled in: `say!("list.none")`,
/// `say!("span.seconds", n = 3)`.
macro_rules! say {
    ($key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::words::here().say($key, &[$((stringify!($name), &$value.to_string())),*])
    };
}

/// The words for a code of a family, such as (`phase`, `quiet`); a code without words is shown
/// as it is.
pub(crate) fn of_code(family: &str, code: &str) -> String {
    let words = here().code(family, code);
    words.map_or_else(|| crate::text::one_line(code), str::to_owned)
}

/// A catalogue.
pub(crate) struct Words {
    texts: BTreeMap<String, String>,
}

impl Words {
    /// The catalogue of a language of [`CATALOGUES`].
    fn of(language: &str) -> Self {
        let found = CATALOGUES.iter().find(|(name, _)| *name == language);
        let both = found.into_iter().flat_map(|(_, both)| both);
        Self {
            texts: both.flat_map(|text| texts(text)).collect(),
        }
    }

    /// The words for `key`; the key itself if there are none.
    pub(crate) fn say(&self, key: &str, arguments: &[(&str, &str)]) -> String {
        self.texts
            .get(key)
            .map_or_else(|| key.to_owned(), |text| fill(text, arguments))
    }

    /// The words for `family.code`, if there are some.
    pub(crate) fn code(&self, family: &str, code: &str) -> Option<&str> {
        self.texts
            .get(&format!("{family}.{code}"))
            .map(String::as_str)
    }
}

/// The texts of one file. A broken one is caught by a test; keys are shown then.
fn texts(file: &str) -> BTreeMap<String, String> {
    serde_json::from_str(file).unwrap_or_default()
}

/// The first language that one of the values names and that there is; values as in `de_CH.UTF-8`.
fn language(values: &[String]) -> &'static str {
    let fallback = CATALOGUES.first().map_or("en", |(name, _)| name);
    // POSIX: the first that is set decides, even if it names a language that is not there.
    let Some(value) = values.iter().find(|value| !value.is_empty()) else {
        return fallback;
    };
    let named = value
        .split(['_', '.', '@', '-'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    CATALOGUES
        .iter()
        .find(|(name, _)| *name == named)
        .map_or(fallback, |(name, _)| name)
}

/// Fills in every `{name}` in one pass, so that a value with braces stays what it is.
fn fill(text: &str, arguments: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}').and_then(|(name, behind)| {
            let (_, value) = arguments.iter().find(|(known, _)| *known == name)?;
            Some((value, behind))
        });
        match named {
            Some((value, behind)) => {
                filled.push_str(value);
                rest = behind;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests;
