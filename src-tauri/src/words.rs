//! The host's own words: the tray, its notice, the folder dialog.

use tauri_plugin_goal::Catalogue;

use crate::preferences::Language;

/// The catalogues by language; the first stands in for what another lacks.
const CATALOGUES: [(&str, &str); 2] = [
    ("en", include_str!("../locales/en.json")),
    ("fr", include_str!("../locales/fr.json")),
];

/// One language's words.
#[derive(Clone, Debug)]
pub(crate) struct Words(Catalogue);

/// The language a user chose, or that of the system, such as `fr-CA`.
pub(crate) fn language(chosen: Language) -> String {
    match chosen {
        Language::System => sys_locale::get_locale().unwrap_or_default(),
        Language::En => "en".to_owned(),
        Language::Fr => "fr".to_owned(),
    }
}

impl Words {
    /// The words of `language`; of English if there are none.
    pub(crate) fn of(language: &str) -> Self {
        Self(Catalogue::of(&CATALOGUES, language))
    }

    /// One text.
    pub(crate) fn text(&self, key: &str) -> String {
        self.0.text(key)
    }

    /// One text with a number in it.
    pub(crate) fn counted(&self, key: &str, count: usize) -> String {
        self.text(key).replace("{count}", &count.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn catalogue(json: &str) -> BTreeMap<String, String> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn both_languages_have_the_same_keys_and_no_empty_text() {
        let keys = |json| catalogue(json).into_keys().collect::<BTreeSet<_>>();
        let [(_, english), (_, french)] = CATALOGUES;
        assert_eq!(keys(english), keys(french));
        for (language, json) in CATALOGUES {
            for (key, text) in catalogue(json) {
                assert!(!text.is_empty(), "{language} {key}");
                assert_eq!(
                    text.contains("{count}"),
                    catalogue(english)[&key].contains("{count}"),
                    "{language} {key}"
                );
            }
        }
    }

    #[test]
    fn every_key_in_the_sources_has_its_words() {
        let english = catalogue(CATALOGUES[0].1);
        let mut used = BTreeSet::new();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                let source = std::fs::read_to_string(path).unwrap();
                let words = source.split('"').filter(|word| {
                    ["tray.", "closeHint.", "pickFolder."]
                        .iter()
                        .any(|group| word.starts_with(group) && word.len() > group.len())
                });
                used.extend(words.map(str::to_owned));
            }
        }
        assert_eq!(used, english.into_keys().collect());
    }

    #[test]
    fn a_language_is_found_by_its_first_part_and_english_stands_in() {
        let open = |language| Words::of(language).text("tray.open");
        assert_eq!(open("fr-CA"), open("fr"));
        assert_eq!(open("FR_ca.UTF-8"), open("fr"));
        assert_ne!(open("fr"), open("en"));
        assert_eq!(open("xx"), open("en"));
        assert_eq!(Words::of("en").counted("tray.active", 3), "3 active");
    }
}
