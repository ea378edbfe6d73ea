//! What a person chose for the prompt that starts a goal, checked before anything happens.

use goal_core::fields::{self, File};

use crate::error::Error;
use crate::ports::{Address, Attachment};

/// Whom the first prompt addresses and what goes along with it. What is left out follows the
/// session, as a continuation does; a continuation then follows this prompt's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    to: Address,
    attachments: Vec<Attachment>,
}

impl Choices {
    /// Checks what was chosen.
    ///
    /// # Errors
    /// [`crate::Code::InvalidPrompt`], with the field and its rule.
    pub fn new(to: Address, attachments: Vec<Attachment>) -> Result<Self, Error> {
        let model = to.model.as_ref();
        let names = [
            ("agent", to.agent.as_deref()),
            (
                "model.providerId",
                model.map(|model| model.provider.as_str()),
            ),
            ("model.modelId", model.map(|model| model.model.as_str())),
            ("variant", to.variant.as_deref()),
        ];
        for (field, name) in names {
            name.map_or(Ok(()), |name| fields::name(field, name))?;
        }
        let files: Vec<File<'_>> = attachments.iter().map(file).collect();
        fields::files("attachments", &files)?;
        Ok(Self { to, attachments })
    }

    /// Whom the prompt addresses, where that was chosen.
    #[must_use]
    pub fn to(&self) -> &Address {
        &self.to
    }

    /// The files that go along.
    #[must_use]
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

fn file(attachment: &Attachment) -> File<'_> {
    File {
        name: &attachment.name,
        mime: &attachment.mime,
        url: &attachment.url,
    }
}

#[cfg(test)]
mod tests {
    use goal_core::goal::ModelRef;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::error::Code;

    #[test]
    fn every_choice_is_checked_under_its_own_name() {
        let bad = "two\nlines".to_owned();
        let model = |provider: &str, model: &str| {
            Some(ModelRef {
                provider: provider.to_owned(),
                model: model.to_owned(),
            })
        };
        let named = |agent: Option<String>, model, variant| Address {
            model,
            agent,
            variant,
        };
        for (field, to) in [
            ("agent", named(Some(bad.clone()), None, None)),
            ("model.providerId", named(None, model(&bad, "m"), None)),
            ("model.modelId", named(None, model("p", &bad), None)),
            ("variant", named(None, None, Some(bad.clone()))),
        ] {
            let error = Choices::new(to, Vec::new()).unwrap_err();
            assert_eq!(error.code(), Code::InvalidPrompt);
            let expected = format!("`{field}` takes 1 to 200 characters, no control characters.");
            assert_eq!(error.message(), expected);
        }
        let file = Attachment {
            name: "n".to_owned(),
            mime: "a/b".to_owned(),
            url: "/etc/passwd".to_owned(),
        };
        let error = Choices::new(Address::default(), vec![file]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidPrompt);
        let expected = "`attachments[0].url` takes a `data:` or a `file:` address.";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn what_is_well_is_kept_as_it_is() {
        let to = Address {
            agent: Some("a b/c:d".to_owned()),
            ..Address::default()
        };
        let file = Attachment {
            name: "n".to_owned(),
            mime: "a/b".to_owned(),
            url: "data:,a".to_owned(),
        };
        let choices = Choices::new(to.clone(), vec![file.clone()]).unwrap();
        assert_eq!((choices.to(), choices.attachments()), (&to, &[file][..]));
    }
}
