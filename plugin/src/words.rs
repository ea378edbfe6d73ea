//! The words of native notices, from the catalogue that pages use, too.

use std::collections::BTreeMap;

use goal_core::notice::NoticeCode;

/// The catalogues by language; the first stands in for what another lacks.
const CATALOGUES: [(&str, &str); 2] = [
    ("en", include_str!("../../guest-js/locales/en.json")),
    ("fr", include_str!("../../guest-js/locales/fr.json")),
];

/// Texts by key in one language, and those of another for what it lacks.
#[derive(Clone, Debug)]
pub struct Catalogue {
    texts: BTreeMap<String, String>,
    instead: BTreeMap<String, String>,
}

impl Catalogue {
    /// The texts of `language`, such as `fr` or `fr-CA`. `catalogues` are languages, each with its
    /// texts as a JSON object; the first stands in for what is missing.
    #[must_use]
    pub fn of(catalogues: &[(&str, &str)], language: &str) -> Self {
        let main = language.split(['-', '_']).next().unwrap_or_default();
        let catalogue = |(_, json): &(&str, &str)| serde_json::from_str(json).unwrap_or_default();
        let found = catalogues
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(main));
        Self {
            texts: found.map(catalogue).unwrap_or_default(),
            instead: catalogues.first().map(catalogue).unwrap_or_default(),
        }
    }

    /// One text; the key itself where neither language has it.
    #[must_use]
    pub fn text(&self, key: &str) -> String {
        let found = self.texts.get(key).or_else(|| self.instead.get(key));
        // A test holds the keys; a key says more than nothing.
        found.cloned().unwrap_or_else(|| key.to_owned())
    }
}

/// One language's words.
#[derive(Clone, Debug)]
pub(crate) struct Words(Catalogue);

impl Words {
    /// The words of `language`, such as `fr` or `fr-CA`; of English if there are none.
    pub(crate) fn of(language: Option<&str>) -> Self {
        Self(Catalogue::of(&CATALOGUES, language.unwrap_or_default()))
    }

    /// The first line of a notice.
    pub(crate) fn title(&self, code: NoticeCode) -> String {
        self.0.text(&format!("notice.{}", code.name()))
    }

    /// The button that resumes a goal.
    #[cfg(all(target_os = "linux", feature = "native-notifications"))]
    pub(crate) fn resume(&self) -> String {
        self.0.text("control.resume")
    }

    /// The button that opens the session.
    #[cfg(all(target_os = "linux", feature = "native-notifications"))]
    pub(crate) fn open(&self) -> String {
        self.0.text("control.open")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_has_its_words_in_every_language() {
        for (language, json) in CATALOGUES {
            let texts: BTreeMap<String, String> = serde_json::from_str(json).unwrap();
            let notices = NoticeCode::ALL.map(|code| format!("notice.{}", code.name()));
            let controls = ["control.resume", "control.open"].map(str::to_owned);
            for key in notices.into_iter().chain(controls) {
                let text = texts.get(&key);
                assert!(
                    text.is_some_and(|text| !text.is_empty()),
                    "{language} {key}"
                );
            }
        }
    }

    #[test]
    fn a_language_is_found_by_its_first_part_and_english_stands_in() {
        let title = |language| Words::of(language).title(NoticeCode::GoalComplete);
        let (english, french) = (title(None), title(Some("fr")));
        assert_ne!(english, french);
        assert_eq!(title(Some("fr-CA")), french);
        assert_eq!(title(Some("FR_ca.UTF-8")), french);
        assert_eq!(title(Some("xx")), english);
    }
}
