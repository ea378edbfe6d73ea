//! Which model audits (§3.1).

use goal_core::goal::ModelRef;
use opencode_client::{Model, Provider, Providers};

use crate::ports::AuditorModel;

/// The model stands in the settings.
pub(super) const SETTINGS: &str = "settings";

/// The model is the server's `small_model`.
pub(super) const CONFIG: &str = "config";

/// The model is a small one of the session's provider.
const FAMILY_SCAN: &str = "family-scan";

/// The model is the session's own.
const SESSION_MODEL: &str = "session-model";

/// Families of small models, the first found wins.
const FAMILIES: [&str; 3] = ["gemini-flash", "gpt-nano", "claude-haiku"];

/// A provider that starts a program of its own and is paid by subscription: an audit after every
/// turn would use that up.
const REFUSED_PROVIDER: &str = "claude-code";

/// A model that somebody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// `provider/model`, as it was written.
    text: String,
    source: &'static str,
}

/// The model named by `text`, if it names any.
pub(super) fn named(text: Option<String>, source: &'static str) -> Option<Named> {
    let text = text?.trim().to_owned();
    (!text.is_empty()).then_some(Named { text, source })
}

/// The named model, if the server offers it. `providers` is what the server offers; without a list
/// the name is trusted.
pub(super) fn offered(named: &Named, providers: Option<&Providers>) -> Option<AuditorModel> {
    let model = split(&named.text).filter(|model| {
        let offers = |providers: &Providers| {
            let mut all = providers.providers.iter();
            all.any(|it| it.id == model.provider && it.models.iter().any(|m| m.id == model.model))
        };
        model.provider != REFUSED_PROVIDER && providers.is_none_or(offers)
    });
    if model.is_none() {
        tracing::warn!(
            model = named.text,
            source = named.source,
            "the audit model cannot be used; the server's list of models lacks it"
        );
    }
    model.map(|model| AuditorModel {
        model,
        source: named.source,
    })
}

/// The model that is found where none is named: a small one of the speaker's provider, else the
/// speaker's own. Without a speaker: the default model of the first provider that has one.
pub(super) fn found(speaker: Option<&ModelRef>, providers: &Providers) -> Option<AuditorModel> {
    let Some(model) = speaker else {
        return default_model(providers);
    };
    if model.provider == REFUSED_PROVIDER {
        return None;
    }
    let mut all = providers.providers.iter();
    let own = all.find(|provider| provider.id == model.provider);
    own.and_then(small_of).or_else(|| self::speaker(model))
}

/// The speaker's own model.
pub(super) fn speaker(model: &ModelRef) -> Option<AuditorModel> {
    (model.provider != REFUSED_PROVIDER).then(|| AuditorModel {
        model: model.clone(),
        source: SESSION_MODEL,
    })
}

fn split(text: &str) -> Option<ModelRef> {
    let (provider, model) = text.split_once('/')?;
    let (provider, model) = (provider.trim(), model.trim());
    (!provider.is_empty() && !model.is_empty()).then(|| ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    })
}

/// The newest model of the first family that the provider has.
fn small_of(provider: &Provider) -> Option<AuditorModel> {
    let usable = |model: &&Model| model.status.as_deref() != Some("deprecated");
    FAMILIES.into_iter().find_map(|family| {
        let models = provider.models.iter().filter(usable);
        let newest = models
            .filter(|model| model.family.as_deref() == Some(family))
            // Dates of the form 2026-08-27 sort as text.
            .max_by_key(|model| (model.release_date.as_deref(), model.id.as_str()))?;
        Some(AuditorModel {
            model: ModelRef {
                provider: provider.id.clone(),
                model: newest.id.clone(),
            },
            source: FAMILY_SCAN,
        })
    })
}

fn default_model(providers: &Providers) -> Option<AuditorModel> {
    let mut usable = providers.providers.iter();
    usable.find_map(|provider| {
        let model = providers.default.get(&provider.id)?;
        speaker(&ModelRef {
            provider: provider.id.clone(),
            model: model.clone(),
        })
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn model(id: &str, family: &str, date: &str, status: &str) -> Model {
        Model {
            id: id.to_owned(),
            family: Some(family.to_owned()),
            release_date: Some(date.to_owned()),
            status: Some(status.to_owned()),
            ..Model::default()
        }
    }

    fn provider(id: &str, models: Vec<Model>) -> Provider {
        Provider {
            id: id.to_owned(),
            models,
            ..Provider::default()
        }
    }

    fn server() -> Providers {
        Providers {
            providers: vec![
                provider(
                    "claude-code",
                    vec![model("haiku", "claude-haiku", "2026-01-01", "")],
                ),
                provider(
                    "big",
                    vec![
                        model("opus", "claude-opus", "2026-09-01", "active"),
                        model("haiku-3", "claude-haiku", "2024-03-01", "active"),
                        model("haiku-4", "claude-haiku", "2025-10-01", "active"),
                        model("haiku-5", "claude-haiku", "2026-10-01", "deprecated"),
                        model("nano/x", "gpt-nano", "2025-01-01", "beta"),
                        model("lite", "gemini-flash-lite", "2026-01-01", "active"),
                    ],
                ),
                provider("plain", vec![model("one", "", "", "active")]),
                provider(
                    "google",
                    vec![model("flash", "gemini-flash", "2026-01-01", "active")],
                ),
            ],
            default: [
                ("claude-code", "haiku"),
                ("plain", "one"),
                ("google", "flash"),
            ]
            .map(|(provider, model)| (provider.to_owned(), model.to_owned()))
            .into(),
        }
    }

    fn shown(chosen: Option<AuditorModel>) -> Option<(String, &'static str)> {
        chosen.map(|it| {
            (
                format!("{}/{}", it.model.provider, it.model.model),
                it.source,
            )
        })
    }

    fn reference(text: &str) -> ModelRef {
        split(text).unwrap()
    }

    #[test]
    fn the_scan_stays_inside_the_speakers_provider() {
        let cases = [
            // gpt-nano stands before claude-haiku, whatever the dates say.
            ("big/opus", Some(("big/nano/x", FAMILY_SCAN))),
            ("google/pro", Some(("google/flash", FAMILY_SCAN))),
            ("plain/one", Some(("plain/one", SESSION_MODEL))),
            ("unlisted/m", Some(("unlisted/m", SESSION_MODEL))),
            ("claude-code/haiku", None),
        ];
        for (speaker, expected) in cases {
            let chosen = shown(found(Some(&reference(speaker)), &server()));
            let expected = expected.map(|(model, source)| (model.to_owned(), source));
            assert_eq!(chosen, expected, "{speaker}");
        }
    }

    #[test]
    fn of_a_family_the_newest_that_is_not_deprecated_is_taken() {
        let mut server = server();
        server.providers[1]
            .models
            .retain(|model| model.id != "nano/x");
        let chosen = shown(found(Some(&reference("big/opus")), &server));
        assert_eq!(chosen, Some(("big/haiku-4".to_owned(), FAMILY_SCAN)));
    }

    #[test]
    fn an_empty_session_takes_the_first_default_of_a_usable_provider() {
        let chosen = shown(found(None, &server()));
        assert_eq!(chosen, Some(("plain/one".to_owned(), SESSION_MODEL)));
        assert_eq!(found(None, &Providers::default()), None);
    }

    #[test]
    fn a_named_model_must_be_one_that_the_server_offers() {
        let cases = [
            ("google/flash", true),
            (" big / nano/x ", true),
            ("google/flash-2", false),
            ("gone/flash", false),
            ("claude-code/haiku", false),
            ("flash", false),
            ("/flash", false),
            ("google/", false),
        ];
        for (text, expected) in cases {
            let named = named(Some(text.to_owned()), CONFIG).unwrap();
            let chosen = offered(&named, Some(&server()));
            assert_eq!(chosen.is_some(), expected, "{text}");
        }
    }

    #[test]
    fn without_a_list_a_name_is_trusted_unless_it_is_none() {
        let named = |text: &str| named(Some(text.to_owned()), SETTINGS).unwrap();
        let trusted = shown(offered(&named("any/thing"), None));
        assert_eq!(trusted, Some(("any/thing".to_owned(), SETTINGS)));
        assert_eq!(offered(&named("claude-code/haiku"), None), None);
        assert_eq!(offered(&named("thing"), None), None);
    }

    #[test]
    fn blank_text_names_nothing() {
        assert_eq!(named(Some("  ".to_owned()), CONFIG), None);
        assert_eq!(named(None, CONFIG), None);
    }
}
